//! Lints of valid configurations: settings likely to lose money, and bots that can never trade.

mod limits;
mod setup;
#[cfg(test)]
mod tests;

pub(crate) use setup::{idle_blackouts, unusual_spelling};

use crate::bots::session_settings;
use crate::configuration::LoadedConfig;
use crate::inspection::assumed_records;
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::{
    BotLimitSettings, BotSettings, DayStart, Hours, RiskSettings, SessionSettings, TradingWindow,
    check_first_stakes, excessive_stake_notices, payout_probe_notices, unprofitable_level_notices,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, CandleSeries, Millis, Registry};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Check,
    Doctor,
    Start,
    Backtest,
    Search,
}

#[derive(Clone, Copy)]
pub struct LintInput<'a> {
    loaded: &'a LoadedConfig,
    registry: &'a Registry,
    /// Candles that the command reads; `None` if it reads none.
    candles: Option<&'a [CandleSeries]>,
    now: Millis,
}

impl<'a> LintInput<'a> {
    pub fn new(loaded: &'a LoadedConfig, registry: &'a Registry) -> Self {
        Self { loaded, registry, candles: None, now: SystemClock::new().now() }
    }

    #[must_use]
    pub const fn with_candles(self, candles: &'a [CandleSeries]) -> Self {
        Self { candles: Some(candles), ..self }
    }

    fn bots(&self) -> &'a [BotSettings] {
        &self.loaded.config.bots
    }

    fn settings(&self) -> SessionSettings {
        session_settings(self.loaded)
    }

    fn check_bots<F: IntoIterator<Item = String>>(&self, check: impl Fn(&BotSettings) -> F) -> Vec<String> {
        let check = |bot: &'a BotSettings| {
            check(bot).into_iter().map(move |text| format!("bot \"{}\": {text}", bot.name))
        };
        self.bots().iter().flat_map(check).collect()
    }

    fn check_bots_with_candles(
        &self,
        check: impl Fn(&BotSettings, &[Candle]) -> Option<String>,
    ) -> Vec<String> {
        let candles = self.candles.unwrap_or_default();
        self.check_bots(|bot| {
            let own = candles.iter().find(|series| series.series() == bot.series())?;
            check(bot, own.candles())
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    pub lint: &'static str,
    pub text: String,
}

/// A lint: name, stages and check function. [`Stage::Check`] (`config check`) runs every lint.
struct Lint(&'static str, &'static [Stage], fn(&LintInput<'_>) -> Vec<String>);

pub const UNAFFORDABLE_STAKE: &str = "unaffordable_stake";
pub const OUTGROWN_STAKE: &str = "outgrown_stake";

const RUN_STAGES: &[Stage] = &[Stage::Start, Stage::Backtest];
const STRATEGY_STAGES: &[Stage] = &[Stage::Start, Stage::Backtest, Stage::Search];

const LINTS: [Lint; 28] = [
    Lint("losing_level", &[Stage::Doctor], |input| {
        unprofitable_level_notices(&input.settings(), &assumed_records(input.loaded)).unwrap_or_default()
    }),
    Lint("ungated_ladder", &[Stage::Doctor], limits::ungated_ladders),
    Lint("interrupted_ladder", &[Stage::Start], limits::interrupted_ladders),
    Lint("probing_stake", &[Stage::Doctor, Stage::Start], |input| payout_probe_notices(&input.settings())),
    // A stake that no possible balance can pay is rejected elsewhere.
    Lint(UNAFFORDABLE_STAKE, &[Stage::Backtest], |input| {
        check_first_stakes(&input.settings()).unwrap_or_default()
    }),
    Lint(OUTGROWN_STAKE, RUN_STAGES, |input| {
        excessive_stake_notices(&input.settings(), &assumed_records(input.loaded)).unwrap_or_default()
    }),
    Lint("small_percentage", &[Stage::Doctor], limits::small_percentages),
    Lint("default_loss_limit", &[Stage::Doctor, Stage::Start, Stage::Backtest], |input| {
        limits::default_loss_limit(input).into_iter().collect()
    }),
    Lint("unlimited_trades", &[], limits::unlimited_trades),
    Lint("payout_above_stake", &[], limits::payouts_above_stake),
    Lint("payout_below_minimum", &[], limits::payouts_below_minimum),
    Lint("unequal_minimum_payouts", &[], |input| {
        limits::unequal_minimum_payouts(input).into_iter().collect()
    }),
    Lint("gate_payout", &[], limits::gate_payouts),
    Lint("split_hours", &[Stage::Start], hours_across_day_start),
    Lint("disjoint_hours", RUN_STAGES, disjoint_hours),
    Lint("idle_blackout", &[], |input| idle_blackouts(input.loaded, input.now)),
    Lint("doubtful_condition", STRATEGY_STAGES, setup::lint_conditions),
    Lint("volatility_share", &[], setup::volatility_shares),
    Lint("flat_volume", STRATEGY_STAGES, setup::flat_volumes),
    Lint("long_warm_up", RUN_STAGES, setup::long_warm_ups),
    Lint("doubtful_time_zone", STRATEGY_STAGES, setup::doubtful_time_zones),
    Lint("doubtful_expiry", &[], setup::doubtful_expiries),
    Lint("doubtful_symbol", &[], setup::doubtful_symbols),
    Lint("untraded_symbol", &[], setup::untraded_symbols),
    Lint("missing_candles", &[], |input| crate::candles::describe_bots_without_candles(input.loaded)),
    Lint("silent_bot", &[], setup::silent_bots),
    Lint("refused_entries", &[], |input| {
        crate::signals::rejected_entries_notice(input.loaded).into_iter().collect()
    }),
    Lint("unbound_signal", &[Stage::Start], |input| {
        crate::signals::describe_bypassed_bot_settings(input.loaded)
    }),
];

pub fn run(input: &LintInput<'_>, stage: Stage) -> Vec<LintFinding> {
    let lints = LINTS.iter().filter(|Lint(_, stages, _)| stage == Stage::Check || stages.contains(&stage));
    let found =
        |&Lint(lint, _, check): &Lint| check(input).into_iter().map(move |text| LintFinding { lint, text });
    lints.flat_map(found).collect()
}

pub fn collect_texts(input: &LintInput<'_>, stage: Stage) -> Vec<String> {
    run(input, stage).into_iter().map(|finding| finding.text).collect()
}

/// Start of 2026. Hours are checked over a full year, which includes the DST changes of every time zone.
const YEAR_START: Millis = Millis::new(1_767_225_600_000);
const YEAR_DAYS: i64 = 365;

struct OpenHours {
    place: String,
    hours: Hours,
    window: TradingWindow,
}

/// Trading hours of one setting, as alternative windows. Trading requires that at least one window is open.
type AlternativeHours = Vec<OpenHours>;

fn hours_across_day_start(input: &LintInput<'_>) -> Vec<String> {
    let risk = &input.loaded.config.risk;
    let Ok(day) = DayStart::new(&risk.day_start, &risk.day_timezone, "risk") else { return Vec::new() };
    let has_any = has_day_limit(risk) || risk.bots.values().any(has_own_day_limit);
    let is_limited =
        |bot: &&BotSettings| has_day_limit(risk) || risk.bots.get(&bot.name).is_some_and(has_own_day_limit);
    let of_all = has_any.then(|| vec![risk_hours(risk)]);
    let of_bots = input.bots().iter().filter(is_limited).map(|bot| bot_hours(bot, risk));
    let mut notes: Vec<String> = Vec::new();
    for group in of_all.into_iter().chain(of_bots) {
        for own in group.iter().flatten() {
            let note = format!(
                "{}: daily limits reset at {} {}, within the trading hours {}; choose another risk.day_start",
                own.place,
                risk.day_start,
                risk.day_timezone,
                own.describe()
            );
            let is_whole_day = own.hours.from == own.hours.to;
            if !is_whole_day && contains_day_start(&own.window, day, &group) && !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

fn disjoint_hours(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let all = bot_hours(bot, &input.loaded.config.risk);
        // If windows overlap, the overlap begins at the start of one of them, so only starts are tested.
        let mut starts = all.iter().flatten().flat_map(|own| window_starts(&own.window));
        if all.len() < 2 || starts.any(|at| is_open(&all, at)) {
            return None;
        }
        let describe = |choice: &AlternativeHours| {
            let hours: Vec<String> = choice.iter().map(OpenHours::describe).collect();
            format!("{} ({})", choice[0].place, hours.join(", "))
        };
        let places: Vec<String> = all.iter().map(describe).collect();
        Some(format!("the bot can never trade its own signals, as {} do not overlap", places.join(" and ")))
    })
}

impl OpenHours {
    fn new(place: &str, hours: Hours) -> Option<Self> {
        let window = TradingWindow::new(&hours, place).ok()?;
        Some(Self { place: place.to_owned(), hours, window })
    }

    fn describe(&self) -> String {
        format!("{} to {} {}", self.hours.from, self.hours.to, self.hours.timezone)
    }
}

fn window_starts(window: &TradingWindow) -> impl Iterator<Item = Millis> {
    let end = YEAR_START + Millis::DAY * YEAR_DAYS;
    let next = |at: &Millis| window.next_start(*at);
    std::iter::successors(window.next_start(YEAR_START), next).take_while(move |at| *at < end)
}

fn is_open(all: &[AlternativeHours], at: Millis) -> bool {
    all.iter().all(|choice| choice.iter().any(|own| own.window.contains(at)))
}

fn contains_day_start(window: &TradingWindow, day: DayStart, group: &[AlternativeHours]) -> bool {
    window_starts(window).any(|start| {
        let (_, end) = day.day_of(start);
        let is_inside = |at: Millis| window.contains(at) && is_open(group, at);
        end - start < Millis::DAY && is_inside(end - Millis::new(1)) && is_inside(end)
    })
}

fn has_day_limit(risk: &RiskSettings) -> bool {
    // The default trade limit is too high to be reached. A pause without a duration lasts until the day ends.
    let default = RiskSettings::default().max_trades_per_day;
    let amounts = [risk.daily_loss_limit, risk.daily_profit_target];
    let percentages = [risk.daily_loss_limit_percent, risk.daily_profit_target_percent];
    ![0, default].contains(&risk.max_trades_per_day)
        || risk.pauses.iter().any(|pause| pause.for_s == 0)
        || is_any_set(amounts, percentages)
}

fn has_own_day_limit(own: &BotLimitSettings) -> bool {
    let amounts = [own.daily_loss_limit, own.daily_profit_target];
    let percentages = [own.daily_loss_limit_percent, own.daily_profit_target_percent];
    own.max_trades_per_day > 0 || is_any_set(amounts, percentages)
}

fn is_any_set(amounts: [Decimal; 2], percentages: [f64; 2]) -> bool {
    amounts.iter().any(|amount| !amount.is_zero()) || percentages.iter().any(|percent| *percent > 0.0)
}

fn risk_hours(risk: &RiskSettings) -> AlternativeHours {
    risk.hours.iter().filter_map(|hours| OpenHours::new("risk.hours", hours.clone())).collect()
}

/// Returns the trading hours of the run and of each filter of a combined bot. Trades must be within all of them.
fn bot_hours(bot: &BotSettings, risk: &RiskSettings) -> Vec<AlternativeHours> {
    let filters = bot.params.get("filters").and_then(|filters| filters.as_array());
    let filters = filters.into_iter().flatten().filter_map(|filter| {
        let [from, to] = filter.get("hours")?.as_array()?.as_slice() else { return None };
        let timezone = filter.get("timezone").and_then(|zone| zone.as_str()).unwrap_or("UTC").to_owned();
        let (from, to) = (from.as_str()?.to_owned(), to.as_str()?.to_owned());
        let hours = Hours { days: Vec::new(), from, to, timezone };
        Some(vec![OpenHours::new(&format!("the filter of bot \"{}\"", bot.name), hours)?])
    });
    let run = Some(risk_hours(risk)).filter(|own| !own.is_empty());
    run.into_iter().chain(filters).collect()
}

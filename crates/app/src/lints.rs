//! Lints of valid configurations: settings likely to lose money, and bots that can never trade.

#[cfg(test)]
mod tests;

use crate::bots::{build_strategy, declared_durations, minimum_payouts, session_settings};
use crate::configuration::{Config, LoadedConfig};
use crate::inspection::assumed_track_records;
use crate::signals::{describe_bypassed_bot_settings, rejected_entries_notice};
use crate::warm_up::WarmUp;
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::{
    Blackouts, BotSettings, Hours, RiskSettings, SessionSettings, TradingWindow, check_first_stakes,
    excessive_stake_notices, misleading_zone_note, unprofitable_level_notices,
};
use candlewick_rules::lint_conditions;
use candlewick_sdk::{CandleSeries, CloseType, Millis, Registry, Symbol};
use serde_json::Value;
use std::collections::BTreeSet;

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

const LINTS: [Lint; 15] = [
    Lint("losing_level", &[Stage::Doctor], |input| {
        unprofitable_level_notices(&input.settings(), &assumed_track_records(input.loaded))
            .unwrap_or_default()
    }),
    Lint("ungated_ladder", &[Stage::Doctor], ungated_ladders),
    // A stake that no possible balance can pay is rejected elsewhere.
    Lint(UNAFFORDABLE_STAKE, &[Stage::Backtest], |input| {
        check_first_stakes(&input.settings()).unwrap_or_default()
    }),
    Lint(OUTGROWN_STAKE, RUN_STAGES, |input| {
        excessive_stake_notices(&input.settings(), &assumed_track_records(input.loaded)).unwrap_or_default()
    }),
    Lint("mistaken_percentage", &[Stage::Doctor], mistaken_percentages),
    Lint("doubtful_payout", &[], doubtful_payouts),
    Lint("doubtful_expiry", &[], doubtful_expiries),
    Lint("doubtful_time_zone", STRATEGY_STAGES, doubtful_time_zones),
    Lint("disjoint_hours", RUN_STAGES, disjoint_hours),
    Lint("idle_blackout", &[], |input| {
        idle_blackout_notice(input.loaded, SystemClock::new().now()).into_iter().collect()
    }),
    Lint("doubtful_condition", STRATEGY_STAGES, doubtful_conditions),
    Lint("long_warm_up", RUN_STAGES, long_warm_ups),
    Lint("silent_bot", &[], silent_bots),
    Lint("refused_entries", &[], |input| rejected_entries_notice(input.loaded).into_iter().collect()),
    Lint("unbound_signal", &[Stage::Start], |input| describe_bypassed_bot_settings(input.loaded)),
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

impl<'a> LintInput<'a> {
    pub const fn new(loaded: &'a LoadedConfig, registry: &'a Registry) -> Self {
        Self { loaded, registry, candles: None }
    }

    #[must_use]
    pub const fn with_candles(self, candles: &'a [CandleSeries]) -> Self {
        Self { candles: Some(candles), ..self }
    }

    fn settings(&self) -> SessionSettings {
        session_settings(self.loaded)
    }

    fn check_bots<F: IntoIterator<Item = String>>(&self, check: impl Fn(&BotSettings) -> F) -> Vec<String> {
        let check = |bot: &'a BotSettings| {
            check(bot).into_iter().map(move |text| format!("bot \"{}\": {text}", bot.name))
        };
        self.loaded.config.bots.iter().flat_map(check).collect()
    }

    /// Checks each number and text of the configuration. `check` gets the full key, such as `risk.hours[0].timezone`.
    fn check_values(&self, check: impl Fn(&str, &Value) -> Option<String>) -> Vec<String> {
        let mut found = Vec::new();
        let config = serde_json::to_value(&self.loaded.config).unwrap_or_default();
        visit_values(&config, "", &mut |key, value| found.extend(check(key, value)));
        found
    }
}

fn visit_values(value: &Value, key: &str, visit: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(values) => {
            for (name, value) in values {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                visit_values(value, &key, visit);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                visit_values(value, &format!("{key}[{index}]"), visit);
            }
        }
        _ => visit(key, value),
    }
}

fn ungated_ladders(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let strategy = build_strategy(bot, input.registry).filter(|_| bot.stake.enters_without_signal());
        strategy?.gate()?;
        let text = "the ladder with entry = \"next_candle\" keeps staking money while the gate is closed; use \
                    entry = \"next_signal\" to wait for the gate";
        Some(text.to_owned())
    })
}

/// Minimum plausible percentage. A smaller value was probably meant as a fraction.
const MIN_PERCENT: f64 = 1.0;
/// Minimum plausible percentage of a per-bot limit, for which values such as 0.5 % are common.
const MIN_BOT_PERCENT: f64 = 0.1;
/// Maximum plausible bound of a volatility filter. A larger value was probably meant as a percentage.
const MAX_VOLATILITY: f64 = 0.05;

/// Finds fractions that should be percentages, and vice versa. The bot stops after one loss or win, or never trades.
fn mistaken_percentages(input: &LintInput<'_>) -> Vec<String> {
    input.check_values(|key, value| {
        let round = |number: f64| (number * 1e8).round() / 1e8;
        let number = value.as_f64().filter(|number| *number > 0.0)?;
        let is_limit = key.starts_with("risk.") && key.ends_with("_percent");
        let least = if key.starts_with("risk.bots.") { MIN_BOT_PERCENT } else { MIN_PERCENT };
        let (meaning, meant) = if (is_limit || key.ends_with("].stake.percent")) && number < least {
            (format!("{number} %, which is unusually small"), number * 100.0)
        } else if key.ends_with("].volatility.min") && number >= MAX_VOLATILITY {
            (format!("{} % of the price within one candle", round(number * 100.0)), number / 100.0)
        } else {
            return None;
        };
        Some(format!("{key} = {number} means {meaning}; did you mean {}?", round(meant)))
    })
}

fn doubtful_payouts(input: &LintInput<'_>) -> Vec<String> {
    let Config { risk, simulation, bots, .. } = &input.loaded.config;
    let pays = |symbol: Symbol| simulation.payout_of(symbol).to_percent();
    let break_even = |payout_percent: f64| 100.0 / (1.0 + payout_percent / 100.0);
    let symbols: BTreeSet<Symbol> = bots.iter().map(|bot| bot.symbol).collect();
    let payouts = symbols.into_iter().map(|symbol| (format!("payout of {symbol}"), pays(symbol)));
    let high = payouts.chain(minimum_payouts(risk)).filter(|(_, percent)| *percent > 100.0);
    let describe = |(key, percent): (String, f64)| {
        format!(
            "{key}: {percent} % breaks even at a win rate of {:.2} %, but few venues pay over 100 %; a payout does not \
             include the stake",
            break_even(percent)
        )
    };
    let mut found: Vec<String> = high.map(describe).collect();
    found.extend(input.check_bots(|bot| {
        let (symbol, pays) = (bot.symbol, pays(bot.symbol));
        let own = risk.min_payout_percent_by_symbol.get(symbol.as_str());
        let least = *own.unwrap_or(&risk.min_payout_percent);
        let assumed = bot.params.get("gate").and_then(|gate| gate.get("payout")?.as_f64());
        let low = (pays < least).then(|| {
            format!(
                "{symbol} pays {pays} % in [simulation], less than its minimum of {least} %; backtests and the sandbox \
                 only open trades of the smallest stake, to probe the payout"
            )
        });
        let gate = assumed.filter(|assumed| *assumed > pays).map(|assumed| {
            format!(
                "the gate assumes a payout of {assumed} % (break-even win rate {:.2} %), but {symbol} pays {pays} % in \
                 [simulation] (break-even {:.2} %), so trades may lose money while the gate is open",
                break_even(assumed),
                break_even(pays)
            )
        });
        low.into_iter().chain(gate)
    }));
    found
}

/// Maximum plausible expiry, in candles. A longer expiry suggests a wrong unit.
const MAX_EXPIRY_CANDLES: i64 = 60;

fn doubtful_expiries(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let entry = input.registry.find(&bot.strategy);
        let own = entry.map(|entry| declared_durations(bot, entry)).filter(|own| !own.is_empty());
        let own = own.unwrap_or_else(|| vec![bot.close_type]);
        own.into_iter().filter_map(|expiry| describe_doubtful_expiry(bot, expiry)).collect::<Vec<_>>()
    })
}

fn describe_doubtful_expiry(bot: &BotSettings, expiry: CloseType) -> Option<String> {
    let (length, candle) = (expiry.duration(), bot.interval.length());
    if length < candle {
        let minutes = CloseType::new(length * 60).ok().filter(|_| length < Millis::MINUTE);
        let hint = minutes.map_or_else(String::new, |minutes| format!("; did you mean {minutes}?"));
        let seconds = length.get() / 1_000;
        return Some(format!(
            "an expiry of {expiry} ({seconds} s) is shorter than a {} candle{hint}",
            bot.interval
        ));
    }
    (length >= Millis::HOUR && length > candle * MAX_EXPIRY_CANDLES).then(|| {
        let (minutes, candles) = (length.get() / Millis::MINUTE.get(), length.get() / candle.get());
        format!("an expiry of {expiry} ({minutes} min) spans {candles} candles, which is unusually long")
    })
}

fn doubtful_time_zones(input: &LintInput<'_>) -> Vec<String> {
    input.check_values(|key, value| {
        let zone = value.as_str().filter(|_| key.ends_with("timezone"))?;
        Some(format!("{key}: {}", misleading_zone_note(zone)?))
    })
}

/// Start of 2026. Hours are checked over a full year, which includes the DST changes of every time zone.
const YEAR_START: Millis = Millis::new(1_767_225_600_000);
const YEAR_DAYS: i64 = 365;

/// Trading hours of one setting: a description, and windows of which at least one must be open.
type TradingHours = (String, Vec<TradingWindow>);

fn disjoint_hours(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let all = trading_hours(bot, &input.loaded.config.risk);
        let is_open = |at| all.iter().all(|(_, windows)| windows.iter().any(|window| window.contains(at)));
        // If windows overlap, the overlap begins at the start of one of them, so only starts are tested.
        let mut starts = all.iter().flat_map(|(_, windows)| windows).flat_map(window_starts);
        if all.is_empty() || starts.any(is_open) {
            return None;
        }
        let texts: Vec<&str> = all.iter().map(|(text, _)| text.as_str()).collect();
        Some(format!("the bot can never trade its own signals, as {} do not overlap", texts.join(" and ")))
    })
}

fn window_starts(window: &TradingWindow) -> impl Iterator<Item = Millis> {
    let end = YEAR_START + Millis::DAY * YEAR_DAYS;
    let next = |at: &Millis| window.next_start(*at);
    std::iter::successors(window.next_start(YEAR_START), next).take_while(move |at| *at < end)
}

/// Returns the trading hours of the run and of each filter of a combined bot. Trades must be within all of them.
fn trading_hours(bot: &BotSettings, risk: &RiskSettings) -> Vec<TradingHours> {
    let parse = |place: &str, hours: &[Hours]| {
        let windows = hours.iter().map(|hours| TradingWindow::new(hours, place));
        let windows: Vec<TradingWindow> = windows.collect::<Result<_, _>>().ok()?;
        let texts: Vec<String> = hours.iter().map(ToString::to_string).collect();
        (!windows.is_empty()).then(|| (format!("{place} ({})", texts.join(", ")), windows))
    };
    let filters = bot.params.get("filters").and_then(Value::as_array);
    let filters = filters.into_iter().flatten().enumerate().filter_map(|(index, filter)| {
        let [from, to] = filter.get("hours")?.as_array()?.as_slice() else { return None };
        let timezone = filter.get("timezone").and_then(Value::as_str).unwrap_or("UTC").to_owned();
        let (from, to) = (from.as_str()?.to_owned(), to.as_str()?.to_owned());
        parse(&format!("filters[{index}]"), &[Hours { days: Vec::new(), from, to, timezone }])
    });
    parse("risk.hours", &risk.hours).into_iter().chain(filters).collect()
}

pub(crate) fn idle_blackout_notice(loaded: &LoadedConfig, now: Millis) -> Option<String> {
    let Blackouts { file, spans, .. } = &loaded.config.risk.blackouts;
    let is_idle = !file.is_empty() && spans.iter().all(|span| span.to <= now);
    is_idle
        .then(|| format!("risk.blackouts: {file} has no current or future time span, so no trade is blocked"))
}

fn doubtful_conditions(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let strategy = (bot.strategy.as_str(), &bot.params);
        lint_conditions(input.registry, strategy, bot.interval).unwrap_or_default()
    })
}

fn long_warm_ups(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let warm_up = WarmUp::from_bot(bot, input.registry)?;
        let Some(candles) = input.candles else { return warm_up.describe_long_warm_up() };
        let own = candles.iter().find(|series| series.series() == bot.series())?;
        warm_up.describe_warm_up_share(own.candles().len())
    })
}

fn silent_bots(input: &LintInput<'_>) -> Vec<String> {
    let signals = &input.loaded.config.signals;
    let has_source = signals.list.is_some() || signals.listen.is_some() || signals.stdin;
    input.check_bots(|bot| {
        (bot.strategy == "none" && !has_source).then(|| {
            format!(
                "strategy \"none\" never signals and no signal source is enabled, so the bot only trades on `candlewick \
                 signal {}`; set signals.list, signals.listen or signals.stdin",
                bot.name
            )
        })
    })
}

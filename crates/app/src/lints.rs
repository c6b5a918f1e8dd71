//! Lints of valid configurations: settings that may lose money, and bots that can never trade.
//! `config check` runs all of [`LINTS`], other commands those of their [`Stage`].

mod hours;
mod limits;
mod setup;
#[cfg(test)]
mod tests;

pub(crate) use setup::{idle_blackouts, unusual_spelling};

use crate::bots::session_settings;
use crate::configuration::Loaded;
use crate::inspection::assumed_payouts;
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::{
    BotSettings, SessionSettings, check_first_stakes, levels_that_lose, outgrown_stakes, stakes_to_find_out,
};
use candlewick_sdk::{CandleSeries, Millis, Registry};

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
    loaded: &'a Loaded,
    registry: &'a Registry,
    /// `None` if the command has no candles.
    candles: Option<&'a [CandleSeries]>,
    now: Millis,
}

impl<'a> LintInput<'a> {
    pub fn new(loaded: &'a Loaded, registry: &'a Registry) -> Self {
        Self { loaded, registry, candles: None, now: SystemClock::new().now() }
    }

    #[must_use]
    pub const fn with_candles(self, candles: &'a [CandleSeries]) -> Self {
        Self { candles: Some(candles), ..self }
    }

    fn bots(&self) -> &'a [BotSettings] {
        &self.loaded.config.bots
    }

    fn session(&self) -> SessionSettings {
        session_settings(self.loaded)
    }

    fn each_bot<F: IntoIterator<Item = String>>(&self, check: impl Fn(&BotSettings) -> F) -> Vec<String> {
        let check = |bot: &'a BotSettings| {
            check(bot).into_iter().map(move |text| format!("bot \"{}\": {text}", bot.name))
        };
        self.bots().iter().flat_map(check).collect()
    }

    fn bots_with_candles(&self) -> impl Iterator<Item = (&'a BotSettings, &'a CandleSeries)> {
        let candles = self.candles.unwrap_or_default();
        self.bots().iter().filter_map(move |bot| {
            let own = candles.iter().find(|series| series.series() == bot.series());
            Some((bot, own?))
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    pub lint: &'static str,
    pub text: String,
}

/// Name, stages that run the lint in addition to [`Stage::Check`], and check.
struct Lint(&'static str, &'static [Stage], fn(&LintInput<'_>) -> Vec<String>);

pub const UNAFFORDABLE_STAKE: &str = "unaffordable_stake";
pub const OUTGROWN_STAKE: &str = "outgrown_stake";

const RUNS: &[Stage] = &[Stage::Start, Stage::Backtest];
const STRATEGIES: &[Stage] = &[Stage::Start, Stage::Backtest, Stage::Search];

const LINTS: [Lint; 28] = [
    Lint("losing_level", &[Stage::Doctor], |input| {
        levels_that_lose(&input.session(), &assumed_payouts(input.loaded)).unwrap_or_default()
    }),
    Lint("ungated_ladder", &[Stage::Doctor], limits::ungated_ladders),
    Lint("interrupted_ladder", &[Stage::Start], limits::interrupted_ladders),
    Lint("probing_stake", &[Stage::Doctor, Stage::Start], |input| stakes_to_find_out(&input.session())),
    // A stake that no balance allows is refused elsewhere.
    Lint(UNAFFORDABLE_STAKE, &[Stage::Backtest], |input| {
        check_first_stakes(&input.session()).unwrap_or_default()
    }),
    Lint(OUTGROWN_STAKE, RUNS, |input| {
        outgrown_stakes(&input.session(), &assumed_payouts(input.loaded)).unwrap_or_default()
    }),
    Lint("small_percentage", &[Stage::Doctor], limits::small_percentages),
    Lint("default_loss_limit", &[Stage::Doctor, Stage::Start, Stage::Backtest], limits::default_loss_limit),
    Lint("unlimited_trades", &[], limits::unlimited_trades),
    Lint("payout_above_stake", &[], limits::payouts_above_stake),
    Lint("payout_below_minimum", &[], limits::payouts_below_minimum),
    Lint("unequal_minimum_payouts", &[], limits::unequal_minimum_payouts),
    Lint("gate_payout", &[], limits::gate_payouts),
    Lint("split_hours", &[Stage::Start], hours::split_hours),
    Lint("disjoint_hours", RUNS, hours::disjoint_hours),
    Lint("idle_blackout", &[], |input| idle_blackouts(input.loaded, input.now)),
    Lint("doubtful_condition", STRATEGIES, setup::doubtful_conditions),
    Lint("volatility_share", &[], setup::volatility_shares),
    Lint("flat_volume", STRATEGIES, setup::flat_volumes),
    Lint("long_warm_up", RUNS, setup::long_warm_ups),
    Lint("doubtful_time_zone", STRATEGIES, setup::doubtful_time_zones),
    Lint("doubtful_expiry", &[], setup::doubtful_expiries),
    Lint("doubtful_symbol", &[], setup::doubtful_symbols),
    Lint("untraded_symbol", &[], setup::untraded_symbols),
    Lint("missing_candles", &[], |input| crate::candles::bots_without_candles(input.loaded)),
    Lint("silent_bot", &[], setup::silent_bots),
    Lint("refused_entries", &[], |input| crate::signals::refused_of_list(input.loaded).into_iter().collect()),
    Lint("unbound_signal", &[Stage::Start], |input| crate::signals::unbound_signals(input.loaded)),
];

pub fn run(input: &LintInput<'_>, stage: Stage) -> Vec<LintFinding> {
    let lints = LINTS.iter().filter(|Lint(_, stages, _)| stage == Stage::Check || stages.contains(&stage));
    let found = |&Lint(lint, _, check): &Lint| {
        check(input).into_iter().map(move |text| LintFinding { lint, text })
    };
    lints.flat_map(found).collect()
}

pub fn texts(input: &LintInput<'_>, stage: Stage) -> Vec<String> {
    run(input, stage).into_iter().map(|finding| finding.text).collect()
}

//! Lints of valid configurations: settings that may lose money, and bots that can never trade.
//!
//! A lint is a row of [`LINTS`]. `config check` runs all of them, other commands those of their
//! [`Stage`].

mod hours;
mod limits;
mod setup;
mod stakes;
mod strategies;
#[cfg(test)]
mod tests;

pub(crate) use setup::{idle_blackouts, unusual_spelling};

use crate::configuration::Loaded;
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_engine::BotSettings;
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

struct Lint {
    name: &'static str,
    /// Stages that run the lint, in addition to [`Stage::Check`].
    stages: &'static [Stage],
    check: fn(&LintInput<'_>) -> Vec<String>,
}

impl Lint {
    const fn new(
        name: &'static str,
        stages: &'static [Stage],
        check: fn(&LintInput<'_>) -> Vec<String>,
    ) -> Self {
        Self { name, stages, check }
    }
}

pub const UNAFFORDABLE_STAKE: &str = "unaffordable_stake";
pub const OUTGROWN_STAKE: &str = "outgrown_stake";

const RUNS: &[Stage] = &[Stage::Start, Stage::Backtest];
const STRATEGIES: &[Stage] = &[Stage::Start, Stage::Backtest, Stage::Search];

const LINTS: [Lint; 28] = [
    Lint::new("losing_level", &[Stage::Doctor], stakes::losing_levels),
    Lint::new("ungated_ladder", &[Stage::Doctor], stakes::ungated_ladders),
    Lint::new("interrupted_ladder", &[Stage::Start], stakes::interrupted_ladders),
    Lint::new("probing_stake", &[Stage::Doctor, Stage::Start], stakes::probing_stakes),
    Lint::new(UNAFFORDABLE_STAKE, &[Stage::Backtest], stakes::unaffordable_stakes),
    Lint::new(OUTGROWN_STAKE, RUNS, stakes::outgrown_stakes),
    Lint::new("small_percentage", &[Stage::Doctor], limits::small_percentages),
    Lint::new(
        "default_loss_limit",
        &[Stage::Doctor, Stage::Start, Stage::Backtest],
        limits::default_loss_limit,
    ),
    Lint::new("unlimited_trades", &[], limits::unlimited_trades),
    Lint::new("payout_above_stake", &[], limits::payouts_above_stake),
    Lint::new("payout_below_minimum", &[], limits::payouts_below_minimum),
    Lint::new("unequal_minimum_payouts", &[], limits::unequal_minimum_payouts),
    Lint::new("gate_payout", &[], limits::gate_payouts),
    Lint::new("split_hours", &[Stage::Start], hours::split_hours),
    Lint::new("disjoint_hours", RUNS, hours::disjoint_hours),
    Lint::new("idle_blackout", &[], |input| idle_blackouts(input.loaded, input.now)),
    Lint::new("doubtful_condition", STRATEGIES, strategies::doubtful_conditions),
    Lint::new("volatility_share", &[], strategies::volatility_shares),
    Lint::new("flat_volume", STRATEGIES, strategies::flat_volumes),
    Lint::new("long_warm_up", RUNS, strategies::long_warm_ups),
    Lint::new("doubtful_time_zone", STRATEGIES, strategies::doubtful_time_zones),
    Lint::new("doubtful_expiry", &[], setup::doubtful_expiries),
    Lint::new("doubtful_symbol", &[], setup::doubtful_symbols),
    Lint::new("untraded_symbol", &[], setup::untraded_symbols),
    Lint::new("missing_candles", &[], |input| crate::candles::bots_without_candles(input.loaded)),
    Lint::new("silent_bot", &[], setup::silent_bots),
    Lint::new("refused_entries", &[], setup::refused_entries),
    Lint::new("unbound_signal", &[Stage::Start], |input| crate::signals::unbound_signals(input.loaded)),
];

pub fn run(input: &LintInput<'_>, stage: Stage) -> Vec<LintFinding> {
    let is_run = |lint: &&Lint| stage == Stage::Check || lint.stages.contains(&stage);
    let findings = LINTS.iter().filter(is_run).flat_map(|lint| {
        let texts = (lint.check)(input).into_iter();
        texts.map(|text| LintFinding { lint: lint.name, text })
    });
    findings.collect()
}

pub fn texts(input: &LintInput<'_>, stage: Stage) -> Vec<String> {
    run(input, stage).into_iter().map(|finding| finding.text).collect()
}

//! Counts how often the conditions of rules and combinations were met on the candles of a run.

use crate::context::Context;
use crate::failure::Failure;
use candlewick_app::bots::error_of_backtest;
use candlewick_app::configuration::Loaded;
use candlewick_engine::{BotSettings, EngineError};
use candlewick_report::conditions::ConditionLine;
use candlewick_rules::{HeldCondition, count_numbers, held_conditions};
use candlewick_sdk::{BotContext, BuildError, Candle, CandleSeries, Registry};
use serde_json::Value;

pub(super) fn conditions_of_bots(
    loaded: &Loaded,
    series: &[CandleSeries],
    context: &Context<'_>,
) -> Result<Vec<ConditionLine>, Failure> {
    let mut lines = Vec::new();
    for bot in &loaded.config.bots {
        let own = series.iter().find(|candles| candles.series() == bot.series());
        let Some(candles) = own else { continue };
        let terms = bot.context(Some(loaded.config.data.longer_share_percent));
        let counted =
            conditions_of(context.registry, (&bot.strategy, &bot.params), &terms, candles.candles());
        let refused = |source| {
            let error = EngineError::Strategy { bot: bot.name.clone(), source };
            error_of_backtest(error.into(), loaded)
        };
        lines.extend(counted.map_err(refused)?);
    }
    Ok(lines)
}

pub(super) fn rule_numbers_of(loaded: &Loaded, registry: &Registry) -> Vec<usize> {
    let of_bot =
        |bot: &BotSettings| count_numbers(registry, (&bot.strategy, &bot.params)).unwrap_or_default();
    loaded.config.bots.iter().map(of_bot).collect()
}

pub(super) fn conditions_of(
    registry: &Registry,
    strategy: (&str, &Value),
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Vec<ConditionLine>, BuildError> {
    let counted = held_conditions(registry, strategy, bot, candles)?;
    let line = |one: HeldCondition| ConditionLine {
        bot: bot.bot.clone(),
        stopped: one.is_of_signals().then(|| one.candles - one.held),
        part: one.part,
        side: one.side.key(),
        depth: one.depth,
        condition: one.text,
        candles: one.candles,
        held: one.held,
        unknown: one.unknown,
        beside_buy: one.beside_buy,
    };
    Ok(counted.into_iter().map(line).collect())
}

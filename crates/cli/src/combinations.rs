//! Report lines about rule conditions, combined strategies and trade gates.

use crate::context::Context;
use crate::failure::Failure;
use candlewick_app::bots::{self, convert_backtest_error};
use candlewick_app::configuration::LoadedConfig;
use candlewick_engine::{BotSettings, EngineError, LadderEntry, StakeSettings};
use candlewick_report::conditions::ConditionLine;
use candlewick_report::run::GateLine;
use candlewick_rules::combine::{self, GateReplay, ReplayedSignal, replay_gate};
use candlewick_rules::{ConditionCount, count_conditions, count_fitted_values};
use candlewick_sdk::{BotContext, BuildError, Candle, CandleSeries, GateSnapshot, Registry};
use candlewick_simulator::SimulationSettings;
use candlewick_statistics::{GatedTrade, TradeOutcome};
use serde_json::Value;

pub(crate) fn describe_combinations(bots: &[BotSettings], registry: &Registry) -> Vec<String> {
    let combining = bots.iter().filter(|bot| bot.strategy == combine::NAME);
    let describe = |bot: &BotSettings| {
        let entry = registry.find(&bot.strategy)?.for_params(&bot.params).ok()?;
        Some(format!("{}: {}", bot.name, entry.about))
    };
    combining.filter_map(describe).collect()
}

pub(crate) fn describe_gates(bots: &[BotSettings], registry: &Registry) -> Vec<String> {
    let gates = bots.iter().zip(bots::gate_snapshots(bots, registry));
    let describe = |(bot, gate): (&BotSettings, Option<GateSnapshot>)| {
        let GateSnapshot { rule, history, .. } = gate?;
        let continues = matches!(bot.stake, StakeSettings::Martingale { entry: LadderEntry::NextCandle, .. });
        let ladder = if continues { "; the stake ladder continues while the gate is closed" } else { "" };
        let warmup = format!("; {history} candles before the first signal determine the initial gate state");
        let warmup = if history > 0 { warmup } else { String::new() };
        Some(format!("{}: {rule}{ladder}{warmup}", bot.name))
    };
    gates.filter_map(describe).collect()
}

pub(crate) fn count_bot_conditions(
    loaded: &LoadedConfig,
    series: &[CandleSeries],
    context: &Context<'_>,
) -> Result<Vec<ConditionLine>, Failure> {
    let mut lines = Vec::new();
    for bot in &loaded.config.bots {
        let Some(candles) = series.iter().find(|candles| candles.series() == bot.series()) else { continue };
        let terms = bot.context(Some(loaded.config.data.longer_share_percent));
        let counted =
            condition_lines(context.registry, (&bot.strategy, &bot.params), &terms, candles.candles());
        let refused = |source| {
            convert_backtest_error(EngineError::Strategy { bot: bot.name.clone(), source }.into(), loaded)
        };
        lines.extend(counted.map_err(refused)?);
    }
    Ok(lines)
}

pub(crate) fn count_fitted_numbers_per_bot(loaded: &LoadedConfig, registry: &Registry) -> Vec<usize> {
    let of_bot =
        |bot: &BotSettings| count_fitted_values(registry, (&bot.strategy, &bot.params)).unwrap_or_default();
    loaded.config.bots.iter().map(of_bot).collect()
}

pub(crate) fn condition_lines(
    registry: &Registry,
    strategy: (&str, &Value),
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Vec<ConditionLine>, BuildError> {
    let counted = count_conditions(registry, strategy, bot, candles)?;
    let line = |one: ConditionCount| ConditionLine {
        bot: bot.bot.clone(),
        stopped: one.is_whole_filter().then(|| one.candles - one.true_candles),
        part: one.part,
        side: one.role.key(),
        depth: one.depth,
        condition: one.text,
        candles: one.candles,
        held: one.true_candles,
        unknown: one.unknown_candles,
        beside_buy: one.candles_with_buy,
    };
    Ok(counted.into_iter().map(line).collect())
}

pub(crate) fn replay_gates(
    loaded: &LoadedConfig,
    series: &[CandleSeries],
    simulation: &SimulationSettings,
    context: &Context<'_>,
) -> Result<Vec<GateLine>, Failure> {
    let (share, mut lines) = (Some(loaded.config.data.longer_share_percent), Vec::new());
    for bot in &loaded.config.bots {
        let own = series.iter().find(|candles| candles.series() == bot.series());
        let Some((entry, candles)) = context.registry.find(&bot.strategy).zip(own) else { continue };
        let followed = replay_gate(entry, &bot.params, &bot.context(share), candles.candles());
        let refused = |source| EngineError::Strategy { bot: bot.name.clone(), source };
        let followed = followed.map_err(|error| convert_backtest_error(refused(error).into(), loaded))?;
        let Some(GateReplay { rule, signals }) = followed else { continue };
        let payout_fraction = simulation.payout_of(bot.symbol).to_fraction();
        let signals: Vec<GatedTrade> =
            signals.iter().map(|signal| to_gated_trade(signal, payout_fraction)).collect();
        lines.extend(GateLine::new(&bot.name, rule, &signals, payout_fraction)?);
    }
    Ok(lines)
}

fn to_gated_trade(signal: &ReplayedSignal, payout_fraction: f64) -> GatedTrade {
    let unit_return = match signal.outcome {
        TradeOutcome::Won => payout_fraction,
        TradeOutcome::Lost => -1.0,
        TradeOutcome::Draw | TradeOutcome::Cancelled => 0.0,
    };
    GatedTrade {
        decided_at: signal.decided_at.get(),
        known_at: signal.settled_at.get(),
        day: signal.day,
        unit_return,
    }
}

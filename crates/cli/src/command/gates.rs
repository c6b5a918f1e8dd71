//! Value of the gates in a backtest: their signals, followed on the candles of the run.

use crate::context::Context;
use crate::failure::Failure;
use candlewick_app::bots::error_of_backtest;
use candlewick_app::configuration::Loaded;
use candlewick_engine::{BotSettings, EngineError};
use candlewick_report::run::GateLine;
use candlewick_rules::combine::{FollowedGate, FollowedSignal, follow_gate};
use candlewick_sdk::CandleSeries;
use candlewick_simulator::SimulationSettings;
use candlewick_statistics::{GatedTrade, TradeOutcome};

pub(super) fn gates_of(
    loaded: &Loaded,
    series: &[CandleSeries],
    simulation: &SimulationSettings,
    context: &Context<'_>,
) -> Result<Vec<GateLine>, Failure> {
    let (share, mut lines) = (Some(loaded.config.data.longer_share_percent), Vec::new());
    for bot in &loaded.config.bots {
        let followed = followed(bot, series, share, context);
        let followed = followed.map_err(|error| error_of_backtest(error.into(), loaded))?;
        let Some(FollowedGate { rule, signals }) = followed else { continue };
        let payout_fraction = simulation.payout_of(bot.symbol).to_fraction();
        let signals: Vec<GatedTrade> =
            signals.iter().map(|signal| to_gated(signal, payout_fraction)).collect();
        lines.extend(GateLine::of(&bot.name, rule, &signals, payout_fraction)?);
    }
    Ok(lines)
}

fn followed(
    bot: &BotSettings,
    series: &[CandleSeries],
    longer_share_percent: Option<f64>,
    context: &Context<'_>,
) -> Result<Option<FollowedGate>, EngineError> {
    let own = series.iter().find(|candles| candles.series() == bot.series());
    let Some((entry, candles)) = context.registry.find(&bot.strategy).zip(own) else { return Ok(None) };
    let terms = bot.context(longer_share_percent);
    let followed = follow_gate(entry, &bot.params, &terms, candles.candles());
    followed.map_err(|source| EngineError::Strategy { bot: terms.bot, source })
}

fn to_gated(signal: &FollowedSignal, payout_fraction: f64) -> GatedTrade {
    let unit_return = match signal.outcome {
        TradeOutcome::Won => payout_fraction,
        TradeOutcome::Lost => -1.0,
        TradeOutcome::Draw | TradeOutcome::Cancelled => 0.0,
    };
    GatedTrade { decided: signal.decided.get(), known: signal.known.get(), day: signal.day, unit_return }
}

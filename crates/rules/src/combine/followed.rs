//! Evaluates a bot's gate on past candles: every signal with its outcome.

use super::NAME;
use super::virtual_trade::{Ending, VirtualTrade};
use super::written_gate::WrittenGate;
use candlewick_sdk::{BotContext, BuildError, Candle, LongerCandles, Millis, StrategyEntry};
use candlewick_statistics::{GateRule, TradeOutcome};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct FollowedGate {
    pub rule: GateRule,
    pub signals: Vec<FollowedSignal>,
}

/// A signal, settled by the bot's candles as its gate does: without latency, money or risk limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedSignal {
    pub decided: Millis,
    pub known: Millis,
    /// Start of the signal's day, for a gate that resets daily.
    pub day: i64,
    /// Cancelled if candles are missing.
    pub outcome: TradeOutcome,
    pub is_real: bool,
}

/// Replays candles to a bot's strategy from the first one on.
///
/// `None` if the strategy is not a combination with a gate, or if parts require settlements, which
/// candles do not contain.
pub fn follow_gate(
    entry: &StrategyEntry,
    params: &Value,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Option<FollowedGate>, BuildError> {
    if entry.name != NAME {
        return Ok(None);
    }
    let Some(gate) = WrittenGate::of(params)? else { return Ok(None) };
    let plan = gate.plan()?;
    let mut strategy = entry.build(params, bot)?;
    if strategy.wants_settlements() {
        return Ok(None);
    }
    let longer = LongerCandles::of_bot(bot, strategy.longer_intervals());
    let mut longer = longer.map_err(|error| super::entry::refuse(error.to_string()))?;
    let interval = bot.interval.length();
    let (mut signals, mut under_way) = (Vec::new(), Vec::new());
    for candle in candles {
        let close = candle.time() + interval;
        under_way.retain_mut(|(place, trade): &mut (usize, VirtualTrade)| {
            let outcome = match trade.on_candle(candle, interval) {
                Ending::NotYet => return true,
                Ending::NoPrice => TradeOutcome::Cancelled,
                Ending::Ended(outcome) => outcome,
            };
            let signal: &mut (Millis, bool, Option<(Millis, TradeOutcome)>) = &mut signals[*place];
            signal.2 = Some((close, outcome));
            false
        });
        if let Some(signal) = longer.show_candle(candle, &mut *strategy) {
            let expiry = signal.expiry.unwrap_or(bot.expiry);
            under_way.push((signals.len(), VirtualTrade::new(signal.direction, expiry, close)));
            signals.push((close, !signal.is_virtual, None));
        }
    }
    let ended = signals.into_iter().filter_map(|(decided, is_real, end)| {
        let (known, outcome) = end?;
        let day = plan.day.map_or(0, |day| day.day_of(decided).0.get());
        Some(FollowedSignal { decided, known, day, outcome, is_real })
    });
    Ok(Some(FollowedGate { rule: plan.rule, signals: ended.collect() }))
}

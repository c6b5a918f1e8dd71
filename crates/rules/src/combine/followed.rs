//! What a bot's gate made of the signals of its strategy, over candles that are past: every signal with how it ended.

use super::NAME;
use super::virtual_trade::{Ending, VirtualTrade};
use super::written_gate::WrittenGate;
use candlewick_sdk::{BotContext, BuildError, Candle, LongerCandles, Millis, StrategyEntry};
use candlewick_statistics::{GateRule, TradeOutcome};
use serde_json::Value;

/// A gate, and the signals behind it.
#[derive(Clone, Debug)]
pub struct FollowedGate {
    /// What opens and closes it.
    pub rule: GateRule,
    /// The signals whose end the candles show, in the order in which they were given.
    pub signals: Vec<FollowedSignal>,
}

/// A signal, followed by the candles of its bot as its gate follows it: without latency, without money, whatever the limits let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedSignal {
    /// When it was given.
    pub decided: Millis,
    /// When its end was known.
    pub known: Millis,
    /// When the day in which it was given began, of a gate that resets daily.
    pub day: i64,
    /// How it ended; cancelled where candles are missing.
    pub outcome: TradeOutcome,
    /// Whether the gate let it be traded.
    pub is_real: bool,
}

/// Shows the candles of a bot to its strategy, from the first one on. None where that is no combination with a gate, and where parts of it
/// want to see settlements, which candles do not tell.
///
/// # Errors
/// As [`StrategyEntry::build`].
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

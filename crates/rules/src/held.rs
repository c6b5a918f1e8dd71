//! Counts the candles on which each condition was true, to diagnose rules that never signal.

use candlewick_sdk::{BotContext, BuildError, Candle, ConditionSide, LongerCandles, Registry, Strategy};
use serde_json::Value;

/// Number of candles on which a condition, or an operand of its `and` or `or`, was true or unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionCount {
    /// Path of a part in a combination, such as `outer.dip`. Empty for the bot's own conditions.
    pub part: String,
    pub side: ConditionSide,
    /// Nesting depth: 0 for a whole condition, 1 for the operands of its `and` or `or`, and so on.
    pub depth: usize,
    pub text: String,
    /// Number of evaluated candles after warm-up. Filters are evaluated only on candles with a signal.
    pub candles: u64,
    pub held: u64,
    pub unknown: u64,
    /// For a sell condition: number of candles on which the buy condition was also true and took precedence.
    pub beside_buy: u64,
}

pub fn condition_counts(
    registry: &Registry,
    (strategy, params): (&str, &Value),
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Vec<ConditionCount>, BuildError> {
    let Some(entry) = registry.find(strategy) else { return Ok(Vec::new()) };
    let mut shown: Box<dyn Strategy> = entry.build_explained(params, bot)?;
    let new = |one: &candlewick_sdk::Condition<'_>| ConditionCount {
        part: one.part.to_string(),
        side: one.side,
        depth: one.depth,
        text: one.text.to_owned(),
        candles: 0,
        held: 0,
        unknown: 0,
        beside_buy: 0,
    };
    let mut counted: Vec<ConditionCount> = shown.conditions().iter().map(new).collect();
    if counted.is_empty() {
        return Ok(counted);
    }
    let pairs = pair_sides(&counted);
    let longer = LongerCandles::for_bot(bot, shown.longer_intervals());
    let mut longer = longer.map_err(|error| BuildError::parameters(strategy, error.to_string()))?;
    // Counting starts when the whole strategy is warm.
    let warmup = shown.warmup();
    for (place, candle) in candles.iter().enumerate() {
        longer.feed_ended(candle, &mut *shown);
        shown.on_candle(candle);
        if place + 1 >= warmup {
            let conditions = shown.conditions();
            counted.iter_mut().zip(&conditions).for_each(|(count, one)| count.record(one.holds));
            let holds = |place: usize| conditions.get(place).is_some_and(|one| one.holds == Some(true));
            for (buy, sell) in &pairs {
                counted[*sell].beside_buy += u64::from(holds(*buy) && holds(*sell));
            }
        }
        longer.feed_completed(candle, &mut *shown);
    }
    Ok(counted)
}

fn pair_sides(counted: &[ConditionCount]) -> Vec<(usize, usize)> {
    let whole = |side: ConditionSide| {
        counted.iter().enumerate().filter(move |(_, one)| one.depth == 0 && one.side == side)
    };
    let buy_of = |part: &str| whole(ConditionSide::Buy).find(|(_, buy)| buy.part == part);
    let sells = whole(ConditionSide::Sell);
    sells.filter_map(|(sell, one)| buy_of(&one.part).map(|(buy, _)| (buy, sell))).collect()
}

impl ConditionCount {
    pub fn counts_signals(&self) -> bool {
        self.side == ConditionSide::Filter && self.depth == 0
    }

    fn record(&mut self, holds: Option<bool>) {
        // Filters are evaluated only on signals.
        self.candles += u64::from(holds.is_some() || !self.counts_signals());
        self.held += u64::from(holds == Some(true));
        self.unknown += u64::from(holds.is_none() && !self.counts_signals());
    }
}

//! Counts the candles on which each condition was true. The counts show why a rule never signals.

use candlewick_sdk::{BotContext, BuildError, Candle, ConditionRole, LongerCandles, Registry, Strategy};
use serde_json::Value;

/// Candle counts for a condition, or for an operand of `and` or `or` within a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionCount {
    /// Path of the combination part that has the condition, such as `outer.dip`. Empty for the bot's own conditions.
    pub part: String,
    pub role: ConditionRole,
    /// Nesting depth: 0 for a whole condition, 1 for the operands of its `and` or `or`, and so on.
    pub depth: usize,
    pub text: String,
    /// Number of candles after warm-up on which the condition was evaluated. Filters are evaluated only on signals.
    pub candles: u64,
    pub true_candles: u64,
    pub unknown_candles: u64,
    /// For a sell condition: number of candles on which the buy condition was also true and took precedence.
    pub candles_with_buy: u64,
}

pub fn count_conditions(
    registry: &Registry,
    (strategy, params): (&str, &Value),
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Vec<ConditionCount>, BuildError> {
    let Some(entry) = registry.find(strategy) else { return Ok(Vec::new()) };
    let mut shown: Box<dyn Strategy> = entry.build_explainer(params, bot)?;
    let new = |one: &candlewick_sdk::Condition<'_>| ConditionCount {
        part: one.part_path.to_string(),
        role: one.role,
        depth: one.depth,
        text: one.text.to_owned(),
        candles: 0,
        true_candles: 0,
        unknown_candles: 0,
        candles_with_buy: 0,
    };
    let mut counted: Vec<ConditionCount> = shown.conditions().iter().map(new).collect();
    if counted.is_empty() {
        return Ok(counted);
    }
    let pairs = pair_sides(&counted);
    let longer = LongerCandles::for_bot(bot, shown.longer_intervals());
    let mut longer = longer.map_err(|error| BuildError::invalid_parameters(strategy, error.to_string()))?;
    // Counting starts after the warm-up of the whole strategy.
    let warmup = shown.warmup();
    for (place, candle) in candles.iter().enumerate() {
        longer.feed_longer_candles_before(candle, &mut *shown);
        shown.on_candle(candle);
        if place + 1 >= warmup {
            let conditions = shown.conditions();
            counted.iter_mut().zip(&conditions).for_each(|(count, one)| count.record(one.is_met));
            let holds = |place: usize| conditions.get(place).is_some_and(|one| one.is_met == Some(true));
            for (buy, sell) in &pairs {
                counted[*sell].candles_with_buy += u64::from(holds(*buy) && holds(*sell));
            }
        }
        longer.feed_longer_candles_after(candle, &mut *shown);
    }
    Ok(counted)
}

fn pair_sides(counted: &[ConditionCount]) -> Vec<(usize, usize)> {
    let whole = |side: ConditionRole| {
        counted.iter().enumerate().filter(move |(_, one)| one.depth == 0 && one.role == side)
    };
    let buy_of = |part: &str| whole(ConditionRole::Buy).find(|(_, buy)| buy.part == part);
    let sells = whole(ConditionRole::Sell);
    sells.filter_map(|(sell, one)| buy_of(&one.part).map(|(buy, _)| (buy, sell))).collect()
}

impl ConditionCount {
    pub fn is_whole_filter(&self) -> bool {
        self.role == ConditionRole::Filter && self.depth == 0
    }

    fn record(&mut self, holds: Option<bool>) {
        // Filters are evaluated only on candles with a signal.
        self.candles += u64::from(holds.is_some() || !self.is_whole_filter());
        self.true_candles += u64::from(holds == Some(true));
        self.unknown_candles += u64::from(holds.is_none() && !self.is_whole_filter());
    }
}

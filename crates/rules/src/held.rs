//! How often the conditions of a bot held, each part alone: what a person needs who has a rule that never fires.

use candlewick_sdk::{BotContext, BuildError, Candle, ConditionSide, LongerCandles, Registry, Strategy};
use serde_json::Value;

/// How often a condition of a strategy, or a part of one, held. Behind each stand its parts, one deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldCondition {
    /// The part or filter of a combination that has it, behind those that it is inside of: `dip`, `outer.dip`; empty where the bot's
    /// strategy has it itself.
    pub part: String,
    /// What it decides.
    pub side: ConditionSide,
    /// 0 for the whole condition, 1 for what `and` or `or` joins in it, 2 for what is joined in one of those.
    pub depth: usize,
    /// What it says, in the words of the rule.
    pub text: String,
    /// How many candles were looked at: those from the end of the warm-up on, and of them, for a filter, those with a signal.
    pub candles: u64,
    /// On how many of them it held.
    pub held: u64,
    /// On how many it was not known, because a number was missing.
    pub unknown: u64,
    /// Of what a rule sells at, on how many candles its buy held as well: there the buy counts.
    pub beside_buy: u64,
}

/// Counts on which candles each condition of a bot's strategy held: of a rule, or of a combination and the rules inside it. Nothing where
/// the strategy says none.
///
/// # Errors
/// As [`StrategyEntry::build`](candlewick_sdk::StrategyEntry::build).
pub fn held_conditions(
    registry: &Registry,
    (strategy, params): (&str, &Value),
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Vec<HeldCondition>, BuildError> {
    let Some(entry) = registry.find(strategy) else { return Ok(Vec::new()) };
    let mut shown: Box<dyn Strategy> = entry.build_explained(params, bot)?;
    let new = |one: &candlewick_sdk::Condition<'_>| HeldCondition {
        part: one.part.to_string(),
        side: one.side,
        depth: one.depth,
        text: one.text.to_owned(),
        candles: 0,
        held: 0,
        unknown: 0,
        beside_buy: 0,
    };
    let mut counted: Vec<HeldCondition> = shown.conditions().iter().map(new).collect();
    if counted.is_empty() {
        return Ok(counted);
    }
    let pairs = pairs(&counted);
    let longer = LongerCandles::of_bot(bot, shown.longer_intervals());
    let mut longer = longer.map_err(|error| BuildError::parameters(strategy, error.to_string()))?;
    // A part is looked at where the whole may be traded.
    let warmup = shown.warmup();
    for (place, candle) in candles.iter().enumerate() {
        longer.show_ended(candle, &mut *shown);
        shown.on_candle(candle);
        if place + 1 >= warmup {
            let conditions = shown.conditions();
            counted.iter_mut().zip(&conditions).for_each(|(count, one)| count.take(one.holds));
            let holds = |place: usize| conditions.get(place).is_some_and(|one| one.holds == Some(true));
            for (buy, sell) in &pairs {
                counted[*sell].beside_buy += u64::from(holds(*buy) && holds(*sell));
            }
        }
        longer.show(candle, &mut *shown);
    }
    Ok(counted)
}

/// The places of what one rule buys and sells at.
fn pairs(counted: &[HeldCondition]) -> Vec<(usize, usize)> {
    let whole = |side: ConditionSide| {
        counted.iter().enumerate().filter(move |(_, one)| one.depth == 0 && one.side == side)
    };
    let buy_of = |part: &str| whole(ConditionSide::Buy).find(|(_, buy)| buy.part == part);
    let sells = whole(ConditionSide::Sell);
    sells.filter_map(|(sell, one)| buy_of(&one.part).map(|(buy, _)| (buy, sell))).collect()
}

impl HeldCondition {
    /// Whether it tells what a filter makes of a signal.
    pub fn is_of_signals(&self) -> bool {
        self.side == ConditionSide::Filter && self.depth == 0
    }

    /// One more candle, and how it stood.
    fn take(&mut self, holds: Option<bool>) {
        // A filter is asked where there is a signal.
        self.candles += u64::from(holds.is_some() || !self.is_of_signals());
        self.held += u64::from(holds == Some(true));
        self.unknown += u64::from(holds.is_none() && !self.is_of_signals());
    }
}

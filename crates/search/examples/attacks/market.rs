//! Markets without an edge, and bots that trade them.

use candlewick_engine::{JudgedTrade, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use std::ops::Range;

/// UTC days since 1970.
pub(crate) type Days = Range<i64>;

const SLOTS_PER_DAY: i64 = 96;
const SLOT: Millis = Millis::from_seconds(900);

/// `SplitMix64` of G. Steele, D. Lea and C. Flood (2014), which gives the same numbers on every machine.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64, stream: u64) -> Self {
        Self(scramble(seed ^ scramble(stream)))
    }

    pub(crate) const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    pub(crate) const fn below(&mut self, count: usize) -> usize {
        (self.number() % count as u64) as usize
    }
}

const fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

const fn to_uniform(number: u64) -> f64 {
    (number >> 11) as f64 / (1_u64 << 53) as f64
}

/// Prices that no one can predict. A trade in either direction wins with the break-even probability of the payout.
pub(crate) struct Market {
    seed: u64,
    payout: Payout,
    /// Probability that a symbol moves like the market. Its square, 0.2 to 0.9, is the correlation of two symbols.
    common_share: f64,
}

impl Market {
    /// Creates a market with a payout of 60, 70, 80, 90 or 100 %.
    pub(crate) fn new(dice: &mut Dice, payout: u64) -> Self {
        let payout = Payout::from_parts((60 + 10 * payout as u32 % 50) * 10_000).expect("at most 100 %");
        let common_share = (0.2 + 0.7 * to_uniform(dice.number())).sqrt();
        Self { seed: dice.number(), payout, common_share }
    }

    /// Returns a uniformly distributed number that is lower the more the price rises within `duration` slots.
    fn fall(&self, symbol: usize, slot: i64, duration: i64) -> f64 {
        let market = scramble(self.seed ^ (64 * slot + duration) as u64);
        let own = scramble(market.wrapping_add(1 + symbol as u64));
        to_uniform(if to_uniform(own) < self.common_share { market } else { scramble(own) })
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Direction {
    #[default]
    Up,
    /// The direction of the slot that many slots before.
    Echo(i64),
    /// A random direction, which depends on a seed.
    Coin(u64),
}

/// Rule of a bot. Each `skipped` field has a bit for each value at which the bot does not trade.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bot {
    pub(crate) symbols: Range<usize>,
    pub(crate) direction: Direction,
    pub(crate) is_inverted: bool,
    pub(crate) skipped_hours: u32,
    pub(crate) skipped_weekdays: u32,
    pub(crate) skipped_parities: u32,
    /// Stake levels 0 to 3: the number of slots in a row that a buyer lost before the trade.
    pub(crate) skipped_stakes: u32,
    /// Price levels 0 to 3: the number of the last three slots in which the price rose.
    pub(crate) skipped_prices: u32,
    /// Duration of a trade in slots. Trades start at multiples of it.
    pub(crate) duration: i64,
}

impl Bot {
    pub(crate) fn new(symbols: Range<usize>) -> Self {
        Self { symbols, duration: 1, ..Self::default() }
    }

    /// Draws a bot that trades one of four symbols about 700 times on 29 days.
    pub(crate) fn random(dice: &mut Dice) -> Self {
        let symbol = dice.below(4);
        let direction = match dice.below(3) {
            0 => Direction::Up,
            1 => Direction::Echo(1 + dice.below(32) as i64),
            _ => Direction::Coin(dice.number()),
        };
        let (duration, skipped_weekdays) = (1 + dice.below(2) as i64, 1 << dice.below(7));
        let bot = Self::new(symbol..symbol + 1).with_hours(dice.below(24), 6 + dice.below(9));
        Self { direction, duration, skipped_weekdays, is_inverted: dice.below(2) == 0, ..bot }
    }

    /// Restricts the bot to `count` hours of the day, from the hour `first`.
    pub(crate) fn with_hours(self, first: usize, count: usize) -> Self {
        let hours = (first..first + count).fold(0_u32, |hours, hour| hours | (1 << (hour % 24)));
        Self { skipped_hours: !hours, ..self }
    }

    /// Returns whether the trade at a slot wins, `None` if the bot does not trade.
    fn result(&self, market: &Market, symbol: usize, slot: i64) -> Option<bool> {
        let (day, slot_of_day) = (slot / SLOTS_PER_DAY, slot % SLOTS_PER_DAY);
        let rose = |back: &i64| market.fall(symbol, slot - back, 1) < 0.5;
        let allows = |skipped: u32, value: i64| (skipped >> value) & 1 == 0;
        let is_traded = slot % self.duration == 0
            // Every trade ends on its day, so results on earlier days never change.
            && slot_of_day + self.duration <= SLOTS_PER_DAY
            && allows(self.skipped_hours, slot_of_day * 24 / SLOTS_PER_DAY)
            && allows(self.skipped_weekdays, day % 7)
            && allows(self.skipped_parities, day % 2)
            && allows(self.skipped_stakes, (1..4).take_while(|back| !rose(back)).count() as i64)
            && allows(self.skipped_prices, (1..4).filter(rose).count() as i64);
        is_traded.then(|| {
            let is_up = match self.direction {
                Direction::Up => true,
                Direction::Echo(slots) => rose(&slots),
                Direction::Coin(seed) => scramble(seed.wrapping_add(slot as u64)) & 1 == 1,
            };
            let fall = market.fall(symbol, slot, self.duration);
            let rank = if is_up == self.is_inverted { 1.0 - fall } else { fall };
            rank < 1.0 / (1.0 + market.payout.to_fraction())
        })
    }

    /// Returns all trades, in the order of decisions.
    pub(crate) fn trades(&self, market: &Market, days: &Days) -> Vec<JudgedTrade> {
        let slots = days.start * SLOTS_PER_DAY..days.end * SLOTS_PER_DAY;
        let trade = |(slot, symbol): (i64, usize)| {
            let outcome = if self.result(market, symbol, slot)? { Outcome::Won } else { Outcome::Lost };
            let (symbol, decided) = (SymbolId::new(symbol)?, SLOT * slot);
            let (answered, payout) = (Some(decided), Some(market.payout));
            let ended = Some((decided + SLOT * self.duration, outcome));
            Some(JudgedTrade { symbol, decided, answered, payout, ended, sequence: None })
        };
        let moments = slots.flat_map(|slot| self.symbols.clone().map(move |symbol| (slot, symbol)));
        moments.filter_map(trade).collect()
    }

    /// Returns the excess of wins over losses, in standard errors.
    pub(crate) fn score(&self, market: &Market, days: &Days) -> f64 {
        let trades = self.trades(market, days);
        let is_won = |trade: &&JudgedTrade| trade.ended.is_some_and(|(_, outcome)| outcome == Outcome::Won);
        let losses = trades.len() - trades.iter().filter(is_won).count();
        (trades.len() as f64 - 2.0 * losses as f64) / (trades.len() as f64).sqrt().max(1.0)
    }
}

//! Random walk of the price in whole ticks, with twelve steps per minute.

use super::price_model::{ExpectedMove, PriceModel};
use super::{Dice, GenerateSettings, activity};
use crate::AssetType;
use candlewick_sdk::{Interval, Millis, Ohlcv};

/// Share of one-minute candles that close at their open, as in forex markets.
const TIE_SHARE: f64 = 0.045;
/// Standard deviation of the weekend gap, as a multiple of the standard deviation of a one-minute move.
const WEEKEND_GAP_DEVIATION: f64 = 20.0;
/// Standard deviation of wick lengths, as a multiple of the standard deviation of a price step.
const WICK_DEVIATION: f64 = 0.4;
const MAX_PRICE_RATIO: i64 = 8;

pub(super) struct Walk {
    asset_type: AssetType,
    tick: Tick,
    volatility: f64,
    dice: Dice,
    model: PriceModel,
    home: i64,
    price: i64,
    market_was_closed: bool,
}

impl Walk {
    pub(super) fn new(settings: &GenerateSettings, tick: Tick) -> Self {
        let home = tick.to_ticks(settings.start_price);
        Self {
            asset_type: settings.asset_type,
            tick,
            volatility: settings.volatility,
            dice: Dice::new(settings.symbol, settings.seed),
            model: PriceModel::new(settings.regime, home as f64),
            home,
            price: home,
            market_was_closed: false,
        }
    }

    pub(super) fn close_market(&mut self) {
        self.market_was_closed = true;
    }

    pub(super) fn next_minute(&mut self, minute: Millis) -> [Ohlcv; STEPS_PER_MINUTE] {
        let usual = self.price as f64 * self.volatility * activity(self.asset_type, minute);
        if self.market_was_closed {
            self.market_was_closed = false;
            let jump = self.dice.normal() * usual * WEEKEND_GAP_DEVIATION;
            self.price = self.clamp_price(self.price as f64 + jump);
            self.model.reset();
        }
        let expected = self.model.expected_move(self.price as f64, usual, &mut self.dice);
        let average = self.price as f64 * self.volatility;
        let planned = self.model.planned_closes(self.price, average, self.asset_type, minute, &mut self.dice);
        let closes = match planned {
            Some(closes) => closes.map(|ticks| self.clamp_price(ticks as f64)),
            None => self.draw_closes(expected),
        };
        let step_deviation = expected.deviation / (STEPS_PER_MINUTE as f64).sqrt();
        let liveliness = expected.deviation / (self.price as f64 * self.volatility);
        closes.map(|close| {
            let open = self.price;
            self.price = close;
            let high = open.max(close) + self.draw_wick(step_deviation);
            let low = (open.min(close) - self.draw_wick(step_deviation)).max(1);
            let moved = (close - open).abs() as f64 / step_deviation;
            Ohlcv {
                open: self.tick.to_price(open),
                high: self.tick.to_price(high),
                low: self.tick.to_price(low),
                close: self.tick.to_price(close),
                volume: self.draw_volume(liveliness, moved),
            }
        })
    }

    /// Draws the closes of the next minute's price steps. With probability [`TIE_SHARE`], the last equals the open.
    fn draw_closes(&mut self, expected: ExpectedMove) -> [i64; STEPS_PER_MINUTE] {
        let is_tie = self.dice.uniform() < TIE_SHARE;
        let steps = STEPS_PER_MINUTE as f64;
        let (step_drift, step_deviation) = (expected.drift / steps, expected.deviation / steps.sqrt());
        let mut moved = 0.0;
        let path: [f64; STEPS_PER_MINUTE] = std::array::from_fn(|_| {
            moved += step_drift + step_deviation * self.dice.normal();
            moved
        });
        let bend = if is_tie { moved / steps } else { 0.0 };
        let start = self.price as f64;
        let mut closes: [i64; STEPS_PER_MINUTE] =
            std::array::from_fn(|index| self.clamp_price(start + path[index] - bend * (index + 1) as f64));
        let last = &mut closes[STEPS_PER_MINUTE - 1];
        if is_tie {
            *last = self.price;
        } else if *last == self.price {
            *last += if moved < 0.0 { -1 } else { 1 };
        }
        self.model.update_volatility((moved - expected.drift) / expected.deviation);
        closes
    }

    fn draw_wick(&mut self, step_deviation: f64) -> i64 {
        (self.dice.normal().abs() * step_deviation * WICK_DEVIATION) as i64
    }

    /// Draws a whole-number volume: quote currency for crypto, otherwise tick volume (number of price changes).
    fn draw_volume(&mut self, liveliness: f64, moved: f64) -> f64 {
        let usual = match self.asset_type {
            AssetType::Crypto => 90_000.0,
            AssetType::Forex | AssetType::Otc => 9.0,
        };
        // The random number is squared, so that a few volumes are much larger than the others.
        let luck = self.dice.uniform();
        (usual * liveliness * (0.4 + moved) * (0.2 + 2.4 * luck * luck)).round().max(1.0)
    }

    fn clamp_price(&self, ticks: f64) -> i64 {
        (ticks.round() as i64).clamp(self.home / MAX_PRICE_RATIO, self.home * MAX_PRICE_RATIO)
    }
}

const STEP_SECONDS: usize = 5;
pub(super) const STEPS_PER_MINUTE: usize = 60 / STEP_SECONDS;

pub(super) fn step_interval() -> Interval {
    Interval::from_seconds(STEP_SECONDS as i64).expect("the step is a valid interval")
}

/// Tick size as an integer ratio, to avoid rounding errors: 3 ticks of 0.1 are `0.3`, not `0.30000000000000004`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tick {
    numerator: u64,
    denominator: u64,
}

const MAX_DECIMALS: u32 = 8;
const MAX_TICK: f64 = 1e6;

impl Tick {
    /// Converts a tick size. Returns `None` if it is outside `(0, 1e6]` or has more than eight decimals.
    pub(super) fn from_step(step: f64) -> Option<Self> {
        if !(step > 0.0 && step <= MAX_TICK) {
            return None;
        }
        (0..=MAX_DECIMALS).find_map(|decimals| {
            let denominator = 10_u64.pow(decimals);
            let numerator = (step * denominator as f64).round();
            (numerator >= 1.0 && numerator / denominator as f64 == step)
                .then_some(Self { numerator: numerator as u64, denominator })
        })
    }

    pub(super) fn to_ticks(self, price: f64) -> i64 {
        (price * self.denominator as f64 / self.numerator as f64).round() as i64
    }

    pub(super) fn to_price(self, ticks: i64) -> f64 {
        (ticks as f64 * self.numerator as f64) / self.denominator as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_print_without_artefacts() {
        for (step, ticks, printed) in [
            (0.01, 9_500_003, "95000.03"),
            (0.000_01, 117_003, "1.17003"),
            (0.25, 3, "0.75"),
            (0.1, 3, "0.3"),
            (5.0, 19_001, "95005"),
            (1e-8, 7, "0.00000007"),
        ] {
            let tick = Tick::from_step(step).unwrap();
            let price = tick.to_price(ticks);
            assert_eq!((price.to_string().as_str(), tick.to_ticks(price)), (printed, ticks));
        }
    }
}

//! Settings of the generator and their valid ranges.

use super::regime::Regime;
use super::step::step_interval;
use super::tick::Tick;
use crate::{AssetType, HistoryError, KnownMarket};
use candlewick_sdk::{Interval, Millis, Symbol};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GenerateSettings {
    /// Symbol. Part of the seed: other symbols have independent prices.
    pub symbol: Symbol,
    pub asset_type: AssetType,
    /// Candle interval, a multiple of 5 s. Candles of all intervals agree.
    pub interval: Interval,
    /// Open time of the first candle, aligned to whole minutes and to the interval.
    pub start: Millis,
    pub days: u32,
    /// Number of days at the end to return, `None` for all.
    pub last_days: Option<u32>,
    pub seed: u64,
    /// Tick size, such as 0.01, with at most eight decimals.
    pub tick: f64,
    pub start_price: f64,
    /// Standard deviation of an average minute's move, as a fraction of the price.
    pub volatility: f64,
    pub regime: Regime,
}

pub(super) struct Checked {
    pub(super) step: Interval,
    pub(super) tick: Tick,
    pub(super) kept_from: Millis,
    pub(super) end: Millis,
}

const MAX_DAYS: u32 = 36_600;
const MAX_CANDLES: i64 = 50_000_000;
const MAX_VOLATILITY: f64 = 0.05;
/// Valid prices in ticks: many enough for movement, few enough to be exact.
const PRICE_TICKS: std::ops::RangeInclusive<f64> = 1e3..=1e11;

impl GenerateSettings {
    pub fn of_market(symbol: Symbol, market: KnownMarket, start: Millis, days: u32) -> Self {
        Self {
            symbol,
            asset_type: market.asset_type,
            interval: Interval::MINUTE,
            start,
            days,
            last_days: None,
            seed: 1,
            tick: market.tick,
            start_price: market.usual_price,
            volatility: market.volatility,
            regime: Regime::Mixed,
        }
    }

    pub(super) fn check(&self) -> Result<Checked, HistoryError> {
        let fail = |setting, problem| Err(HistoryError::InvalidSetting { setting, problem });
        let Self { days, start, interval, volatility, start_price, .. } = *self;
        if !(1..=MAX_DAYS).contains(&days) {
            return fail("days", format!("{days} is not within 1 to {MAX_DAYS}"));
        }
        let last_days = self.last_days.unwrap_or(days);
        if !(1..=days).contains(&last_days) {
            return fail("last-days", format!("{last_days} is not within 1 to {days}"));
        }
        let step = step_interval();
        if !interval.length().is_aligned_to(step.length()) {
            return fail("interval", format!("{interval} is not a multiple of {step}"));
        }
        for grid in [Interval::MINUTE, interval] {
            if !start.is_aligned_to(grid.length()) {
                return fail("start", format!("{start} is not aligned to {grid}"));
            }
        }
        let count = i64::from(last_days) * Millis::DAY.get() / interval.length().get();
        if count > MAX_CANDLES {
            let advice = "take fewer days or a longer interval";
            return fail(
                "days",
                format!("{count} candles of {interval} are more than {MAX_CANDLES}; {advice}"),
            );
        }
        let Some(tick) = Tick::from_step(self.tick) else {
            let range = "a decimal step from 0.00000001 to 1000000";
            return fail("tick", format!("{} is not {range}", self.tick));
        };
        let ticks = start_price / self.tick;
        if !PRICE_TICKS.contains(&ticks) {
            let (least, most) = (PRICE_TICKS.start(), PRICE_TICKS.end());
            return fail(
                "price",
                format!("{start_price} is not within {least} to {most} ticks of {}", self.tick),
            );
        }
        if !(volatility > 0.0 && volatility <= MAX_VOLATILITY) {
            return fail("volatility", format!("{volatility} is not above 0 and at most {MAX_VOLATILITY}"));
        }
        if let Some(problem) = self.regime.problem(start) {
            return fail("regime", problem);
        }
        let end = start + Millis::DAY * i64::from(days);
        let kept_from = end - Millis::DAY * i64::from(last_days);
        Ok(Checked { step, tick, kept_from, end })
    }
}

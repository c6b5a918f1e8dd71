//! Audits market data: detects revised candles, and compares polled prices with candles.

use super::{Audit, Finding};
use candlewick_sdk::{Candle, Interval, Millis, Series, Symbol};
use std::collections::{BTreeMap, VecDeque};

const MAX_PRICES_PER_SYMBOL: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct PriceAudit {
    polled: BTreeMap<Symbol, VecDeque<(Millis, f64)>>,
}

impl PriceAudit {
    pub(crate) fn record_price(&mut self, symbol: Symbol, time: Millis, price: f64) {
        let polled = self.polled.entry(symbol).or_default();
        if polled.back().is_some_and(|(last, _)| *last >= time) {
            return;
        }
        if polled.len() == MAX_PRICES_PER_SYMBOL {
            polled.pop_front();
        }
        polled.push_back((time, price));
    }

    /// Returns the number of polled prices during the candle, and a finding for each price outside the candle's range.
    pub(crate) fn check(&self, series: Series, candle: &Candle) -> (usize, Vec<Finding>) {
        let Some(polled) = self.polled.get(&series.symbol) else { return (0, Vec::new()) };
        let (low, high) = (candle.low() * (1.0 - 1e-6), candle.high() * (1.0 + 1e-6));
        let end = candle.close_time(series.interval);
        // A price record covers 1 s. A record that crosses the candle's end also belongs to the next candle.
        let within = |time: Millis| time >= candle.time() && time + Interval::SECOND.length() <= end;
        let own: Vec<_> = polled.iter().filter(|(time, _)| within(*time)).collect();
        let outside = own.iter().filter(|(_, price)| *price < low || *price > high);
        let finding = |(time, price): &&&(Millis, f64)| {
            let text = format!(
                "the price {price} of {} at {time} is outside the range of the {} candle at {} ({} to {})",
                series.symbol,
                series.interval,
                candle.time(),
                candle.low(),
                candle.high()
            );
            Finding::note(Audit::Price, text)
        };
        (own.len(), outside.map(|row| finding(&row)).collect())
    }
}

const MAX_CANDLES_PER_SERIES: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct RevisionAudit {
    first: BTreeMap<(Millis, candlewick_sdk::Symbol), VecDeque<Candle>>,
}

impl RevisionAudit {
    pub(crate) fn check(&mut self, series: Series, candles: &[Candle]) -> (usize, Vec<Finding>) {
        let first = self.first.entry((series.interval.length(), series.symbol)).or_default();
        let (mut seen, mut findings) = (0, Vec::new());
        for candle in candles {
            if let Some(known) = first.iter_mut().find(|known| known.time() == candle.time()) {
                seen += 1;
                if known != candle {
                    let text = format!(
                        "{series}: the candle at {} changed from {} to {}. Earlier decisions are not revised",
                        candle.time(),
                        describe_ohlc(known),
                        describe_ohlc(candle)
                    );
                    findings.push(Finding::note(Audit::Revision, text));
                    *known = *candle;
                }
            } else if first.back().is_none_or(|last| last.time() < candle.time()) {
                if first.len() == MAX_CANDLES_PER_SERIES {
                    first.pop_front();
                }
                first.push_back(*candle);
            }
        }
        (seen, findings)
    }
}

fn describe_ohlc(candle: &Candle) -> String {
    let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
    format!("{open}/{high}/{low}/{close}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

    #[test]
    fn finds_polled_prices_outside_their_candle() {
        let mut audit = PriceAudit::default();
        for (time, price) in [(59_000, 500.0), (60_000, 1.0), (61_000, 9.1), (90_000, 0.9), (119_500, 7.0)] {
            audit.record_price(series().symbol, Millis::new(time), price);
        }
        let (checked, findings) = audit.check(series(), &candle(1, 5.0));
        assert_eq!((checked, findings.len()), (3, 2), "{findings:?}");
        assert!(findings[0].text.contains("9.1") && findings[1].text.contains("0.9"));
    }

    fn series() -> Series {
        Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE }
    }

    fn candle(minute: i64, close: f64) -> Candle {
        let numbers = Ohlcv { open: 5.0, high: 9.0, low: 1.0, close, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    #[test]
    fn reports_each_candle_revision_once() {
        let mut audit = RevisionAudit::default();
        let mut take = |candles: &[Candle]| {
            let (seen, findings) = audit.check(series(), candles);
            (seen, findings.len())
        };
        assert_eq!(take(&[candle(1, 2.0), candle(2, 3.0)]), (0, 0));
        assert_eq!(take(&[candle(2, 3.0), candle(3, 4.0)]), (1, 0));
        assert_eq!(take(&[candle(2, 3.5), candle(3, 4.0)]), (2, 1));
        assert_eq!(take(&[candle(2, 3.5)]), (1, 0));
        assert_eq!(take(&[candle(0, 1.0)]), (0, 0));
    }
}

//! Audit of revised candles. Decisions based on the first values are not reversed.

use super::{Audit, Finding};
use candlewick_sdk::{Candle, Millis, Series};
use std::collections::{BTreeMap, VecDeque};

/// Number of remembered candles per series.
const KEPT: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct RevisionAudit {
    first: BTreeMap<(Millis, candlewick_sdk::Symbol), VecDeque<Candle>>,
}

impl RevisionAudit {
    pub(crate) fn take(&mut self, series: Series, candles: &[Candle]) -> (usize, Vec<Finding>) {
        let first = self.first.entry((series.interval.length(), series.symbol)).or_default();
        let (mut seen, mut findings) = (0, Vec::new());
        for candle in candles {
            if let Some(known) = first.iter_mut().find(|known| known.time() == candle.time()) {
                seen += 1;
                if known != candle {
                    let text = format!(
                        "{series}: the candle of {} was {} and is {} now; what was decided on it stands",
                        candle.time(),
                        described(known),
                        described(candle)
                    );
                    findings.push(Finding::note(Audit::Revision, text));
                    // Reported once for each change.
                    *known = *candle;
                }
            } else if first.back().is_none_or(|last| last.time() < candle.time()) {
                if first.len() == KEPT {
                    first.pop_front();
                }
                first.push_back(*candle);
            }
        }
        (seen, findings)
    }
}

fn described(candle: &Candle) -> String {
    let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
    format!("{open}/{high}/{low}/{close}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    fn candle(minute: i64, close: f64) -> Candle {
        let numbers = Ohlcv { open: 5.0, high: 9.0, low: 1.0, close, volume: 0.0 };
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
    }

    #[test]
    fn a_candle_that_changes_is_told_once_for_each_change() {
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let mut audit = RevisionAudit::default();
        let mut take = |candles: &[Candle]| {
            let (seen, findings) = audit.take(series, candles);
            (seen, findings.len())
        };
        assert_eq!(take(&[candle(1, 2.0), candle(2, 3.0)]), (0, 0));
        assert_eq!(take(&[candle(2, 3.0), candle(3, 4.0)]), (1, 0));
        assert_eq!(take(&[candle(2, 3.5), candle(3, 4.0)]), (2, 1));
        assert_eq!(take(&[candle(2, 3.5)]), (1, 0));
        // One that was never seen and is older than all is no news.
        assert_eq!(take(&[candle(0, 1.0)]), (0, 0));
    }
}

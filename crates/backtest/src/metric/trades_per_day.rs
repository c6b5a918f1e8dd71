//! Trading frequency.

use candlewick_sdk::Millis;
use std::ops::Range;

pub fn trades_per_day(settled: usize, span: &Range<Millis>) -> Option<f64> {
    let days = (span.end - span.start).get() as f64 / Millis::DAY.get() as f64;
    (days > 0.0).then(|| settled as f64 / days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trades_are_counted_by_the_day() {
        for (settled, hours, expected) in [(12, 12, Some(24.0)), (0, 24, Some(0.0)), (5, 0, None)] {
            assert_eq!(trades_per_day(settled, &(Millis::ZERO..Millis::HOUR * hours)), expected);
        }
    }
}

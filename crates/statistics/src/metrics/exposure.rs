//! Exposure: the share of time with an open trade.

use crate::StatisticsError;

/// Half-open time range of a trade, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTime {
    pub from_ms: i64,
    pub until_ms: i64,
}

/// Returns the share of `span` during which at least one trade was open.
///
/// Overlapping trades count once, and time outside the span does not count.
pub fn exposure(trades: &[OpenTime], span: OpenTime) -> Result<f64, StatisticsError> {
    if span.until_ms <= span.from_ms {
        return Err(StatisticsError::TooFew { what: "milliseconds of the span", found: 0, needed: 1 });
    }
    let mut times: Vec<OpenTime> = trades
        .iter()
        .map(|time| OpenTime {
            from_ms: time.from_ms.max(span.from_ms),
            until_ms: time.until_ms.min(span.until_ms),
        })
        .collect();
    times.sort_unstable_by_key(|time| time.from_ms);
    let (mut open_ms, mut covered_until) = (0_u64, span.from_ms);
    for time in times {
        let from = time.from_ms.max(covered_until);
        if time.until_ms > from {
            open_ms += time.until_ms.abs_diff(from);
            covered_until = time.until_ms;
        }
    }
    Ok(open_ms as f64 / span.until_ms.abs_diff(span.from_ms) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn time(from_ms: i64, until_ms: i64) -> OpenTime {
        OpenTime { from_ms, until_ms }
    }

    #[test]
    fn overlap_counts_once_and_the_outside_not_at_all() {
        for (trades, expected) in [
            (&[] as &[OpenTime], 0.0),
            (&[time(0, 50)], 0.5),
            (&[time(10, 30), time(20, 40)], 0.3),
            (&[time(20, 30), time(10, 60), time(55, 60)], 0.5),
            (&[time(-50, 10), time(90, 500), time(300, 400)], 0.2),
            (&[time(i64::MIN, i64::MAX)], 1.0),
            (&[time(30, 30), time(40, 20)], 0.0),
        ] {
            assert_eq!(exposure(trades, time(0, 100)), Ok(expected), "{trades:?}");
        }
        assert!(exposure(&[], time(5, 5)).is_err());
    }
}

//! Finding: a strategy read longer candles that were out of date.

use super::{Finding, FindingKind, Severity, StaleLonger};
use crate::figure::span;
use std::fmt::Write as _;

/// Share of candles above which the result is not that of the rule.
const SERIOUS: f64 = 0.01;

pub(super) fn find(stale: &[StaleLonger]) -> Option<Finding> {
    let share = |one: &StaleLonger| one.staleness.stale as f64 / one.staleness.candles.max(1) as f64;
    let worst = stale.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let severity = if share(worst) > SERIOUS { Severity::Serious } else { Severity::Info };
    let mut text = String::new();
    for one in stale {
        let StaleLonger { bot, interval, staleness } = one;
        let _ = write!(
            text,
            "{bot} read an old {interval} candle at {:.1} % of its candles, up to {} after its close. ",
            share(one) * 100.0,
            span(staleness.oldest)
        );
    }
    text.push_str(
        "The newer ones were not built, because too many shorter candles are missing. data.longer_share_percent sets how many are needed.",
    );
    Some(Finding { kind: FindingKind::StaleLongerCandles, severity, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Millis, Staleness};

    fn stale(stale: u64, candles: u64) -> StaleLonger {
        StaleLonger {
            bot: "a".to_owned(),
            interval: "1h".parse().unwrap(),
            staleness: Staleness { candles, stale, oldest: Millis::HOUR * 7 },
        }
    }

    #[test]
    fn more_than_a_hundredth_is_serious() {
        for (count, expected) in [(10, Severity::Info), (11, Severity::Serious), (900, Severity::Serious)] {
            assert_eq!(find(&[stale(count, 1_000), stale(1, 1_000)]).unwrap().severity, expected, "{count}");
        }
        assert_eq!(find(&[]), None);
        let text = find(&[stale(580, 1_000)]).unwrap().text;
        let expected = "a read an old 1h candle at 58.0 % of its candles, up to 7.0 h after its close. ";
        assert!(text.starts_with(expected), "{text}");
    }
}

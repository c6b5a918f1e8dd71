//! How far our clock and the venue's differ, as far as answers can prove it.

use candlewick_api::Skew;
use candlewick_sdk::Millis;

/// A change smaller than this is not told.
const STEP: Millis = Millis::new(250);

/// Follows the certain part of the difference; the Session is told when it changes.
#[derive(Debug, Default)]
pub(crate) struct SkewWatch {
    told: Millis,
}

impl SkewWatch {
    /// Takes an answer's bounds; a new offset (ours minus theirs) when it is worth telling.
    pub(crate) fn take(&mut self, skew: Option<Skew>) -> Option<Millis> {
        let skew = skew?;
        let known = Millis::ZERO - self.told;
        if skew.low <= known && known <= skew.high {
            // The wide bounds of a slow answer take nothing back that a quick one has proved.
            return None;
        }
        let offset = Millis::ZERO - skew.certain();
        let changed = offset.abs_diff(self.told) >= STEP || offset == Millis::ZERO;
        if changed {
            self.told = offset;
        }
        changed.then_some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_certain_and_changed_difference_is_told() {
        let bounds = |low: i64, high: i64| Some(Skew { low: Millis::new(low), high: Millis::new(high) });
        let mut watch = SkewWatch::default();
        assert_eq!(watch.take(None), None);
        assert_eq!(watch.take(bounds(-300, 900)), None);
        assert_eq!(watch.take(bounds(3_000, 4_000)), Some(Millis::new(-3_000)));
        assert_eq!(watch.take(bounds(3_100, 4_000)), None);
        assert_eq!(watch.take(bounds(-1_000, 9_000)), None, "nothing speaks against 3,000");
        assert_eq!(watch.take(bounds(-900, 100)), Some(Millis::ZERO));
    }
}

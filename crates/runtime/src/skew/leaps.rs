//! Rate limit for reports of clock leaps.

use candlewick_sdk::Millis;

const QUIET: Millis = Millis::from_seconds(600);

#[derive(Debug, Default)]
pub(super) struct LeapLog {
    reported: Option<Millis>,
    omitted: u32,
    largest: Millis,
}

impl LeapLog {
    pub(super) fn describe(&mut self, by: Millis, now: Millis) -> Option<String> {
        if self.reported.is_some_and(|reported| now - reported < QUIET) {
            self.omitted += 1;
            self.largest = self.largest.max(by.abs_diff(Millis::ZERO));
            return None;
        }
        let Self { omitted, largest, .. } =
            std::mem::replace(self, Self { reported: Some(now), ..Self::default() });
        let earlier = match omitted {
            0 => String::new(),
            1 => format!("; 1 more leap since the last report, of {largest} ms"),
            more => format!("; {more} more leaps since the last report, up to {largest} ms"),
        };
        Some(format!("the venue's clock leapt by {by} ms against this machine's{earlier}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaps_in_quick_succession_are_counted_and_reported_together() {
        let mut log = LeapLog::default();
        let mut leap = |second: i64, by: i64| log.describe(Millis::new(by), Millis::from_seconds(second));
        let first = "the venue's clock leapt by 1373 ms against this machine's";
        assert_eq!(leap(0, 1_373).as_deref(), Some(first));
        assert_eq!(leap(5, -2_000), None);
        assert_eq!(leap(599, 900), None);
        let expected = format!("{first}; 2 more leaps since the last report, up to 2000 ms");
        assert_eq!(leap(600, 1_373), Some(expected));
        assert_eq!(leap(1_200, 1_373).as_deref(), Some(first));
    }
}

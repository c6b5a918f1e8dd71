//! Check of the clock skew, bounded by the dates of the venue's answers.

use super::finding::{Check, Finding};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{Reply, Skew};
use candlewick_sdk::Millis;

const SET_THE_CLOCK: &str = "set this machine's clock: `timedatectl set-ntp true`, or another NTP service";

pub(super) struct ClockSamples {
    clock: SystemClock,
    common: Option<Skew>,
    answers: usize,
    undated: usize,
}

impl ClockSamples {
    pub(super) fn new() -> Self {
        Self { clock: SystemClock::new(), common: None, answers: 0, undated: 0 }
    }

    pub(super) fn record<T>(&mut self, reply: &Reply<T>) {
        match reply.skew() {
            Some(skew) => self.add(skew),
            None => self.undated += 1,
        }
    }

    pub(super) fn venue_now(&self) -> Millis {
        let ahead = self.common.filter(|common| common.low <= common.high).map(Skew::certain);
        self.clock.now() + ahead.unwrap_or_default()
    }

    fn add(&mut self, skew: Skew) {
        self.answers += 1;
        self.common = Some(match self.common {
            Some(common) => Skew { low: common.low.max(skew.low), high: common.high.min(skew.high) },
            None => skew,
        });
    }
}

/// Compares the skew with `max_clock_skew_ms`; 0 allows any.
///
/// No trade is opened above this limit.
pub(super) fn check(samples: &ClockSamples, max_clock_skew_ms: u32) -> Finding {
    let allowed = Millis::new(i64::from(max_clock_skew_ms));
    match samples.common {
        None if samples.undated > 0 => Check::ClockSkew.warn(
            format!("not known: {} answers of the venue have no Date", samples.undated),
            "keep this machine's clock right by NTP",
        ),
        None => Check::ClockSkew.warn("not measured: no answer of the venue has come", "mend that"),
        Some(common) => judge(common, samples.answers, allowed),
    }
}

fn judge(common: Skew, answers: usize, allowed: Millis) -> Finding {
    let seconds = |span: Millis| format!("{:+.2} s", span.get() as f64 / 1_000.0);
    let Skew { low, high } = common;
    if low > high {
        let text = format!("{answers} answers contradict each other: a clock was moved between them");
        return Check::ClockSkew.warn(text, "look again; the venue's machines may disagree");
    }
    let text = format!("the venue's clock is {} to {} ahead of ours", seconds(low), seconds(high));
    let limit = format!("risk.max_clock_skew_ms allows {} ms", allowed.get());
    if allowed > Millis::ZERO && common.certain().abs_diff(Millis::ZERO) > allowed {
        return Check::ClockSkew.fail(format!("{text}; {limit}"), SET_THE_CLOCK);
    }
    if common.certain() != Millis::ZERO {
        return Check::ClockSkew.warn(format!("{text}; {limit}"), SET_THE_CLOCK);
    }
    Check::ClockSkew.ok(format!("{text}: they may agree; {limit}"))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;

    fn check_bounds(bounds: &[(i64, i64)], allowed: u32, mark: Mark, part: &str) {
        let mut samples = ClockSamples::new();
        for (low, high) in bounds {
            samples.add(Skew { low: Millis::new(*low), high: Millis::new(*high) });
        }
        let finding = check(&samples, allowed);
        assert!(finding.mark == mark && finding.text.contains(part), "{finding}");
    }

    #[test]
    fn only_a_certain_difference_counts_and_samples_narrow_it() {
        check_bounds(&[(-300, 900)], 2_000, Mark::Ok, "-0.30 s to +0.90 s");
        check_bounds(&[(-300, 900), (-100, 1_100)], 2_000, Mark::Ok, "-0.10 s to +0.90 s");
        check_bounds(&[(400, 1_500)], 2_000, Mark::Warn, "+0.40 s to +1.50 s");
        check_bounds(&[(2_000, 3_000)], 2_000, Mark::Warn, "allows 2000 ms");
        check_bounds(&[(2_001, 3_000)], 2_000, Mark::Fail, "+2.00 s to +3.00 s");
        check_bounds(&[(-9_000, -8_000)], 2_000, Mark::Fail, "-9.00 s to -8.00 s");
        check_bounds(&[(-9_000, -8_000)], 0, Mark::Warn, "-9.00 s");
        check_bounds(&[(0, 900), (5_000, 5_900)], 2_000, Mark::Warn, "contradict");
        check_bounds(&[], 2_000, Mark::Warn, "not measured");
    }

    #[test]
    fn venue_time_is_ours_where_the_clocks_may_agree() {
        let mut samples = ClockSamples::new();
        let before = samples.venue_now();
        samples.add(Skew { low: Millis::new(-300), high: Millis::new(900) });
        assert!(samples.venue_now() - before < Millis::MINUTE);
        samples = ClockSamples::new();
        samples.add(Skew { low: Millis::HOUR, high: Millis::HOUR + Millis::SECOND });
        assert!(samples.venue_now() - before >= Millis::HOUR);
    }
}

//! Price steps, one every five seconds.

use candlewick_sdk::Interval;

const STEP_SECONDS: usize = 5;
pub(super) const STEPS_PER_MINUTE: usize = 60 / STEP_SECONDS;

pub(super) fn step_interval() -> Interval {
    Interval::from_seconds(STEP_SECONDS as i64).expect("a few seconds are an interval")
}

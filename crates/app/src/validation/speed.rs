//! How long a strategy takes for a candle, beside one that does nothing.

use candlewick_broker::clock::Stopwatch;
use candlewick_sdk::testkit::{Check, Checked, Finding, Position, Subject, at_interval, random_walk};
use candlewick_sdk::{Candle, LongerCandles, Signal, Strategy};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The best of so many rounds counts: whatever else the machine does can only make a round longer.
const ROUNDS: usize = 5;
/// A round ends here at the latest.
const PATIENCE: Duration = Duration::from_millis(100);
/// Candles of a round.
const CANDLES: usize = 2_000;
/// Candles between two looks at the watch.
const STRIDE: usize = 16;
/// A year of minutes would take nine minutes.
const TOO_SLOW: Duration = Duration::from_millis(1);
/// A sweep of a thousand sets over a year of minutes would take three hours.
const SLOW: Duration = Duration::from_micros(20);

/// Time for a candle.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Speed {
    /// Of the strategy; nothing when it could not be run.
    pub candle: Option<Duration>,
    /// Of one that does nothing, in the same loop: the floor.
    pub floor: Duration,
}

/// Looks at nothing.
struct Idle;

impl Strategy for Idle {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        None
    }
}

impl Speed {
    /// Measures both in turn, on candles of its own: those of the other checks are nobody's to know yet.
    pub(super) fn of(subject: &Subject) -> Self {
        let candles = &at_interval(&random_walk(31, CANDLES), subject.bot.interval);
        let (mut best, mut floor) = (None, Duration::MAX);
        for _ in 0..ROUNDS {
            floor = floor.min(round(Box::new(Idle), LongerCandles::default(), candles));
            let Ok(strategy) = subject.build() else { continue };
            let longer = LongerCandles::of_bot(&subject.bot, strategy.longer_intervals());
            // A strategy that panics is caught by the other checks.
            let measure = || round(strategy, longer.unwrap_or_default(), candles);
            let Ok(taken) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(measure)) else { break };
            best = Some(best.unwrap_or(taken).min(taken));
        }
        Self { candle: best, floor }
    }

    /// Holds it to the limit.
    pub(super) fn checked(&self) -> Checked {
        let Some(candle) = self.candle else {
            return Check::Speed.found(Finding::NotRun, "it does not come to the end of the candles");
        };
        let floor = self.floor.as_nanos();
        let words =
            format!("{} ns a candle; a strategy that does nothing takes {floor} ns", candle.as_nanos());
        if candle > TOO_SLOW {
            let words =
                format!("{words}: more than {} ms, and so nothing else was checked", TOO_SLOW.as_millis());
            return Check::Speed.found(Finding::Failed, words);
        }
        let finding = if candle > SLOW { Finding::Noted } else { Finding::Passed };
        Check::Speed.found(finding, words)
    }
}

/// The mean time for a candle, of as many as there is patience for.
fn round(mut strategy: Box<dyn Strategy>, mut longer: LongerCandles, candles: &[Candle]) -> Duration {
    let watch = Stopwatch::start();
    let mut shown = 0_u32;
    for few in candles.chunks(STRIDE) {
        for candle in few {
            Position::record(shown as usize);
            std::hint::black_box(longer.show_candle(candle, &mut *strategy));
        }
        shown += few.len() as u32;
        if watch.elapsed() > PATIENCE {
            break;
        }
    }
    watch.elapsed() / shown.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_millisecond_is_too_long_and_twenty_microseconds_are_worth_knowing() {
        for (nanoseconds, expected) in [
            (Some(90), Finding::Passed),
            (Some(20_001), Finding::Noted),
            (Some(1_000_001), Finding::Failed),
            (None, Finding::NotRun),
        ] {
            let speed =
                Speed { candle: nanoseconds.map(Duration::from_nanos), floor: Duration::from_nanos(2) };
            assert_eq!(speed.checked().finding, expected, "{nanoseconds:?}");
        }
    }
}

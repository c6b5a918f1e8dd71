//! Time a strategy takes per candle, compared with one that does nothing.

use candlewick_broker::clock::Stopwatch;
use candlewick_sdk::testkit::{Check, Checked, Finding, Position, Subject, at_interval, random_walk};
use candlewick_sdk::{Candle, LongerCandles, Signal, Strategy};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Number of rounds. The fastest one counts, since other load can only slow a round down.
const ROUNDS: usize = 5;
const PATIENCE: Duration = Duration::from_millis(100);
const CANDLES: usize = 2_000;
const STRIDE: usize = 16;
/// At this rate a year of one-minute candles takes nine minutes.
const TOO_SLOW: Duration = Duration::from_millis(1);
/// At this rate a sweep of a thousand sets over a year of one-minute candles takes three hours.
const SLOW: Duration = Duration::from_micros(20);

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Speed {
    /// Time of the strategy per candle; `None` if it did not run to the end.
    pub candle: Option<Duration>,
    pub floor: Duration,
}

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
    /// Alternates between both strategies on candles that no other check shows.
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

//! The checks of `strategy check` as one call in a test.

use super::bot;
use super::validation::{Finding, FirstRun, Subject, Unseen, check_clock, synthetic_markets, validate};
use crate::{Millis, Registry, StrategyFactory};
use std::time::{SystemTime, UNIX_EPOCH};

/// Fixed seed, so that test results are reproducible.
pub(super) const UNSEEN: Unseen = Unseen { seed: 0x00CA_4D1E, candles: 5_000 };

/// Runs the checks of `strategy check` that need only one process.
///
/// Uses the same synthetic candles, for a bot on one-minute candles. Checks that the strategy can
/// be registered, and all of [`Check`](super::Check) except those that need other processes or the
/// system ([`Check::Files`](super::Check::Files), [`Check::Processes`](super::Check::Processes),
/// [`Check::Outside`](super::Check::Outside), [`Check::Speed`](super::Check::Speed)). Memory is
/// checked if the test has installed the [`CountingAllocator`](super::CountingAllocator).
///
/// The checks run in the test's process: a strategy that exits ends the test, and one that never
/// returns blocks it. `strategy check` runs them in a child process with a timeout.
///
/// For your own candles use [`conformance`](super::conformance).
///
/// # Panics
/// If a check fails, with all failed checks.
#[track_caller]
pub fn assert_passes_checks<S: StrategyFactory>(params: &S::Params) {
    if let Err(problem) = check::<S>(params) {
        panic!("{problem}");
    }
}

/// Checks that cargo runs the tests of this folder.
///
/// Call it as `assert_built_in(env!("CARGO_MANIFEST_DIR"))`. Of two packages with the same name and
/// target folder, cargo may run the tests of the other.
///
/// # Panics
/// If the folders differ, with both paths and a fix.
#[track_caller]
pub fn assert_built_in(folder: &str) {
    if let Some(problem) = crate::wrong_folder(folder) {
        panic!("{problem}");
    }
}

fn check<S: StrategyFactory>(params: &S::Params) -> Result<(), String> {
    Registry::default().with::<S>().map_err(|error| error.to_string())?;
    let subject = Subject::of::<S>(params, &bot("BTCUSDT")).map_err(|error| error.to_string())?;
    let markets = |warmup| synthetic_markets(&subject, warmup);
    let (first, markets) =
        FirstRun::new(&subject, markets, &mut || false).map_err(|error| error.to_string())?;
    let validation = validate(&subject, &markets, &first, UNSEEN, &mut |_| {})
        .map_err(|error| format!("{}: {error}", S::NAME))?;
    let clock = check_clock(&subject, &markets[0], now());
    let failed =
        validation.checked.iter().chain([&clock]).filter(|checked| checked.finding == Finding::Failed);
    let lines: Vec<String> =
        failed.map(|checked| format!("\n  {}: {}", checked.check, checked.words)).collect();
    if lines.is_empty() { Ok(()) } else { Err(format!("{} fails{}", S::NAME, lines.concat())) }
}

/// Returns the system time, which strategies must not read.
///
/// [`Check::Clock`](super::Check::Clock) feeds candles newer than this.
#[allow(
    clippy::disallowed_methods,
    reason = "a strategy that reads the clock is found only by comparing with it"
)]
fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::new(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Follows, Params, ReadsTheClock, Shares, message_of};
    use super::*;

    #[test]
    fn an_honest_strategy_passes() {
        assert_passes_checks::<Follows>(&Params { far: 3.0 });
    }

    #[test]
    fn what_fails_is_named() {
        let message = message_of(|| assert_passes_checks::<ReadsTheClock>(&Params { far: 1.0 }));
        assert!(message.starts_with("reads-the-clock fails\n  clock: at candle "), "{message}");
        let message = message_of(|| assert_passes_checks::<Follows>(&Params { far: 6.0 }));
        assert!(message.contains("far = 6 is outside 0 to 5"), "{message}");
    }

    #[test]
    fn state_that_all_instances_share_is_told_with_its_place_and_once() {
        let message = message_of(|| assert_passes_checks::<Shares>(&Params { far: 1.0 }));
        let line = |check: &str| {
            let begins = format!("  {check}: ");
            message
                .lines()
                .find_map(|line| line.strip_prefix(&begins))
                .unwrap_or_else(|| panic!("no {check} in {message}"))
        };
        let cure = "keep what it remembers in the fields of its struct, which build() makes anew for each bot and each run";
        assert!(line("determinism").contains(cure), "{message}");
        assert!(line("isolation").ends_with(cure), "{message}");
        for check in ["look-ahead", "warm-up", "restart"] {
            assert!(line(check).contains("mend determinism and isolation first"), "{message}");
        }
    }
}

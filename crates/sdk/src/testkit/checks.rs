//! Functions that run all checks of a strategy in one call.

use super::bot;
use super::validation::{
    Check, Finding, FirstRun, Market, Subject, UnseenWalk, ValidationError, check_clock, synthetic_markets,
    validate,
};
use crate::{BotContext, Candle, Millis, Registry, StrategyFactory};
use std::time::{SystemTime, UNIX_EPOCH};

/// Random walk with a fixed seed, so that test results are reproducible.
const UNSEEN_WALK: UnseenWalk = UnseenWalk { seed: 0x00CA_4D1E, candles: 5_000 };

/// Asserts that a strategy passes all checks that need only one process.
///
/// First checks that the strategy can be registered. Then runs each [`Check`] except `Files`, `Processes`, `Outside`
/// and `Speed` on synthetic one-minute candles. `Memory` requires that the test has installed the
/// [`CountingAllocator`](super::CountingAllocator). A strategy that exits the process ends the test, and an endless
/// loop blocks the test. Panics with a list of the failed checks. For your own candles, use [`check_conformance`].
#[track_caller]
pub fn assert_passes_checks<S: StrategyFactory>(params: &S::Params) {
    if let Err(problem) = check::<S>(params) {
        panic!("{problem}");
    }
}

/// Asserts that the running test was built from the package in `folder`.
/// Call this as `assert_built_from_folder(env!("CARGO_MANIFEST_DIR"))`. If two packages share a name and a target
/// folder, cargo may run the tests of the wrong package. The panic message then names both folders and suggests a fix.
#[track_caller]
pub fn assert_built_from_folder(folder: &str) {
    if let Some(problem) = crate::check_build_folder(folder) {
        panic!("{problem}");
    }
}

fn check<S: StrategyFactory>(params: &S::Params) -> Result<(), String> {
    Registry::default().with::<S>().map_err(|error| error.to_string())?;
    let subject = Subject::new::<S>(params, &bot("BTCUSDT")).map_err(|error| error.to_string())?;
    let markets = |warmup| synthetic_markets(&subject, warmup);
    let (first, markets) =
        FirstRun::new(&subject, markets, &mut || false).map_err(|error| error.to_string())?;
    let validation = validate(&subject, &markets, &first, UNSEEN_WALK, &mut |_| {})
        .map_err(|error| format!("{}: {error}", S::NAME))?;
    let clock = check_clock(&subject, &markets[0], now());
    let failed =
        validation.checked.iter().chain([&clock]).filter(|checked| checked.finding == Finding::Failed);
    let lines: Vec<String> =
        failed.map(|checked| format!("\n  {}: {}", checked.check, checked.words)).collect();
    if lines.is_empty() { Ok(()) } else { Err(format!("{} fails{}", S::NAME, lines.concat())) }
}

/// Returns the system time. [`Check::Clock`] feeds candles from before and after this time.
#[allow(
    clippy::disallowed_methods,
    reason = "only a comparison with the clock reveals a strategy that reads it"
)]
fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::new(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Violation of the rules for strategies. Messages count candles from 0.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The strategy cannot be built, or there are too few candles for its warm-up.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// A check failed.
    #[error("{check}: {explanation}")]
    Failed {
        /// The failed check.
        check: Check,
        /// Explanation of the failure, without a final period.
        explanation: String,
    },
}

/// Runs all checks of [`validate`] and returns the number of signals.
/// `candles` must have the bot's interval. Their number must be at least twice the warm-up plus 100. Fails with
/// [`ConformanceError`], which describes the first failed check. For the result of every check, call [`validate`].
pub fn check_conformance<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<usize, ConformanceError> {
    let subject = Subject::new::<S>(params, bot).map_err(ValidationError::from)?;
    let market = Market { name: "the candles".to_owned(), candles: candles.to_vec() };
    let (first, markets) = FirstRun::new(&subject, |_| vec![market], &mut || false)?;
    let validation = validate(&subject, &markets, &first, UNSEEN_WALK, &mut |_| {})?;
    match validation.checked.into_iter().find(|checked| checked.finding == Finding::Failed) {
        Some(failed) => Err(ConformanceError::Failed { check: failed.check, explanation: failed.words }),
        None => Ok(validation.signals),
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_walk;
    use super::super::sample::{Follows, Params, panic_message};
    use super::*;
    use crate::{BuildError, Declaration, Signal, Strategy};
    use std::sync::atomic::{AtomicUsize, Ordering};

    const HONEST: Params = Params { far: 3.0 };

    #[test]
    fn names_failed_checks() {
        let message = panic_message(|| assert_passes_checks::<ReadsTheClock>(&HONEST));
        assert!(message.starts_with("planted fails\n  clock: at candle "), "{message}");
        let message = panic_message(|| assert_passes_checks::<Follows>(&Params { far: 6.0 }));
        assert!(message.contains("far = 6 is outside the range 0 to 5"), "{message}");
    }

    #[test]
    fn reports_shared_state_with_its_fix() {
        let message = panic_message(|| assert_passes_checks::<Shares>(&HONEST));
        let line = |check: &str| {
            let begins = format!("  {check}: ");
            message
                .lines()
                .find_map(|line| line.strip_prefix(&begins))
                .unwrap_or_else(|| panic!("no {check} in {message}"))
        };
        let hint = "keep state in the fields of the struct, which build() creates for each bot and run";
        assert!(line("determinism").contains(hint), "{message}");
        assert!(line("isolation").ends_with(hint), "{message}");
        for check in ["look-ahead", "warm-up", "restart"] {
            assert!(line(check).contains("fix the determinism or isolation failure first"), "{message}");
        }
    }

    macro_rules! strategy {
        ($name:ident { $field:ident : $type:ty = $initial:expr }, $warmup:literal, $answer:expr) => {
            struct $name {
                $field: $type,
            }
            impl Strategy for $name {
                fn warmup(&self) -> usize {
                    $warmup
                }
                fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
                    let answer: fn(&mut $type, &Candle) -> Option<Signal> = $answer;
                    answer(&mut self.$field, candle)
                }
            }
            impl StrategyFactory for $name {
                const NAME: &'static str = "planted";
                const VERSION: &'static str = "1.0.0";
                const ABOUT: &'static str = "Planted.";
                type Params = Params;
                fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
                    Ok(Self { $field: $initial })
                }
            }
        };
    }

    static SEEN: AtomicUsize = AtomicUsize::new(0);
    static LONGEST: AtomicUsize = AtomicUsize::new(0);

    strategy!(ReadsTheClock { nothing: () = () }, 1, |(), candle| {
        (candle.time() <= now() && candle.close() > candle.open()).then(|| Signal::buy("rose"))
    });
    // Gives a signal at every 97th call, counted over all instances.
    strategy!(Shares { seen: &'static AtomicUsize = &SEEN }, 1, |seen, _| {
        seen.fetch_add(1, Ordering::Relaxed).is_multiple_of(97).then(|| Signal::buy("97 seen"))
    });
    strategy!(Clairvoyant { seen: usize = 0 }, 0, |seen, _| {
        *seen += 1;
        let longest = LONGEST.fetch_max(*seen, Ordering::Relaxed);
        (*seen < longest).then(|| Signal::buy("more to come"))
    });
    strategy!(Counts { seen: usize = 0 }, 10, |seen, _| {
        *seen += 1;
        seen.is_multiple_of(10).then(|| Signal::sell("tenth"))
    });
    strategy!(Divides { previous: f64 = f64::NAN }, 2, |previous, candle| {
        let change = candle.close() - std::mem::replace(previous, candle.close());
        (!change.is_nan()).then(|| Signal::buy("moved").with("inverse", 1.0 / change))
    });
    strategy!(Talks { previous: f64 = f64::NAN }, 2, |previous, candle| {
        let before = std::mem::replace(previous, candle.close());
        let signal = Signal::buy("rose").with("a", 1.0).with("b", 2.0).with("c", 3.0).with("d", 4.0);
        (candle.close() > before).then(|| signal.with("e", 5.0))
    });

    struct Misdeclares {
        previous: f64,
    }

    impl Strategy for Misdeclares {
        fn warmup(&self) -> usize {
            2
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            let before = std::mem::replace(&mut self.previous, candle.close());
            (candle.close() > before).then(|| Signal::buy("rose"))
        }
    }

    impl StrategyFactory for Misdeclares {
        const NAME: &'static str = "planted";
        const VERSION: &'static str = "1.0.0";
        const ABOUT: &'static str = "Planted.";
        type Params = Params;
        fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
            Ok(Self { previous: f64::NAN })
        }

        fn declaration(&self) -> Option<Declaration> {
            let mut before = f64::NAN;
            let mut declaration = Declaration::new();
            let rise = declaration.add_series("rise", &[], move |candle| {
                Some(candle.close() - std::mem::replace(&mut before, candle.close()))
            });
            Some(declaration.buy_when([rise.above(0.005)]))
        }
    }

    fn check<S: StrategyFactory<Params = Params>>(expected: &str) {
        let outcome = check_conformance::<S>(&HONEST, &bot("BTCUSDT"), &random_walk(1, 500));
        let message = outcome.map_or_else(|error| error.to_string(), |signals| (signals > 0).to_string());
        assert!(message.starts_with(expected), "{message:?}");
    }

    #[test]
    fn honest_strategy_passes() {
        assert_passes_checks::<Follows>(&HONEST);
        check::<Follows>("true");
    }

    #[test]
    fn catches_each_planted_fault() {
        check::<Shares>("determinism: the candles: at candle");
        check::<Clairvoyant>("determinism: the candles: at candle 499");
        check::<Counts>(
            "warm-up: the candles: warmup() returns 10, which is too small: at candle 39, a run from candle 25 on (15 candles)",
        );
        check::<Divides>("extremes: flat prices: at candle 1 the signal's inverse is inf");
        check::<Talks>("numbers: the candles: at candle 2 the signal \"rose\" has more than 4 numbers");
        check::<Misdeclares>("declaration: the candles: at candle");
    }

    #[test]
    fn rejects_too_few_candles_for_the_warmup() {
        let few = check_conformance::<Follows>(&HONEST, &bot("BTCUSDT"), &random_walk(1, 50));
        let expected = "the candles: 50 candles are too few for the warm-up; provide at least 102";
        assert_eq!(few.unwrap_err().to_string(), expected);
    }
}

//! All checks of a strategy in one call.

use super::checks::UNSEEN;
use super::validation::{Check, Finding, FirstRun, Market, Subject, ValidationError, validate};
use crate::{BotContext, Candle, StrategyFactory};

/// Violation of the rules for strategies. Candle numbers are 0-based.
#[derive(Debug, thiserror::Error)]
pub enum Nonconformity {
    /// The strategy was not built, or there are too few candles for its warm-up.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// A check failed.
    #[error("{check}: {words}")]
    Failed {
        /// The failed check.
        check: Check,
        /// Finding of the check.
        words: String,
    },
}

/// Runs every check of [`validate`] and returns the number of signals.
///
/// The candles have the bot's interval. Needs twice the warm-up + 100 candles. For the individual
/// findings call [`validate`].
///
/// # Errors
/// [`Nonconformity`] names the first failed check, and where it failed.
pub fn conformance<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<usize, Nonconformity> {
    let subject = Subject::of::<S>(params, bot).map_err(ValidationError::from)?;
    let market = Market { name: "the candles".to_owned(), candles: candles.to_vec() };
    let (first, markets) = FirstRun::new(&subject, |_| vec![market], &mut || false)?;
    let validation = validate(&subject, &markets, &first, UNSEEN, &mut |_| {})?;
    match validation.checked.into_iter().find(|checked| checked.finding == Finding::Failed) {
        Some(failed) => Err(Nonconformity::Failed { check: failed.check, words: failed.words }),
        None => Ok(validation.signals),
    }
}

#[cfg(test)]
mod tests {
    use super::super::candles::{bot, random_walk};
    use super::*;
    use crate::{BuildError, Declaration, Signal, Strategy};
    use std::sync::atomic::{AtomicUsize, Ordering};

    crate::parameters! {
        /// None.
        struct Params {}
    }

    /// Declares a strategy from its state, its warm-up and what it answers.
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

    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static LONGEST: AtomicUsize = AtomicUsize::new(0);

    strategy!(Follows { previous: f64 = f64::NAN }, 2, |previous, candle| {
        let before = std::mem::replace(previous, candle.close());
        (candle.close() > before).then(|| Signal::buy("rose").with("by", candle.close() - before))
    });
    // Every 97th call, whoever made it.
    strategy!(Restless { calls: &'static AtomicUsize = &CALLS }, 0, |calls, _| {
        calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(97).then(|| Signal::buy("restless"))
    });
    // Knows from other runs whether more candles follow.
    strategy!(Clairvoyant { seen: usize = 0 }, 0, |seen, _| {
        *seen += 1;
        let longest = LONGEST.fetch_max(*seen, Ordering::Relaxed);
        (*seen < longest).then(|| Signal::buy("more to come"))
    });
    // Counts in tens from wherever it started.
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

    /// Answers like [`Follows`], and declares it wrongly.
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
            let rise = declaration.series("rise", &[], move |candle| {
                Some(candle.close() - std::mem::replace(&mut before, candle.close()))
            });
            Some(declaration.buy_when([rise.above(0.005)]))
        }
    }

    fn check<S: StrategyFactory<Params = Params>>(expected: &str) {
        let outcome = conformance::<S>(&Params {}, &bot("BTCUSDT"), &random_walk(1, 500));
        let message = outcome.map_or_else(|error| error.to_string(), |signals| (signals > 0).to_string());
        assert!(message.starts_with(expected), "{message:?}");
    }

    #[test]
    fn an_honest_strategy_passes() {
        check::<Follows>("true");
    }

    #[test]
    fn each_planted_fault_is_caught() {
        check::<Restless>("determinism: the candles: at candle");
        check::<Clairvoyant>("determinism: the candles: at candle 499");
        check::<Counts>(
            "warm-up: the candles: warmup() says 10, and at candle 39 a run that began at candle 25, 15",
        );
        check::<Divides>("extremes: flat prices: at candle 1 the signal's inverse is inf");
        check::<Talks>("numbers: the candles: at candle 2 the signal \"rose\" has more than 4 numbers");
        check::<Misdeclares>("declaration: the candles: at candle");
    }

    #[test]
    fn too_few_candles_for_the_warmup_are_named() {
        let few = conformance::<Follows>(&Params {}, &bot("BTCUSDT"), &random_walk(1, 50));
        assert_eq!(
            few.unwrap_err().to_string(),
            "the candles: give at least 104 candles: there are 50, and the warm-up is long"
        );
    }
}

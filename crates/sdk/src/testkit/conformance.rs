//! The checks, each a property of a run: candles in, signals out.

use super::candles::{flat, gappy, wild};
use crate::parameters;
use crate::{BotContext, BuildError, Candle, LongerCandles, Signal, StrategyFactory};

/// Candles that the warm-up check wants beyond twice the warm-up.
const SPARE_CANDLES: usize = 100;

/// What a strategy does that none may. Candles are counted from 0.
#[derive(Debug, thiserror::Error)]
pub enum Nonconformity {
    /// The strategy was not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The check of the warm-up needs more candles than there are.
    #[error("give at least {needed} candles: there are {given}, and the warm-up is long")]
    GiveMoreCandles {
        /// How many are needed.
        needed: usize,
        /// How many there are.
        given: usize,
    },
    /// Two runs over the same candles differ: something other than the candles decides.
    #[error("not deterministic: at candle {candle} two runs over the same candles differ")]
    RemoveChance {
        /// The first candle at which they differ.
        candle: usize,
    },
    /// A run over the first candles differs from a run over all: something later decides.
    #[error(
        "looks ahead: at candle {candle} a run that ends after {length} candles differs from the full run"
    )]
    RemoveLookAhead {
        /// The first candle at which they differ.
        candle: usize,
        /// The length of the shorter run.
        length: usize,
    },
    /// A run that starts later still differs once it has seen `warmup()` candles.
    #[error(
        "warm-up too short: at candle {candle} a run that starts at candle {start} differs, {warmup} are not enough"
    )]
    LengthenWarmup {
        /// The first candle at which they differ.
        candle: usize,
        /// Where the later run starts.
        start: usize,
        /// What `warmup()` says.
        warmup: usize,
    },
    /// A signal carries a confidence outside 0 to 1, or a number that is not finite.
    #[error("at candle {candle} the signal's {number} is {value}")]
    MendNumber {
        /// The candle of the signal.
        candle: usize,
        /// `confidence`, or the name of the reason's number.
        number: &'static str,
        /// What it is.
        value: f64,
    },
}

/// Checks a strategy and answers how many signals it gave on `candles`.
///
/// - **Determinism**: two strategies built alike give the same signals on the same candles.
/// - **No look-ahead**: a run over the first candles gives the first signals of the run over all.
/// - **Warm-up**: a strategy started later gives the same directions and expiries from its `warmup()`th candle
///   on, so that a bot started live decides as its backtest does. Needs twice the warm-up + 100 candles.
/// - **Sound signals**: confidences lie in 0 to 1 and numbers are finite, also on candles without movement, with
///   gaps, and at the smallest and largest prices; and nothing panics there.
///
/// Only `on_candle` and `on_longer_candle` are called.
///
/// # Errors
/// [`Nonconformity`] names the first property that does not hold, and where.
pub fn conformance<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<usize, Nonconformity> {
    let full = run::<S>(params, bot, candles)?;
    check_repeat::<S>(params, bot, candles)?;
    check_prefix::<S>(params, bot, candles)?;
    check_warmup::<S>(params, bot, candles)?;
    let warmup = build::<S>(params, bot)?.warmup();
    let count = warmup + SPARE_CANDLES;
    check_numbers(&full)?;
    for hard in [flat(count), gappy(1, count), wild(count)] {
        check_numbers(&run::<S>(params, bot, &hard)?)?;
    }
    Ok(full.iter().flatten().count())
}

/// What the strategy answers to each candle.
type Run = Vec<Option<Signal>>;

fn build<S: StrategyFactory>(params: &S::Params, bot: &BotContext) -> Result<S, BuildError> {
    let problem = |problem| BuildError::Parameters { strategy: S::NAME, problem };
    let values = serde_json::to_value(params).map_err(|error| problem(error.to_string()))?;
    S::build(parameters::read(&values).map_err(problem)?, bot)
}

fn run<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<Run, BuildError> {
    let mut strategy = build::<S>(params, bot)?;
    let longer = LongerCandles::new(bot.interval, strategy.longer_intervals());
    let mut longer =
        longer.map_err(|error| BuildError::Parameters { strategy: S::NAME, problem: error.to_string() })?;
    let show = |candle| {
        let signal = strategy.on_candle(candle);
        longer.show(candle, &mut strategy);
        signal
    };
    Ok(candles.iter().map(show).collect())
}

fn check_repeat<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<(), Nonconformity> {
    let (first, second) = (run::<S>(params, bot, candles)?, run::<S>(params, bot, candles)?);
    let difference = first.iter().zip(&second).position(|(first, second)| first != second);
    difference.map_or(Ok(()), |candle| Err(Nonconformity::RemoveChance { candle }))
}

fn check_prefix<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<(), Nonconformity> {
    // Shorter runs first, so that nothing can have been learnt from the longer ones.
    let lengths = [candles.len() / 4, candles.len() / 2, candles.len().saturating_sub(1)];
    let prefixes: Result<Vec<Run>, _> =
        lengths.iter().map(|length| run::<S>(params, bot, &candles[..*length])).collect();
    let (prefixes, full) = (prefixes?, run::<S>(params, bot, candles)?);
    for prefix in prefixes {
        if let Some(candle) = prefix.iter().zip(&full).position(|(short, long)| short != long) {
            return Err(Nonconformity::RemoveLookAhead { candle, length: prefix.len() });
        }
    }
    Ok(())
}

fn check_warmup<S: StrategyFactory>(
    params: &S::Params,
    bot: &BotContext,
    candles: &[Candle],
) -> Result<(), Nonconformity> {
    let warmup = build::<S>(params, bot)?.warmup();
    let (given, needed) = (candles.len(), 2 * warmup + SPARE_CANDLES);
    if given < needed {
        return Err(Nonconformity::GiveMoreCandles { needed, given });
    }
    // A number may differ in its last digits; what is asked for may not.
    let wish = |signal: &Option<Signal>| signal.map(|signal| (signal.direction, signal.expiry));
    let full = run::<S>(params, bot, candles)?;
    // Odd distances, so that counting in twos, fours or tens does not go unseen.
    for start in [SPARE_CANDLES / 4, (given - warmup) / 2 + 1] {
        let late = run::<S>(params, bot, &candles[start..])?;
        // The candle that completes the warm-up is the first whose signal may be traded.
        let first = start + warmup.saturating_sub(1);
        let differs = |candle: &usize| wish(&late[candle - start]) != wish(&full[*candle]);
        if let Some(candle) = (first..given).find(differs) {
            return Err(Nonconformity::LengthenWarmup { candle, start, warmup });
        }
    }
    Ok(())
}

fn check_numbers(run: &Run) -> Result<(), Nonconformity> {
    for (candle, signal) in run.iter().enumerate() {
        let Some(signal) = signal else { continue };
        if let Some(value) = signal.confidence.filter(|confidence| !(0.0..=1.0).contains(confidence)) {
            return Err(Nonconformity::MendNumber { candle, number: "confidence", value });
        }
        if let Some((number, value)) = signal.reason.numbers().iter().find(|(_, value)| !value.is_finite()) {
            return Err(Nonconformity::MendNumber { candle, number, value: *value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::candles::{bot, random_walk};
    use super::*;
    use crate::Strategy;
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

    fn check<S: StrategyFactory<Params = Params>>(expected: &str) {
        let outcome = conformance::<S>(&Params {}, &bot("BTCUSDT"), &random_walk(1, 500));
        let told = outcome.map_or_else(|error| error.to_string(), |signals| (signals > 0).to_string());
        assert!(told.starts_with(expected), "{told:?}");
    }

    #[test]
    fn an_honest_strategy_passes() {
        check::<Follows>("true");
    }

    #[test]
    fn each_planted_fault_is_caught() {
        check::<Restless>("not deterministic: at candle");
        check::<Counts>("warm-up too short: at candle 34 a run that starts at candle 25 differs, 10 are not");
        check::<Divides>("at candle 1 the signal's inverse is inf");
    }

    #[test]
    fn knowing_that_more_follows_is_looking_ahead() {
        let caught = check_prefix::<Clairvoyant>(&Params {}, &bot("BTCUSDT"), &random_walk(1, 500));
        assert!(
            matches!(caught, Err(Nonconformity::RemoveLookAhead { candle: 0, length: 125 })),
            "{caught:?}"
        );
    }

    #[test]
    fn too_few_candles_for_the_warmup_are_named() {
        let few = conformance::<Follows>(&Params {}, &bot("BTCUSDT"), &random_walk(1, 50));
        assert!(matches!(few, Err(Nonconformity::GiveMoreCandles { needed: 104, given: 50 })), "{few:?}");
    }
}

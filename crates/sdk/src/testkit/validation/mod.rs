//! Everything that a strategy must hold, check by check.
//!
//! A strategy is shown candles again and again: cut off, with another future, from a later start, beside another
//! instance. What it answers must not change where only that changes which it cannot know.

mod bench;
mod decision;
mod declared;
mod decoys;
mod extremes;
mod finding;
mod foresight;
mod future;
mod hits;
mod look_ahead;
mod memory;
mod outside;
mod repeat;
mod restart;
mod subject;
mod synthetic;
mod trade;
mod warm_up;

pub use decision::Decision;
pub use declared::check_declaration;
pub(super) use extremes::too_many_numbers;
pub use finding::{Check, Checked, Finding};
pub use foresight::{Unseen, check_foresight};
pub use outside::{KnownUntil, check_clock, check_files};
pub(super) use subject::Manner;
pub use subject::Subject;
pub use synthetic::synthetic_markets;

use crate::{BuildError, Candle};
use bench::Bench;

/// Candles that the checks want beyond twice the warm-up.
const SPARE_CANDLES: usize = 100;
/// Nobody waits for more candles than this before the first trade, and no venue serves them at once.
const MAX_WARMUP: usize = 100_000;

/// Candles to check on, and what they are called.
#[derive(Clone, Debug)]
pub struct Market {
    /// Such as `random walk`, or the name of a file.
    pub name: String,
    /// Of the bot's interval, in order.
    pub candles: Vec<Candle>,
}

/// What came of a validation.
#[derive(Clone, Debug)]
pub struct Validation {
    /// The checks in the order in which they were made. A check that failed on one market was not made on the next.
    pub checked: Vec<Checked>,
    /// Answers on all markets.
    pub signals: usize,
    /// What `warmup()` says.
    pub declared_warmup: usize,
    /// The smallest number of candles after which decisions stopped changing.
    pub needed_warmup: usize,
}

/// What keeps a validation from being made.
#[derive(Debug, thiserror::Error)]
pub enum ValidationError {
    /// The strategy was not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The warm-up asks for more candles than there are.
    #[error("{market}: give at least {needed} candles: there are {given}, and the warm-up is long")]
    TooFewCandles {
        /// Where.
        market: String,
        /// How many are needed.
        needed: usize,
        /// How many there are.
        given: usize,
    },
}

impl Validation {
    /// Whether no check failed.
    pub fn is_passed(&self) -> bool {
        self.checked.iter().all(|checked| checked.finding != Finding::Failed)
    }

    /// Whether the same candles do not give the same decisions, as far as was looked.
    fn is_changeable(&self) -> bool {
        let is_found = |checked: &Checked| matches!(checked.check, Check::Determinism | Check::Isolation);
        self.checked.iter().any(|checked| checked.finding == Finding::Failed && is_found(checked))
    }
}

/// How many candles a market needs at least for a strategy of this warm-up.
pub const fn candles_needed(warmup: usize) -> usize {
    2 * warmup + SPARE_CANDLES
}

/// Makes every check that candles alone suffice for, on each of the markets. `progress` is called with each check when it
/// begins.
///
/// Which these are, and what they look for, stands at [`Check`]. Panics are caught and reported as findings. Memory is
/// measured only in a program that has installed the [`CountingAllocator`](super::CountingAllocator).
///
/// # Errors
/// [`ValidationError`] when the strategy cannot be built, or a market is too short for its warm-up.
pub fn validate(
    subject: &Subject,
    markets: &[Market],
    unseen: Unseen,
    progress: &mut dyn FnMut(Check),
) -> Result<Validation, ValidationError> {
    let declared = subject.build()?.warmup();
    let mut validation =
        Validation { checked: Vec::new(), signals: 0, declared_warmup: declared, needed_warmup: 0 };
    if declared > MAX_WARMUP {
        let words = format!("warmup() asks for {declared} candles; no more than {MAX_WARMUP} are checked");
        validation.checked.push(Check::Warmup.found(Finding::Failed, words));
        return Ok(validation);
    }
    for Market { name, candles } in markets {
        let (market, needed, given) = (name.clone(), candles_needed(declared), candles.len());
        if given < needed {
            return Err(ValidationError::TooFewCandles { market, needed, given });
        }
    }
    // What is shared by all instances has not grown yet, and would hide how it grows later.
    progress(Check::Memory);
    let memory = bench::once(Check::Memory, memory::memory(subject, declared));
    // The first runs over any of the candles come before all others: nothing can have been learnt from them before.
    let mut benches = Vec::with_capacity(markets.len());
    for market in markets {
        match Bench::new(subject, market, declared) {
            Ok(bench) => benches.push(bench),
            Err(stop) => {
                validation
                    .checked
                    .push(Check::Extremes.found(Finding::Failed, format!("{}: {stop}", market.name)));
                return Ok(validation);
            }
        }
    }
    validation.signals = benches.iter().map(Bench::signals).sum();
    let mut needed = 0;
    let checks: [(Check, &mut bench::Make<'_>); 8] = [
        (Check::Numbers, &mut extremes::numbers),
        (Check::Determinism, &mut repeat::determinism),
        (Check::Isolation, &mut repeat::isolation),
        (Check::LookAhead, &mut look_ahead::look_ahead),
        (Check::Foresight, &mut |bench| foresight::foresight(bench, unseen.seed)),
        (Check::Declaration, &mut declared::declaration),
        (Check::Warmup, &mut |bench| warm_up::warm_up(bench, &mut needed)),
        (Check::Restart, &mut restart::restart),
    ];
    for (check, make) in checks {
        progress(check);
        let mut checked = bench::on_all(check, &benches, make);
        if check == Check::Foresight && checked.finding != Finding::Failed {
            let new = bench::once(check, foresight::on_unseen(subject, unseen));
            checked = Checked { words: format!("{}; {}", new.words, checked.words), ..new };
        }
        let compares_runs = matches!(check, Check::LookAhead | Check::Warmup | Check::Restart);
        // Two runs that differ by themselves differ in every comparison.
        if validation.is_changeable() && checked.finding == Finding::Failed && compares_runs {
            checked
                .words
                .push_str("; mend determinism and isolation first: this may come from what they found");
        }
        validation.checked.push(checked);
    }
    validation.needed_warmup = needed;
    progress(Check::Extremes);
    validation.checked.push(bench::once(Check::Extremes, extremes::extremes(subject, declared)));
    validation.checked.push(memory);
    Ok(validation)
}

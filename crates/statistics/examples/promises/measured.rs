//! A promised rate and its measurement.

use candlewick_statistics::{EdgeTestPlan, StatisticsError, StreamEvent, TradeOutcome, TradeStream};
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread;

pub(crate) const SEED: u64 = 20_261_122;
/// Allowed distance of a measurement, in standard errors.
const ERRORS: f64 = 3.0;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Number of paths or families of each kind.
    pub(crate) trials: u64,
    /// Maximum number of trades per path.
    pub(crate) trades: u64,
    /// Plan of the tested verdict.
    pub(crate) plan: EdgeTestPlan,
}

/// Relation of the measured share to the nominal one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    AtMost,
    AtLeast,
    /// Within this distance of the nominal share, which is an approximation.
    About(f64),
    /// Nothing is promised. Shows why a different method is used.
    Unpromised,
}

/// A measured share of trials, with its nominal value.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) promise: String,
    pub(crate) bound: Bound,
    pub(crate) nominal: f64,
    pub(crate) found: f64,
    pub(crate) standard_error: f64,
    pub(crate) trials: u64,
}

impl Measured {
    pub(crate) const HEADER: &str =
        "| promise | nominal | measured | standard error | trials | kept |\n|---|---|---|---|---|---|";

    /// Measures the share of `trials` for which `is_counted` returns true, on all cores.
    pub(crate) fn share(
        (promise, bound, nominal): (impl Into<String>, Bound, f64),
        trials: u64,
        is_counted: impl Fn(u64) -> Result<bool, StatisticsError> + Sync,
    ) -> Result<Self, StatisticsError> {
        Self::mean((promise, bound, nominal), trials, |trial| {
            is_counted(trial).map(|is| f64::from(u8::from(is)))
        })
    }

    /// Measures the mean of `value` over `trials`, on all cores.
    pub(crate) fn mean(
        (promise, bound, nominal): (impl Into<String>, Bound, f64),
        trials: u64,
        value: impl Fn(u64) -> Result<f64, StatisticsError> + Sync,
    ) -> Result<Self, StatisticsError> {
        let sums = on_cores(trials, |first, end| {
            (first..end).try_fold((0.0, 0.0), |(sum, squares), trial| {
                value(trial).map(|value| (sum + value, squares + value * value))
            })
        });
        let mut total = (0.0, 0.0);
        for sums in sums {
            let (sum, squares) = sums?;
            total = (total.0 + sum, total.1 + squares);
        }
        let (found, squares) = (total.0 / trials as f64, total.1 / trials as f64);
        let standard_error = ((squares - found * found).max(0.0) / trials as f64).sqrt();
        Ok(Self { promise: promise.into(), bound, nominal, found, standard_error, trials })
    }

    /// Returns whether the promise was kept, within three standard errors.
    pub(crate) fn is_kept(&self) -> bool {
        let reach = ERRORS * self.standard_error;
        match self.bound {
            Bound::AtMost => self.found <= self.nominal + reach,
            Bound::AtLeast => self.found >= self.nominal - reach,
            Bound::About(near) => (self.found - self.nominal).abs() <= near + reach,
            Bound::Unpromised => true,
        }
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { promise, nominal, found, standard_error, trials, .. } = self;
        let nominal = 100.0 * nominal;
        let nominal = match self.bound {
            Bound::AtMost => format!("at most {nominal:.1} %"),
            Bound::AtLeast => format!("at least {nominal:.0} %"),
            Bound::About(_) => format!("about {nominal:.0} %"),
            Bound::Unpromised => "-".to_owned(),
        };
        let kept = match (self.bound, self.is_kept()) {
            (Bound::Unpromised, _) => "-",
            (_, true) => "yes",
            (_, false) => "NO",
        };
        let (found, error) = (100.0 * found, 100.0 * standard_error);
        write!(f, "| {promise} | {nominal} | {found:.2} % | {error:.2} % | {trials} | {kept} |")
    }
}

/// Splits trials among the cores. Results are in trial order, so they do not depend on the split.
pub(crate) fn on_cores<T: Send>(trials: u64, work: impl Fn(u64, u64) -> T + Sync) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let work = &work;
    thread::scope(|scope| {
        let part = |core| (core * trials / cores, (core + 1) * trials / cores);
        let started: Vec<_> =
            (0..cores).map(part).map(|(first, end)| scope.spawn(move || work(first, end))).collect();
        started.into_iter().map(|one| one.join().expect("no measurement panics")).collect()
    })
}

/// Runs `work` for each trial, on all cores.
pub(crate) fn each<T: Send>(
    trials: u64,
    work: impl Fn(u64) -> Result<T, StatisticsError> + Sync,
) -> Result<Vec<T>, StatisticsError> {
    let parts = on_cores(trials, |first, end| (first..end).map(&work).collect::<Result<Vec<T>, _>>());
    Ok(parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Outcomes of a path's trades, and their payout.
pub(crate) fn settled(stream: &TradeStream, path: u64, trades: u64) -> Vec<(TradeOutcome, f64)> {
    let mut settled = Vec::with_capacity(trades as usize);
    stream.play(SEED, path, trades, |event| {
        if let StreamEvent::Settled { outcome, payout_fraction, .. } = event {
            settled.push((outcome, payout_fraction));
        }
        ControlFlow::Continue(())
    });
    settled
}

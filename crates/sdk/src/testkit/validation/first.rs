//! Comparison of the first instance of a process with later ones.
//!
//! A backtest trades with one of the first instances of its process. A strategy that cheats only in
//! these would pass all other checks. So the first instance processes the given candles before
//! anything else is built.

use super::decoys::Decoys;
use super::subject::{Answer, Manner, Showing, Stop, Subject, first_difference, guarded};
use super::{Market, ValidationError};
use crate::Candle;
use std::cell::Cell;

const STRIDE: usize = 64;

/// Decisions of the first instance of a process.
pub struct FirstRun {
    warmup: usize,
    candles: Vec<Candle>,
    answers: Result<Vec<Answer>, Stop>,
}

impl FirstRun {
    /// Builds an instance and feeds it the first market until `is_enough` returns true.
    ///
    /// `markets` returns the candles for a warm-up.
    ///
    /// # Errors
    /// [`ValidationError`] if the strategy cannot be built.
    pub fn new(
        subject: &Subject,
        markets: impl FnOnce(usize) -> Vec<Market>,
        is_enough: &mut dyn FnMut() -> bool,
    ) -> Result<(Self, Vec<Market>), ValidationError> {
        let built = guarded(&Cell::new(0), || {
            let strategy = subject.build().map_err(Stop::Build)?;
            let warmup = strategy.warmup();
            Ok((strategy, warmup))
        });
        let (strategy, warmup) = match built {
            Ok(built) => built,
            Err(Stop::Build(error)) => return Err(error.into()),
            Err(stop) => return Err(ValidationError::Panic(stop.message())),
        };
        let markets = markets(warmup);
        let candles = markets.first().map_or(&[][..], |market| &market.candles[..]);
        let place = Cell::new(0);
        let answers = guarded(&place, || {
            let mut showing = Showing::with(strategy, subject, Manner::LIVE);
            let mut decoys = Decoys::of(candles);
            while place.get() < candles.len() && !(place.get().is_multiple_of(STRIDE) && is_enough()) {
                let index = place.get();
                decoys.with(index, &candles[index], |candle| showing.show(candle, candles, &place));
            }
            showing.finish()
        });
        // After a panic, `place` is still at the candle that caused it.
        let shown = place.get() + usize::from(answers.is_err());
        let candles = candles[..shown.min(candles.len())].to_vec();
        Ok((Self { warmup, candles, answers }, markets))
    }

    /// Returns the declared warm-up.
    pub const fn warmup(&self) -> usize {
        self.warmup
    }

    pub(super) fn difference(&self, subject: &Subject) -> Result<Option<String>, Stop> {
        let later = subject.run_apart(&self.candles, Manner::LIVE)?;
        Ok(match &self.answers {
            Ok(first) => first_difference(first, &later).map(|candle| {
                format!(
                    "the first instance of the process decides at candle {candle} otherwise than later ones: keep nothing in a static"
                )
            }),
            Err(stop) => Some(format!("the first instance of the process breaks down, and later ones do not: {stop}")),
        })
    }
}

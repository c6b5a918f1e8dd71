//! Decisions for comparison between processes.

use super::decoys::Decoys;
use super::subject::{Answer, Manner, Showing, Subject, guarded};
use crate::{Candle, Direction, Expiry};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;

/// A request for a trade, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Index of the closed or forming candle, 0-based.
    pub candle: usize,
    /// Index of the price inside the candle; one past the last for its close.
    pub moment: u8,
    /// Direction of the bet.
    pub direction: Direction,
    /// Override of the bot's expiry, if any.
    pub expiry: Option<Expiry>,
}

impl From<&Answer> for Decision {
    fn from(answer: &Answer) -> Self {
        let Answer { candle, moment, signal } = answer;
        Self { candle: *candle, moment: *moment, direction: signal.direction, expiry: signal.expiry }
    }
}

impl Subject {
    /// Returns the strategy's decisions.
    ///
    /// In memory, the current candle is followed by decoys instead of later candles. `rivals` run
    /// in parallel: the first half is built before the strategy, the others after it.
    ///
    /// # Errors
    /// A sentence if it cannot be built, or panics.
    pub fn decisions(&self, candles: &[Candle], rivals: &[Self]) -> Result<Vec<Decision>, String> {
        self.decisions_watched(candles, rivals, &mut || {})
    }

    /// Like [`Self::decisions`], and calls `built` between build and first candle.
    ///
    /// # Errors
    /// A sentence if it cannot be built, or panics.
    pub fn decisions_watched(
        &self,
        candles: &[Candle],
        rivals: &[Self],
        built: &mut dyn FnMut(),
    ) -> Result<Vec<Decision>, String> {
        let place = Cell::new(0);
        let run = || {
            let (before, after) = rivals.split_at(rivals.len() / 2);
            // Whoever refuses other parameters has no rival.
            let new = |rival| Showing::new(rival, Manner::LIVE).ok().map(|rival| (rival, Cell::new(0)));
            let mut others: Vec<_> = before.iter().filter_map(new).collect();
            let mut own = Showing::new(self, Manner::LIVE)?;
            built();
            let mut decoys = Decoys::of(candles);
            others.extend(after.iter().filter_map(new));
            while place.get() < candles.len() {
                for (rival, place) in &mut others {
                    rival.show_next(candles, place);
                }
                decoys.with(place.get(), &candles[place.get()], |candle| own.show(candle, candles, &place));
            }
            Ok(own.finish()?.iter().map(Decision::from).collect())
        };
        guarded(&place, run).map_err(|stop| stop.to_string())
    }

    /// Returns the same strategy on another symbol, with other parameters if possible.
    ///
    /// Parameters change as far as their ranges are known.
    #[must_use]
    pub fn rival(&self, symbol: crate::Symbol) -> Self {
        let mut rival = self.clone();
        rival.bot.symbol = symbol;
        for parameter in &self.entry.parameters {
            let given = self.params.get(&parameter.name).unwrap_or(&parameter.default);
            let (low, high) = (parameter.minimum, parameter.maximum);
            let Some(other) = given.as_i64().and_then(|number| {
                let fits = |number: &i64| {
                    (low.unwrap_or(f64::MIN)..=high.unwrap_or(f64::MAX)).contains(&(*number as f64))
                };
                [number + 1, number - 1].into_iter().find(fits)
            }) else {
                continue;
            };
            if let Value::Object(params) = &mut rival.params {
                params.insert(parameter.name.clone(), Value::from(other));
            }
        }
        let is_sound = rival.build().is_ok();
        if is_sound { rival } else { Self { params: self.params.clone(), ..rival } }
    }

    /// Returns the same strategy under another bot name.
    #[must_use]
    pub fn named(&self, bot: &str) -> Self {
        let mut other = self.clone();
        bot.clone_into(&mut other.bot.bot);
        other
    }
}

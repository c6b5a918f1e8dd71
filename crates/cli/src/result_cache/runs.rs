//! Runs of backtests that need not be made again, and their sensitivities.

use super::{Key, NamedFiles, ResultCache};
use crate::configuration::Loaded;
use crate::data::Candles;
use crate::failure::Failure;
use crate::running::program_hash;
use candlewick_backtest::analysis::Sensitivity;
use candlewick_backtest::{BacktestSettings, Finished, FinishedRecord};
use candlewick_engine::{BotSettings, Header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// A run, made now or before.
pub(crate) struct CachedRun {
    pub(crate) finished: Finished,
    /// Over everything that happened in it.
    pub(crate) journal_hash: String,
    /// Real time that it took when it was made.
    pub(crate) elapsed: Duration,
}

/// How a run was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was made.
    Now,
    /// It had been made before.
    Before,
}

/// Where the results of one configuration on the same candles are, if they are kept.
pub(crate) struct RunCache<'a> {
    settings: &'a BacktestSettings,
    place: Option<Place>,
}

struct Place {
    cache: ResultCache,
    program_hash: String,
    parts: Value,
    files: NamedFiles,
    bots: Vec<BotSettings>,
}

/// As it lies in a file.
#[derive(Serialize, Deserialize)]
struct RunRecord {
    finished: FinishedRecord,
    journal_hash: String,
    elapsed: Duration,
}

impl<'a> RunCache<'a> {
    /// For a run that is made whatever is known, and not kept.
    pub(crate) const fn none(settings: &'a BacktestSettings) -> Self {
        Self { settings, place: None }
    }

    /// For the run with this header, made `times` times. Nothing is looked for or kept where that takes longer than the run
    /// itself, or where it is not known what the run depends on. `files` are those that the bots named before their
    /// strategies were built, none where they cannot be read.
    pub(crate) fn of(
        (loaded, settings): (&Loaded, &'a BacktestSettings),
        (candles, header): (&Candles, &Header),
        files: Option<NamedFiles>,
        times: u64,
    ) -> Self {
        let bots = &loaded.config.bots;
        let data = &loaded.config.data;
        let is_long = shown(bots, candles).saturating_mul(times) >= data.cache_results_from;
        let place = || {
            let (cache, files) = (data.result_cache()?, files?);
            let parts = json!({ "header": header, "files": files });
            Some(Place { cache, program_hash: program_hash().ok()?, parts, files, bots: bots.clone() })
        };
        Self { settings, place: is_long.then(place).flatten() }
    }

    /// The run: as it was made before, or else made now.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn run(
        &self,
        make: impl FnOnce() -> Result<CachedRun, Failure>,
    ) -> Result<(CachedRun, Known), Failure> {
        let known = self.find("run").and_then(|record: RunRecord| {
            let RunRecord { finished, journal_hash, elapsed } = record;
            let finished = Finished::from_record(finished, self.settings)?;
            Some(CachedRun { finished, journal_hash, elapsed })
        });
        if let Some(known) = known {
            return Ok((known, Known::Before));
        }
        let run = make()?;
        if self.place.is_some()
            && let Some(finished) = run.finished.to_record()
        {
            let (journal_hash, elapsed) = (run.journal_hash.clone(), run.elapsed);
            self.keep("run", &RunRecord { finished, journal_hash, elapsed });
        }
        Ok((run, Known::Now))
    }

    /// The sensitivity of the run: as it was found before, or else found now.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn sensitivity(
        &self,
        make: impl FnOnce() -> Result<Sensitivity, Failure>,
    ) -> Result<Sensitivity, Failure> {
        if let Some(known) = self.find("sensitivity") {
            return Ok(known);
        }
        let found = make()?;
        self.keep("sensitivity", &found);
        Ok(found)
    }

    fn find<T: DeserializeOwned>(&self, kind: &str) -> Option<T> {
        let place = self.place.as_ref()?;
        postcard::from_bytes(&place.cache.find(&place.key(kind))?).ok()
    }

    /// Unless a file that a strategy has read is no longer what it was before.
    fn keep<T: Serialize>(&self, kind: &str, result: &T) {
        let Some(place) = &self.place else { return };
        if let (true, Ok(bytes)) = (place.files.are_as_before(&place.bots), postcard::to_stdvec(result)) {
            place.cache.keep(&place.key(kind), &bytes);
        }
    }
}

impl Place {
    fn key(&self, kind: &str) -> Key {
        Key::of(kind, &self.program_hash, &self.parts)
    }
}

/// How many candles a run shows to strategies.
fn shown(bots: &[BotSettings], candles: &Candles) -> u64 {
    let of_bot = |bot: &BotSettings| candles.series.iter().find(|one| one.series() == bot.series());
    bots.iter().filter_map(of_bot).map(|series| series.candles().len() as u64).sum()
}

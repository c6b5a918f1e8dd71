//! Checks that the same candles give the same decisions, in any instance and process.

use super::super::candles::{at_interval, random_walk};
use super::subject::{
    Answer, GETTERS, Inspection, Manner, Showing, Stop, Subject, first_difference, guarded,
};
use super::surrogate::Decoys;
use super::{Bench, Found, Market, ValidationError, failed, passed};
use crate::{Candle, Direction, Expiry};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;

const REPEATS: usize = 3;
const OWN_STATE: &str =
    "keep what it remembers in the fields of its struct, which build() makes anew for each bot and each run";

pub(super) fn determinism(bench: &Bench<'_>) -> Found {
    let run = || bench.subject.run(bench.candles, Manner::LIVE);
    for _ in 0..REPEATS {
        if let Some(candle) = first_difference(&run()?, &bench.answers) {
            return failed(format!(
                "at candle {candle} two runs over the same candles differ: it goes by something that is neither a candle nor a parameter, such as a \
                 static, a clock, random numbers without a seed, a file or another thread; {OWN_STATE}, and draw chance from a generator that a \
                 parameter seeds"
            ));
        }
    }
    let elsewhere = std::thread::scope(|scope| scope.spawn(run).join());
    let Ok(elsewhere) = elsewhere else { return failed("it panics in a thread of its own") };
    if let Some(candle) = first_difference(&elsewhere?, &bench.answers) {
        return failed(format!(
            "at candle {candle} a run in another thread differs: it goes by something of its thread, such as a thread_local!; {OWN_STATE}"
        ));
    }
    if let Some(words) = changed_by_getters(bench)? {
        return failed(words);
    }
    passed(format!("{} runs decide alike", REPEATS + 3))
}

fn changed_by_getters(bench: &Bench<'_>) -> Result<Option<String>, Stop> {
    let differs = |inspection| -> Result<Option<usize>, Stop> {
        let run = bench.subject.run(bench.candles, Manner { inspection, ..Manner::LIVE })?;
        Ok(first_difference(&run, &bench.answers))
    };
    let Some(candle) = differs(Inspection::All)? else { return Ok(None) };
    for (place, (name, _)) in GETTERS.iter().enumerate() {
        if let Some(candle) = differs(Inspection::Only(place))? {
            return Ok(Some(format!(
                "at candle {candle} it decides otherwise when {name} is called between candles: {name} must change nothing"
            )));
        }
    }
    Ok(Some(format!("at candle {candle} it decides otherwise when its getters are called between candles")))
}

pub(super) fn isolation(bench: &Bench<'_>) -> Found {
    let others = at_interval(&random_walk(41, bench.candles.len()), bench.subject.bot.interval);
    for (others, how) in [(&others[..], "other candles"), (bench.candles, "the same candles")] {
        let run = bench.subject.run_beside(bench.candles, others)?;
        if let Some(candle) = first_difference(&run, &bench.answers) {
            return failed(format!(
                "at candle {candle} it decides otherwise beside another bot on {how}: they share something, such as a static; {OWN_STATE}"
            ));
        }
    }
    bench.subject.run(&others, Manner::LIVE)?;
    let after = bench.subject.run(bench.candles, Manner::LIVE)?;
    if let Some(candle) = first_difference(&after, &bench.answers) {
        return failed(format!(
            "at candle {candle} it decides otherwise after a run over other candles: something outlives a run, such as a static; {OWN_STATE}"
        ));
    }
    passed("other bots before it and beside it change nothing")
}

const STRIDE: usize = 64;

/// Decisions of the first instance of a process.
pub struct FirstRun {
    warmup: usize,
    candles: Vec<Candle>,
    answers: Result<Vec<Answer>, Stop>,
}

impl FirstRun {
    /// Builds an instance and feeds it the first market until `is_enough` returns true.
    /// `markets` returns the candles for a warm-up.
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
    /// In memory, the current candle is followed by decoys instead of later candles. `rivals` run in
    /// parallel: the first half is built before the strategy, the others after it. The error is a sentence:
    /// it cannot be built, or panics.
    pub fn decisions(&self, candles: &[Candle], rivals: &[Self]) -> Result<Vec<Decision>, String> {
        self.decisions_watched(candles, rivals, &mut || {})
    }

    /// Like [`Self::decisions`], and calls `built` between build and first candle.
    /// The error is a sentence: it cannot be built, or panics.
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

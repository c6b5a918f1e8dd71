//! Checks that the same candles give the same decisions, in any instance and process.

use super::super::candles::{at_interval, random_walk};
use super::subject::{
    Answer, Feed, GETTERS, GetterCalls, RunError, RunMode, Subject, catch_panic, first_difference,
};
use super::surrogate::Decoys;
use super::{Bench, CheckResult, Market, ValidationError, failed, passed};
use crate::{Candle, Direction, Expiry};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;

const REPEAT_COUNT: usize = 3;
const STATE_HINT: &str = "keep state in the fields of the struct, which build() creates for each bot and run";

pub(super) fn check_determinism(bench: &Bench<'_>) -> CheckResult {
    let run = || bench.subject.run(bench.candles, RunMode::FULL);
    for _ in 0..REPEAT_COUNT {
        if let Some(candle) = first_difference(&run()?, &bench.answers) {
            return failed(format!(
                "at candle {candle} two runs over the same candles differ: decisions depend on something other than candles and parameters, such as a \
                 static, a clock, unseeded random numbers, a file or another thread; {STATE_HINT}, and seed random numbers with a parameter"
            ));
        }
    }
    let elsewhere = std::thread::scope(|scope| scope.spawn(run).join());
    let Ok(elsewhere) = elsewhere else { return failed("the strategy panics in another thread") };
    if let Some(candle) = first_difference(&elsewhere?, &bench.answers) {
        return failed(format!(
            "at candle {candle} a run in another thread differs: decisions depend on thread-local state, such as a thread_local!; {STATE_HINT}"
        ));
    }
    if let Some(words) = find_getter_effect(bench)? {
        return failed(words);
    }
    passed(format!("{} runs give the same decisions", REPEAT_COUNT + 3))
}

fn find_getter_effect(bench: &Bench<'_>) -> Result<Option<String>, RunError> {
    let differs = |inspection| -> Result<Option<usize>, RunError> {
        let run = bench.subject.run(bench.candles, RunMode { getter_calls: inspection, ..RunMode::FULL })?;
        Ok(first_difference(&run, &bench.answers))
    };
    let Some(candle) = differs(GetterCalls::All)? else { return Ok(None) };
    for (place, (name, _)) in GETTERS.iter().enumerate() {
        if let Some(candle) = differs(GetterCalls::Only(place))? {
            return Ok(Some(format!(
                "at candle {candle} the decision changes if {name} is called between candles: {name} must not have side effects"
            )));
        }
    }
    Ok(Some(format!("at candle {candle} the decision changes if getters are called between candles")))
}

pub(super) fn check_isolation(bench: &Bench<'_>) -> CheckResult {
    let others = at_interval(&random_walk(41, bench.candles.len()), bench.subject.bot.interval);
    for (others, how) in [(&others[..], "other candles"), (bench.candles, "the same candles")] {
        let run = bench.subject.run_in_parallel(bench.candles, others)?;
        if let Some(candle) = first_difference(&run, &bench.answers) {
            return failed(format!(
                "at candle {candle} the decision changes if another bot runs on {how}: the bots share state, such as a static; {STATE_HINT}"
            ));
        }
    }
    bench.subject.run(&others, RunMode::FULL)?;
    let after = bench.subject.run(bench.candles, RunMode::FULL)?;
    if let Some(candle) = first_difference(&after, &bench.answers) {
        return failed(format!(
            "at candle {candle} the decision changes after a run over other candles: the strategy keeps state between runs, such as a static; {STATE_HINT}"
        ));
    }
    passed("bots that run earlier or in parallel have no effect")
}

/// Number of candles between two calls of `is_enough`.
const CHECK_STRIDE: usize = 64;

/// Decisions of the first strategy instance in a process.
pub struct FirstRun {
    warmup: usize,
    candles: Vec<Candle>,
    answers: Result<Vec<Answer>, RunError>,
}

impl FirstRun {
    /// Builds the strategy and feeds it the first market until `is_enough` returns true.
    /// `markets` returns the markets for a given warm-up.
    pub fn new(
        subject: &Subject,
        markets: impl FnOnce(usize) -> Vec<Market>,
        is_enough: &mut dyn FnMut() -> bool,
    ) -> Result<(Self, Vec<Market>), ValidationError> {
        let built = catch_panic(&Cell::new(0), || {
            let strategy = subject.build().map_err(RunError::Build)?;
            let warmup = strategy.warmup();
            Ok((strategy, warmup))
        });
        let (strategy, warmup) = match built {
            Ok(built) => built,
            Err(RunError::Build(error)) => return Err(error.into()),
            Err(stop) => return Err(ValidationError::Panic(stop.message())),
        };
        let markets = markets(warmup);
        let candles = markets.first().map_or(&[][..], |market| &market.candles[..]);
        let place = Cell::new(0);
        let answers = catch_panic(&place, || {
            let mut feed = Feed::with_strategy(strategy, subject, RunMode::FULL);
            let mut decoys = Decoys::from_candles(candles);
            while place.get() < candles.len() && !(place.get().is_multiple_of(CHECK_STRIDE) && is_enough()) {
                let index = place.get();
                decoys.with_candle(index, &candles[index], |candle| feed.push(candle, candles, &place));
            }
            feed.finish()
        });
        // After a panic, `place` is still at the candle that caused it.
        let shown = place.get() + usize::from(answers.is_err());
        let candles = candles[..shown.min(candles.len())].to_vec();
        Ok((Self { warmup, candles, answers }, markets))
    }

    /// Returns the declared warm-up in candles.
    pub const fn warmup(&self) -> usize {
        self.warmup
    }

    pub(super) fn find_difference(&self, subject: &Subject) -> Result<Option<String>, RunError> {
        let later = subject.run_with_decoys(&self.candles, RunMode::FULL)?;
        Ok(match &self.answers {
            Ok(first) => first_difference(first, &later).map(|candle| {
                format!(
                    "the first instance in the process decides differently at candle {candle}: do not keep state in a static"
                )
            }),
            Err(stop) => Some(format!("the first instance in the process fails, but others do not: {stop}")),
        })
    }
}

/// A strategy's request for a trade, with the candle and price that caused the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Index of the current candle, 0-based. The candle may still be forming.
    pub candle: usize,
    /// Index of the price within the candle: 0 to 3, or 4 for a decision at the close.
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
    /// Runs the strategy on `candles` and returns its decisions.
    /// Decoys replace the later candles in memory. `rivals` are bots that run in parallel: half of them are built
    /// before the strategy, the others after it. Fails with a message if the strategy cannot be built or panics.
    pub fn collect_decisions(&self, candles: &[Candle], rivals: &[Self]) -> Result<Vec<Decision>, String> {
        self.collect_decisions_with_hook(candles, rivals, &mut || {})
    }

    /// Like [`Self::collect_decisions`], but calls `built` after the build and before the first candle.
    pub fn collect_decisions_with_hook(
        &self,
        candles: &[Candle],
        rivals: &[Self],
        built: &mut dyn FnMut(),
    ) -> Result<Vec<Decision>, String> {
        let place = Cell::new(0);
        let run = || {
            let (before, after) = rivals.split_at(rivals.len() / 2);
            // Ignores rivals that cannot be built with their parameters.
            let new = |rival| Feed::new(rival, RunMode::FULL).ok().map(|rival| (rival, Cell::new(0)));
            let mut others: Vec<_> = before.iter().filter_map(new).collect();
            let mut own = Feed::new(self, RunMode::FULL)?;
            built();
            let mut decoys = Decoys::from_candles(candles);
            others.extend(after.iter().filter_map(new));
            while place.get() < candles.len() {
                for (rival, place) in &mut others {
                    rival.feed_next(candles, place);
                }
                let index = place.get();
                decoys.with_candle(index, &candles[index], |candle| own.push(candle, candles, &place));
            }
            Ok(own.finish()?.iter().map(Decision::from).collect())
        };
        catch_panic(&place, run).map_err(|stop| stop.to_string())
    }

    /// Returns the same strategy on another symbol, with other parameters if possible.
    /// Each integer parameter changes by 1 within its range.
    #[must_use]
    pub fn to_rival(&self, symbol: crate::Symbol) -> Self {
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
}

//! Strategies that are shown the same candles, and batches of their answers.

use candlewick_engine::LentStrategy;
use candlewick_sdk::{Candle, CandleAnswers, Millis};
use std::collections::VecDeque;

/// Candles of a batch times the strategies that are shown them: so many that to hand over a batch costs little beside it.
const DECISIONS: usize = 4_096;
/// The least candles of a batch, whatever the number of strategies.
const LEAST_CANDLES: usize = 128;
/// Candles that are shown to one strategy before another is shown them: few enough to stay in a cache.
const PART: usize = 256;
/// For so many candles of a batch there is room for an answer of each strategy at the start. A batch of few strategies ends soon after one of
/// them has used that up.
const CANDLES_PER_ANSWER: usize = 8;

/// Strategies of one series.
pub(super) struct Group<'a> {
    candles: &'a [Candle],
    /// Candles that they have been shown.
    shown: usize,
    /// Candles of a batch at most.
    most_candles: usize,
    /// None while somebody shows them candles.
    strategies: Option<Vec<LentStrategy>>,
    pub(super) ready: VecDeque<Batch>,
    /// To be used again.
    pub(super) spent: Vec<Batch>,
}

/// What the strategies of a group answer to some candles.
pub(super) struct Batch {
    pub(super) candles: usize,
    /// By strategy.
    pub(super) answers: Vec<CandleAnswers>,
}

/// Candles to be shown to the strategies of a group.
pub(super) struct Job<'a> {
    pub(super) group: usize,
    candles: &'a [Candle],
    strategies: Vec<LentStrategy>,
    batch: Batch,
}

/// Strategies in groups, one a series, or several where there are fewer series than threads; and the group and the place in it of each.
pub(super) fn groups_of<'a>(
    lent: Vec<LentStrategy>,
    series: &[&'a [Candle]],
    threads: usize,
) -> (Vec<Group<'a>>, Vec<(usize, usize)>) {
    let parts = threads.div_ceil(series.len().max(1)).max(1);
    let of_series = |index: usize| lent.iter().filter(|one| one.series().index() == index).count();
    let sizes: Vec<usize> = (0..series.len()).map(|index| of_series(index).div_ceil(parts)).collect();
    let mut groups: Vec<(usize, Vec<LentStrategy>)> = Vec::new();
    let mut places = Vec::with_capacity(lent.len());
    for strategy in lent {
        let index = strategy.series().index();
        // They come by series.
        let has_room = |(own, strategies): &(usize, Vec<_>)| *own == index && strategies.len() < sizes[index];
        if !groups.last().is_some_and(has_room) {
            groups.push((index, Vec::with_capacity(sizes[index])));
        }
        let last = groups.len() - 1;
        places.push((last, groups[last].1.len()));
        groups[last].1.push(strategy);
    }
    let groups = groups.into_iter().map(|(index, strategies)| Group::new(series[index], strategies));
    (groups.collect(), places)
}

impl<'a> Group<'a> {
    fn new(candles: &'a [Candle], strategies: Vec<LentStrategy>) -> Self {
        let most_candles = (DECISIONS / strategies.len().max(1)).max(LEAST_CANDLES);
        let (ready, spent) = (VecDeque::new(), Vec::new());
        Self { candles, shown: 0, most_candles, strategies: Some(strategies), ready, spent }
    }

    /// The same with so many batches to be used.
    pub(super) fn with_room_for(mut self, batches: usize) -> Self {
        let strategies = self.strategies.as_ref().map_or(0, Vec::len);
        let answers = || CandleAnswers::with_capacity(self.most_candles / CANDLES_PER_ANSWER);
        let batch = || Batch { candles: 0, answers: (0..strategies).map(|_| answers()).collect() };
        self.spent = (0..batches).map(|_| batch()).collect();
        self.ready.reserve(batches);
        self
    }

    pub(super) fn has_candles(&self) -> bool {
        self.shown < self.candles.len()
    }

    /// Whether nobody shows its strategies candles.
    pub(super) fn is_free(&self) -> bool {
        self.strategies.is_some()
    }

    /// The time of the first candle that they have not been shown.
    pub(super) fn next_time(&self) -> Option<Millis> {
        self.candles.get(self.shown).map(Candle::time)
    }

    /// Its next candles to be shown, under its number; nothing where there are none, or somebody is about to show them. It is to be
    /// [put back](Self::put_back).
    pub(super) fn job(&mut self, group: usize) -> Option<Job<'a>> {
        let rest = self.candles.get(self.shown..).filter(|rest| !rest.is_empty())?;
        let strategies = self.strategies.take()?;
        let candles = &rest[..self.most_candles.min(rest.len())];
        let none =
            || Batch { candles: 0, answers: strategies.iter().map(|_| CandleAnswers::default()).collect() };
        let batch = self.spent.pop().unwrap_or_else(none);
        Some(Job { group, candles, strategies, batch })
    }

    pub(super) fn put_back(&mut self, job: Job<'a>) {
        self.shown += job.batch.candles;
        self.strategies = Some(job.strategies);
        self.ready.push_back(job.batch);
    }
}

impl Job<'_> {
    /// Shows the strategies the candles, or the first of them where there are many answers.
    pub(super) fn run(&mut self) {
        let Self { candles, strategies, batch, .. } = self;
        let most_answers = candles.len() / CANDLES_PER_ANSWER;
        batch.answers.iter_mut().for_each(CandleAnswers::clear);
        batch.candles = 0;
        for part in candles.chunks(PART) {
            for (strategy, answers) in strategies.iter_mut().zip(&mut batch.answers) {
                strategy.show(part, answers);
            }
            batch.candles += part.len();
            if batch.answers.iter().any(|answers| answers.len() >= most_answers) {
                break;
            }
        }
    }
}

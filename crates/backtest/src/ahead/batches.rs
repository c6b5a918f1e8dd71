//! What a Session takes the answers of its lent strategies from.

use super::Ahead;
use super::group::Batch;
use candlewick_engine::AnswersAhead;
use candlewick_sdk::{CandleAnswer, CandleAnswers};
use std::collections::VecDeque;
use std::mem;

/// The batches of all groups. Strategies of a group come to a batch at different times, at most one batch apart.
pub(crate) struct Batches<'q, 'a> {
    ahead: &'q Ahead<'a>,
    /// By strategy.
    takers: Vec<Taker>,
    /// By group.
    begun: Vec<Begun>,
}

/// Where the answers of a strategy are.
struct Taker {
    group: usize,
    /// Its place in the group.
    place: usize,
    /// Batches of the group that it has taken its answers from.
    taken: usize,
}

/// Batches of a group from which not all of its strategies have taken their answers.
struct Begun {
    /// Each with how many have not.
    batches: VecDeque<(Batch, usize)>,
    /// How many batches came before the first of them.
    before: usize,
    spent: Option<Batch>,
}

impl<'q, 'a> Batches<'q, 'a> {
    /// Of so many groups, with the group and the place in it of each strategy.
    pub(super) fn new(ahead: &'q Ahead<'a>, places: Vec<(usize, usize)>, groups: usize) -> Self {
        let taker = |(group, place)| Taker { group, place, taken: 0 };
        let begun = || Begun { batches: VecDeque::with_capacity(4), before: 0, spent: None };
        Self {
            ahead,
            takers: places.into_iter().map(taker).collect(),
            begun: (0..groups).map(|_| begun()).collect(),
        }
    }
}

/// Prefetches the first answers of a strategy: they were written on another core, and their turn comes soon.
fn prefetch_first(answers: &CandleAnswers) {
    answers.iter().take(2).for_each(CandleAnswer::prefetch);
}

impl AnswersAhead for Batches<'_, '_> {
    fn next_answers(&mut self, strategy: usize, answers: &mut CandleAnswers) -> usize {
        let Taker { group, place, taken } = &mut self.takers[strategy];
        let begun = &mut self.begun[*group];
        while *taken - begun.before >= begun.batches.len() {
            let Some(batch) = self.ahead.next_batch(*group, begun.spent.take()) else { return 0 };
            batch.answers.iter().for_each(prefetch_first);
            let strategies = batch.answers.len();
            begun.batches.push_back((batch, strategies));
        }
        let (batch, left) = &mut begun.batches[*taken - begun.before];
        // What the Session has decided on goes back in its place, as room for others.
        mem::swap(answers, &mut batch.answers[*place]);
        let candles = batch.candles;
        (*left, *taken) = (*left - 1, *taken + 1);
        if begun.batches.front().is_some_and(|(_, left)| *left == 0) {
            begun.spent = begun.batches.pop_front().map(|(batch, _)| batch);
            begun.before += 1;
        }
        candles
    }
}

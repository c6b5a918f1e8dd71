//! Queue of future venue events, ordered by due time.
#![allow(clippy::inline_always, reason = "writes outcomes directly into their queue: docs/performance.md")]

use candlewick_sdk::Millis;
use std::collections::VecDeque;

const INITIAL_CAPACITY: usize = 256;

/// Queue of items, sorted by due time and then by order number.
/// Orders arrive and close almost in the order of submission, so most items are appended at the end.
#[derive(Clone, Debug)]
pub(crate) struct DueQueue<T> {
    entries: VecDeque<Entry<T>>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    due: Millis,
    number: u64,
    item: T,
}

impl<T> Entry<T> {
    fn rank(&self) -> (Millis, u64) {
        (self.due, self.number)
    }
}

impl<T> DueQueue<T> {
    pub(crate) fn new() -> Self {
        Self { entries: VecDeque::with_capacity(INITIAL_CAPACITY) }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, due: Millis, number: u64, item: impl FnOnce() -> T) {
        let rank = (due, number);
        let entry = || Entry { due, number, item: item() };
        if self.entries.back().is_none_or(|last| last.rank() <= rank) {
            self.entries.push_back(entry());
        } else {
            let place = self.entries.partition_point(|earlier| earlier.rank() <= rank);
            self.entries.insert(place, entry());
        }
    }

    #[inline]
    pub(crate) fn next_due(&self) -> Millis {
        self.entries.front().map_or(Millis::MAX, |first| first.due)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.entries.pop_front().map(|entry| entry.item)
    }

    pub(crate) fn due_by(&self, at: Millis) -> impl Iterator<Item = &T> {
        self.entries.iter().take_while(move |entry| entry.due <= at).map(|entry| &entry.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pushed: &[(i64, u64)], expected: &[(i64, u64)]) {
        let mut queue = DueQueue::new();
        for &(due, number) in pushed {
            queue.push(Millis::new(due), number, || (due, number));
        }
        let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(popped, expected);
        assert_eq!(queue.next_due(), Millis::MAX);
    }

    #[test]
    fn pops_items_by_time_then_by_number() {
        check(&[(5, 1), (9, 2), (9, 3)], &[(5, 1), (9, 2), (9, 3)]);
        check(&[(9, 3), (5, 4), (9, 2), (7, 1)], &[(5, 4), (7, 1), (9, 2), (9, 3)]);
    }

    #[test]
    fn due_by_includes_items_due_at_that_time() {
        let mut queue = DueQueue::new();
        for (due, number) in [(5, 1), (7, 2), (8, 3)] {
            queue.push(Millis::new(due), number, || number);
        }
        assert_eq!(queue.due_by(Millis::new(7)).copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(queue.next_due(), Millis::new(5));
    }
}

//! What a run holds beyond the candles that it is given.

use candlewick_backtest::bench::Stage;
use candlewick_sdk::testkit::Allocations;
use serde::Serialize;

/// Bytes that a run took from the allocator; room that it never touched counts as well.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Held {
    /// At most, of all moments at which the run was looked at.
    pub most_bytes: u64,
    /// The trade book's part, which grows with the trades.
    pub book_bytes: u64,
    /// What is left without the book, for each bot.
    pub bytes_per_bot: f64,
}

/// Looks at what the thread holds while a run reports where it has come to.
pub(super) struct Holding {
    before: i64,
    most: i64,
    judged: i64,
    book: i64,
}

impl Holding {
    /// Just before a run: all that is held now is not the run's.
    pub(super) fn start() -> Self {
        Self::from(Allocations::of_this_thread().bytes)
    }

    /// The run has come so far.
    pub(super) fn see(&mut self, stage: Stage) {
        self.see_bytes(stage, Allocations::of_this_thread().bytes);
    }

    /// What the run of so many bots held; nothing where the program does not count.
    pub(super) fn of_bots(&self, bots: usize) -> Option<Held> {
        Allocations::are_counted().then(|| self.held(bots))
    }

    const fn from(before: i64) -> Self {
        Self { before, most: 0, judged: 0, book: 0 }
    }

    fn see_bytes(&mut self, stage: Stage, bytes: i64) {
        let held = bytes - self.before;
        self.most = self.most.max(held);
        match stage {
            Stage::Running => {}
            Stage::Judged => self.judged = held,
            Stage::BookGone => self.book = self.judged - held,
        }
    }

    fn held(&self, bots: usize) -> Held {
        let bytes = |held: i64| u64::try_from(held).unwrap_or(0);
        Held {
            most_bytes: bytes(self.most),
            book_bytes: bytes(self.book),
            bytes_per_bot: bytes(self.most - self.book) as f64 / bots.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_holds_its_share_of_what_is_neither_held_before_nor_the_book() {
        let mut holding = Holding::from(1_000);
        let seen = [
            (Stage::Running, 1_900),
            (Stage::Running, 2_000),
            (Stage::Judged, 1_750),
            (Stage::BookGone, 1_150),
        ];
        for (stage, bytes) in seen {
            holding.see_bytes(stage, bytes);
        }
        assert_eq!(holding.held(4), Held { most_bytes: 1_000, book_bytes: 600, bytes_per_bot: 100.0 });
    }
}

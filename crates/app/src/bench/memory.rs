//! Memory of a run beyond its input candles.

use candlewick_backtest::bench::Stage;
use candlewick_sdk::testkit::Allocations;
use serde::Serialize;

/// Allocated bytes of a run, including memory that was never touched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Held {
    pub most_bytes: u64,
    pub book_bytes: u64,
    pub bytes_per_bot: f64,
}

pub(super) struct Holding {
    before: i64,
    most: i64,
    judged: i64,
    book: i64,
}

impl Holding {
    pub(super) fn start() -> Self {
        Self::from(Allocations::of_this_thread().bytes)
    }

    pub(super) fn see(&mut self, stage: Stage) {
        self.see_bytes(stage, Allocations::of_this_thread().bytes);
    }

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

//! What whoever watches is told, and when it is told how the run stands as a whole.

use crate::{Notice, Overview, Watcher};
use candlewick_broker::clock::AwakeClock;
use std::time::Duration;

/// An overview is at most so old, in real time, while anything at all happens.
const OLDEST: Duration = Duration::from_secs(1);
/// More may happen in a second than anybody can read, and each overview looks through all trades: they are at least so far apart.
const APART: Duration = Duration::from_millis(100);

/// Whoever watches.
pub(super) struct Watchers {
    all: Vec<Watcher>,
    clock: AwakeClock,
    /// When the last overview was shown.
    shown: Option<Duration>,
    /// Something of note has happened since.
    has_news: bool,
}

impl Watchers {
    pub(super) fn new(all: Vec<Watcher>) -> Self {
        Self { all, clock: AwakeClock::start(), shown: None, has_news: true }
    }

    /// Tells everyone, and logs what must be seen where nobody watches.
    pub(super) fn notify(&mut self, notice: &Notice) {
        match notice {
            Notice::Warning(text) => tracing::warn!("{text}"),
            Notice::Alarm(text) => tracing::error!("{text}"),
            Notice::Begins(_)
            | Notice::Overview(_)
            | Notice::Handled { .. }
            | Notice::Price(..)
            | Notice::Stopping { .. } => {}
        }
        self.has_news |= !notice.is_of_the_market();
        for watcher in &self.all {
            watcher.send(notice);
        }
    }

    /// Shows how the run stands to those who ask for that, where it is due.
    pub(super) fn show(&mut self, overview: impl FnOnce() -> Overview) {
        if !self.all.iter().any(Watcher::wants_overview) {
            return;
        }
        let now = self.clock.elapsed();
        let age = self.shown.map(|shown| now.saturating_sub(shown));
        let is_due = age.is_none_or(|age| age >= OLDEST || (self.has_news && age >= APART));
        if is_due {
            self.notify(&Notice::Overview(Box::new(overview())));
            (self.shown, self.has_news) = (Some(now), false);
        }
    }

    /// How many notices were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.all.iter().map(Watcher::dropped).sum()
    }
}

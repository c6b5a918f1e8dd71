//! Notifies watchers and observers, and determines when they receive overviews.

use super::journal_writer::SaveReport;
use super::requests::Response;
use crate::notice::Observer;
use crate::{Funds, Notice, NoticeSender, Overview};
use candlewick_broker::clock::BootClock;
use candlewick_engine::IntentRow;
use std::sync::Arc;
use std::time::Duration;

const MAX_OVERVIEW_AGE: Duration = Duration::from_secs(1);
/// Minimum time between overviews, because each overview scans all trades.
const MIN_OVERVIEW_INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct Watchers {
    all: Vec<NoticeSender>,
    observers: Vec<Arc<dyn Observer>>,
    clock: BootClock,
    shown: Option<Duration>,
    has_news: bool,
}

impl Watchers {
    pub(super) fn new(all: Vec<NoticeSender>) -> Self {
        Self { all, observers: Vec::new(), clock: BootClock::start(), shown: None, has_news: true }
    }

    pub(super) fn begin(&mut self, funds: Funds, in_doubt: Vec<IntentRow>) {
        self.notify(&Notice::Begins(funds));
        for row in in_doubt {
            self.notify(&Notice::LeftInDoubt(row));
        }
    }

    pub(super) fn notify(&mut self, notice: &Notice) {
        match notice {
            Notice::Note { text, .. } => tracing::info!("{text}"),
            Notice::Warning(text) | Notice::Logged { text, is_alarm: false } => tracing::warn!("{text}"),
            Notice::Alarm(text) | Notice::Logged { text, is_alarm: true } => tracing::error!("{text}"),
            _ => {}
        }
        for observer in &self.observers {
            observer.on_notice(notice);
        }
        self.has_news |= !notice.is_market_data();
        for watcher in &self.all {
            watcher.send(notice);
        }
    }

    pub(super) fn send_overview(&mut self, overview: impl FnOnce() -> Overview) {
        if !self.all.iter().any(NoticeSender::wants_overview) {
            return;
        }
        let now = self.clock.elapsed();
        let age = self.shown.map(|shown| now.saturating_sub(shown));
        let is_due =
            age.is_none_or(|age| age >= MAX_OVERVIEW_AGE || (self.has_news && age >= MIN_OVERVIEW_INTERVAL));
        if is_due {
            self.notify(&Notice::Overview(Box::new(overview())));
            (self.shown, self.has_news) = (Some(now), false);
        }
    }

    pub(super) fn add(&mut self, observer: Arc<dyn Observer>) {
        self.observers.push(observer);
    }

    pub(super) fn on_loop_turn(&self) {
        self.observers.iter().for_each(|observer| observer.on_loop_turn());
    }

    pub(super) fn on_answer(&self, response: &Response) {
        if let Some((question, took)) = response.timing {
            self.observers.iter().for_each(|observer| observer.on_answer(question, took));
        }
    }

    pub(super) fn notify_save(&self, returned: SaveReport) -> SaveReport {
        let (took, is_durable) = (returned.duration, returned.save_result.is_ok());
        self.observers.iter().for_each(|observer| observer.on_journal_write(took, is_durable));
        returned
    }

    pub(super) fn dropped_notices(&self) -> u64 {
        self.all.iter().map(NoticeSender::dropped_count).sum()
    }
}

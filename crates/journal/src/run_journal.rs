//! Journal of one run. It writes entries to a store and renews the lease of the store.

use crate::tables::IntentRows;
use crate::{
    Head, Journal, JournalError, Line, LineKind, LoggedExchange, OrderToken, ProjectionProgress, Projector,
    Store, StoredLine,
};
use async_trait::async_trait;
use candlewick_engine::{Action, Entry, IntentId, Recorder};
use candlewick_sdk::Millis;
use std::io;
use std::time::Duration;

/// Interval between lease renewals, in real time. It is much shorter than the duration of the lease.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_secs(3);
const TABLES_INTERVAL: Duration = Duration::from_secs(5);
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(20);
const CATCH_UP_PAUSE_FACTOR: u32 = 4;
const TABLES_RETRY_DELAY: Duration = Duration::from_mins(1);

pub struct RunJournal {
    store: Option<Store>,
    run: u64,
    /// Monotonic clock for lease renewals. The clock must keep running while the machine sleeps.
    elapsed: Box<dyn Fn() -> Duration + Send + Sync>,
    last_heartbeat: Duration,
    /// Venue times at which the last event happened and arrived. The actions of the event get the same times.
    last_times: (Millis, Millis),
    follower: Option<Box<dyn JournalFollower>>,
    /// Whether a snapshot piece is being written. After a cancelled write, the value stays true.
    is_writing_piece: bool,
    failures: u64,
    projector: Option<Projector>,
    next_table_update: Duration,
}

impl RunJournal {
    /// Creates the journal of run number `run` at venue time `now`. The caller must have verified the store.
    /// `elapsed` is a monotonic clock with any origin. The clock must keep running while the machine sleeps.
    pub fn new(
        mut store: Store,
        run: u64,
        now: Millis,
        elapsed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let last_heartbeat = elapsed();
        store.store_verified_head(last_heartbeat);
        Self {
            store: Some(store),
            run,
            elapsed: Box::new(elapsed),
            last_heartbeat,
            last_times: (now, now),
            follower: None,
            is_writing_piece: false,
            failures: 0,
            projector: None,
            next_table_update: last_heartbeat + CATCH_UP_INTERVAL,
        }
    }

    #[must_use]
    pub fn with_follower(mut self, follower: Box<dyn JournalFollower>) -> Self {
        if let Some(store) = &mut self.store {
            store.collect_durable_lines();
            self.projector = Some(Projector::from_head(store.head()));
        }
        self.follower = Some(follower);
        self
    }

    fn feed_follower(&mut self) {
        if let (Some(store), Some(follower)) = (&mut self.store, &mut self.follower) {
            for stored in &store.take_durable_lines() {
                follower.on_line_stored(stored);
                if let (Some(projector), Some(rows)) = (&mut self.projector, follower.intent_rows()) {
                    projector.observe_line(stored, rows);
                }
            }
        }
    }

    fn are_tables_due(&self) -> bool {
        self.projector.as_ref().is_some_and(Projector::is_due)
            && self.follower.as_ref().is_some_and(|follower| follower.intent_rows().is_some())
            && (self.elapsed)() >= self.next_table_update
    }

    async fn update_tables(&mut self) -> bool {
        let now = (self.elapsed)();
        // The next time is set before the update, so that the interval also applies if the update is cancelled.
        self.next_table_update = now + TABLES_INTERVAL;
        let (Some(store), Some(projector)) = (&mut self.store, &mut self.projector) else { return false };
        let Some(rows) = self.follower.as_ref().and_then(|follower| follower.intent_rows()) else {
            return false;
        };
        match projector.write_batch(store, rows).await {
            Ok(ProjectionProgress::More) => {
                let ended = (self.elapsed)();
                self.next_table_update =
                    ended + CATCH_UP_INTERVAL.max(ended.saturating_sub(now) * CATCH_UP_PAUSE_FACTOR);
            }
            Ok(ProjectionProgress::Complete(_)) => {
                if let Some(follower) = &mut self.follower {
                    follower.on_rows_complete();
                }
            }
            Err(error) => {
                self.next_table_update = now + TABLES_RETRY_DELAY;
                if let Some(follower) = &mut self.follower {
                    follower.on_rows_failed(&error);
                }
                return false;
            }
        }
        true
    }

    async fn write_snapshot_piece(&mut self, is_end: bool) -> bool {
        self.report_cancelled_piece();
        let (Some(store), Some(follower)) = (&mut self.store, &mut self.follower) else { return false };
        if store.pending_count() > 0 {
            return false;
        }
        let Some(body) = follower.next_snapshot_piece(is_end) else { return false };
        let (at, received) = self.last_times;
        let line = Line { run: self.run, kind: LineKind::Note, intent: None, at, received, body };
        self.is_writing_piece = true;
        let kept = store.commit_best_effort(line).await;
        self.is_writing_piece = false;
        match kept {
            Ok(head) => follower.on_snapshot_piece_stored(head),
            Err(error) => {
                self.record_failure(&error.to_string());
                return false;
            }
        }
        self.feed_follower();
        true
    }

    fn report_cancelled_piece(&mut self) {
        if std::mem::take(&mut self.is_writing_piece) {
            self.record_failure("the disk was too slow, so other entries took precedence");
        }
    }

    fn record_failure(&mut self, why: &str) {
        if let Some(follower) = &mut self.follower {
            follower.on_snapshot_piece_failed(why);
        }
        self.failures += 1;
        let note = serde_json::json!({ "snapshots_not_kept": self.failures, "why": why });
        self.add_line(LineKind::Note, None, note.to_string());
    }

    fn add_line(&mut self, kind: LineKind, intent: Option<IntentId>, body: String) {
        let (at, received) = self.last_times;
        let intent = intent.map(IntentId::number);
        if let Some(store) = &mut self.store {
            store.record(Line { run: self.run, kind, intent, at, received, body });
        }
    }
}

impl Recorder for RunJournal {
    fn record(&mut self, entry: Entry<'_>) -> io::Result<()> {
        match &self.store {
            None => return Err(io::Error::other("the journal is closed")),
            Some(store) if store.is_full() => {
                return Err(io::Error::other("the journal cannot be written, and its buffer is full"));
            }
            Some(_) => {}
        }
        let body = serde_json::to_string(&entry)?;
        match entry {
            Entry::Header(_) => self.add_line(LineKind::Run, None, body),
            Entry::Event(event) => {
                self.last_times = (event.at, event.received);
                self.add_line(LineKind::Event, event.kind.intent(), body);
            }
            Entry::Action(action) => self.add_line(LineKind::Action, opened_intent(action), body),
        }
        Ok(())
    }
}

#[async_trait]
impl Journal for RunJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        self.report_cancelled_piece();
        let Some(store) = &mut self.store else { return Ok(()) };
        if store.pending_count() > 0 {
            store.commit().await?;
        }
        self.feed_follower();
        let Some(store) = &mut self.store else { return Ok(()) };
        let now = (self.elapsed)();
        if now.saturating_sub(self.last_heartbeat) >= HEARTBEAT_INTERVAL {
            store.heartbeat().await?;
            store.renew_verified_head(now);
            self.last_heartbeat = now;
        }
        Ok(())
    }

    async fn close(&mut self) -> Result<(), JournalError> {
        self.make_durable().await?;
        let last = async { while self.write_snapshot_piece(true).await {} };
        drop(tokio::time::timeout(FINAL_WRITE_TIMEOUT, last).await);
        self.make_durable().await?;
        let rows = async {
            while self.projector.as_ref().is_some_and(Projector::is_behind) && self.update_tables().await {}
        };
        drop(tokio::time::timeout(FINAL_WRITE_TIMEOUT, rows).await);
        match self.store.take() {
            Some(store) => store.close().await,
            None => Ok(()),
        }
    }

    fn pending_count(&self) -> usize {
        self.store.as_ref().map_or(0, Store::pending_count)
    }

    fn is_snapshot_due(&self) -> bool {
        let is_idle = self.store.as_ref().is_some_and(|store| store.pending_count() == 0);
        is_idle
            && (self.follower.as_ref().is_some_and(|follower| follower.is_snapshot_due())
                || self.are_tables_due())
    }

    fn is_catching_up(&self) -> bool {
        self.projector.as_ref().is_some_and(Projector::is_catching_up)
    }

    async fn write_background_chunk(&mut self) {
        if !self.write_snapshot_piece(false).await && self.pending_count() == 0 && self.are_tables_due() {
            self.update_tables().await;
        }
    }

    fn record_exchange(&mut self, exchange: LoggedExchange) {
        if let Some(store) = &mut self.store {
            store.record_exchange(exchange);
        }
    }

    fn answer_order(&mut self, order: OrderToken, answer: String) {
        if let Some(store) = &mut self.store {
            store.answer_order(order, answer);
        }
    }

    fn note(&mut self, at: Millis, body: String) {
        self.last_times = (at, at);
        self.add_line(LineKind::Note, None, body);
    }

    fn note_about(&mut self, at: Millis, intent: IntentId, body: String) {
        self.last_times = (at, at);
        self.add_line(LineKind::Note, Some(intent), body);
    }
}

fn opened_intent(action: &Action) -> Option<IntentId> {
    match action {
        Action::Open(approved) => Some(approved.intent()),
        Action::Refuse(_) | Action::DayOpened { .. } | Action::Verdict(_) => None,
    }
}

const SNAPSHOT_PREFIX: &str = "{\"snapshot\":";
const SNAPSHOT_PART_PREFIX: &str = "{\"snapshot_part\":";

pub trait JournalFollower: Send {
    fn on_line_stored(&mut self, stored: &StoredLine);

    fn is_snapshot_due(&self) -> bool;

    /// Returns the next piece of a pending snapshot; `None` if no snapshot is pending.
    /// The journal writes the piece after all lines received so far. `is_end` is true at the end of the run.
    fn next_snapshot_piece(&mut self, is_end: bool) -> Option<String>;

    fn on_snapshot_piece_stored(&mut self, head: Head);

    /// Handles a snapshot piece that may not have been stored. The next piece must start a new snapshot.
    fn on_snapshot_piece_failed(&mut self, why: &str);

    fn intent_rows(&self) -> Option<&dyn IntentRows> {
        None
    }

    fn on_rows_complete(&mut self) {}

    fn on_rows_failed(&mut self, error: &JournalError) {
        let _ = error;
    }
}

pub fn is_snapshot(body: &str) -> bool {
    body.starts_with(SNAPSHOT_PREFIX) || body.starts_with(SNAPSHOT_PART_PREFIX)
}

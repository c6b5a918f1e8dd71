//! A run's journal in a store: entries become lines, and the lease is renewed as time passes.

use crate::{
    Follower, Journal, JournalError, Line, LineKind, LoggedExchange, OrderToken, ProjectionEnd, Projector,
    Store,
};
use async_trait::async_trait;
use candlewick_engine::{Action, Entry, Event, EventKind, IntentId, Recorder};
use candlewick_sdk::Millis;
use std::io;
use std::time::Duration;

/// How often the lease is renewed, in real time: several times within its duration.
const BEAT: Duration = Duration::from_secs(5);

/// How long a run that ends takes for its last snapshot.
const LAST_SNAPSHOT: Duration = Duration::from_secs(3);

/// How often the tables are brought up to date, in real time; how soon the next piece follows at least while they are far behind, and
/// after how many times as long as the last one took; and how long they rest after a piece that failed.
const ROWS_PACE: Duration = Duration::from_secs(5);
const CATCH_UP_PACE: Duration = Duration::from_millis(20);
const CATCH_UP_REST: u32 = 4;
const ROWS_REST: Duration = Duration::from_mins(1);

/// The journal of one run in a store.
pub struct RunJournal {
    /// None once it is closed.
    store: Option<Store>,
    run: u64,
    /// Time that never leaps and passes while the machine sleeps, for the lease.
    elapsed: Box<dyn Fn() -> Duration + Send + Sync>,
    last_beat: Duration,
    /// When the last event was a fact, and when it arrived: actions follow from it.
    moment: (Millis, Millis),
    follower: Option<Box<dyn Follower>>,
    /// A piece of a snapshot is being written; where nobody waits for that any more, it was given up.
    is_storing: bool,
    /// How many snapshots could not be kept.
    failures: u64,
    /// Keeps the tables up, where somebody follows the lines who knows their rows.
    projector: Option<Projector>,
    /// When rows are next written.
    next_rows: Duration,
}

impl RunJournal {
    /// The journal of run number `run`, which begins at venue time `now`. `elapsed` is the time since some moment, by a clock
    /// that never leaps and runs on while the machine sleeps.
    /// What the store held before has been verified.
    pub fn new(
        mut store: Store,
        run: u64,
        now: Millis,
        elapsed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Self {
        let last_beat = elapsed();
        store.keep_point(last_beat);
        Self {
            store: Some(store),
            run,
            elapsed: Box::new(elapsed),
            last_beat,
            moment: (now, now),
            follower: None,
            is_storing: false,
            failures: 0,
            projector: None,
            next_rows: last_beat + CATCH_UP_PACE,
        }
    }

    /// The same with somebody who follows its lines and has snapshots kept.
    #[must_use]
    pub fn followed_by(mut self, follower: Box<dyn Follower>) -> Self {
        if let Some(store) = &mut self.store {
            store.follow();
            self.projector = Some(Projector::after(store.head()));
        }
        self.follower = Some(follower);
        self
    }

    /// Hands out what has become durable.
    fn follow(&mut self) {
        if let (Some(store), Some(follower)) = (&mut self.store, &mut self.follower) {
            for stored in &store.take_durable() {
                follower.take(stored);
                if let (Some(projector), Some(rows)) = (&mut self.projector, follower.rows()) {
                    projector.take(stored, rows);
                }
            }
        }
    }

    /// Whether rows of the tables are to be written now.
    fn are_rows_due(&self) -> bool {
        self.projector.as_ref().is_some_and(Projector::is_due)
            && self.follower.as_ref().is_some_and(|follower| follower.rows().is_some())
            && (self.elapsed)() >= self.next_rows
    }

    /// Writes the next rows of the tables; whether there were any, and they were written. No entry depends on it.
    async fn keep_rows(&mut self) -> bool {
        let now = (self.elapsed)();
        // Given up on the way, too: what is wrong may last.
        self.next_rows = now + ROWS_PACE;
        let (Some(store), Some(projector)) = (&mut self.store, &mut self.projector) else { return false };
        let Some(rows) = self.follower.as_ref().and_then(|follower| follower.rows()) else { return false };
        match projector.keep_piece(store, rows).await {
            Ok(ProjectionEnd::More) => {
                let ended = (self.elapsed)();
                self.next_rows = ended + CATCH_UP_PACE.max(ended.saturating_sub(now) * CATCH_UP_REST);
            }
            Ok(ProjectionEnd::Complete(_)) => {
                if let Some(follower) = &mut self.follower {
                    follower.rows_complete();
                }
            }
            Err(error) => {
                self.next_rows = now + ROWS_REST;
                if let Some(follower) = &mut self.follower {
                    follower.rows_not_written(&error);
                }
                return false;
            }
        }
        true
    }

    /// Keeps the next piece of a snapshot, unless something else waits; whether there was one, and it was kept.
    async fn keep_piece(&mut self, is_end: bool) -> bool {
        self.give_up();
        let (Some(store), Some(follower)) = (&mut self.store, &mut self.follower) else { return false };
        if store.pending() > 0 {
            return false;
        }
        let Some(body) = follower.next_piece(is_end) else { return false };
        let (at, received) = self.moment;
        let line = Line { run: self.run, kind: LineKind::Note, intent: None, at, received, body };
        self.is_storing = true;
        let kept = store.commit_apart(line).await;
        self.is_storing = false;
        match kept {
            Ok(head) => follower.recorded(head),
            Err(error) => {
                self.note_failure(&error.to_string());
                return false;
            }
        }
        self.follow();
        true
    }

    /// Nobody waits any more for a piece that was on its way when somebody else wanted the journal.
    fn give_up(&mut self) {
        if std::mem::take(&mut self.is_storing) {
            self.note_failure("the disk was slow, and something else was to be written");
        }
    }

    /// A snapshot that is missing costs time at the next start, and no trade now.
    fn note_failure(&mut self, why: &str) {
        if let Some(follower) = &mut self.follower {
            follower.not_recorded(why);
        }
        self.failures += 1;
        let note = serde_json::json!({ "snapshots_not_kept": self.failures, "why": why });
        self.add(LineKind::Note, None, note.to_string());
    }

    fn add(&mut self, kind: LineKind, intent: Option<IntentId>, body: String) {
        let (at, received) = self.moment;
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
                return Err(io::Error::other("too many entries wait for a journal that cannot be kept"));
            }
            Some(_) => {}
        }
        let body = serde_json::to_string(&entry)?;
        match entry {
            Entry::Header(_) => self.add(LineKind::Run, None, body),
            Entry::Event(event) => {
                self.moment = (event.at, event.received);
                self.add(LineKind::Event, intent_of(event), body);
            }
            Entry::Action(action) => self.add(LineKind::Action, opened_by(action), body),
        }
        Ok(())
    }
}

#[async_trait]
impl Journal for RunJournal {
    async fn make_durable(&mut self) -> Result<(), JournalError> {
        self.give_up();
        let Some(store) = &mut self.store else { return Ok(()) };
        if store.pending() > 0 {
            store.commit().await?;
        }
        self.follow();
        let Some(store) = &mut self.store else { return Ok(()) };
        let now = (self.elapsed)();
        if now.saturating_sub(self.last_beat) >= BEAT {
            store.heartbeat().await?;
            store.renew_point(now);
            self.last_beat = now;
        }
        Ok(())
    }

    async fn close(&mut self) -> Result<(), JournalError> {
        self.make_durable().await?;
        let last = async { while self.keep_piece(true).await {} };
        drop(tokio::time::timeout(LAST_SNAPSHOT, last).await);
        // What is to be said of that, if anything, too.
        self.make_durable().await?;
        let rows = async {
            while self.projector.as_ref().is_some_and(Projector::is_behind) && self.keep_rows().await {}
        };
        drop(tokio::time::timeout(LAST_SNAPSHOT, rows).await);
        match self.store.take() {
            Some(store) => store.close().await,
            None => Ok(()),
        }
    }

    fn pending(&self) -> usize {
        self.store.as_ref().map_or(0, Store::pending)
    }

    fn is_snapshot_due(&self) -> bool {
        let is_idle = self.store.as_ref().is_some_and(|store| store.pending() == 0);
        is_idle && (self.follower.as_ref().is_some_and(|follower| follower.is_due()) || self.are_rows_due())
    }

    fn is_catching_up(&self) -> bool {
        self.projector.as_ref().is_some_and(Projector::is_catching_up)
    }

    async fn keep_snapshot(&mut self) {
        if !self.keep_piece(false).await && self.pending() == 0 && self.are_rows_due() {
            self.keep_rows().await;
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
        self.moment = (at, at);
        self.add(LineKind::Note, None, body);
    }

    fn note_about(&mut self, at: Millis, intent: IntentId, body: String) {
        self.moment = (at, at);
        self.add(LineKind::Note, Some(intent), body);
    }
}

const fn intent_of(event: &Event) -> Option<IntentId> {
    match &event.kind {
        EventKind::Opened(opened) | EventKind::Adopted(opened) => Some(opened.intent),
        EventKind::Reinstated(terms) => Some(terms.intent()),
        EventKind::Settled(settled) => Some(settled.intent),
        EventKind::SecondTrade(trade) => Some(trade.intent),
        EventKind::SecondTradeSettled { intent, .. }
        | EventKind::SettledByPerson { intent, .. }
        | EventKind::Correction { intent, .. }
        | EventKind::Rejected { intent, .. }
        | EventKind::NotSent { intent }
        | EventKind::InDoubt { intent }
        | EventKind::NotOpened { intent, .. } => Some(*intent),
        EventKind::Candle { .. }
        | EventKind::OutsideSignal(_)
        | EventKind::Price { .. }
        | EventKind::Deposit { .. }
        | EventKind::WalletDifference { .. }
        | EventKind::Balance { .. }
        | EventKind::Skew { .. }
        | EventKind::Control { .. } => None,
    }
}

fn opened_by(action: &Action) -> Option<IntentId> {
    match action {
        Action::Open(approved) => Some(approved.intent()),
        Action::Refuse(_) | Action::DayOpened { .. } | Action::Verdict(_) => None,
    }
}

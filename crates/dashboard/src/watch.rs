//! Shared state of the journal and the bot. One task reads new journal lines, and another task polls the bot.

mod follow;

pub(crate) use follow::follow_journal;

use crate::WatchedBot;
use crate::model::{Model, NewLines};
use crate::view::{Clock, State, build_state};
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, send_order};
use candlewick_sdk::Millis;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

const POLL_INTERVAL: Duration = Duration::from_millis(1_500);
const POLL_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct SharedState {
    pub(crate) watched: WatchedBot,
    /// Random id of this server process, part of each event id. Event ids of other processes are invalid.
    pub(crate) generation: String,
    pub(crate) read_only: bool,
    known: Mutex<KnownState>,
    pub(crate) version: watch::Sender<u64>,
    told: Mutex<(u64, Arc<str>)>,
    pub(crate) poll_now: Notify,
}

#[derive(Default)]
pub(crate) struct KnownState {
    pub(crate) model: Option<Model>,
    /// Number of lines read so far and in total. `None` once the journal is loaded.
    pub(crate) read_progress: Option<(u64, u64)>,
    pub(crate) problem: Option<String>,
    pub(crate) holder: Option<String>,
    pub(crate) is_journal_held: bool,
    pub(crate) bot: Option<RunState>,
    clock: Option<(Millis, Instant)>,
    speed: f64,
}

impl SharedState {
    pub(crate) fn new(watched: WatchedBot, generation: String, read_only: bool) -> Arc<Self> {
        Arc::new(Self {
            watched,
            generation,
            read_only,
            known: Mutex::new(KnownState::default()),
            version: watch::Sender::new(1),
            told: Mutex::new((0, Arc::from(""))),
            poll_now: Notify::new(),
        })
    }

    /// Locks the known state and returns it. Callers must not block or await while they hold the lock.
    pub(crate) fn lock_state(&self) -> MutexGuard<'_, KnownState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_subscribers(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    fn update(&self, change: impl FnOnce(&mut KnownState) -> bool) {
        let is_news = change(&mut self.lock_state());
        if is_news {
            self.notify_subscribers();
        }
    }

    pub(crate) fn state_json(&self) -> Arc<str> {
        let version = *self.version.borrow();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.0 != version {
            let state: State = build_state(&mut self.lock_state(), self);
            *told = (version, Arc::from(serde_json::to_string(&state).unwrap_or_else(|_| "null".to_owned())));
        }
        Arc::clone(&told.1)
    }

    pub(crate) fn clock(&self) -> Clock {
        let known = self.lock_state();
        let now = known.clock.map(|(at, read)| {
            let passed = read.elapsed().as_millis() as f64 * known.speed;
            at + Millis::new(passed as i64)
        });
        let heard = known.bot.as_ref().and_then(|bot| bot.heard);
        Clock { now, speed: known.speed, heard, seq: known.model.as_ref().map_or(0, Model::seq) }
    }

    pub(crate) fn lines_after(&self, sent: Option<u64>, limit: usize) -> Option<NewLines> {
        let known = self.lock_state();
        let model = known.model.as_ref().filter(|model| known.read_progress.is_none() || model.is_partial)?;
        Some(model.tail.lines_after(sent, limit))
    }
}

pub(crate) async fn follow_bot(shared: Arc<SharedState>) {
    loop {
        let asked = send_order(&shared.watched.paths.socket, &ControlOrder::Status, None);
        let state = match tokio::time::timeout(POLL_TIMEOUT, asked).await {
            Ok(Ok(ControlAnswer::Done { state })) => Some(*state),
            Ok(Ok(_) | Err(_)) | Err(_) => None,
        };
        shared.update(|known| known.set_bot_state(state));
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = shared.poll_now.notified() => {}
        }
    }
}

impl KnownState {
    fn set_bot_state(&mut self, state: Option<RunState>) -> bool {
        let read = Instant::now();
        match (&state, self.clock) {
            (Some(state), Some((at, before))) if state.at > at => {
                let real = before.elapsed().as_millis().max(1) as f64;
                let speed = (state.at - at).get() as f64 / real;
                // Only a sandbox clock may run faster than real time. A small difference is a measurement error.
                self.speed = if (speed - 1.0).abs() < 0.2 { 1.0 } else { speed };
            }
            _ => self.speed = 1.0,
        }
        self.clock = state.as_ref().map(|state| (state.at, read));
        let steady = |state: &Option<RunState>| {
            let state = state.clone();
            state.map(|state| RunState { at: Millis::ZERO, heard: None, clock: None, market: None, ..state })
        };
        let is_news = steady(&state) != steady(&self.bot);
        self.bot = state;
        is_news
    }
}

//! HTTP server of the sandbox: routes, credentials, responses and shared state.

use crate::fault::FaultSwitchboard;
use crate::market::PriceBoards;
use crate::settings::{Replies, SandboxSettings};
use crate::venue::Venue;
use candlewick_broker::clock::Clock;
use candlewick_sdk::{Millis, MoneyScale};
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

mod extract;
mod faults;
mod listener;
mod openapi;
mod opening;
mod prices;
#[cfg(feature = "stream")]
mod stream;
mod trading;

pub(crate) use listener::{Connection, ConnectionListener};
pub(crate) use openapi::router;

pub(crate) struct ServerState {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) boards: PriceBoards,
    pub(crate) switchboard: Arc<FaultSwitchboard>,
    pub(crate) settings: SandboxSettings,
    pub(crate) scale: MoneyScale,
    pub(crate) stopping: watch::Receiver<bool>,
    venue: Mutex<Venue>,
    expired_until: AtomicI64,
    lists: AtomicU64,
    #[cfg(feature = "stream")]
    pub(crate) prices_pushed_until: watch::Sender<Millis>,
}

impl ServerState {
    pub(crate) fn new(
        mut settings: SandboxSettings,
        scale: MoneyScale,
        clock: Arc<dyn Clock>,
        boards: PriceBoards,
        venue: Venue,
        switchboard: Arc<FaultSwitchboard>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        if clock.is_lock_step() {
            // The caller stops the clock until it has the answer, so waiting for venue time would cause a deadlock.
            settings.replies = Replies::AtOnce;
        }
        Self {
            boards,
            switchboard,
            settings,
            scale,
            clock,
            stopping,
            venue: Mutex::new(venue),
            expired_until: AtomicI64::new(i64::MIN),
            lists: AtomicU64::new(0),
            #[cfg(feature = "stream")]
            prices_pushed_until: watch::channel(Millis::new(i64::MIN)).0,
        }
    }

    pub(crate) fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(crate) fn venue(&self) -> MutexGuard<'_, Venue> {
        self.venue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn wait_until_stopping(&self) {
        let mut stopping = self.stopping.clone();
        if stopping.wait_for(|stopping| *stopping).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

//! External signals from the configured sources: a list, a webhook, standard input.
//!
//! A source turns its input into a signal or a problem for the run. No input can halt, resume or change a run.

mod check;
mod door;
mod list;
mod list_door;
mod message;
mod refusals;
mod stdin;
mod webhook;

pub use check::{CheckedLine, CheckedList, LineUse, TakenEntry, check_list, unbound_signals};
pub(crate) use list::{SignalList, offset_zone};
pub use message::close_type_of;

use crate::configuration::{Loaded, Problem, Problems, WebhookSecret, signal_problems};
use crate::error::AppError;
use crate::shell::shell_word;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_engine::BotSettings;
use candlewick_runtime::control::{ControlRequest, SignalBots};
use candlewick_sdk::Millis;
use chrono_tz::Tz;
use door::Door;
use list::{ListEntry, ListTerms, ReadLine, Taken};
use list_door::ListDoor;
use refusals::ListRefusals;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub(crate) fn problems_of_signals(loaded: &Loaded) -> Vec<Problem> {
    let mut problems = signal_problems(loaded);
    problems.extend(SignalList::of(loaded).err());
    problems
}

/// `begins` is a moment in venue time; `None` means now.
pub fn list_words(loaded: &Loaded, begins: Option<Millis>) -> Option<String> {
    let path = loaded.config.signals.list.as_ref()?;
    let list = SignalList::of(loaded).ok()??;
    let now = begins.unwrap_or_else(|| SystemClock::new().now());
    Some(format!("{}: {}", path.display(), list.outlook(&loaded.config.bots, now)))
}

pub fn refused_of_list(loaded: &Loaded) -> Option<String> {
    let path = loaded.config.signals.list.as_ref()?;
    let words = ListRefusals::of(loaded, &listed_entries(loaded), SystemClock::new().now()).words()?;
    Some(format!(
        "signals.list: {words}; `candlewick signal --check {}` says which",
        shell_word(&path.display().to_string())
    ))
}

/// A list that cannot be read has no entries, and a message of its own.
fn listed_entries(loaded: &Loaded) -> Vec<(ListEntry, Tz)> {
    let signals = &loaded.config.signals;
    let lines = |path: &PathBuf| SignalList::lines(path, &loaded.config.bots, ListTerms::of(signals)).ok();
    entries_of(&signals.list.as_ref().and_then(lines).unwrap_or_default())
}

fn entries_of(lines: &[ReadLine]) -> Vec<(ListEntry, Tz)> {
    let entry = |line: &ReadLine| match line.taken {
        Taken::Entry(entry, zone) => Some((entry, zone)),
        _ => None,
    };
    lines.iter().filter_map(entry).collect()
}

pub fn zones_of_list(loaded: &Loaded) -> BTreeMap<String, u64> {
    let mut zones = BTreeMap::new();
    for (_, zone) in listed_entries(loaded) {
        *zones.entry(zone.name().to_owned()).or_default() += 1;
    }
    zones
}

pub(crate) fn warn_of_unused_list(loaded: &Loaded) {
    if loaded.config.signals.list.is_some() {
        tracing::warn!(
            "signals.list is no part of a search: strategies are tried alone, without its signals"
        );
    }
}

pub(crate) fn signal_bots(bots: &[BotSettings]) -> SignalBots {
    SignalBots::new(bots.iter().map(|bot| (bot.name.clone(), bot.symbol.to_string())))
}

pub(crate) struct ClosedDoors {
    list: Option<SignalList>,
    listener: Option<(TcpListener, WebhookSecret)>,
}

impl ClosedDoors {
    pub(crate) async fn prepare(loaded: &Loaded) -> Result<Self, AppError> {
        Problems::check(problems_of_signals(loaded))?;
        let list = SignalList::of(loaded).map_err(Problems::from)?;
        let listener = match loaded.config.signals.listen {
            None => None,
            Some(address) => {
                let wrong = |problem| Problems::from(loaded.problem("signals.secret_file", problem));
                let secret = loaded.config.signals.secret().map_err(wrong)?;
                Some((webhook::listen(address).await?, secret))
            }
        };
        Ok(Self { list, listener })
    }

    /// Opens the sources until the tasks are dropped. Then the list is on the clock, so that a virtual one skips no entry.
    pub(crate) async fn open(
        self,
        loaded: &Loaded,
        clock: &Arc<dyn Clock>,
        orders: &mpsc::WeakSender<ControlRequest>,
    ) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let bots = Arc::new(signal_bots(&loaded.config.bots));
        let door = |source| Door::new(source, Arc::clone(clock), Arc::clone(&bots), orders.clone());
        if let Some(list) = self.list {
            let (ready, is_ready) = tokio::sync::oneshot::channel();
            let list_door = ListDoor::new(list, loaded, clock.now());
            tasks.spawn(list_door.watch(door(list::SOURCE), ready));
            drop(is_ready.await);
        }
        if let Some((listener, secret)) = self.listener {
            let settings = loaded.config.signals.clone();
            let lateness = Millis::new(loaded.config.risk.max_signal_delay_ms.into());
            tasks.spawn(webhook::serve(listener, (settings, secret), lateness, door(webhook::SOURCE)));
        }
        if loaded.config.signals.stdin {
            tasks.spawn(stdin::read(door(stdin::SOURCE)));
        }
        if !tasks.is_empty() {
            tracing::debug!("{} doors for signals are open", tasks.len());
        }
        tasks
    }
}

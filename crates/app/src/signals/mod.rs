//! External signals from the configured sources: a list, a webhook or standard input.
//!
//! A source converts its input to signals or problem reports. No input can halt, resume or change a run.

mod check;
mod list;
mod message;
mod refusals;
mod sink;
mod stdin;
mod watched_list;
mod webhook;

pub use check::{
    CheckedEntry, CheckedLine, CheckedList, LineUsage, check_list, describe_bypassed_bot_settings,
};
pub(crate) use list::{SignalList, parse_offset_zone};
pub use message::parse_close_type;

use crate::configuration::{LoadedConfig, Problem, Problems, WebhookSecret, signal_problems};
use crate::error::AppError;
use crate::shell::quote_for_shell;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_engine::BotSettings;
use candlewick_runtime::control::{ControlRequest, SignalBots};
use candlewick_sdk::Millis;
use chrono_tz::Tz;
use list::{LineOutcome, ListEntry, ListOptions, ParsedLine};
use refusals::ListRejections;
use sink::SignalSink;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use watched_list::WatchedList;

pub(crate) fn check_signals(loaded: &LoadedConfig) -> Vec<Problem> {
    let mut problems = signal_problems(loaded);
    problems.extend(SignalList::load(loaded).err());
    problems
}

/// Describes the signal list for a run that begins at the venue time `begins`. `None` means now.
pub fn describe_list(loaded: &LoadedConfig, begins: Option<Millis>) -> Option<String> {
    let path = loaded.config.signals.list.as_ref()?;
    let list = SignalList::load(loaded).ok()??;
    let now = begins.unwrap_or_else(|| SystemClock::new().now());
    Some(format!("{}: {}", path.display(), list.describe_next(&loaded.config.bots, now)))
}

pub fn rejected_entries_notice(loaded: &LoadedConfig) -> Option<String> {
    let path = loaded.config.signals.list.as_ref()?;
    let words = ListRejections::find(loaded, &listed_entries(loaded), SystemClock::new().now()).describe()?;
    Some(format!(
        "signals.list: {words}; run `candlewick signal --check {}` for details",
        quote_for_shell(&path.display().to_string())
    ))
}

/// Returns the entries of the list. If the list is unreadable, returns no entries, because another check reports it.
fn listed_entries(loaded: &LoadedConfig) -> Vec<(ListEntry, Tz)> {
    let signals = &loaded.config.signals;
    let lines = |path: &PathBuf| {
        SignalList::read_lines(path, &loaded.config.bots, ListOptions::from_settings(signals)).ok()
    };
    collect_entries(&signals.list.as_ref().and_then(lines).unwrap_or_default())
}

fn collect_entries(lines: &[ParsedLine]) -> Vec<(ListEntry, Tz)> {
    let entry = |line: &ParsedLine| match line.outcome {
        LineOutcome::Entry(entry, zone) => Some((entry, zone)),
        _ => None,
    };
    lines.iter().filter_map(entry).collect()
}

pub(crate) fn warn_about_unused_list(loaded: &LoadedConfig) {
    if loaded.config.signals.list.is_some() {
        tracing::warn!("searches ignore signals.list: strategies run without the listed signals");
    }
}

pub(crate) fn signal_bots(bots: &[BotSettings]) -> SignalBots {
    SignalBots::new(bots.iter().map(|bot| (bot.name.clone(), bot.symbol.to_string())))
}

pub(crate) struct PreparedSources {
    list: Option<SignalList>,
    listener: Option<(TcpListener, WebhookSecret)>,
}

impl PreparedSources {
    pub(crate) async fn prepare(loaded: &LoadedConfig) -> Result<Self, AppError> {
        Problems::check(check_signals(loaded))?;
        let list = SignalList::load(loaded).map_err(Problems::from)?;
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

    /// Opens the sources. The list registers with the clock first, so that a virtual clock cannot run past an entry.
    pub(crate) async fn open(
        self,
        loaded: &LoadedConfig,
        clock: &Arc<dyn Clock>,
        orders: &mpsc::WeakSender<ControlRequest>,
    ) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        let bots = Arc::new(signal_bots(&loaded.config.bots));
        let sink = |source| SignalSink::new(source, Arc::clone(clock), Arc::clone(&bots), orders.clone());
        if let Some(list) = self.list {
            let (ready, is_ready) = tokio::sync::oneshot::channel();
            let watched_list = WatchedList::new(list, loaded, clock.now());
            tasks.spawn(watched_list.watch(sink(list::SOURCE_NAME), ready));
            drop(is_ready.await);
        }
        if let Some((listener, secret)) = self.listener {
            let settings = loaded.config.signals.clone();
            let lateness = Millis::new(loaded.config.risk.max_signal_delay_ms.into());
            tasks.spawn(webhook::serve(listener, (settings, secret), lateness, sink(webhook::SOURCE_NAME)));
        }
        if loaded.config.signals.stdin {
            tasks.spawn(stdin::read_signals(sink(stdin::SOURCE_NAME)));
        }
        if !tasks.is_empty() {
            tracing::debug!("{} signal sources are open", tasks.len());
        }
        tasks
    }
}

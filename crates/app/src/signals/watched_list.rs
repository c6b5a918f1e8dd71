//! Watched signal list: sends each entry to the run when due and reloads a changed file.
//!
//! An invalid file raises an alarm and the previous list stays active. A deleted file counts as an
//! empty list. Entries are identified by bot and time, so that a changed file never repeats a trade.

use super::list::{DueEntry, ListOptions, SignalList};
use super::sink::SignalSink;
use crate::configuration::LoadedConfig;
use candlewick_broker::clock::{Clock, Hold};
use candlewick_engine::{BotId, BotSettings};
use candlewick_runtime::control::{NextEntry, SignalBots, SignalOrder};
use candlewick_sdk::Millis;
use std::collections::BTreeSet;
use std::future::{Future, pending, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, timeout};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum time for which a virtual clock waits for the run to begin.
const START_GRACE: Duration = Duration::from_secs(5);
const MAX_REMEMBERED_FAULTS: usize = 16;
/// Maximum age of an entry. Older entries are dropped without a report, for example after downtime.
const MAX_ENTRY_AGE: Millis = Millis::new(SignalBots::MAX_AGE.get() / 2);

pub(super) struct WatchedList {
    list: SignalList,
    path: PathBuf,
    bots: Vec<BotSettings>,
    terms: ListOptions,
    max_lateness: Millis,
    done: Millis,
    /// Recently sent entries. They are stored because a changed file may contain them again.
    sent: BTreeSet<(Millis, BotId)>,
    read_stamp: FileStamp,
    polled_stamp: FileStamp,
    faults: Vec<String>,
}

impl WatchedList {
    /// Creates the watcher. Entries due shortly before `now` are sent too, because a restart may have missed them.
    pub(super) fn new(list: SignalList, loaded: &LoadedConfig, now: Millis) -> Self {
        let path = loaded.config.signals.list.clone().unwrap_or_default();
        let max_lateness = Millis::new(i64::from(loaded.config.risk.max_signal_delay_ms)).max(Millis::SECOND);
        let stamp = read_file_stamp(&path);
        Self {
            read_stamp: stamp,
            polled_stamp: stamp,
            faults: Vec::new(),
            list,
            path,
            bots: loaded.config.bots.clone(),
            terms: ListOptions::from_settings(&loaded.config.signals),
            max_lateness,
            done: now - max_lateness,
            sent: BTreeSet::new(),
        }
    }

    pub(super) async fn watch(mut self, sink: SignalSink, ready: oneshot::Sender<()>) {
        // A virtual clock waits for the first request of the run.
        let held = sink.clock.hold();
        let _ = ready.send(());
        let mut run = pin!(sink.wait_for_run());
        let mut has_begun = match timeout(START_GRACE, &mut run).await {
            Ok(false) => return,
            begun => begun.is_ok(),
        };
        let mut sleep = start_sleep(sink.clock.as_ref(), self.next_due_time()).await;
        drop(held);
        sink.send_note(format!("{} was read: {}", self.path.display(), self.describe()), &[]).await;
        sink.report_next_entry(self.next_entry(), self.list.describe_first_skipped()).await;
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                begun = &mut run, if !has_begun => {
                    if !begun {
                        return;
                    }
                    has_begun = true;
                }
                mut held = &mut sleep => {
                    if !has_begun {
                        let mut begun = timeout(START_GRACE, &mut run).await.ok();
                        if begun.is_none() {
                            drop(std::mem::replace(&mut held, Hold::none()));
                            begun = Some((&mut run).await);
                        }
                        if begun != Some(true) {
                            return;
                        }
                        has_begun = true;
                    }
                    let now = sink.now();
                    for problem in self.describe_contradictions(now) {
                        sink.report_malformed_input(&problem);
                    }
                    for due in self.take_due_entries(now) {
                        if !sink.send(self.build_order(&due, &sink), held.clone()).await {
                            return;
                        }
                    }
                    sleep = start_sleep(sink.clock.as_ref(), self.next_due_time()).await;
                    sink.report_next_entry(self.next_entry(), self.list.describe_first_skipped()).await;
                }
                _ = polls.tick() => {
                    if let Some(changed) = self.poll_file() {
                        match changed {
                            Ok(text) => {
                                sink.send_note(text, &self.faults).await;
                                self.faults.clear();
                            }
                            Err(problem) => {
                                sink.report_malformed_input(&problem);
                                self.faults.truncate(MAX_REMEMBERED_FAULTS - 1);
                                self.faults.insert(0, problem);
                            }
                        }
                        let held = sink.clock.hold();
                        sleep = start_sleep(sink.clock.as_ref(), self.next_due_time()).await;
                        drop(held);
                        sink.report_next_entry(self.next_entry(), self.list.describe_first_skipped()).await;
                    }
                }
            }
        }
    }

    fn poll_file(&mut self) -> Option<Result<String, String>> {
        let stamp = read_file_stamp(&self.path);
        // If two polls see the same stamp, the file is assumed to be completely written.
        let is_still = std::mem::replace(&mut self.polled_stamp, stamp) == stamp;
        if stamp == self.read_stamp || !is_still {
            return None;
        }
        self.read_stamp = stamp;
        let file = self.path.display();
        if stamp.is_none() {
            let problem = format!("{file} is missing: its {} entries are inactive", self.list.len());
            self.list = SignalList::default();
            return Some(Err(problem));
        }
        let list = match SignalList::read(&self.path, &self.bots, self.terms) {
            Ok(list) => list,
            Err(problem) => return Some(Err(format!("{file}: {problem}; the previous list stays active"))),
        };
        let (new, removed) = (list.count_missing_in(&self.list), self.list.count_missing_in(&list));
        let skipped = list.describe_new_skips(&self.list).map(|words| format!("; {words}"));
        self.list = list;
        let (list, skipped) = (self.describe(), skipped.unwrap_or_default());
        Some(Ok(format!("{file} was reloaded: {new} new and {removed} removed entries, now {list}{skipped}")))
    }

    fn describe(&self) -> String {
        format!("{} ({})", self.list.describe(), self.list.short_hash())
    }

    fn next_entry(&self) -> Option<NextEntry> {
        let at = self.next_due_time()?;
        let due = self.list.due_entries(at - Millis::new(1), at);
        let due = due.into_iter().find(|due| !self.sent.contains(&(due.at, due.entry.bot)));
        let due = due.or_else(|| self.list.next_due_entry(at))?;
        let bot = self.bots.get(due.entry.bot.index())?.name.clone();
        Some(NextEntry { at: due.at, bot, direction: due.entry.direction })
    }

    fn describe_contradictions(&self, now: Millis) -> Vec<String> {
        let (_, found) = self.list.due_entries_and_contradictions(self.done.max(now - MAX_ENTRY_AGE), now);
        found.iter().map(|found| found.describe(&self.bots)).collect()
    }

    fn take_due_entries(&mut self, now: Millis) -> Vec<DueEntry> {
        let from = self.done.min(now - self.max_lateness).max(now - MAX_ENTRY_AGE);
        let mut due = self.list.due_entries(from, now);
        due.retain(|due| self.sent.insert((due.at, due.entry.bot)));
        self.done = self.done.max(now);
        self.sent.retain(|(at, _)| *at > now - self.max_lateness - self.max_lateness);
        due
    }

    fn next_due_time(&self) -> Option<Millis> {
        let from = self.done - self.max_lateness;
        let mut known = self.list.due_entries(from, self.done).into_iter();
        let missed = known.find(|due| !self.sent.contains(&(due.at, due.entry.bot)));
        missed.map(|due| due.at).or_else(|| self.list.next_after(self.done))
    }

    fn build_order(&self, due: &DueEntry, sink: &SignalSink) -> SignalOrder {
        let bot = self.bots.get(due.entry.bot.index());
        SignalOrder {
            bot: bot.map(|bot| bot.name.clone()),
            symbol: None,
            direction: due.entry.direction,
            source: sink.source,
            id: due.id,
            time: Some(due.at),
            expires_ms: None,
            close_type: due.entry.close_type,
            reason: Some(due.entry.reason),
        }
    }
}

type Sleep<'a> = Pin<Box<dyn Future<Output = Hold> + Send + 'a>>;

/// Returns a sleep future that is already registered with the clock. If `until` is `None`, it never completes.
async fn start_sleep(clock: &dyn Clock, until: Option<Millis>) -> Sleep<'_> {
    let Some(until) = until else { return Box::pin(pending()) };
    let mut sleep: Sleep<'_> = clock.sleep_until(until);
    let first = poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
    match first {
        Poll::Ready(held) => Box::pin(std::future::ready(held)),
        Poll::Pending => sleep,
    }
}

type FileStamp = Option<(SystemTime, u64, u64)>;

fn read_file_stamp(path: &Path) -> FileStamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), inode(&metadata)))
}

#[cfg(unix)]
fn inode(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
const fn inode(_metadata: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests;

//! The journal of a run: lease, recovered state, evicted intents and control channel.

use crate::configuration::{LoadedConfig, control_paths, journal_url, make_parent_folder};
use crate::control::RunningBotEntry;
use crate::error::{AppError, Result};
use crate::journal::exposed_files_warning;
use crate::progress::{Progress, ProgressBar};
use candlewick_api::{HttpExchange, HttpObserver};
use candlewick_broker::clock::BootClock;
use candlewick_engine::{
    BotSettings, IntentId, IntentRow, IntentState, Session, SessionSettings, StakeSettings,
};
use candlewick_journal::{
    Holder, Journal, JournalUrl, LoggedExchange, NullJournal, Reader, RunJournal, Store,
};
use candlewick_records::{JournalContents, TradingMode};
use candlewick_runtime::control::{ControlOrder, ControlPaths, ControlRequest, ControlServer, JournalOrders};
use candlewick_runtime::events::EventFeed;
use candlewick_runtime::{
    FinishedRun, FullReadProgress, JournalFold, RecoveredState, ReloadInput, RuntimeError, RuntimeSettings,
};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

#[cfg(unix)]
use candlewick_runtime::control::HangUpHandler;

/// Capacity of the queue of HTTP exchanges. Exchanges that do not fit are missing from the journal.
const MAX_QUEUED_EXCHANGES: usize = 4_096;
const MAX_QUEUED_REQUESTS: usize = 16;

pub enum JournalSession {
    None,
    Store(Box<LeasedJournal>),
}

pub struct LeasedJournal {
    url: JournalUrl,
    store: Store,
    reader: Reader,
}

impl JournalSession {
    pub async fn open(loaded: &LoadedConfig) -> Result<Self> {
        let url = journal_url(loaded)?;
        let holder = Holder::current_process("candlewick live");
        let store = Store::open(&url, &holder).await?;
        let reader = match Reader::open(&url).await {
            Ok(reader) => reader,
            Err(error) => {
                drop(store.close().await);
                return Err(error.into());
            }
        };
        if let Some((problem, remedy)) = exposed_files_warning(&url) {
            tracing::warn!("{problem}: {remedy}");
        }
        Ok(Self::Store(Box::new(LeasedJournal { url, store, reader })))
    }

    pub async fn open_with_control(loaded: &LoadedConfig) -> Result<(Self, ControlChannel)> {
        let journal = Self::open(loaded).await?;
        match ControlChannel::open(loaded).await {
            Ok(control) => Ok((journal, control)),
            Err(error) => {
                journal.release().await;
                Err(error)
            }
        }
    }

    pub async fn release(self) {
        if let Self::Store(held) = self
            && let Err(error) = held.store.close().await
        {
            tracing::debug!(%error, "the lease of the journal could not be released");
        }
    }

    pub(super) fn url(&self) -> Option<JournalUrl> {
        match self {
            Self::None => None,
            Self::Store(held) => Some(held.url.clone()),
        }
    }

    pub async fn first_balance(&mut self) -> Result<Option<Decimal>> {
        match self {
            Self::None => Ok(None),
            Self::Store(held) => Ok(RecoveredState::first_balance(&mut held.reader).await?),
        }
    }

    /// Checks that the journal is empty, since a new embedded venue does not know earlier trades.
    pub async fn check_is_empty(&mut self) -> Result<()> {
        if self.first_balance().await?.is_none() {
            return Ok(());
        }
        let Self::Store(held) = self else { return Ok(()) };
        let contents = JournalContents::read(&mut held.reader).await?;
        let lost = intents_lost_with_venue(&contents);
        let stakes = contents.session.money_scale().to_decimal(contents.session.ledger().open_stakes());
        let lost = match lost.len() {
            0 => String::new(),
            1 => format!("; 1 open trade was lost ({stakes} at stake)"),
            count => format!("; {count} open trades were lost ({stakes} at stake)"),
        };
        let problem =
            format!("{} contains earlier runs, which a new embedded venue cannot resume{lost}", held.url);
        Err(AppError::invalid(problem).with_help("name another journal with --journal"))
    }

    /// Checks that the journal has the given trading mode, since one journal must not mix modes.
    pub async fn check_trading_mode(&mut self, trading: TradingMode) -> Result<()> {
        let Self::Store(held) = self else { return Ok(()) };
        let Some(header) = RecoveredState::first_header(&mut held.reader).await? else { return Ok(()) };
        let (stored, own) = (header.settings.get("trading").cloned(), serde_json::json!(trading));
        match stored {
            Some(stored) if stored != own => {
                let text = format!("{} has trading mode {stored}, but this run uses {own}", held.url);
                Err(AppError::invalid(text).with_help("name another journal with --journal"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Restores the session from earlier runs and starts the journal of this run at venue time `now`.
    pub async fn begin(
        self,
        session: &mut Session,
        (settings, runtime): (&SessionSettings, &RuntimeSettings),
        now: Millis,
        progress: &dyn Progress,
    ) -> Result<(Box<dyn Journal>, RecoveredState)> {
        match self {
            Self::None => Ok((Box::new(NullJournal), RecoveredState::default())),
            Self::Store(held) => {
                let LeasedJournal { store, mut reader, .. } = *held;
                let mut bar = None;
                let watch = &mut |reading: FullReadProgress<'_>| show_progress(reading, &mut bar, progress);
                let remember = Some(runtime.remember_s).filter(|seconds| *seconds > 0);
                let remember = remember.map(|seconds| Millis::from_seconds(seconds.into()));
                let every = runtime.snapshot_every.into();
                let folded =
                    JournalFold::read_with_progress(&mut reader, settings, every, remember, watch).await;
                drop(bar);
                let folded = folded.and_then(|fold| Ok((fold.restore_into(session)?, fold)));
                let (past, fold) = match folded {
                    Ok(folded) => folded,
                    Err(error) => {
                        drop(store.close().await);
                        return Err(error.into());
                    }
                };
                let clock = BootClock::start();
                let journal = RunJournal::new(store, past.runs + 1, now, move || clock.elapsed());
                Ok((Box::new(journal.with_follower(Box::new(fold))), past))
            }
        }
    }
}

/// Returns the intents that were unfinished when their embedded venue shut down.
pub(crate) fn intents_lost_with_venue(contents: &JournalContents) -> Vec<IntentId> {
    let is_embedded = contents.runs.iter().all(|run| run.trading == Some(TradingMode::Sandbox));
    let is_under_way = |row: &&IntentRow| {
        matches!(row.state, IntentState::Open | IntentState::InFlight | IntentState::InDoubt)
    };
    let rows = contents.book.rows().iter().filter(|_| is_embedded).filter(is_under_way);
    rows.map(|row| row.approved.intent()).collect()
}

struct ExchangeRecorder(mpsc::Sender<LoggedExchange>);

impl HttpObserver for ExchangeRecorder {
    fn observe(&self, exchange: HttpExchange) {
        let HttpExchange { intent, sent, received, request_line: what, request, status, response } = exchange;
        let call = LoggedExchange {
            intent,
            sent,
            received,
            request_line: what,
            request,
            response: Some(response),
            status,
        };
        if self.0.try_send(call).is_err() {
            tracing::debug!("an HTTP exchange was dropped: the journal queue is full");
        }
    }
}

pub(super) fn exchange_observer() -> (Arc<dyn HttpObserver>, mpsc::Receiver<LoggedExchange>) {
    let (sender, exchanges) = mpsc::channel(MAX_QUEUED_EXCHANGES);
    (Arc::new(ExchangeRecorder(sender)), exchanges)
}

pub struct ControlChannel {
    pub(super) orders: mpsc::Receiver<ControlRequest>,
    pub(super) sender: mpsc::Sender<ControlRequest>,
    pub(super) feed: EventFeed,
    /// Guards that close the control channel and remove the bot's registration when dropped.
    pub(super) guards: (DropGuard, Option<RunningBotEntry>),
}

impl ControlChannel {
    pub fn closed() -> Self {
        let closed = (CancellationToken::new().drop_guard(), None);
        let (sender, orders) = mpsc::channel(MAX_QUEUED_REQUESTS);
        Self { orders, sender, feed: EventFeed::default(), guards: closed }
    }

    pub fn sender(&self) -> mpsc::Sender<ControlRequest> {
        self.sender.clone()
    }

    pub fn events(&self) -> EventFeed {
        self.feed.clone()
    }

    pub async fn open(loaded: &LoadedConfig) -> Result<Self> {
        let paths: ControlPaths = control_paths(loaded)?;
        let problem = || format!("cannot create the folder of {}", paths.socket.display());
        make_parent_folder(&paths.socket).map_err(|error| AppError::system(problem(), error))?;
        let closed = CancellationToken::new();
        let (sender, orders) = mpsc::channel(MAX_QUEUED_REQUESTS);
        let feed = EventFeed::default();
        let server = ControlServer::bind(&paths).await?.with_events(feed.clone());
        let entry = RunningBotEntry::register(loaded, &paths);
        let ends = || (sender.clone(), closed.clone());
        let (taken, stop) = ends();
        tokio::spawn(async move { server.serve(taken, stop.cancelled_owned()).await });
        if paths.halt_file.exists() {
            // Halts the run before the first candle, because the file watch starts later. Does not wait for the answer.
            let order = ControlOrder::Halt { reason: paths.halt_file.reason() };
            let (answer, _) = oneshot::channel();
            drop(sender.try_send(ControlRequest::new(order, answer)));
        }
        let url = journal_url(loaded)?;
        let mut in_journal = JournalOrders::new(url, paths.halt_file.clone());
        // Also delivers commands that were stored while no bot was running.
        in_journal.poll(&sender).await;
        let (taken, stop) = ends();
        tokio::spawn(async move { in_journal.watch(taken, stop.cancelled_owned()).await });
        #[cfg(unix)]
        {
            let problem = |error| AppError::system("cannot listen for SIGHUP", error);
            let hang_up = HangUpHandler::listen().map_err(problem)?;
            let (taken, stop) = ends();
            tokio::spawn(async move { hang_up.watch(taken, stop.cancelled_owned()).await });
        }
        let (taken, stop) = ends();
        tokio::spawn(async move { paths.halt_file.watch(taken, stop.cancelled_owned()).await });
        Ok(Self { orders, sender, feed, guards: (closed.drop_guard(), entry) })
    }
}

const LONG_JOURNAL_ENTRIES: u64 = 100_000;

fn show_progress(
    reading: FullReadProgress<'_>,
    bar: &mut Option<Box<dyn ProgressBar>>,
    progress: &dyn Progress,
) {
    if bar.is_none()
        && let Some(notice) = reading_notice(reading)
    {
        tracing::warn!("{notice}");
    }
    bar.get_or_insert_with(|| progress.bar("reading the journal")).update(reading.done, reading.total);
}

fn reading_notice(reading: FullReadProgress<'_>) -> Option<String> {
    let FullReadProgress { reason, total, .. } = reading;
    match reason {
        Some(why) => Some(format!("{why}; the journal has {total} entries")),
        None if total >= LONG_JOURNAL_ENTRIES => {
            Some(format!("the journal has no usable snapshot: reading all {total} entries"))
        }
        None => None,
    }
}

pub(super) async fn restore_evicted_intents(
    finished: Result<FinishedRun, RuntimeError>,
    url: Option<&JournalUrl>,
    settings: &SessionSettings,
) -> Result<FinishedRun, RuntimeError> {
    let mut finished = finished?;
    let Some(url) = url.filter(|_| finished.forgotten > 0) else { return Ok(finished) };
    let fold = async {
        let mut reader = Reader::open(url).await?;
        let fold = JournalFold::read(&mut reader, settings, 0).await;
        reader.close().await;
        Ok::<_, AppError>(fold?)
    };
    match fold.await {
        Ok(fold) => {
            finished.book = finished.book.with_restored_rows(fold.recovered().book(), finished.first_intent);
            finished.forgotten = 0;
        }
        Err(error) => tracing::warn!(
            "the figures of this run omit {} early intents, because the journal could not be read: {}",
            finished.forgotten,
            error.text()
        ),
    }
    Ok(finished)
}

pub(super) async fn restore_forgotten_trades(
    standing: &ReloadInput,
    url: Option<&JournalUrl>,
    settings: &SessionSettings,
) -> Result<ReloadInput> {
    let is_alike = |bot: &BotSettings| matches!(bot.stake, StakeSettings::Fixed { .. });
    let is_needed = standing.forgotten_trades > 0 && !settings.bots.iter().all(is_alike);
    let Some(url) = url.filter(|_| is_needed) else { return Ok(standing.clone()) };
    let mut reader = Reader::open(url).await?;
    let fold = JournalFold::read_rows(&mut reader, settings).await;
    reader.close().await;
    let (session, past, _) = fold?.into_parts();
    // The run's state is newer than the stored one.
    let known = ReloadInput::from_past(&session, &past).rows.into_iter().chain(standing.rows.iter().copied());
    let rows: BTreeMap<IntentId, IntentRow> = known.map(|row| (row.approved.intent(), row)).collect();
    Ok(ReloadInput { rows: rows.into_values().collect(), forgotten_trades: 0, ..standing.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announces_long_or_unusual_reading() {
        let of = |why, total| reading_notice(FullReadProgress { reason: why, done: 0, total });
        assert_eq!(of(None, LONG_JOURNAL_ENTRIES - 1), None);
        assert!(of(None, LONG_JOURNAL_ENTRIES).is_some_and(|notice| notice.contains("all 100000 entries")));
        assert_eq!(
            of(Some("it is read: other settings"), 3).as_deref(),
            Some("it is read: other settings; the journal has 3 entries")
        );
    }
}

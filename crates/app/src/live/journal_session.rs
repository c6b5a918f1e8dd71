//! Where a run keeps its journal, what it finds there, and how people give it orders meanwhile.

use crate::configuration::{Loaded, Problems, control_paths, journal_url, make_folder_of};
use crate::control::RunningEntry;
use crate::error::AppError;
use crate::journal::exposure;
use crate::live::journal_reading::ShownReading;
use crate::progress::Progress;
use candlewick_api::{Exchange, HttpObserver};
use candlewick_broker::clock::AwakeClock;
use candlewick_engine::{IntentId, IntentRow, IntentState, Session, SessionSettings};
use candlewick_journal::{
    Holder, Journal, JournalUrl, LoggedExchange, NullJournal, Reader, RunJournal, Store,
};
use candlewick_records::{JournalContents, TradingMode};
#[cfg(unix)]
use candlewick_runtime::control::HangUp;
use candlewick_runtime::control::{ControlOrder, ControlPaths, ControlRequest, ControlServer, JournalOrders};
use candlewick_runtime::events::EventFeed;
use candlewick_runtime::{JournalFold, Past, RuntimeSettings, WholeReading};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Exchanges that may wait for the journal; more are dropped, and the journal has fewer bytes to show.
const WAITING_EXCHANGES: usize = 4_096;
/// Orders that may wait for the run.
const WAITING_ORDERS: usize = 16;

/// Where a run keeps its journal.
pub enum JournalSession {
    /// None: nothing of it outlives the process.
    None,
    /// In a store, which this process holds.
    Store(Box<HeldJournal>),
}

/// A journal that this process holds.
pub struct HeldJournal {
    url: JournalUrl,
    store: Store,
    reader: Reader,
}

impl JournalSession {
    /// Takes hold of the configured journal.
    ///
    /// # Errors
    /// Another process holds it, or it cannot be used.
    pub async fn open(loaded: &Loaded) -> Result<Self, AppError> {
        let url = journal_url(loaded).map_err(Problems::from)?;
        let holder = Holder::of_this_process("candlewick live");
        let store = Store::open(&url, &holder).await?;
        let reader = match Reader::open(&url).await {
            Ok(reader) => reader,
            Err(error) => {
                drop(store.close().await);
                return Err(error.into());
            }
        };
        if let Some((problem, remedy)) = exposure(&url) {
            tracing::warn!("{problem}: {remedy}");
        }
        Ok(Self::Store(Box::new(HeldJournal { url, store, reader })))
    }

    /// Takes hold of the configured journal, and lets people give orders to whoever holds it.
    ///
    /// # Errors
    /// As [`JournalSession::open`]; or nobody can give orders: then the journal is free again.
    pub async fn open_with_control(loaded: &Loaded) -> Result<(Self, ControlChannel), AppError> {
        let journal = Self::open(loaded).await?;
        match ControlChannel::open(loaded).await {
            Ok(control) => Ok((journal, control)),
            Err(error) => {
                journal.give_back().await;
                Err(error)
            }
        }
    }

    /// Lets others have the journal at once, for a run that does not begin.
    pub async fn give_back(self) {
        if let Self::Store(held) = self
            && let Err(error) = held.store.close().await
        {
            tracing::debug!(%error, "the journal could not be given back");
        }
    }

    /// Where it is; none where there is none.
    pub(super) fn url(&self) -> Option<JournalUrl> {
        match self {
            Self::None => None,
            Self::Store(held) => Some(held.url.clone()),
        }
    }

    /// The balance with which its first run began.
    pub async fn first_balance(&mut self) -> Result<Option<Decimal>, AppError> {
        match self {
            Self::None => Ok(None),
            Self::Store(held) => Ok(Past::first_balance(&mut held.reader).await?),
        }
    }

    /// A venue that starts from the beginning has nothing to do with the trades of an old journal.
    ///
    /// # Errors
    /// The journal has earlier runs.
    pub async fn check_fresh(&mut self) -> Result<(), AppError> {
        if self.first_balance().await?.is_none() {
            return Ok(());
        }
        let Self::Store(held) = self else { return Ok(()) };
        let contents = JournalContents::read(&mut held.reader).await?;
        let lost = lost_with_venue(&contents);
        let stakes = contents.session.money_scale().to_decimal(contents.session.ledger().open_stakes());
        let lost = match lost.len() {
            0 => String::new(),
            1 => format!("; the trade that was open when it ended is lost with it ({stakes} at stake)"),
            count => format!(
                "; the {count} trades that were open when it ended are lost with it ({stakes} at stake)"
            ),
        };
        let problem = format!(
            "{} has runs already, and an embedded venue ends with its process: a new one starts from the beginning{lost}",
            held.url
        );
        Err(AppError::invalid(problem).help("name another journal with --journal"))
    }

    /// Trades of one kind are never folded into a run of another.
    ///
    /// # Errors
    /// The journal holds trades of another kind.
    pub async fn check_kind(&mut self, trading: TradingMode) -> Result<(), AppError> {
        let Self::Store(held) = self else { return Ok(()) };
        let Some(header) = Past::first_header(&mut held.reader).await? else { return Ok(()) };
        let (kept, ours) = (header.settings.get("trading").cloned(), serde_json::json!(trading));
        match kept {
            Some(kept) if kept != ours => {
                let problem = format!("{} holds {kept} trades, and this run makes {ours} ones", held.url);
                Err(AppError::invalid(problem).help("name another journal with --journal"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Folds what earlier runs left into the Session of these settings, and begins the journal of this one at venue time `now`.
    /// It keeps snapshots, and leaves old intents where they are, as the run is set. `progress` shows how far a whole reading is.
    pub async fn begin(
        self,
        session: &mut Session,
        (settings, runtime): (&SessionSettings, &RuntimeSettings),
        now: Millis,
        progress: &dyn Progress,
    ) -> Result<(Box<dyn Journal>, Past), AppError> {
        match self {
            Self::None => Ok((Box::new(NullJournal), Past::default())),
            Self::Store(held) => {
                let HeldJournal { store, mut reader, .. } = *held;
                let mut shown = ShownReading::new(progress);
                let watch = &mut |reading: WholeReading<'_>| shown.take(reading);
                let remember = Some(runtime.remember_s).filter(|seconds| *seconds > 0);
                let remember = remember.map(|seconds| Millis::from_seconds(seconds.into()));
                let every = runtime.snapshot_every.into();
                let folded = JournalFold::read_watched(&mut reader, settings, every, remember, watch).await;
                drop(shown);
                let folded = folded.and_then(|fold| Ok((fold.hand_over(session)?, fold)));
                let (past, fold) = match folded {
                    Ok(folded) => folded,
                    Err(error) => {
                        drop(store.close().await);
                        return Err(error.into());
                    }
                };
                let clock = AwakeClock::start();
                let journal = RunJournal::new(store, past.runs + 1, now, move || clock.elapsed());
                Ok((Box::new(journal.followed_by(Box::new(fold))), past))
            }
        }
    }
}

/// The intents whose trades, known or not, were under way at an embedded venue when its process ended: a new one never had
/// them. A venue of its own outlives the bot, and has them still.
pub(crate) fn lost_with_venue(contents: &JournalContents) -> Vec<IntentId> {
    let is_embedded = contents.runs.iter().all(|run| run.trading == Some(TradingMode::Sandbox));
    let is_under_way = |row: &&IntentRow| {
        matches!(row.state, IntentState::Open | IntentState::InFlight | IntentState::InDoubt)
    };
    let rows = contents.book.rows().iter().filter(|_| is_embedded).filter(is_under_way);
    rows.map(|row| row.approved.intent()).collect()
}

/// What passes over the exchange, on its way to the journal.
struct ToJournal(mpsc::Sender<LoggedExchange>);

impl HttpObserver for ToJournal {
    fn observe(&self, exchange: Exchange) {
        let Exchange { intent, sent, received, what, request, status, response } = exchange;
        let exchange =
            LoggedExchange { intent, sent, received, what, request, response: Some(response), status };
        if self.0.try_send(exchange).is_err() {
            tracing::debug!("an exchange was not kept: too many wait for the journal");
        }
    }
}

/// An observer for a client, and the end that the run reads.
pub(super) fn observer() -> (Arc<dyn HttpObserver>, mpsc::Receiver<LoggedExchange>) {
    let (sender, exchanges) = mpsc::channel(WAITING_EXCHANGES);
    (Arc::new(ToJournal(sender)), exchanges)
}

/// The way of people's orders to a run, open until this is dropped.
pub struct ControlChannel {
    pub(super) orders: mpsc::Receiver<ControlRequest>,
    /// The way of a front end in this process.
    pub(super) sender: mpsc::Sender<ControlRequest>,
    pub(super) feed: EventFeed,
    pub(super) closed: OpenControl,
}

/// Keeps it open, and the bot to be found, until this is dropped.
pub(super) struct OpenControl {
    _closed: DropGuard,
    _entry: Option<RunningEntry>,
}

impl ControlChannel {
    /// Nobody can give orders but this process.
    pub fn closed() -> Self {
        let closed = CancellationToken::new();
        let closed = OpenControl { _closed: closed.drop_guard(), _entry: None };
        let (sender, orders) = mpsc::channel(WAITING_ORDERS);
        Self { orders, sender, feed: EventFeed::default(), closed }
    }

    /// The way of orders that are given in this process.
    pub fn sender(&self) -> mpsc::Sender<ControlRequest> {
        self.sender.clone()
    }

    /// The run's events, for whoever follows.
    pub fn events(&self) -> EventFeed {
        self.feed.clone()
    }

    /// Through the socket and the file of the configured journal, through its database, and by SIGHUP.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub async fn open(loaded: &Loaded) -> Result<Self, AppError> {
        let paths: ControlPaths = control_paths(loaded)?;
        let problem = || format!("the folder of {} cannot be made", paths.socket.display());
        make_folder_of(&paths.socket).map_err(|error| AppError::system(problem(), error))?;
        let closed = CancellationToken::new();
        let (sender, orders) = mpsc::channel(WAITING_ORDERS);
        let feed = EventFeed::default();
        let server = ControlServer::bind(&paths).await?.with_events(feed.clone());
        let entry = RunningEntry::make(loaded, &paths);
        let (listening, taken) = (closed.clone(), sender.clone());
        tokio::spawn(async move { server.serve(taken, listening.cancelled_owned()).await });
        if paths.halt_file.is_there() {
            // Known before the first candle is; the watch would say so a little later. Nobody waits for the answer.
            let order = ControlOrder::Halt { reason: paths.halt_file.reason() };
            let (answer, _) = oneshot::channel();
            drop(sender.try_send(ControlRequest::new(order, answer)));
        }
        let url = journal_url(loaded).map_err(Problems::from)?;
        let mut in_journal = JournalOrders::new(url, paths.halt_file.clone());
        // The same of orders that were left while no bot ran.
        in_journal.look(&sender).await;
        let (taken, stop) = (sender.clone(), closed.clone());
        tokio::spawn(async move { in_journal.watch(taken, stop.cancelled_owned()).await });
        #[cfg(unix)]
        {
            let listens = HangUp::listen();
            let hang_up =
                listens.map_err(|error| AppError::system("SIGHUP cannot be listened for", error))?;
            let (taken, stop) = (sender.clone(), closed.clone());
            tokio::spawn(async move { hang_up.watch(taken, stop.cancelled_owned()).await });
        }
        let (file, stop) = (paths.halt_file, closed.clone());
        let taken = sender.clone();
        tokio::spawn(async move { file.watch(taken, stop.cancelled_owned()).await });
        let closed = OpenControl { _closed: closed.drop_guard(), _entry: entry };
        Ok(Self { orders, sender, feed, closed })
    }
}

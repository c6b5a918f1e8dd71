//! A live run: what it is made from, how it is shown, how it ends.

mod embedded;
mod ending;
mod keeping;
mod ladders;
mod own;
mod paper;
mod real;
mod remote;
mod screen;

pub(crate) use embedded::{Embedded, Span};
pub(crate) use ending::report;
pub(crate) use keeping::{Keeping, Open};
pub(crate) use own::connect_own;
pub(crate) use paper::connect_paper;
pub(crate) use remote::connect_remote;
pub(crate) use screen::{Detail, Screen, Stream};

use crate::configuration::Loaded;
use crate::crew::{Crew, session_settings};
use crate::failure::{Ending, Failure, FailureKind};
use crate::interrupt::Interrupt;
use candlewick_broker::clock::Clock;
use candlewick_broker::{
    Account as AccountKind, Broker, BrokerError, MarketData, USUAL_INTERVALS, UnrecognisedData,
};
use candlewick_engine::{Header, Session, SessionSettings, check_ladders};
use candlewick_journal::{JournalError, LoggedExchange};
use candlewick_records::Trading;
use candlewick_runtime::{Finished, Parts, Runner, RuntimeError, RuntimeSettings, Stop, connect};
use candlewick_sdk::{Millis, Money};
use serde_json::json;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Who accepts the trades, and by which clock.
pub(crate) struct Connection {
    /// Candles and prices.
    pub(crate) market: Arc<dyn MarketData>,
    /// Who accepts trades.
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) runtime: RuntimeSettings,
    pub(crate) account: AccountKind,
    /// What its trades are worth.
    pub(crate) trading: Trading,
    /// Requests and answers of the trading API, on their way to the journal.
    pub(crate) exchanges: mpsc::Receiver<LoggedExchange>,
    /// What the venue's adapter has met that it does not know.
    pub(crate) unrecognised: Arc<UnrecognisedData>,
    /// When the venue's candles end and the run with them.
    pub(crate) until: Option<Millis>,
}

/// A finished run with what it began with.
pub(crate) struct Outcome {
    pub(crate) finished: Finished,
    pub(crate) settings: SessionSettings,
    /// What its trades are worth.
    pub(crate) trading: Trading,
    /// Equity at the start of this run.
    pub(crate) start_balance: Money,
    /// From its start to its end, in venue time.
    pub(crate) span: Range<Millis>,
}

/// Connects, builds the Session, and runs it until it is told to stop.
///
/// # Errors
/// Wrong settings, a venue that does not answer, a journal that cannot be written.
pub(crate) async fn run(
    loaded: &Loaded,
    crew: Crew,
    connection: Connection,
    (mut keeping, open, screen): (Keeping, Open, Screen),
    (interrupt, run_for): (Interrupt, Option<Millis>),
) -> Result<Outcome, Failure> {
    let Connection { market, broker, clock, runtime, account, trading, exchanges, unrecognised, until } =
        connection;
    keeping.check_kind(trading).await?;
    // Whatever is asked until the run begins takes no venue time.
    let hold = clock.hold();
    let account = connect(broker.as_ref(), account).await?;
    let balance = keeping.first_balance().await?.unwrap_or(account.balance);
    let settings = SessionSettings { balance, ..session_settings(loaded) };
    for notice in check_ladders(&settings)? {
        tracing::warn!("{}", notice.text);
    }
    let mut session = Session::new(&settings, crew.strategies)?;
    let (mut journal, past) = keeping.begin(&mut session, clock.now()).await?;
    let assumed = loaded.config.simulation.payout_percent;
    let mut checked = ladders::check(&settings, (&session, past.book()), assumed);
    if trading == Trading::Real {
        checked = checked.and_then(|()| real::check(&past, &session));
    }
    if let Err(refusal) = checked {
        // The lease goes back at once: a person is about to mend what stands in the way.
        drop(journal.close().await);
        return Err(refusal);
    }
    if trading == Trading::Real {
        real::announce(&settings, &account);
    }
    let start_balance = session.ledger().equity();
    let (began, venue_clock) = (clock.now(), Arc::clone(&clock));
    let header = Header {
        format: Header::FORMAT,
        settings: json!({ "trading": trading, "session": settings, "runtime": runtime, "simulation": loaded.config.simulation }),
        strategies: crew.versions,
        data_hash: None,
    };
    let (watchers, shown) = screen.show();
    let runner = Runner::new(Parts {
        settings: runtime,
        header,
        market,
        broker,
        clock,
        account,
        session,
        bots: settings.bots.clone(),
        wants_prices: crew.wants_prices,
        journal,
        past,
        exchanges,
        unrecognised,
        watchers,
        until,
    });
    let (sender, stop) = mpsc::channel(4);
    let watcher = tokio::spawn(watch(interrupt, run_for, sender));
    drop(hold);
    let Open { orders, _closed } = open;
    let finished = Box::pin(runner.run(stop, orders)).await;
    watcher.abort();
    shown.end().await;
    Ok(Outcome { finished: finished?, settings, trading, start_balance, span: began..venue_clock.now() })
}

/// Tells the run to stop: when its time is up, and whenever a person or the system says so.
async fn watch(mut interrupt: Interrupt, run_for: Option<Millis>, stop: mpsc::Sender<Stop>) {
    let span = run_for.and_then(|span| u64::try_from(span.get()).ok());
    let mut time_up = std::pin::pin!(async move {
        match span {
            Some(span) => tokio::time::sleep(Duration::from_millis(span)).await,
            None => std::future::pending().await,
        }
    });
    let mut is_up = false;
    loop {
        let why = tokio::select! {
            () = &mut time_up, if !is_up => {
                is_up = true;
                Stop::TimeUp
            }
            ending = interrupt.wait() => match ending {
                Ending::Interrupted => Stop::Interrupted,
                Ending::Done => Stop::Terminated,
            },
        };
        if stop.send(why).await.is_err() {
            return;
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let kind = match &error {
            JournalError::HeldBy { .. } | JournalError::LostLease { .. } => FailureKind::JournalHeld,
            JournalError::JournalExists { .. }
            | JournalError::NotFound { .. }
            | JournalError::InvalidUrl { .. }
            | JournalError::NotWritable { .. }
            | JournalError::PermissionDenied { .. }
            | JournalError::NotAJournal { .. }
            | JournalError::NewerSchema { .. } => FailureKind::Configuration,
            JournalError::BrokenChain { .. } | JournalError::Damaged { .. } => FailureKind::Data,
            JournalError::DiskFull { .. }
            | JournalError::Unavailable { .. }
            | JournalError::Unexpected { .. } => FailureKind::Unexpected,
        };
        Self::new(kind, error)
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::Venue { ref source, .. } => {
                let help = venue_help(source);
                Self::new(FailureKind::Venue, error).help(help)
            }
            RuntimeError::UnreadableEntry { .. } => Self::new(FailureKind::Data, error)
                .help("`candlewick doctor` verifies the journal; name another with --journal"),
            RuntimeError::UnsupportedInterval { .. } => Self::new(FailureKind::Configuration, error).help(format!(
                "let the bot's interval be one of {}; a backtest joins longer candles, a live bot does not",
                USUAL_INTERVALS.join(", ")
            )),
            RuntimeError::NoWallet { .. } => Self::new(FailureKind::Venue, error),
            RuntimeError::MoneyScaleMismatch { .. }
            | RuntimeError::UnknownTrade { .. }
            | RuntimeError::TradeMismatch { .. } => Self::new(FailureKind::Configuration, error),
            RuntimeError::Engine(error) => error.into(),
            RuntimeError::Journal(error) => error.into(),
        }
    }
}

fn venue_help(error: &BrokerError) -> &'static str {
    match error {
        BrokerError::Credentials { .. } => {
            "check CANDLEWICK_BROKER__API_TOKEN and CANDLEWICK_BROKER__API_KEY, or the files that hold them"
        }
        BrokerError::NotFound { .. } => {
            "check the bots' symbols and asset types against what the venue offers"
        }
        BrokerError::Unavailable { .. } => {
            "check broker.base_url and broker.price_url, and that the venue can be reached from here"
        }
        _ => "run with -v to see the requests; `candlewick live --sandbox` needs no venue",
    }
}

//! Live runs: assembly, start, display and shutdown.

mod connect;
mod embedded;
mod events;
mod journal_session;
mod monitor;
mod reload;
mod start_checks;

pub(crate) use connect::WAIT_HINT as WAITING_ADVICE;
pub use connect::{CustomBrokers, VenuePorts, check_venue, connect_paper, connect_remote, wait_for_venue};
pub use embedded::{EmbeddedVenue, ReplaySpan, ServedSandbox};
pub use events::stop_name;
pub(crate) use journal_session::intents_lost_with_venue;
pub use journal_session::{ControlChannel, JournalSession};
pub use reload::ConfigurationReader;
use reload::ReloadContext;

use crate::bots::{BotSet, clear_unused_longer_share, session_settings};
use crate::configuration::LoadedConfig;
use crate::error::{AppError, Result};
use crate::evidence::record_days;
use crate::lints::idle_blackout_notice;
use crate::notify::Alerts;
use crate::progress::Progress;
use crate::signals::PreparedSources;
use candlewick_api::HttpBroker;
use candlewick_broker::clock::Clock;
use candlewick_broker::{Account as AccountKind, Broker, MarketData, TokenState, UnrecognisedData};
use candlewick_engine::{Halt, Header, Session, SessionSettings, check_stakes};
use candlewick_journal::{Journal, JournalUrl, LoggedExchange};
use candlewick_records::{TradingMode, describe_halt};
use candlewick_runtime::{
    ConnectedAccount, FinishedRun, NoticeSender, RecoveredState, ReloadInput, RequestDemand, Runner,
    RunnerParts, RuntimeSettings, StopReason, connect, min_retention_override,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Money, Strategy};
use candlewick_simulator::SimulationSettings;
use events::EventPublication;
use monitor::{MonitorSources, Monitoring};
use serde_json::json;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

pub struct Connection {
    pub market: Arc<dyn MarketData>,
    pub broker: Arc<dyn Broker>,
    pub clock: Arc<dyn Clock>,
    pub runtime: RuntimeSettings,
    pub account: AccountKind,
    pub trading: TradingMode,
    /// Maximum number of requests per second; 0 for unlimited.
    pub requests_per_second: f64,
    pub exchanges: mpsc::Receiver<LoggedExchange>,
    pub unrecognised_data: Arc<UnrecognisedData>,
    pub token: Arc<TokenState>,
    pub end: Option<Millis>,
    pub waiting_requests: WaitingRequestCounter,
}

type WaitingRequestCounter = Arc<dyn Fn() -> Vec<(&'static str, usize)> + Send + Sync>;

impl Connection {
    fn new(
        loaded: &LoadedConfig,
        market: Arc<dyn MarketData>,
        broker: Arc<dyn Broker>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let account = loaded.config.account.mode.account();
        let is_real = account == AccountKind::Real;
        Self {
            market,
            broker,
            clock,
            runtime: loaded.config.runtime.clone(),
            account,
            trading: if is_real { TradingMode::Real } else { TradingMode::Demo },
            requests_per_second: 0.0,
            exchanges: mpsc::channel(1).1,
            unrecognised_data: Arc::new(UnrecognisedData::new()),
            token: Arc::default(),
            end: None,
            waiting_requests: Arc::new(Vec::new),
        }
    }

    fn with_http_venue(
        loaded: &LoadedConfig,
        venue: Arc<HttpBroker>,
        broker: Arc<dyn Broker>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let asked = Arc::clone(&venue);
        Self {
            unrecognised_data: venue.unrecognised_data(),
            token: venue.token_state(),
            waiting_requests: Arc::new(move || asked.waiting_requests()),
            ..Self::new(loaded, venue, broker, clock)
        }
    }
}

pub struct FrontEnd<'a> {
    pub journal: JournalSession,
    pub control: ControlChannel,
    pub watchers: Vec<NoticeSender>,
    /// Callback that prints notices, such as the amounts at risk, without blocking.
    pub announce: Box<dyn Fn(&str) + 'a>,
    pub progress: Box<dyn Progress + 'a>,
    pub stop: mpsc::Receiver<StopReason>,
    pub quit_now: Arc<Notify>,
    pub read_configuration: ConfigurationReader,
}

pub struct Outcome {
    pub finished: FinishedRun,
    pub settings: SessionSettings,
    pub trading: TradingMode,
    pub start_balance: Money,
    pub span: Range<Millis>,
    /// Sequence number of the last event, or 0 if nothing has subscribed to the event feed.
    pub last_event: u64,
}

pub async fn run(
    loaded: &LoadedConfig,
    bots: BotSet,
    connection: Connection,
    mut front: FrontEnd<'_>,
) -> Result<Outcome> {
    let (orders, leave) = (front.control.sender.downgrade(), Arc::clone(&front.quit_now));
    let alerts = match Alerts::begin(loaded, &mut front.watchers, (&connection.clock, &orders)) {
        Ok(alerts) => alerts,
        Err(error) => {
            front.journal.release().await;
            return Err(error);
        }
    };
    let outcome = Box::pin(assemble_and_run(loaded, bots, connection, front)).await;
    tokio::select! {
        // This branch completes at once if alerts are off, even during an immediate quit.
        biased;
        () = alerts.end(outcome.as_ref().map(|outcome| outcome.finished.stop)) => {}
        () = leave.notified() => tracing::warn!("quitting without waiting for unsent alerts"),
    }
    outcome
}

async fn assemble_and_run(
    loaded: &LoadedConfig,
    bots: BotSet,
    connection: Connection,
    front: FrontEnd<'_>,
) -> Result<Outcome> {
    let FrontEnd { mut journal, control, watchers, announce, progress, stop, read_configuration, .. } = front;
    let Connection { market, broker, clock, mut runtime, trading, requests_per_second, .. } = connection;
    let Connection { account, exchanges, unrecognised_data, token, end: until, waiting_requests, .. } =
        connection;
    // The venue's clock is held during the requests before the run, so that they take no venue time.
    let hold = clock.hold();
    let found = prepare(loaded, &mut journal, (broker.as_ref(), account, trading)).await;
    let ((mut watch, inputs, account, balance), journal) = release_on_error(found, journal).await?;
    let settings = SessionSettings { balance, ..session_settings(loaded) };
    let settings = clear_unused_longer_share(settings, &bots.strategies, None);
    let streams = loaded.config.broker.client.stream && !clock.is_lock_step();
    warn_about_blackouts(loaded, clock.now());
    let (session, journal) = release_on_error(new_session(&settings, bots.strategies), journal).await?;
    report_request_budget((&settings, &bots.wants_prices, streams), requests_per_second, &mut runtime);
    let journal_url = journal.url();
    // Without a journal, intents are never evicted.
    runtime.remember_s = journal_url.as_ref().map_or(0, |_| runtime.remember_s);
    runtime.min_retention_override = min_retention_override();
    let (session, journal, past) =
        recover(loaded, (journal, session), (&settings, &runtime), trading, (clock.now(), &*progress))
            .await?;
    let real = (trading == TradingMode::Real).then(|| start_checks::real_money_summary(&settings, &account));
    real.into_iter().chain(past.halt().map(|halt| halted_notice(&halt))).for_each(|text| announce(&text));
    let (start_balance, began, venue_clock) = (session.ledger().equity(), clock.now(), Arc::clone(&clock));
    let venue = (journal_url.as_ref(), &clock);
    let running =
        ReloadContext::new(loaded, &bots.wants_prices, (&settings, &runtime), venue, requests_per_second)?;
    let runner = Runner::new(RunnerParts {
        header: build_header(loaded, (trading, &settings, &runtime), bots.versions),
        settings: runtime,
        market,
        broker,
        clock,
        account,
        session,
        bots: settings.bots.clone(),
        wants_prices: bots.wants_prices,
        journal,
        recovered: past,
        exchanges,
        unrecognised: unrecognised_data,
        token,
        watchers,
        until,
    })
    .with_settings_reader(running.into_settings_reader(read_configuration));
    let ControlChannel { orders, sender, feed, guards: _open } = control;
    let sources = MonitorSources {
        clock: Arc::clone(&venue_clock),
        control_requests: sender.downgrade(),
        feed: feed.clone(),
        requests_per_second,
        waiting_requests,
    };
    let told = (&settings, trading, start_balance);
    let (published, observer) = EventPublication::begin(feed, told, Arc::clone(&venue_clock));
    let runner = watch.attach_observers(runner.with_observer(observer), loaded, sources);
    let inputs = inputs.open(loaded, &venue_clock, &sender.downgrade()).await;
    drop(hold);
    let finished = track_days(runner.run(stop, orders), (loaded, &journal_url, trading), &venue_clock).await;
    let finished = journal_session::restore_evicted_intents(finished, journal_url.as_ref(), &settings).await;
    drop(inputs);
    let ended = venue_clock.now();
    let last_event = published.end(finished.as_ref().ok(), ended).await;
    Ok(Outcome { finished: finished?, settings, trading, start_balance, span: began..ended, last_event })
}

/// Waits for a run, and records meanwhile which days it sees.
fn track_days<T>(
    run: impl Future<Output = T>,
    (loaded, journal, trading): (&LoadedConfig, &Option<JournalUrl>, TradingMode),
    clock: &Arc<dyn Clock>,
) -> Pin<Box<impl Future<Output = T>>> {
    let settings = loaded.config.evidence.clone();
    let record = |url: &JournalUrl| record_days(settings, (url.clone(), trading), Arc::clone(clock));
    let days = journal.as_ref().map(|url| tokio::spawn(record(url)));
    Box::pin(async move {
        let result = run.await;
        days.as_ref().map(JoinHandle::abort);
        result
    })
}

fn warn_about_blackouts(loaded: &LoadedConfig, now: Millis) {
    if let Some(warning) = idle_blackout_notice(loaded, now) {
        tracing::warn!("{warning}");
    }
}

async fn prepare(
    loaded: &LoadedConfig,
    journal: &mut JournalSession,
    (broker, account, trading): (&dyn Broker, AccountKind, TradingMode),
) -> Result<(Monitoring, PreparedSources, ConnectedAccount, Decimal)> {
    let watch = Monitoring::begin(loaded).await?;
    journal.check_trading_mode(trading).await?;
    let inputs = PreparedSources::prepare(loaded).await?;
    let account = connect(broker, account, loaded.config.account.money_scale).await?;
    let first = journal.first_balance().await?;
    if first.is_none() {
        check_funds(&account)?;
    }
    let balance = first.unwrap_or(account.balance);
    Ok((watch, inputs, account, balance))
}

async fn recover(
    loaded: &LoadedConfig,
    (journal, mut session): (JournalSession, Session),
    (settings, runtime): (&SessionSettings, &RuntimeSettings),
    trading: TradingMode,
    (now, progress): (Millis, &dyn Progress),
) -> Result<(Session, Box<dyn Journal>, RecoveredState)> {
    let url = journal.url();
    let (mut journal, past) = journal.begin(&mut session, (settings, runtime), now, progress).await?;
    let terms = (settings, &loaded.config.simulation);
    if let Err(refusal) = check_start(terms, trading, (&past, &session), url.as_ref()).await {
        // Releases the lease immediately, so that the operator can use the journal to fix the problem.
        drop(journal.close().await);
        return Err(refusal);
    }
    Ok((session, journal, past))
}

fn halted_notice(halt: &Halt) -> String {
    format!("This run starts {}. Run `candlewick resume` to open trades again.\n", describe_halt(halt))
}

async fn release_on_error<T>(made: Result<T>, journal: JournalSession) -> Result<(T, JournalSession)> {
    match made {
        Ok(made) => Ok((made, journal)),
        Err(error) => {
            journal.release().await;
            Err(error)
        }
    }
}

/// Checks that the wallet has funds. Not for resumed journals, whose open trades may use all funds.
fn check_funds(account: &ConnectedAccount) -> Result<()> {
    if account.balance > Decimal::ZERO {
        return Ok(());
    }
    let problem = format!("the {} wallet holds {:.2}, so no trade can open", account.kind, account.balance);
    Err(AppError::invalid(problem).with_help("fund the wallet at the venue"))
}

async fn check_start(
    (settings, simulation): (&SessionSettings, &SimulationSettings),
    trading: TradingMode,
    (past, session): (&RecoveredState, &Session),
    journal: Option<&JournalUrl>,
) -> Result<()> {
    let evicted = past.evicted_count();
    if evicted > 0 {
        tracing::info!("{evicted} old trades are stored only in the journal, to save memory");
    }
    let known = ReloadInput { forgotten_trades: evicted, ..ReloadInput::new(session, past.book()) };
    let standing = journal_session::restore_forgotten_trades(&known, journal, settings).await?;
    start_checks::check_ladders(settings, &standing, simulation)?;
    if trading == TradingMode::Real { start_checks::check_real_money(past, session) } else { Ok(()) }
}

fn build_header(
    loaded: &LoadedConfig,
    (trading, session, runtime): (TradingMode, &SessionSettings, &RuntimeSettings),
    strategies: Vec<(String, String)>,
) -> Header {
    let simulation = &loaded.config.simulation;
    let settings =
        json!({ "trading": trading, "session": session, "runtime": runtime, "simulation": simulation });
    Header { format: Header::FORMAT, settings, strategies, data_hash: None }
}

fn new_session(settings: &SessionSettings, strategies: Vec<Box<dyn Strategy>>) -> Result<Session> {
    for notice in check_stakes(settings)? {
        tracing::warn!("{}", notice.text);
    }
    Ok(Session::new(settings, strategies)?)
}

fn report_request_budget(
    (settings, wants_prices, streams): (&SessionSettings, &[bool], bool),
    requests_per_second: f64,
    runtime: &mut RuntimeSettings,
) {
    if requests_per_second == 0.0 {
        return;
    }
    let need = RequestDemand::new(runtime, &settings.risk, &settings.bots, wants_prices).with_stream(streams);
    tracing::info!("{}", need.summary(requests_per_second));
    runtime.rate_limit_warning = need.describe_shortage(requests_per_second);
    if let Some(shortage) = &runtime.rate_limit_warning {
        tracing::warn!("{shortage}");
    }
    if runtime.watch_prices && !need.has_room_for_display_prices(requests_per_second) {
        runtime.watch_prices = false;
        tracing::warn!(
            "broker.requests_per_second = {requests_per_second} is too low to poll prices for display"
        );
    }
}

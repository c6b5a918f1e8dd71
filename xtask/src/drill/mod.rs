//! `drill`: an accelerated run with injected failures, which the bot must notice and survive.
//!
//! A bot trades generated candles at the embedded venue while in turn the venue, the token, the
//! journal and the machine fail. At the end journal, ledger and venue must agree.

mod clock;
mod night;

use crate::Report;
use anyhow::Context;
use candlewick_app::NoProgress;
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::{Loaded, control_paths};
use candlewick_app::live::{self, Embedded, FrontEnd, JournalSession, Outcome};
use candlewick_broker::clock::{Clock, Speed, Stopwatch, VirtualClock};
use candlewick_engine::IntentState;
use candlewick_history::{GenerateSettings, generate, known_market};
use candlewick_journal::{JournalUrl, Reader};
use candlewick_runtime::Stop;
use candlewick_sandbox::markets_of;
use candlewick_sdk::{CandleSeries, Millis, Registry, Symbol};
use clock::LeapingClock;
use coin::Coin;
use night::{Events, Night, Scene, VenueRecords};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

const SPEED: f64 = 60.0;
const SYMBOLS: [&str; 2] = ["BTCUSDT", "ETHUSDT"];
/// 2026-01-05 00:00 UTC, a Monday.
const START: Millis = Millis::new(1_767_571_200_000);

#[derive(Serialize)]
struct Drill {
    scenes: Vec<Scene>,
    promises: Vec<Promise>,
    intents: usize,
    trades: usize,
    took_s: f64,
}

#[derive(Serialize)]
struct Promise {
    promise: &'static str,
    found: String,
    held: bool,
}

pub(crate) fn run() -> anyhow::Result<Report> {
    let drill = Runtime::new()?.block_on(Box::pin(play()))?;
    let scenes = drill.scenes.iter().filter(|scene| !scene.held).map(|scene| scene.happened);
    let promises = drill.promises.iter().filter(|promise| !promise.held).map(|promise| promise.promise);
    let broken = scenes.chain(promises).map(str::to_owned).collect();
    Ok(Report { document: serde_json::to_value(&drill)?, broken })
}

async fn play() -> anyhow::Result<Drill> {
    let watch = Stopwatch::start();
    let folder = tempfile::tempdir()?;
    let journal = format!("sqlite://{}", folder.path().join("night.db").display());
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let text = configuration(&journal, metrics);
    let loaded = Loaded::of_text(&text)?;
    let bots = BotSet::build(&loaded, &Registry::default().with::<Coin>()?)?;
    let candles = SYMBOLS.into_iter().map(candles_of).collect::<anyhow::Result<Vec<_>>>()?;
    let (markets, start) = (markets_of(&candles), START + Millis::HOUR);
    let (clock, bot_clock) = LeapingClock::pair(VirtualClock::new(start, Speed::Times(SPEED)));
    let clocks: [Arc<dyn Clock>; 2] = [Arc::new(clock.clone()), Arc::new(bot_clock)];
    let (session, control) = JournalSession::open_with_control(&loaded).await?;
    let Embedded { running, connection, .. } =
        Embedded::start_on(&loaded, (candles, markets), (start, None), clocks).await?;
    let (stop, stopped) = mpsc::channel(1);
    let socket = control_paths(&loaded)?.socket;
    let events = Events::follow(&control.events());
    let night = Night { running: &running, journal: &journal, socket, metrics, clock, events };
    let front = FrontEnd {
        journal: session,
        control,
        watchers: Vec::new(),
        announce: Box::new(|_: &str| {}),
        progress: Box::new(NoProgress),
        stop: stopped,
        leave: Arc::default(),
        read_again: Box::new(move || Loaded::of_text(&text)),
    };
    let trading = Box::pin(live::run(&loaded, bots, connection, front));
    let playing = async {
        let played = Box::pin(night.play()).await;
        // Fails if the run has ended by itself.
        let _ = stop.send(Stop::TimeUp).await;
        played
    };
    let (ended, played) = tokio::join!(trading, playing);
    let ((scenes, venue), outcome) = (played?, ended?);
    let trades = settled_trades(&outcome);
    let url: JournalUrl = journal.parse()?;
    let promises = check_promises(&url, &outcome, &trades, &venue).await?;
    let intents = outcome.finished.book.rows().len();
    Ok(Drill { scenes, promises, intents, trades: trades.len(), took_s: watch.elapsed().as_secs_f64() })
}

fn configuration(journal: &str, metrics: SocketAddr) -> String {
    let mut text = format!(
        "[journal]\nurl = \"{journal}\"\n[metrics]\nlisten = \"{metrics}\"\n[broker]\ntimeout_ms = 700\nretry_pause_ms = 50\n\
         [sandbox]\nspeed = {SPEED}\nlisten = \"127.0.0.1:0\"\n[runtime]\nwatch_prices = false\nlist_lag_ms = 30000\n\
         [risk]\nmax_open_trades = 0\nmax_trades_per_day = 0\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n\
         max_signal_delay_ms = 30000\n"
    );
    for (seed, symbol) in SYMBOLS.iter().enumerate() {
        let _ = write!(
            text,
            "[[bots]]\nname = \"{symbol}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"coin\"\n\
             close_type = \"01:00\"\nparams = {{ seed = {seed}, share = 0.7 }}\n"
        );
    }
    text
}

fn candles_of(symbol: &str) -> anyhow::Result<CandleSeries> {
    let symbol: Symbol = symbol.parse()?;
    let market = known_market(symbol).context("the market is unknown")?;
    Ok(generate(&GenerateSettings::of_market(symbol, market, START, 2))?)
}

/// Returns the venue's ids of the settled trades.
fn settled_trades(outcome: &Outcome) -> BTreeSet<String> {
    let book = &outcome.finished.book;
    let settled = book.rows().iter().filter(|row| row.state == IntentState::Settled);
    settled.filter_map(|row| book.venue_id(row).map(|id| id.as_str().to_owned())).collect()
}

/// Checks what must hold after any failure, in journal, ledger and venue.
async fn check_promises(
    journal: &JournalUrl,
    outcome: &Outcome,
    settled: &BTreeSet<String>,
    venue: &VenueRecords,
) -> anyhow::Result<Vec<Promise>> {
    let rows = outcome.finished.book.rows();
    let mut reader = Reader::open(journal).await?;
    let verified = reader.verify().await;
    let (mut requests, mut most) = (0, 0);
    for row in rows {
        let exchanges = reader.exchanges_of(row.approved.intent().number()).await?;
        let sent = exchanges.iter().filter(|exchange| exchange.what.starts_with("POST ")).count();
        (requests, most) = (requests + sent, most.max(sent));
    }
    reader.close().await;
    let theirs: BTreeSet<String> = venue.trades.iter().cloned().collect();
    let differing = theirs.symmetric_difference(settled).count();
    let free = outcome.settings.money_scale.to_f64(outcome.finished.free);
    let unfinished = rows
        .iter()
        .filter(|row| matches!(row.state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open))
        .count();
    let promise = |promise, found, held| Promise { promise, found, held };
    Ok(vec![
        promise(
            "at most one request for each intent",
            format!("{requests} requests for {} intents, {most} for one at most", rows.len()),
            most <= 1 && requests > 0,
        ),
        promise(
            "the venue has the trades of the journal, and no other",
            format!("{} trades there, {} here, {differing} that differ", theirs.len(), settled.len()),
            differing == 0 && theirs.len() == venue.trades.len() && !theirs.is_empty(),
        ),
        promise(
            "the ledger is the venue's wallet",
            format!("{free:.2} here, {:.2} there", venue.balance),
            (free - venue.balance).abs() < 0.005,
        ),
        promise("nothing is left in doubt", format!("{unfinished} without an end"), unfinished == 0),
        promise(
            "the journal is whole",
            match &verified {
                Ok(verified) => format!("{} entries, each chained to the one before", verified.entries),
                Err(error) => error.to_string(),
            },
            verified.is_ok(),
        ),
    ])
}

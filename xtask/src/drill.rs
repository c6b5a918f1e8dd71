//! `drill`: an accelerated run with injected failures, which the bot must notice and survive.
//!
//! A bot trades generated candles at the embedded venue while in turn the venue, the token, the
//! journal and the machine fail. At the end journal, ledger and venue must agree.

use crate::{Report, START, market_settings};
use anyhow::{Context, bail, ensure};
use async_trait::async_trait;
use candlewick_app::NoProgress;
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::{Loaded, control_paths};
use candlewick_app::control::describe;
use candlewick_app::live::{self, Embedded, FrontEnd, JournalSession, Outcome};
use candlewick_broker::clock::{Clock, Hold, Speed, Stopwatch, VirtualClock};
use candlewick_engine::IntentState;
use candlewick_history::generate;
use candlewick_journal::Reader;
use candlewick_runtime::Stop;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, send_order};
use candlewick_runtime::events::{EventFeed, Followed};
use candlewick_sandbox::{FaultProfile, RunningSandbox, markets_of};
use candlewick_sdk::{CandleSeries, Millis, Registry};
use coin::Coin;
use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

const SPEED: f64 = 60.0;
const SYMBOLS: [&str; 2] = ["BTCUSDT", "ETHUSDT"];
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_mins(1);
/// Time for which a noticed failure lasts, so that scrapers see it too.
const LASTS: Duration = Duration::from_secs(3);
/// Time after which no request of the failure is in flight.
const SETTLES: Duration = Duration::from_secs(1);
const HTTP_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
enum Failure {
    Venue(&'static str),
    /// Another process holds the write lock of the journal.
    JournalLocked,
    Sleep(Millis),
}

struct Plan {
    happened: &'static str,
    failure: Failure,
    injected: &'static str,
    did: &'static str,
    /// Event by which the bot reports the failure.
    noticed: &'static str,
    /// Event by which the bot reports its end.
    over: &'static str,
}

const NIGHT: [Plan; 5] = [
    Plan {
        happened: "the venue is down",
        failure: Failure::Venue("drop-before:1"),
        injected: "fault drop-before:1 of the sandbox",
        did: "reported that the venue is silent, opened nothing on old candles, retried",
        noticed: "venue_silent",
        over: "venue_heard",
    },
    Plan {
        happened: "the reply to an order is lost",
        failure: Failure::Venue("drop-after:1"),
        injected: "fault drop-after:1 of the sandbox",
        did: "sent no second request, blocked the symbol, and found the trade in the venue's list",
        noticed: "in_doubt",
        over: "resolved",
    },
    Plan {
        happened: "the token expires",
        failure: Failure::Venue("expired-token:1"),
        injected: "fault expired-token:1 of the sandbox",
        did: "suspended its opens until the order to resume",
        noticed: "suspended",
        over: RESUMED,
    },
    Plan {
        happened: "the journal cannot be written",
        failure: Failure::JournalLocked,
        injected: "another connection holds the write lock of its file",
        did: "sent nothing that was not durable",
        noticed: "alarm",
        over: "opened",
    },
    Plan {
        happened: "the machine sleeps, and its clock leaps",
        failure: Failure::Sleep(Millis::from_seconds(600)),
        injected: "its clock is 10 minutes behind the venue's",
        did: "moved its clock to the venue's, and refused decisions on earlier candles",
        noticed: "alarm",
        over: "opened",
    },
];
/// End of a failure after which the bot has to be resumed.
const RESUMED: &str = "resumed";

/// Metrics that describe failures, with their values without one.
const METRICS: [(&str, f64); 8] = [
    ("candlewick_journal_writable", 1.0),
    ("candlewick_venue_heard", 1.0),
    ("candlewick_doubts_open", 0.0),
    ("candlewick_phase{phase=\"suspended\"}", 0.0),
    ("candlewick_phase{phase=\"halted\"}", 0.0),
    ("candlewick_journal_write_failures_total", 0.0),
    ("candlewick_alarms_total", 0.0),
    ("candlewick_warnings_total", 0.0),
];

/// The scenes, and trades and balance as the venue reports them at the end.
struct Played {
    scenes: Vec<Value>,
    trades: Vec<String>,
    balance: f64,
}

pub(crate) fn run() -> anyhow::Result<Report> {
    Runtime::new()?.block_on(Box::pin(play()))
}

async fn play() -> anyhow::Result<Report> {
    let watch = Stopwatch::start();
    let folder = tempfile::tempdir()?;
    let journal = format!("sqlite://{}", folder.path().join("night.db").display());
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let text = configuration(&journal, metrics);
    let loaded = Loaded::of_text(&text)?;
    let bots = BotSet::build(&loaded, &Registry::default().with::<Coin>()?)?;
    let candles = |symbol: &&str| -> anyhow::Result<CandleSeries> {
        Ok(generate(&market_settings(symbol, START, 2)?)?)
    };
    let candles = SYMBOLS.iter().map(candles).collect::<anyhow::Result<Vec<_>>>()?;
    let (markets, start) = (markets_of(&candles), START + Millis::HOUR);
    let (clock, bot_clock) = LeapingClock::pair(VirtualClock::new(start, Speed::Times(SPEED)));
    let clocks: [Arc<dyn Clock>; 2] = [Arc::new(clock.clone()), Arc::new(bot_clock)];
    let (session, control) = JournalSession::open_with_control(&loaded).await?;
    let Embedded { running, connection, .. } =
        Embedded::start_on(&loaded, (candles, markets), (start, None), clocks).await?;
    let (stop, stopped) = mpsc::channel(1);
    let socket = control_paths(&loaded)?.socket;
    let events = follow_events(&control.events());
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
    let (played, outcome) = (played?, ended?);
    let book = &outcome.finished.book;
    let settled = book.rows().iter().filter(|row| row.state == IntentState::Settled);
    let trades: BTreeSet<String> =
        settled.filter_map(|row| book.venue_id(row).map(|id| id.as_str().to_owned())).collect();
    let promises = check_promises(&journal, &outcome, &trades, &played).await?;
    let failed = played.scenes.iter().chain(&promises).filter(|one| one["held"] == false);
    let name = |one: &Value| one["happened"].as_str().or(one["promise"].as_str()).map(str::to_owned);
    let broken = failed.filter_map(name).collect();
    let document = json!({
        "scenes": played.scenes,
        "promises": promises,
        "intents": book.rows().len(),
        "trades": trades.len(),
        "took_s": watch.elapsed().as_secs_f64(),
    });
    Ok(Report { document, broken })
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

async fn check_promises(
    journal: &str,
    outcome: &Outcome,
    settled: &BTreeSet<String>,
    venue: &Played,
) -> anyhow::Result<Vec<Value>> {
    let rows = outcome.finished.book.rows();
    let mut reader = Reader::open(&journal.parse()?).await?;
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
    let is_unfinished =
        |state| matches!(state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open);
    let unfinished = rows.iter().filter(|row| is_unfinished(row.state)).count();
    let promise =
        |name: &str, found: String, held: bool| json!({ "promise": name, "found": found, "held": held });
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

type Events = Arc<Mutex<Vec<String>>>;

fn follow_events(feed: &EventFeed) -> Events {
    let (events, mut follower) = (Events::default(), feed.follow());
    let all = Arc::clone(&events);
    tokio::spawn(async move {
        while let Some(Followed::Line(text) | Followed::End(text)) = follower.next().await {
            let event: Value = serde_json::from_str(&text).unwrap_or_default();
            lock(&all).extend(event["event"].as_str().map(str::to_owned));
        }
    });
    events
}

fn lock(events: &Events) -> MutexGuard<'_, Vec<String>> {
    events.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Night<'a> {
    running: &'a RunningSandbox,
    journal: &'a str,
    socket: PathBuf,
    metrics: SocketAddr,
    clock: LeapingClock,
    events: Events,
}

impl Night<'_> {
    async fn play(&self) -> anyhow::Result<Played> {
        eprintln!("metrics at http://{}/metrics", self.metrics);
        let is_calm = self.wait_for("settled", 0).await;
        ensure!(is_calm, "no trade settled without a failure: the machine is too busy for a drill");
        let mut scenes = Vec::with_capacity(NIGHT.len());
        for plan in &NIGHT {
            eprintln!("  {}", plan.happened);
            scenes.push(Box::pin(self.play_scene(plan)).await?);
        }
        self.order(&ControlOrder::Halt { reason: "the drill ends".to_owned() }).await?;
        let is_idle = async || {
            let state = self.order(&ControlOrder::Status).await;
            state.is_ok_and(|state| state.open + state.in_flight + state.in_doubt.len() == 0)
        };
        wait_until(is_idle).await;
        let (trades, balance) = (self.venue_trades().await?, self.venue_balance().await?);
        Ok(Played { scenes, trades, balance })
    }

    async fn play_scene(&self, plan: &Plan) -> anyhow::Result<Value> {
        let count = || lock(&self.events).len();
        let before = count();
        let journal_lock = self.inject(plan.failure).await?;
        let is_noticed = self.wait_for(plan.noticed, before).await;
        let seen = self.look().await;
        let begun = count();
        sleep(LASTS).await;
        self.running.switchboard.set(FaultProfile::none());
        if let Some(journal_lock) = journal_lock {
            journal_lock.close().await?;
        }
        if plan.over == RESUMED {
            // A request that is still in flight would suspend the opens again.
            sleep(SETTLES).await;
            self.order(&ControlOrder::Resume).await?;
        }
        let is_over = is_noticed && self.wait_for(plan.over, begun).await;
        let held = is_over && self.wait_for("settled", count()).await;
        let ended = match (is_noticed, is_over, held) {
            (_, _, true) => "it goes on by itself: the next trade opened and settled",
            (_, true, false) => "over, but no trade settled afterwards",
            (true, false, _) => "the bot did not report the end",
            (false, ..) => "the bot did not notice",
        };
        let mut events = BTreeMap::<String, u64>::new();
        for name in lock(&self.events).iter().skip(before).filter(|name| *name != "candle") {
            *events.entry(name.clone()).or_default() += 1;
        }
        let Plan { happened, injected, did, .. } = *plan;
        Ok(json!({
            "happened": happened, "injected": injected, "did": did, "events": events, "seen": seen, "ended": ended,
            "held": held,
        }))
    }

    /// Returns the connection that holds the write lock of the journal.
    async fn inject(&self, failure: Failure) -> anyhow::Result<Option<AnyConnection>> {
        match failure {
            Failure::Venue(faults) => self.running.switchboard.set(faults.parse()?),
            Failure::Sleep(span) => self.clock.leap(span),
            Failure::JournalLocked => {
                let mut connection = AnyConnection::connect(self.journal).await?;
                sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await?;
                return Ok(Some(connection));
            }
        }
        Ok(None)
    }

    async fn look(&self) -> Value {
        let status = self.order(&ControlOrder::Status).await.map_or_else(
            |_| "no answer".to_owned(),
            |state| {
                let troubles = state.troubles.iter().map(|trouble| format!(" Trouble: {trouble}."));
                describe(&state) + &troubles.collect::<String>()
            },
        );
        let text = self.get(&format!("http://{}/metrics", self.metrics)).await.unwrap_or_default();
        let values = text.lines().filter_map(|line| line.rsplit_once(' '));
        let values = values.filter_map(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
        let is_unusual = |(name, value): &(&str, f64)| {
            METRICS.iter().any(|(known, usual)| name == known && value != usual)
        };
        json!({ "status": status, "metrics": values.filter(is_unusual).collect::<BTreeMap<_, _>>() })
    }

    async fn wait_for(&self, event: &str, since: usize) -> bool {
        wait_until(async || lock(&self.events).iter().skip(since).any(|name| name == event)).await
    }

    async fn order(&self, order: &ControlOrder) -> anyhow::Result<RunState> {
        match send_order(&self.socket, order, None).await? {
            ControlAnswer::Done { state } => Ok(*state),
            answer => bail!("{order:?}: {answer:?}"),
        }
    }

    async fn venue_trades(&self) -> anyhow::Result<Vec<String>> {
        let (mut trades, mut page) = (Vec::new(), Some(1));
        while let Some(number) = page {
            let answer = self.ask_venue(&format!("/token/trades?page={number}&pageSize=1000")).await?;
            let rows = answer["data"].as_array().into_iter().flatten();
            trades.extend(rows.filter_map(|row| row["id"].as_str().map(str::to_owned)));
            page = answer["nextPage"].as_u64();
        }
        Ok(trades)
    }

    async fn venue_balance(&self) -> anyhow::Result<f64> {
        let wallets = self.ask_venue("/token/wallets").await?;
        let demo = wallets.as_array().into_iter().flatten().find(|wallet| wallet["type"] == "DEMO");
        demo.and_then(|wallet| wallet["balance"].as_f64()).context("the venue has no demo wallet")
    }

    async fn ask_venue(&self, path: &str) -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&self.get(&format!("{}{path}", self.running.base_url)).await?)?)
    }

    async fn get(&self, url: &str) -> anyhow::Result<String> {
        let request = reqwest::Client::new().get(url).timeout(HTTP_TIMEOUT);
        let request = request.header("api-token", &self.running.token).header("x-timestamp", "1");
        Ok(request.send().await?.error_for_status()?.text().await?)
    }
}

/// Returns whether the condition came true in time.
async fn wait_until(is_met: impl AsyncFn() -> bool) -> bool {
    let wait = async {
        while !is_met().await {
            sleep(POLL_INTERVAL).await;
        }
    };
    timeout(PATIENCE, wait).await.is_ok()
}

/// Clock of a machine that sleeps: on waking, the bot's clock catches up with the venue's.
#[derive(Clone)]
struct LeapingClock {
    time: VirtualClock,
    /// Milliseconds ahead of `time`.
    lead: Arc<AtomicI64>,
    venue_lead: Arc<AtomicI64>,
}

impl LeapingClock {
    /// Clocks of venue and bot.
    fn pair(time: VirtualClock) -> (Self, Self) {
        let lead: Arc<AtomicI64> = Arc::default();
        let venue = Self { time, venue_lead: Arc::clone(&lead), lead };
        let bot = Self { lead: Arc::default(), ..venue.clone() };
        (venue, bot)
    }

    fn leap(&self, span: Millis) {
        self.venue_lead.fetch_add(span.get(), Ordering::Relaxed);
    }

    fn lead(&self) -> Millis {
        Millis::new(self.lead.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Clock for LeapingClock {
    fn now(&self) -> Millis {
        self.time.now() + self.lead()
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        self.time.sleep_until(at - self.lead()).await
    }

    fn hold(&self) -> Hold {
        self.time.hold()
    }

    fn catch_up(&self) -> Millis {
        let venue = self.venue_lead.load(Ordering::Relaxed);
        Millis::new(venue - self.lead.swap(venue, Ordering::Relaxed))
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

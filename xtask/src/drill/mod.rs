//! `drill`: an accelerated run with injected failures, which the bot must notice and survive.

mod clock;

use crate::{Report, START, market_settings};
use anyhow::{Context, bail, ensure};
use candlewick_app::NoProgress;
use candlewick_app::bots::BotSet;
use candlewick_app::configuration::{LoadedConfig, control_paths};
use candlewick_app::control::describe;
use candlewick_app::live::{self, EmbeddedVenue, FrontEnd, JournalSession, Outcome};
use candlewick_broker::Broker;
use candlewick_broker::clock::{Clock, Stopwatch, VirtualClock};
use candlewick_engine::{BotSettings, IntentState};
use candlewick_history::generate;
use candlewick_journal::Reader;
use candlewick_runtime::StopReason;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, send_order};
use candlewick_runtime::events::{FollowedEvent, Follower};
use candlewick_sandbox::{FaultProfile, RunningSandbox, build_markets};
use candlewick_sdk::{Millis, Registry};
use clock::LeapingClock;
use coin::Coin;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{AnyConnection, Connection as _};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

const POLL_INTERVAL: Duration = Duration::from_millis(50);
const EVENT_TIMEOUT: Duration = Duration::from_mins(1);
/// Not zero, because polling the task once may leave events behind.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(1);
const HTTP_TIMEOUT: Duration = Duration::from_secs(5);
/// Duration of a failure after the bot noticed it, long enough for scrapers to see it.
const FAILURE_DURATION: Duration = Duration::from_secs(3);
/// Delay after which no request from the failure is still in flight.
const SETTLING_TIME: Duration = Duration::from_secs(1);
/// Value of `over` for failures after which the bot must be resumed.
const RESUMED: &str = "resumed";

/// Metrics that describe failures, with their normal values.
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

#[derive(Deserialize)]
struct Scene {
    happened: String,
    injected: String,
    did: String,
    failure: Failure,
    /// Event with which the bot reports the failure.
    noticed: String,
    /// Event with which the bot reports the end of the failure.
    over: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Failure {
    Faults(FaultProfile),
    /// Another process holds the write lock of the journal.
    JournalLocked,
    SleepMs(Millis),
}

pub(crate) fn run() -> anyhow::Result<Report> {
    Runtime::new()?.block_on(Box::pin(play()))
}

async fn play() -> anyhow::Result<Report> {
    let watch = Stopwatch::start();
    let folder = tempfile::tempdir()?;
    let journal = format!("sqlite://{}", folder.path().join("night.db").display());
    let metrics = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let configuration = include_str!("configuration.toml");
    let text =
        format!("{configuration}\n[journal]\nurl = \"{journal}\"\n[metrics]\nlisten = \"{metrics}\"\n");
    let loaded = LoadedConfig::from_text(&text)?;
    let bots = BotSet::build(&loaded, &Registry::default().with::<Coin>()?)?;
    let candles = |bot: &BotSettings| anyhow::Ok(generate(&market_settings(bot.symbol.as_str(), START, 2)?)?);
    let candles = loaded.config.bots.iter().map(candles).collect::<anyhow::Result<Vec<_>>>()?;
    let (markets, start) = (build_markets(&candles), START + Millis::HOUR);
    let time = VirtualClock::new(start, loaded.config.sandbox.speed.to_speed());
    let (clock, bot_clock) = LeapingClock::pair(time);
    let clocks: [Arc<dyn Clock>; 2] = [Arc::new(clock.clone()), Arc::new(bot_clock)];
    let (session, control) = JournalSession::open_with_control(&loaded).await?;
    let EmbeddedVenue { sandbox: running, connection, .. } =
        EmbeddedVenue::start_with_clocks(&loaded, (candles, markets), (start, None), clocks).await?;
    let venue = Arc::clone(&connection.broker);
    let (stop, stopped) = mpsc::channel(1);
    let (socket, follower) = (control_paths(&loaded)?.socket, control.events().follow());
    let counts = BTreeMap::new();
    let mut drill = Drill { running: &running, journal: &journal, socket, metrics, clock, follower, counts };
    let front = FrontEnd {
        journal: session,
        control,
        watchers: Vec::new(),
        announce: Box::new(|_: &str| {}),
        progress: Box::new(NoProgress),
        stop: stopped,
        quit_now: Arc::default(),
        read_configuration: Box::new(move || LoadedConfig::from_text(&text)),
    };
    let trading = Box::pin(live::run(&loaded, bots, connection, front));
    let playing = async {
        let scenes = Box::pin(drill.play()).await;
        // Fails if the run has already ended.
        let _ = stop.send(StopReason::TimeUp).await;
        scenes
    };
    let (ended, scenes) = tokio::join!(trading, playing);
    let (scenes, outcome) = (scenes?, ended?);
    let promises = check_promises(&journal, &outcome, venue.as_ref()).await?;
    let failed = scenes.iter().chain(&promises).filter(|row| row["held"] == false);
    let names = failed.filter_map(|row| row["happened"].as_str().or(row["promise"].as_str()));
    let broken = names.map(str::to_owned).collect();
    let rows = outcome.finished.book.rows();
    let document = json!({
        "scenes": scenes,
        "promises": promises,
        "intents": rows.len(),
        "trades": rows.iter().filter(|row| row.state == IntentState::Settled).count(),
        "took_s": watch.elapsed().as_secs_f64(),
    });
    Ok(Report { document, broken })
}

/// Checks that journal, ledger and venue agree after the run.
async fn check_promises(journal: &str, outcome: &Outcome, venue: &dyn Broker) -> anyhow::Result<Vec<Value>> {
    let book = &outcome.finished.book;
    let (intents, mut requests, mut most) = (book.rows().len(), 0, 0);
    let mut reader = Reader::open(&journal.parse()?).await?;
    let verified = reader.verify().await;
    for row in book.rows() {
        let exchanges = reader.exchanges_of_intent(row.approved.intent().number()).await?;
        let sent = exchanges.iter().filter(|exchange| exchange.request_line.starts_with("POST ")).count();
        (requests, most) = (requests + sent, most.max(sent));
    }
    reader.close().await;
    let listing = venue.trades().await;
    let theirs: BTreeSet<String> = listing.trades.iter().map(|trade| trade.id.clone()).collect();
    let settled = book.rows().iter().filter(|row| row.state == IntentState::Settled);
    let ours: BTreeSet<String> =
        settled.filter_map(|row| book.venue_id(row).map(|id| id.as_str().to_owned())).collect();
    let differing = theirs.symmetric_difference(&ours).count();
    let (theirs, ours) = (theirs.len(), ours.len());
    let balance = venue.balances().await?.value.demo.context("the venue has no demo wallet")?;
    let free = outcome.settings.money_scale.to_decimal(outcome.finished.free);
    let is_unfinished =
        |state| matches!(state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open);
    let unfinished = book.rows().iter().filter(|row| is_unfinished(row.state)).count();
    let promise =
        |name: &str, found: String, held: bool| json!({ "promise": name, "found": found, "held": held });
    Ok(vec![
        promise(
            "at most one request per intent",
            format!("{requests} requests for {intents} intents, at most {most} for one of them"),
            most <= 1 && requests > 0,
        ),
        promise(
            "the venue has the trades of the journal and no others",
            format!("{theirs} trades there, {ours} here, {differing} that differ"),
            differing == 0 && listing.is_complete && theirs > 0,
        ),
        promise(
            "the ledger agrees with the venue's wallet",
            format!("{free:.2} here, {balance:.2} there"),
            (free - balance).round_dp(2).is_zero(),
        ),
        promise("no order is left unresolved", format!("{unfinished} without an end"), unfinished == 0),
        promise(
            "the journal is intact",
            match &verified {
                Ok(verified) => format!("{} entries, each chained to the previous one", verified.entries),
                Err(error) => error.to_string(),
            },
            verified.is_ok(),
        ),
    ])
}

struct Drill<'a> {
    running: &'a RunningSandbox,
    journal: &'a str,
    socket: PathBuf,
    metrics: SocketAddr,
    clock: LeapingClock,
    follower: Follower,
    /// Number of events of the current scene, by name.
    counts: BTreeMap<String, u64>,
}

impl Drill<'_> {
    async fn play(&mut self) -> anyhow::Result<Vec<Value>> {
        eprintln!("metrics at http://{}/metrics", self.metrics);
        let is_calm = self.wait_for("settled").await;
        ensure!(is_calm, "no trade settled before the first failure: the machine is too busy for a drill");
        let plans: Vec<Scene> = serde_json::from_str(include_str!("scenes.json"))?;
        let mut scenes = Vec::with_capacity(plans.len());
        for plan in &plans {
            eprintln!("  {}", plan.happened);
            scenes.push(Box::pin(self.play_scene(plan)).await?);
        }
        self.order(&ControlOrder::Halt { reason: "the drill ends".to_owned() }).await?;
        let idle = async {
            while !self.is_idle().await {
                sleep(POLL_INTERVAL).await;
            }
        };
        // If a trade is still open after the timeout, the final checks report it.
        let _ = timeout(EVENT_TIMEOUT, idle).await;
        Ok(scenes)
    }

    async fn play_scene(&mut self, scene: &Scene) -> anyhow::Result<Value> {
        self.drain_events().await;
        self.counts.clear();
        let journal_lock = self.inject(&scene.failure).await?;
        let is_noticed = self.wait_for(&scene.noticed).await;
        let seen = self.observe().await;
        self.drain_events().await;
        sleep(FAILURE_DURATION).await;
        self.running.switchboard.set_profile(FaultProfile::none());
        if let Some(journal_lock) = journal_lock {
            journal_lock.close().await?;
        }
        if scene.over == RESUMED {
            // A request that is still in flight would suspend opens again.
            sleep(SETTLING_TIME).await;
            self.order(&ControlOrder::Resume).await?;
        }
        let is_over = is_noticed && self.wait_for(&scene.over).await;
        let held = is_over && self.wait_for("settled").await;
        let ended = match (is_noticed, is_over, held) {
            (_, _, true) => "recovered: the next trade opened and settled",
            (_, true, false) => "over, but no trade settled afterwards",
            (true, false, _) => "the bot did not report the end",
            (false, ..) => "the bot did not notice",
        };
        self.counts.remove("candle");
        let Scene { happened, injected, did, .. } = scene;
        Ok(json!({
            "happened": happened, "injected": injected, "did": did, "events": self.counts, "seen": seen,
            "ended": ended, "held": held,
        }))
    }

    /// Injects a failure. Returns the connection that locks the journal, if the failure needs one.
    async fn inject(&self, failure: &Failure) -> anyhow::Result<Option<AnyConnection>> {
        match failure {
            Failure::Faults(faults) => self.running.switchboard.set_profile(faults.clone()),
            Failure::SleepMs(span) => self.clock.leap(*span),
            Failure::JournalLocked => {
                let mut connection = AnyConnection::connect(self.journal).await?;
                sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await?;
                return Ok(Some(connection));
            }
        }
        Ok(None)
    }

    async fn observe(&self) -> Value {
        let status = self.order(&ControlOrder::Status).await.map_or_else(
            |_| "no answer".to_owned(),
            |state| {
                let troubles = state.troubles.iter().map(|trouble| format!(" Trouble: {trouble}."));
                describe(&state) + &troubles.collect::<String>()
            },
        );
        let text = self.scrape().await.unwrap_or_default();
        let values = text.lines().filter_map(|line| line.rsplit_once(' '));
        let values = values.filter_map(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
        let is_unusual = |(name, value): &(&str, f64)| {
            METRICS.iter().any(|(known, usual)| name == known && value != usual)
        };
        json!({ "status": status, "metrics": values.filter(is_unusual).collect::<BTreeMap<_, _>>() })
    }

    async fn scrape(&self) -> reqwest::Result<String> {
        let url = format!("http://{}/metrics", self.metrics);
        reqwest::Client::new().get(url).timeout(HTTP_TIMEOUT).send().await?.error_for_status()?.text().await
    }

    async fn order(&self, order: &ControlOrder) -> anyhow::Result<RunState> {
        match send_order(&self.socket, order, None).await? {
            ControlAnswer::Done { state } => Ok(*state),
            answer => bail!("{order:?}: {answer:?}"),
        }
    }

    async fn is_idle(&self) -> bool {
        let state = self.order(&ControlOrder::Status).await;
        state.is_ok_and(|state| state.open + state.in_flight + state.in_doubt.len() == 0)
    }

    async fn wait_for(&mut self, name: &str) -> bool {
        let wait = async {
            while let Some(event) = self.next_event().await {
                if event == name {
                    return true;
                }
            }
            false
        };
        timeout(EVENT_TIMEOUT, wait).await.unwrap_or(false)
    }

    /// Counts the events that have already arrived, so that later waits ignore them.
    async fn drain_events(&mut self) {
        while let Ok(Some(_)) = timeout(DRAIN_TIMEOUT, self.next_event()).await {}
    }

    async fn next_event(&mut self) -> Option<String> {
        let (FollowedEvent::Line(text) | FollowedEvent::End(text)) = self.follower.next().await? else {
            return None;
        };
        let event: Value = serde_json::from_str(&text).unwrap_or_default();
        let name = event["event"].as_str()?.to_owned();
        *self.counts.entry(name.clone()).or_default() += 1;
        Some(name)
    }
}

//! The failures: each is injected, noticed by the bot, removed and recovered from.

use super::clock::LeapingClock;
use anyhow::{Context, bail, ensure};
use candlewick_app::control::describe;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, send_order};
use candlewick_runtime::events::{EventFeed, Followed};
use candlewick_sandbox::{FaultProfile, RunningSandbox};
use candlewick_sdk::Millis;
use serde::Serialize;
use serde_json::Value;
use sqlx::{AnyConnection, Connection as _};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const POLL_INTERVAL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_mins(1);
/// Time for which a noticed failure lasts, so that scrapers see it too.
const LASTS: Duration = Duration::from_secs(3);
/// Time after which no request of the failure is in flight.
const SETTLES: Duration = Duration::from_secs(1);
const HTTP_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy)]
enum Failure {
    /// Faults of the venue.
    Venue(&'static str),
    /// Faults of the venue after which the bot must be resumed.
    UntilResumed(&'static str),
    /// Another process holds the write lock of the journal.
    JournalLocked,
    /// The machine sleeps.
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
        failure: Failure::UntilResumed("expired-token:1"),
        injected: "fault expired-token:1 of the sandbox",
        did: "suspended its opens until the order to resume",
        noticed: "suspended",
        over: "resumed",
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

/// Reaction of the bot to a failure.
#[derive(Serialize)]
pub(super) struct Scene {
    pub(super) happened: &'static str,
    injected: &'static str,
    did: &'static str,
    events: BTreeMap<String, u64>,
    seen: Seen,
    ended: &'static str,
    pub(super) held: bool,
}

/// Status and unusual metrics during a failure.
#[derive(Serialize)]
struct Seen {
    status: String,
    metrics: BTreeMap<String, f64>,
}

/// Trades and balance as the venue reports them.
pub(super) struct VenueRecords {
    pub(super) trades: Vec<String>,
    pub(super) balance: f64,
}

pub(super) struct Night<'a> {
    pub(super) running: &'a RunningSandbox,
    pub(super) journal: &'a str,
    pub(super) socket: PathBuf,
    pub(super) metrics: SocketAddr,
    pub(super) clock: LeapingClock,
    pub(super) events: Events,
}

/// Names of the run's events.
#[derive(Clone, Default)]
pub(super) struct Events(Arc<Mutex<Vec<String>>>);

impl Night<'_> {
    pub(super) async fn play(&self) -> anyhow::Result<(Vec<Scene>, VenueRecords)> {
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
        // A trade that is still open breaks a promise.
        wait_until(is_idle).await;
        Ok((scenes, self.venue_records().await?))
    }

    async fn play_scene(&self, plan: &Plan) -> anyhow::Result<Scene> {
        let before = self.events.count();
        let lock = self.inject(plan.failure).await?;
        let is_noticed = self.wait_for(plan.noticed, before).await;
        let seen = self.look().await;
        let begun = self.events.count();
        sleep(LASTS).await;
        self.remove(plan.failure, lock).await?;
        let is_over = is_noticed && self.wait_for(plan.over, begun).await;
        let held = is_over && self.wait_for("settled", self.events.count()).await;
        let ended = match (is_noticed, is_over, held) {
            (_, _, true) => "it goes on by itself: the next trade opened and settled",
            (_, true, false) => "over, but no trade settled afterwards",
            (true, false, _) => "the bot did not report the end",
            (false, ..) => "the bot did not notice",
        };
        let Plan { happened, injected, did, .. } = *plan;
        Ok(Scene { happened, injected, did, events: self.events.since(before), seen, ended, held })
    }

    async fn inject(&self, failure: Failure) -> anyhow::Result<Option<AnyConnection>> {
        match failure {
            Failure::Venue(faults) | Failure::UntilResumed(faults) => {
                self.running.switchboard.set(faults.parse()?);
            }
            Failure::JournalLocked => {
                let mut connection = AnyConnection::connect(self.journal).await?;
                sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await?;
                return Ok(Some(connection));
            }
            Failure::Sleep(span) => self.clock.leap(span),
        }
        Ok(None)
    }

    async fn remove(&self, failure: Failure, lock: Option<AnyConnection>) -> anyhow::Result<()> {
        self.running.switchboard.set(FaultProfile::none());
        if let Some(lock) = lock {
            lock.close().await?;
        }
        if let Failure::UntilResumed(_) = failure {
            // A request that is still in flight would suspend the opens again.
            sleep(SETTLES).await;
            self.order(&ControlOrder::Resume).await?;
        }
        Ok(())
    }

    async fn look(&self) -> Seen {
        let status = self.order(&ControlOrder::Status).await.map_or_else(
            |_| "no answer".to_owned(),
            |state| {
                let troubles = state.troubles.iter().map(|trouble| format!(" Trouble: {trouble}."));
                std::iter::once(describe(&state)).chain(troubles).collect()
            },
        );
        let text = self.get(&format!("http://{}/metrics", self.metrics)).await.unwrap_or_default();
        let samples = text.lines().filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse::<f64>().ok()?))
        });
        let is_unusual = |(name, value): &(String, f64)| {
            METRICS.iter().any(|(known, usual)| name == known && value != usual)
        };
        Seen { status, metrics: samples.filter(is_unusual).collect() }
    }

    async fn wait_for(&self, event: &str, since: usize) -> bool {
        wait_until(async || self.events.contains(event, since)).await
    }

    async fn order(&self, order: &ControlOrder) -> anyhow::Result<RunState> {
        match send_order(&self.socket, order, None).await? {
            ControlAnswer::Done { state } => Ok(*state),
            answer => bail!("{order:?}: {answer:?}"),
        }
    }

    async fn venue_records(&self) -> anyhow::Result<VenueRecords> {
        let get = async |path: String| -> anyhow::Result<Value> {
            Ok(serde_json::from_str(&self.get(&format!("{}{path}", self.running.base_url)).await?)?)
        };
        let mut trades = Vec::new();
        let mut page = Some(1);
        while let Some(number) = page {
            let answer = get(format!("/token/trades?page={number}&pageSize=1000")).await?;
            let rows = answer["data"].as_array().into_iter().flatten();
            trades.extend(rows.filter_map(|row| row["id"].as_str().map(str::to_owned)));
            page = answer["nextPage"].as_u64();
        }
        let wallets = get("/token/wallets".to_owned()).await?;
        let demo = wallets.as_array().into_iter().flatten().find(|wallet| wallet["type"] == "DEMO");
        let balance = demo.and_then(|wallet| wallet["balance"].as_f64());
        Ok(VenueRecords { trades, balance: balance.context("the venue has no demo wallet")? })
    }

    async fn get(&self, url: &str) -> anyhow::Result<String> {
        let request = reqwest::Client::new().get(url).timeout(HTTP_TIMEOUT);
        let request = request.header("api-token", &self.running.token).header("x-timestamp", "1");
        Ok(request.send().await?.error_for_status()?.text().await?)
    }
}

impl Events {
    pub(super) fn follow(feed: &EventFeed) -> Self {
        let (events, mut follower) = (Self::default(), feed.follow());
        let all = events.clone();
        tokio::spawn(async move {
            while let Some(Followed::Line(text) | Followed::End(text)) = follower.next().await {
                let event: Value = serde_json::from_str(&text).unwrap_or_default();
                all.names().extend(event["event"].as_str().map(str::to_owned));
            }
        });
        events
    }

    fn count(&self) -> usize {
        self.names().len()
    }

    fn since(&self, count: usize) -> BTreeMap<String, u64> {
        let mut events = BTreeMap::new();
        for name in self.names().iter().skip(count).filter(|name| *name != "candle") {
            *events.entry(name.clone()).or_default() += 1;
        }
        events
    }

    fn contains(&self, event: &str, since: usize) -> bool {
        self.names().iter().skip(since).any(|name| name == event)
    }

    fn names(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a condition, and returns whether it came true in time.
async fn wait_until(is_met: impl AsyncFn() -> bool) -> bool {
    let wait = async {
        while !is_met().await {
            sleep(POLL_INTERVAL).await;
        }
    };
    timeout(PATIENCE, wait).await.is_ok()
}

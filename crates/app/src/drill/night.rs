//! Execution of the drill: each fault is injected, detected, removed and recovered from.

use super::leaping_clock::LeapingClock;
use super::looking::{Told, look, state_of};
use super::scene::{NIGHT, Plan, Scene, Trouble};
use super::{LASTS, LOOK_EVERY, PATIENCE, SETTLES};
use crate::configuration::{Loaded, Problems, control_paths, journal_url};
use crate::control::{halt, resume};
use crate::error::AppError;
use candlewick_journal::{HeldWrites, hold_writes};
use candlewick_runtime::events::EventFeed;
use candlewick_sandbox::{FaultProfile, RunningSandbox, Switchboard};
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

pub(super) struct Night<'a> {
    loaded: &'a Loaded,
    venue: VenueAddress,
    switchboard: Arc<Switchboard>,
    clock: LeapingClock,
    told: Told,
}

struct VenueAddress {
    url: String,
    token: String,
}

pub(super) struct AtVenue {
    pub(super) trades: Vec<String>,
    pub(super) balance: f64,
}

impl<'a> Night<'a> {
    pub(super) fn begin(
        loaded: &'a Loaded,
        (running, clock): (&RunningSandbox, LeapingClock),
        feed: &EventFeed,
    ) -> Self {
        let venue = VenueAddress { url: running.base_url.clone(), token: running.token.clone() };
        let switchboard = Arc::clone(&running.switchboard);
        Self { loaded, venue, switchboard, clock, told: Told::follow(feed) }
    }

    pub(super) async fn play(
        self,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(Vec<Scene>, AtVenue), AppError> {
        progress("a calm hour");
        if !self.wait_for(&["settled"], 0).await {
            return Err(AppError::invalid(
                "no trade settled on a calm night: the machine is too busy for a drill",
            ));
        }
        let mut scenes = Vec::with_capacity(NIGHT.len());
        for plan in &NIGHT {
            progress(plan.happened);
            scenes.push(self.play_scene(plan).await?);
        }
        progress("the night ends");
        let url = journal_url(self.loaded).map_err(Problems::from)?;
        halt(&control_paths(self.loaded)?, &url, "the drill ends").await?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let state = state_of(self.loaded).await?;
            if state.is_some_and(|state| state.open + state.in_flight + state.in_doubt.len() == 0) {
                break;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok((scenes, self.venue.ask().await?))
    }

    async fn play_scene(&self, plan: &Plan) -> Result<Scene, AppError> {
        let before = self.told.count();
        let held = self.begin_trouble(plan.trouble).await?;
        let is_noticed = self.wait_for(plan.noticed, before).await;
        let seen = look(self.loaded).await?;
        let begun = self.told.count();
        // Whoever watches the page or scrapes figures sees it as well.
        tokio::time::sleep(LASTS).await;
        self.end_trouble(plan.trouble, held).await?;
        let is_over = is_noticed && self.wait_for(plan.over, begun).await;
        // It trades on: the next trade settles.
        let goes_on = is_over && self.wait_for(&["settled"], self.told.count()).await;
        let ended = match (is_noticed, is_over, goes_on) {
            (_, _, true) => "it goes on by itself: the next trade opened and settled",
            (_, true, false) => "over, but no trade settled afterwards",
            (true, false, _) => "the bot did not say that it is over",
            (false, ..) => "the bot did not notice",
        };
        Ok(Scene {
            happened: plan.happened,
            injected: plan.trouble.words(),
            did: plan.did,
            events: self.told.since(before),
            seen,
            ended: ended.to_owned(),
            held: goes_on,
        })
    }

    async fn begin_trouble(&self, trouble: Trouble) -> Result<Option<HeldWrites>, AppError> {
        match trouble {
            Trouble::Venue(faults) | Trouble::UntilResumed(faults) => {
                let profile = faults.parse().map_err(|error| AppError::system("no such fault", error))?;
                self.switchboard.set(profile);
            }
            Trouble::Journal => {
                let url = journal_url(self.loaded).map_err(Problems::from)?;
                return Ok(Some(hold_writes(&url).await?));
            }
            Trouble::Sleep(span) => self.clock.leap(span),
        }
        Ok(None)
    }

    async fn end_trouble(&self, trouble: Trouble, held: Option<HeldWrites>) -> Result<(), AppError> {
        self.switchboard.set(FaultProfile::none());
        if let Some(held) = held {
            held.let_go().await;
        }
        if let Trouble::UntilResumed(_) = trouble {
            // What was asked before it ended is answered first: it would suspend the opens once more.
            tokio::time::sleep(SETTLES).await;
            let url = journal_url(self.loaded).map_err(Problems::from)?;
            resume(&control_paths(self.loaded)?, &url).await?;
        }
        Ok(())
    }

    async fn wait_for(&self, names: &[&str], since: usize) -> bool {
        let end = Instant::now() + PATIENCE;
        while !self.told.has(names, since) {
            if Instant::now() >= end {
                return false;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        true
    }
}

impl VenueAddress {
    async fn ask(&self) -> Result<AtVenue, AppError> {
        let mut trades = Vec::new();
        let mut page = Some(1);
        while let Some(number) = page {
            let told = self.get(&format!("/token/trades?page={number}&pageSize=1000")).await?;
            let rows = told["data"].as_array().into_iter().flatten();
            trades.extend(rows.filter_map(|row| row["id"].as_str().map(str::to_owned)));
            page = told["nextPage"].as_u64();
        }
        let wallets = self.get("/token/wallets").await?;
        let wallet = wallets.as_array().into_iter().flatten().find(|wallet| wallet["type"] == "DEMO");
        let balance = wallet.and_then(|wallet| wallet["balance"].as_f64());
        let balance =
            balance.ok_or_else(|| AppError::invalid("the venue of the drill names no demo wallet"))?;
        Ok(AtVenue { trades, balance })
    }

    async fn get(&self, path: &str) -> Result<Value, AppError> {
        let asked = reqwest::Client::new().get(format!("{}{path}", self.url));
        let asked = asked.header("api-token", &self.token).header("x-timestamp", "1");
        let text = async { asked.send().await?.error_for_status()?.text().await };
        let text =
            text.await.map_err(|error| AppError::system("the venue of the drill does not answer", error))?;
        serde_json::from_str(&text)
            .map_err(|error| AppError::system("the venue of the drill answers no JSON", error))
    }
}

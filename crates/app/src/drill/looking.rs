//! Outside view of a bot: its events, its status and its metrics.

use super::scene::Shown;
use crate::configuration::{Loaded, control_paths};
use crate::control::describe;
use crate::error::AppError;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, RunState, send_order};
use candlewick_runtime::events::{EventFeed, Followed};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

const TELLING: [(&str, f64); 8] = [
    ("candlewick_journal_writable", 1.0),
    ("candlewick_venue_heard", 1.0),
    ("candlewick_doubts_open", 0.0),
    ("candlewick_phase{phase=\"suspended\"}", 0.0),
    ("candlewick_phase{phase=\"halted\"}", 0.0),
    ("candlewick_journal_write_failures_total", 0.0),
    ("candlewick_alarms_total", 0.0),
    ("candlewick_warnings_total", 0.0),
];

#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<Vec<Value>>>);

impl Told {
    pub(super) fn follow(feed: &EventFeed) -> Self {
        let (told, mut follower) = (Self::default(), feed.follow());
        let all = told.clone();
        tokio::spawn(async move {
            while let Some(Followed::Line(text) | Followed::End(text)) = follower.next().await {
                if let Ok(event) = serde_json::from_str(&text) {
                    all.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
                }
            }
        });
        told
    }

    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(super) fn since(&self, count: usize) -> BTreeMap<String, u64> {
        let mut events = BTreeMap::new();
        for event in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().skip(count) {
            if let Some(name) = event["event"].as_str().filter(|name| *name != "candle") {
                *events.entry(name.to_owned()).or_default() += 1;
            }
        }
        events
    }

    pub(super) fn has(&self, names: &[&str], count: usize) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().skip(count).any(|event| event["event"].as_str().is_some_and(|name| names.contains(&name)))
    }
}

pub(super) async fn state_of(loaded: &Loaded) -> Result<Option<RunState>, AppError> {
    let answer = send_order(&control_paths(loaded)?.socket, &ControlOrder::Status, None).await;
    Ok(match answer {
        Ok(ControlAnswer::Done { state }) => Some(*state),
        _ => None,
    })
}

pub(super) async fn look(loaded: &Loaded) -> Result<Shown, AppError> {
    let status = state_of(loaded).await?.map_or_else(|| "no answer".to_owned(), |state| words(&state));
    Ok(Shown { status, metrics: scrape(loaded).await })
}

fn words(state: &RunState) -> String {
    let troubles = state.troubles.iter().map(|trouble| format!(" Trouble: {trouble}."));
    std::iter::once(describe(state)).chain(troubles).collect()
}

async fn scrape(loaded: &Loaded) -> BTreeMap<String, f64> {
    let Some(address) = loaded.config.metrics.listen else { return BTreeMap::new() };
    let text = async { reqwest::get(format!("http://{address}/metrics")).await?.text().await };
    let text = text.await.unwrap_or_default();
    let samples = text.lines().filter_map(|line| {
        let (name, value) = line.rsplit_once(' ')?;
        Some((name.to_owned(), value.parse::<f64>().ok()?))
    });
    let is_telling = |(name, value): &(String, f64)| {
        TELLING.iter().any(|(known, calm)| name == known && (value - calm).abs() > f64::EPSILON)
    };
    samples.filter(is_telling).collect()
}

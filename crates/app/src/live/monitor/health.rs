//! Liveness, readiness and heartbeat of a run, and notifications to systemd.

use crate::configuration::HeartbeatSettings;
use crate::error::{AppError, Result};
use candlewick_broker::clock::Stopwatch;
use candlewick_engine::EventKind;
use candlewick_runtime::control::{Phase, VenueApi};
use candlewick_runtime::{Notice, Observer, RequestKind};
use reqwest::redirect::Policy;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Age of the last run loop iteration that counts as a stall. The loop runs every 5 s; a journal write may add 10 s.
const LOOP_STALL_AGE: Duration = Duration::from_secs(30);

pub(crate) struct Health {
    since: Stopwatch,
    /// Time of the last iteration of the run loop, in milliseconds after `since`.
    last_turn_ms: AtomicU64,
    is_journal_writable: AtomicBool,
    /// Whether each venue API answers, in the order of [`VenueApi::ALL`].
    is_reachable: [AtomicBool; VenueApi::ALL.len()],
    late_series: AtomicU64,
    has_candles: AtomicBool,
    phase: AtomicU8,
}

const NOT_STARTED: u64 = u64::MAX;

impl Default for Health {
    fn default() -> Self {
        Self {
            since: Stopwatch::start(),
            last_turn_ms: AtomicU64::new(NOT_STARTED),
            is_journal_writable: AtomicBool::new(true),
            is_reachable: VenueApi::ALL.map(|_| AtomicBool::new(true)),
            late_series: AtomicU64::new(0),
            has_candles: AtomicBool::new(false),
            phase: AtomicU8::new(Phase::Trading as u8),
        }
    }
}

impl Health {
    pub(crate) fn loop_age(&self) -> Duration {
        match self.last_turn_ms.load(Ordering::Relaxed) {
            // A run may take arbitrarily long to read a journal when it starts.
            NOT_STARTED => Duration::ZERO,
            last_turn_ms => self.since.elapsed().saturating_sub(Duration::from_millis(last_turn_ms)),
        }
    }

    #[cfg(any(test, all(feature = "systemd", target_os = "linux")))]
    pub(crate) fn has_begun(&self) -> bool {
        self.last_turn_ms.load(Ordering::Relaxed) != NOT_STARTED
    }

    pub(crate) fn is_journal_writable(&self) -> bool {
        self.is_journal_writable.load(Ordering::Relaxed)
    }

    #[cfg(any(test, feature = "metrics", all(feature = "systemd", target_os = "linux")))]
    pub(crate) fn is_reachable(&self, api: VenueApi) -> bool {
        self.is_reachable[api as usize].load(Ordering::Relaxed)
    }

    #[cfg(any(test, feature = "metrics", all(feature = "systemd", target_os = "linux")))]
    pub(crate) fn late_series_count(&self) -> u64 {
        self.late_series.load(Ordering::Relaxed)
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        self.problems_at_loop_age(self.loop_age())
    }

    fn problems_at_loop_age(&self, age: Duration) -> Vec<String> {
        let still = (age > LOOP_STALL_AGE).then(|| format!("the run has stalled for {} s", age.as_secs()));
        let journal = (!self.is_journal_writable()).then(|| "the journal cannot be written".to_owned());
        still.into_iter().chain(journal).collect()
    }

    #[cfg(any(test, feature = "metrics", all(feature = "systemd", target_os = "linux")))]
    pub(crate) fn readiness_problems(&self) -> Vec<String> {
        let mut obstacles = self.problems();
        let phases =
            [(Phase::Halted, "halted"), (Phase::Suspended, "suspended"), (Phase::Stopping, "stopping")];
        let now = self.phase.load(Ordering::Relaxed);
        let phases = phases.iter().filter(|(phase, _)| now == *phase as u8);
        obstacles.extend(phases.map(|(_, words)| format!("the run is {words}")));
        if !self.has_candles.load(Ordering::Relaxed) {
            obstacles.push("no candle has arrived yet".to_owned());
        }
        let silent = VenueApi::ALL.into_iter().filter(|api| !self.is_reachable(*api));
        obstacles.extend(silent.map(|api| format!("{} does not answer", api.label())));
        match self.late_series_count() {
            0 => {}
            late => obstacles.push(format!("candles of {late} series are late")),
        }
        obstacles
    }
}

impl Observer for Health {
    fn on_loop_turn(&self) {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_turn_ms.store(now, Ordering::Relaxed);
    }

    fn on_notice(&self, notice: &Notice) {
        match notice {
            Notice::Phase { phase, .. } => self.phase.store(*phase as u8, Ordering::Relaxed),
            Notice::Venue { api, is_silent, .. } => {
                self.is_reachable[*api as usize].store(!is_silent, Ordering::Relaxed);
            }
            Notice::Candles { is_late: true, .. } => _ = self.late_series.fetch_add(1, Ordering::Relaxed),
            Notice::Candles { .. } => _ = self.late_series.fetch_sub(1, Ordering::Relaxed),
            Notice::Handled { event, .. } if matches!(event.kind, EventKind::Candle { .. }) => {
                self.has_candles.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn on_answer(&self, _question: RequestKind, _took: Duration) {}

    fn on_journal_write(&self, _took: Duration, is_durable: bool) {
        self.is_journal_writable.store(is_durable, Ordering::Relaxed);
    }
}

const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends heartbeats while the run is healthy, and logs failures without the secret URL.
pub(super) fn send_heartbeats(
    settings: &HeartbeatSettings,
    health: Arc<Health>,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>> {
    let Some(url) = settings.url.clone() else { return Ok(None) };
    let every = Duration::from_secs(u64::from(settings.every_s.max(1)));
    candlewick_api::install_tls_provider();
    let client =
        reqwest::Client::builder().timeout(HEARTBEAT_TIMEOUT.min(every)).redirect(Policy::none()).build();
    let client = client.map_err(|error| AppError::system("cannot create the heartbeat client", error))?;
    Ok(Some(async move {
        let mut pace = tokio::time::interval(every);
        pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut failures = 0_u64;
        loop {
            pace.tick().await;
            if !health.problems().is_empty() {
                continue;
            }
            let problem = match client.get(&url).send().await {
                Ok(answer) if answer.status().is_success() => None,
                Ok(answer) => Some(format!("the server answered {}", answer.status())),
                Err(error) => Some(error.without_url().to_string()),
            };
            failures = if problem.is_some() { failures + 1 } else { 0 };
            if let Some(problem) = problem {
                tracing::warn!(failures, %problem, "the heartbeat failed");
            }
        }
    }))
}

#[cfg(all(feature = "systemd", target_os = "linux"))]
const MAX_NOTIFY_INTERVAL: Duration = Duration::from_secs(10);

/// Notifies systemd (`Type=notify`, `WatchdogSec=`). A stalled run sends no notifications, so systemd restarts it.
#[cfg(all(feature = "systemd", target_os = "linux"))]
pub(super) async fn notify_systemd(health: Arc<Health>) {
    let pace =
        sd_notify::watchdog_enabled().map_or(MAX_NOTIFY_INTERVAL, |span| (span / 2).min(MAX_NOTIFY_INTERVAL));
    let mut pace = tokio::time::interval(pace.max(Duration::from_millis(100)));
    let mut is_ready = false;
    loop {
        pace.tick().await;
        let (troubles, obstacles) = (health.problems(), health.readiness_problems());
        let status = if obstacles.is_empty() { "trading".to_owned() } else { obstacles.join("; ") };
        let mut states = vec![sd_notify::NotifyState::Status(&status)];
        let becomes_ready = !is_ready && health.has_begun();
        if becomes_ready {
            states.push(sd_notify::NotifyState::Ready);
        }
        if troubles.is_empty() {
            states.push(sd_notify::NotifyState::Watchdog);
        }
        match sd_notify::notify(&states) {
            Ok(()) => is_ready |= becomes_ready,
            Err(error) => tracing::debug!(%error, "systemd was not notified"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_runtime::control::LateSeries;
    use candlewick_sdk::Millis;

    #[test]
    fn stalled_loop_and_failing_journal_are_unhealthy() {
        let health = Health::default();
        health.on_loop_turn();
        assert_eq!(health.problems(), [""; 0]);
        assert_eq!(health.problems_at_loop_age(LOOP_STALL_AGE), [""; 0]);
        assert_eq!(health.problems_at_loop_age(LOOP_STALL_AGE * 2), ["the run has stalled for 60 s"]);
        health.on_journal_write(Duration::ZERO, false);
        assert_eq!(health.problems(), ["the journal cannot be written"]);
        health.on_journal_write(Duration::ZERO, true);
        assert_eq!(health.problems(), [""; 0]);
    }

    #[test]
    fn slow_start_is_healthy() {
        let health = Health::default();
        assert_eq!((health.has_begun(), health.loop_age()), (false, Duration::ZERO));
        health.on_loop_turn();
        assert!(health.has_begun());
    }

    #[test]
    fn halted_run_or_silent_venue_is_healthy_but_not_ready() {
        const TRADING: &str = "the trading API does not answer";
        const PRICES: &str = "the price API does not answer";
        let health = Health::default();
        health.has_candles.store(true, Ordering::Relaxed);
        let phase = |phase| Notice::Phase { phase, reason: None };
        let venue = |api, is_silent| Notice::Venue { api, is_silent, heard: None };
        let candles = |is_late| {
            let (symbol, interval) = ("EURUSD".parse().unwrap(), "1m".parse().unwrap());
            let series = LateSeries { symbol, interval, since: Millis::ZERO, is_unanswered: true };
            Notice::Candles { series, is_late }
        };
        for (notice, expected) in [
            (phase(Phase::Halted), vec!["the run is halted"]),
            (phase(Phase::Suspended), vec!["the run is suspended"]),
            (phase(Phase::Trading), vec![]),
            (venue(VenueApi::Prices, true), vec![PRICES]),
            (venue(VenueApi::Trading, true), vec![TRADING, PRICES]),
            (venue(VenueApi::Prices, false), vec![TRADING]),
            (venue(VenueApi::Trading, false), vec![]),
            (candles(true), vec!["candles of 1 series are late"]),
            (candles(false), vec![]),
        ] {
            health.on_notice(&notice);
            assert_eq!(health.readiness_problems(), expected);
            assert_eq!(health.problems(), [""; 0]);
        }
    }
}

//! Metrics that are sampled at each scrape.

use super::Sources;
use super::figures::{Described, Labelled, Level};
use super::health::Health;
use candlewick_runtime::control::{RunState, VenueApi};
use prometheus_client::metrics::gauge::Gauge;

pub(super) struct Scraped {
    open: Gauge,
    in_flight: Gauge,
    in_doubt: Gauge,
    skew: [Level; 2],
    heard_at: Level,
    loop_age: Level,
    is_written: Gauge,
    is_heard: Gauge,
    is_api_heard: [Gauge; VenueApi::ALL.len()],
    late_series: Gauge,
    followers: Gauge,
    missed: Gauge,
    waiting: Labelled<Gauge>,
    slowest: Level,
    streams: [Gauge; 2],
}

impl Scraped {
    pub(super) fn new(described: &mut Described, requests_per_second: f64) -> Self {
        let help = "How far the venue's clock is ahead of ours: at least and at most";
        let skew = described.family("clock_ahead_seconds", help);
        let help = "Requests a second that the venue is asked at most; 0: no limit";
        let budget: Level = described.add("requests_per_second_limit", help);
        budget.set(requests_per_second);
        let help = "Symbols whose prices stream, and those whose prices should and are asked for";
        let streams = described.family("price_streams", help);
        let of_api = described.family("venue_api_heard", "0 while this API of the venue is silent");
        let of_api = VenueApi::ALL.map(|api| {
            let name = match api {
                VenueApi::Trading => "trading",
                VenueApi::Prices => "prices",
            };
            of_api.with(&[("api", name)])
        });
        Self {
            open: described.add("open_trades", "Trades that have not settled"),
            in_flight: described.add("opens_in_flight", "Opens whose answers are awaited"),
            in_doubt: described.add("doubts_open", "Intents that may or may not be trades"),
            skew: ["low", "high"].map(|bound| skew.with(&[("bound", bound)])),
            heard_at: described
                .add("venue_heard_timestamp_seconds", "When the venue last answered, in venue time"),
            loop_age: described.add("loop_age_seconds", "Real time since the run's loop last went round"),
            is_written: described.add("journal_writable", "Whether the journal could be written the last time"),
            is_heard: described.add("venue_heard", "0 while an API of the venue is silent"),
            is_api_heard: of_api,
            late_series: described
                .add("series_late", "Series whose candles are late by more than two intervals"),
            followers: described.add("followers", "Who follows the run's events"),
            missed: described
                .add("events_missed", "Events that were left out, because they were not taken in time"),
            waiting: described
                .family("requests_waiting", "Requests that wait for their turn, by what they are worth"),
            slowest: described.add(
                "slowest_candle_delay_seconds",
                "How late the candle is that comes the latest after its close, or is waited for the longest, in venue time",
            ),
            streams: ["streaming", "missed"].map(|state| streams.with(&[("state", state)])),
        }
    }

    pub(super) fn take(&self, health: &Health, sources: &Sources, state: Option<&RunState>) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(state) = state {
            self.open.set(count(state.open));
            self.in_flight.set(count(state.in_flight));
            self.in_doubt.set(count(state.in_doubt.len()));
            if let Some(clock) = &state.clock {
                self.skew[0].set(clock.low.get() as f64 / 1_000.0);
                self.skew[1].set(clock.high.unwrap_or(clock.low).get() as f64 / 1_000.0);
            }
            let market = state.market.as_deref();
            if let Some(slowest) = market.and_then(|market| market.slowest_candle) {
                self.slowest.set(slowest.delay_ms.get() as f64 / 1_000.0);
            }
            if let Some(stream) = market.and_then(|market| market.stream) {
                self.streams[0].set(count(stream.streaming));
                self.streams[1].set(count(stream.wanted.saturating_sub(stream.streaming)));
            }
            if let Some(heard) = state.heard {
                self.heard_at.set(heard.get() as f64 / 1_000.0);
            }
        }
        self.loop_age.set(health.age().as_secs_f64());
        self.is_written.set(i64::from(health.is_written()));
        let is_heard = VenueApi::ALL.map(|api| health.is_heard(api));
        self.is_heard.set(i64::from(is_heard.iter().all(|is_heard| *is_heard)));
        for (gauge, is_heard) in self.is_api_heard.iter().zip(is_heard) {
            gauge.set(i64::from(is_heard));
        }
        self.late_series.set(i64::try_from(health.late_series()).unwrap_or(i64::MAX));
        self.followers.set(count(sources.feed.followers()));
        self.missed.set(i64::try_from(sources.feed.missed()).unwrap_or(i64::MAX));
        for (priority, waiting) in (sources.waiting)() {
            self.waiting.with(&[("priority", priority)]).set(count(waiting));
        }
    }
}

//! Metrics that are sampled at each scrape.

use super::figures::{Described, Labels, Level, label};
use candlewick_runtime::control::{RunState, VenueApi};
use candlewick_sdk::Millis;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use std::time::Duration;

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
    waiting: Family<Labels, Gauge>,
    slowest: Level,
    streams: [Gauge; 2],
}

pub(crate) struct Moment<'a> {
    pub(crate) now: Millis,
    pub(crate) state: Option<&'a RunState>,
    pub(crate) loop_age: Duration,
    pub(crate) is_written: bool,
    pub(crate) is_heard: [bool; VenueApi::ALL.len()],
    pub(crate) late_series: u64,
    pub(crate) followers: usize,
    pub(crate) missed: u64,
    pub(crate) waiting: Vec<(&'static str, usize)>,
}

impl Scraped {
    pub(super) fn new(described: &mut Described, requests_per_second: f64) -> Self {
        let skew = described.levels(
            "clock_ahead_seconds",
            "How far the venue's clock is ahead of ours: at least and at most",
        );
        let skew = ["low", "high"].map(|bound| skew.get_or_create(&vec![label("bound", bound)]).clone());
        let budget = described.level(
            "requests_per_second_limit",
            "Requests a second that the venue is asked at most; 0: no limit",
        );
        budget.set(requests_per_second);
        let streams = described.gauges(
            "price_streams",
            "Symbols whose prices stream, and those whose prices should and are asked for",
        );
        let streams =
            ["streaming", "missed"].map(|state| streams.get_or_create(&vec![label("state", state)]).clone());
        let of_api = described.gauges("venue_api_heard", "0 while this API of the venue is silent");
        let of_api = VenueApi::ALL.map(|api| {
            let name = match api {
                VenueApi::Trading => "trading",
                VenueApi::Prices => "prices",
            };
            of_api.get_or_create(&vec![label("api", name)]).clone()
        });
        Self {
            open: described.gauge("open_trades", "Trades that have not settled"),
            in_flight: described.gauge("opens_in_flight", "Opens whose answers are awaited"),
            in_doubt: described.gauge("doubts_open", "Intents that may or may not be trades"),
            skew,
            heard_at: described
                .level("venue_heard_timestamp_seconds", "When the venue last answered, in venue time"),
            loop_age: described.level("loop_age_seconds", "Real time since the run's loop last went round"),
            is_written: described
                .gauge("journal_writable", "Whether the journal could be written the last time"),
            is_heard: described.gauge("venue_heard", "0 while an API of the venue is silent"),
            is_api_heard: of_api,
            late_series: described
                .gauge("series_late", "Series whose candles are late by more than two intervals"),
            followers: described.gauge("followers", "Who follows the run's events"),
            missed: described
                .gauge("events_missed", "Events that were left out, because they were not taken in time"),
            waiting: described
                .gauges("requests_waiting", "Requests that wait for their turn, by what they are worth"),
            slowest: described.level(
                "slowest_candle_delay_seconds",
                "How late the candle is that comes the latest after its close, or is waited for the longest, in venue time",
            ),
            streams,
        }
    }

    pub(super) fn take(&self, moment: &Moment<'_>) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(state) = moment.state {
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
        self.loop_age.set(moment.loop_age.as_secs_f64());
        self.is_written.set(i64::from(moment.is_written));
        self.is_heard.set(i64::from(moment.is_heard.iter().all(|is_heard| *is_heard)));
        for (gauge, is_heard) in self.is_api_heard.iter().zip(moment.is_heard) {
            gauge.set(i64::from(is_heard));
        }
        self.late_series.set(i64::try_from(moment.late_series).unwrap_or(i64::MAX));
        self.followers.set(count(moment.followers));
        self.missed.set(i64::try_from(moment.missed).unwrap_or(i64::MAX));
        for (priority, waiting) in &moment.waiting {
            self.waiting.get_or_create(&vec![label("priority", priority)]).set(count(*waiting));
        }
    }
}

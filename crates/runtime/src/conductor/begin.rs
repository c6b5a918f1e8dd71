//! The beginning of a run: its header, what the strategies want to have seen, the first jobs.

use super::Conductor;
use crate::RuntimeError;
use crate::agenda::Job;
use crate::candle_watch::CandleWatch;
use crate::request::{self, Wanted};
use candlewick_api::{ApiError, SEEN_INTERVALS};
use candlewick_engine::{Control, Entry, EventKind, Header, Origin, SeriesId};
use candlewick_sdk::Millis;

/// How often the window of past candles grows before the start makes do with what there is.
const WARMUP_WINDOWS: u32 = 6;

impl Conductor {
    /// Journals the header, warms the strategies, and puts the first jobs on the agenda.
    pub(super) async fn begin(&mut self, header: &Header) -> Result<(), RuntimeError> {
        self.record(Entry::Header(header));
        self.session.begin_run(header);
        let now = self.clock.now();
        let balance = self.session.ledger().free();
        self.tell(now, EventKind::Balance { amount: balance });
        if self.runs_before > 0 {
            // What suspended an earlier run, its own end above all, is over with it.
            self.tell(now, EventKind::Control { control: Control::Continue });
        }
        self.recover(now);
        let mut watches = Vec::new();
        for id in self.session.series_order() {
            let watch = self.warm_up(id, now).await?;
            self.agenda.add(watch.ask_at(), Job::Candles(id));
            watches.push((id, watch));
        }
        watches.sort_by_key(|(id, _)| *id);
        self.candles = watches.into_iter().map(|(_, watch)| watch).collect();
        self.begin_prices(now);
        if self.settings.wallet_every_s > 0 {
            self.agenda.add(now + self.wallet_pace(), Job::Wallets);
        }
        Ok(())
    }

    /// Tells the candles that the series' bots want to have seen; the watch goes on from there.
    async fn warm_up(&mut self, id: SeriesId, now: Millis) -> Result<CandleWatch, RuntimeError> {
        let series = self.session.series()[id.index()];
        let (length, wanted) = (series.interval.length(), self.session.warmup(id));
        let mut bars = i64::try_from(wanted).unwrap_or(i64::MAX / 2).max(1);
        let mut candles = Vec::new();
        for _ in 0..WARMUP_WINDOWS {
            // Gaps (weekends) make a window hold fewer candles than bars: it grows until it holds enough.
            let start = now.floor_to(length) - length * bars;
            let window = Wanted {
                symbol: series.symbol,
                asset_type: self.asset_types[id.index()].clone(),
                interval: series.interval,
                start,
                now,
            };
            let fetched = request::fetch_candles(self.venue.as_ref(), &window).await;
            let reply = fetched.map_err(|source| {
                let is_usual = SEEN_INTERVALS.iter().any(|text| text.parse() == Ok(series.interval));
                if matches!(source, ApiError::Rejected { .. }) && !is_usual {
                    return RuntimeError::ChangeInterval { series, source };
                }
                let question = format!("past candles of {series}");
                RuntimeError::Venue { question, source }
            })?;
            candles = reply.value.candles;
            if candles.len() >= wanted {
                break;
            }
            bars *= 3;
        }
        let known = candles.last().map_or(now.floor_to(length), |last| last.close_time(series.interval));
        for candle in candles.iter().skip(candles.len().saturating_sub(wanted)) {
            let kind = EventKind::Candle { series: id, candle: *candle, origin: Origin::Backfill };
            self.tell(candle.close_time(series.interval), kind);
        }
        let first_ask = Millis::new(i64::from(self.settings.first_ask_ms));
        Ok(CandleWatch::new(series.interval, known, now, first_ask, self.settings.quick_repeats))
    }
}

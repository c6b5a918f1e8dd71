//! Requests the past candles that the strategies need before a run starts.

use super::candle_watch::CandleWatch;
use super::command::{ReadRequest, Step};
use crate::{RuntimeError, RuntimeSettings};
use candlewick_broker::{BrokerError, COMMON_INTERVALS, CandleQuery, Candles};
use candlewick_engine::{SeriesId, Session};
use candlewick_sdk::{Candle, Millis, Series};
use std::collections::VecDeque;

/// Maximum number of requests per series, each for a larger window. After the last one, the run starts regardless.
const MAX_WINDOWS: u32 = 6;
/// Maximum number of further windows if only candles of longer intervals are missing. Larger windows may not help.
const MAX_WINDOWS_FOR_LONGER_INTERVALS: u32 = 2;

pub(crate) struct WarmUp {
    began: Millis,
    first_ask: Millis,
    quick_repeats: u32,
    waiting: VecDeque<PendingSeries>,
}

struct PendingSeries {
    id: SeriesId,
    series: Series,
    count: usize,
    bars: i64,
    windows: u32,
    /// Number of windows with at least `count` candles, which can still be too few for longer intervals.
    full_windows: u32,
}

pub(crate) struct WarmedSeries {
    pub(crate) id: SeriesId,
    pub(crate) candles: Vec<Candle>,
    pub(crate) watch: CandleWatch,
}

impl WarmUp {
    pub(crate) fn new(session: &Session, settings: &RuntimeSettings, now: Millis) -> Self {
        let wanted = |id: SeriesId| {
            let (series, count) = (session.series()[id.index()], session.warmup(id));
            let bars = i64::try_from(count).unwrap_or(i64::MAX / 2).max(1);
            PendingSeries { id, series, count, bars, windows: 0, full_windows: 0 }
        };
        Self {
            began: now,
            first_ask: Millis::new(i64::from(settings.first_ask_ms)),
            quick_repeats: settings.quick_repeats,
            waiting: session.series_order().into_iter().map(wanted).collect(),
        }
    }

    pub(crate) fn request_next_series(&self, step: &mut Step<'_>) -> Option<SeriesId> {
        let PendingSeries { id, series, bars, .. } = self.waiting.front()?;
        let length = series.interval.length();
        let start = self.began.floor_to(length) - length * *bars;
        let (symbol, interval) = (series.symbol, series.interval);
        step.push_request(ReadRequest::Candles(
            *id,
            CandleQuery { symbol, interval, start, end: self.began },
        ));
        Some(*id)
    }

    /// Handles past candles. Returns `None` if they are too few and a larger window must be requested.
    pub(crate) fn on_candles(&mut self, candles: Candles, session: &Session) -> Option<WarmedSeries> {
        let wanted = self.waiting.front_mut()?;
        wanted.windows += 1;
        let candles = candles.candles;
        let history = session.required_history(wanted.id, &candles);
        let is_full = candles.len() >= wanted.count;
        wanted.full_windows += u32::from(is_full);
        let may_grow = wanted.windows < MAX_WINDOWS
            && !(is_full && wanted.full_windows > MAX_WINDOWS_FOR_LONGER_INTERVALS);
        if history.is_none() && may_grow {
            wanted.bars *= 3;
            return None;
        }
        let PendingSeries { id, series, .. } = self.waiting.pop_front()?;
        let count = history.unwrap_or(candles.len());
        let known = candles
            .last()
            .map_or(self.began.floor_to(series.interval.length()), |last| last.close_time(series.interval));
        let watch = CandleWatch::new(series.interval, known, self.began, self.first_ask, self.quick_repeats);
        let skipped = candles.len().saturating_sub(count);
        Some(WarmedSeries { id, candles: candles.into_iter().skip(skipped).collect(), watch })
    }

    pub(crate) fn request_error(&self, source: BrokerError) -> RuntimeError {
        let Some(PendingSeries { series, .. }) = self.waiting.front() else {
            return RuntimeError::Venue { question: "past candles".to_owned(), source };
        };
        let is_usual = COMMON_INTERVALS.iter().any(|text| text.parse() == Ok(series.interval));
        if matches!(source, BrokerError::Rejected { .. }) && !is_usual {
            return RuntimeError::UnsupportedInterval { series: *series, source };
        }
        if matches!(source, BrokerError::NotFound { .. }) {
            return RuntimeError::UnknownSeries { series: *series, source };
        }
        RuntimeError::Venue { question: format!("past candles of {series}"), source }
    }

    pub(crate) const fn began(&self) -> Millis {
        self.began
    }
}

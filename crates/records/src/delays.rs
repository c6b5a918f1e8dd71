//! Latencies of candles and orders, measured from a journal.

use crate::RecordsError;
use crate::lines::{is_candle, parse, visit_lines};
use crate::run::{RecordedRun, TradingMode};
use candlewick_engine::BotSettings;
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{Millis, Payout, Series, Symbol};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Delays {
    symbols: BTreeMap<Symbol, Samples>,
    payouts: Vec<Payout>,
    is_simulated: bool,
}

#[derive(Debug, Default)]
struct Samples {
    /// Histogram of the delays from candle close to arrival. A list with one delay per candle would be too long.
    close_to_available: BTreeMap<Millis, usize>,
    /// Delays from the decision to the order's arrival at the venue. A backtest can use them as latency.
    decide_to_arrival: Vec<Millis>,
    decide_to_open: Vec<Millis>,
    request_to_answer: Vec<Millis>,
}

#[derive(Debug, Serialize)]
pub struct DelayLine {
    pub symbol: String,
    pub close_to_available_ms: Option<DelayPercentiles>,
    pub decide_to_arrival_ms: Option<DelayPercentiles>,
    pub decide_to_open_ms: Option<DelayPercentiles>,
    pub request_to_answer_ms: Option<DelayPercentiles>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DelayPercentiles {
    pub count: usize,
    pub p50: Millis,
    pub p90: Millis,
    pub p99: Millis,
    pub max: Millis,
}

#[derive(Deserialize)]
struct CandleBody {
    at: Millis,
    received: Millis,
    series: usize,
    origin: String,
}

#[derive(Deserialize)]
struct OpenActionBody {
    bot: usize,
    decision_time: Millis,
}

#[derive(Deserialize)]
struct OpenedEventBody {
    at: Millis,
    received: Millis,
    open_time: Option<Millis>,
    payout: Option<Payout>,
}

struct PendingOrder {
    symbol: Symbol,
    decided: Millis,
    sent: Millis,
}

#[derive(Default)]
pub(crate) struct DelayCollector {
    run: Option<u64>,
    pub(crate) delays: Delays,
    series: Vec<Series>,
    bots: Vec<(Symbol, Millis)>,
    pending: BTreeMap<u64, PendingOrder>,
}

impl DelayCollector {
    pub(crate) fn for_run(run: Option<u64>) -> Self {
        Self { run, ..Self::default() }
    }

    pub(crate) fn add_line(&mut self, stored: &StoredLine) -> Result<(), RecordsError> {
        if stored.line.kind == LineKind::Run {
            let run = RecordedRun::from_stored(stored)?;
            let is_simulated =
                run.is_replay || matches!(run.trading, Some(TradingMode::Sandbox | TradingMode::Paper));
            self.delays.is_simulated |= is_simulated && self.run.is_none_or(|own| own == run.number);
            let delay = |bot: &BotSettings| bot.entry_delay().unwrap_or(Millis::ZERO);
            self.bots = run.settings.bots.iter().map(|bot| (bot.symbol, delay(bot))).collect();
            self.series = run.series;
        } else if self.run.is_some_and(|run| run != stored.line.run) {
            return Ok(());
        } else if is_candle(stored) {
            let candle: CandleBody = parse(stored)?;
            if let ("live", Some(series)) = (candle.origin.as_str(), self.series.get(candle.series)) {
                let samples = self.delays.symbols.entry(series.symbol).or_default();
                *samples.close_to_available.entry(candle.received - candle.at).or_default() += 1;
            }
        } else if let Some(intent) = stored.line.intent {
            self.add_intent_line(intent, stored)?;
        }
        Ok(())
    }

    fn add_intent_line(&mut self, intent: u64, stored: &StoredLine) -> Result<(), RecordsError> {
        let body = &stored.line.body;
        if stored.line.kind == LineKind::Action {
            let open: OpenActionBody = parse(stored)?;
            if let Some((symbol, delay)) = self.bots.get(open.bot) {
                let decided = open.decision_time + *delay;
                let sent = stored.line.received.max(decided);
                self.pending.insert(intent, PendingOrder { symbol: *symbol, decided, sent });
            }
        } else if body.contains("\"event\":\"opened\"")
            && let Some(open) = self.pending.remove(&intent)
        {
            let answer: OpenedEventBody = parse(stored)?;
            let samples = self.delays.symbols.entry(open.symbol).or_default();
            samples.decide_to_arrival.push((answer.at - open.decided).max(Millis::ZERO));
            samples.decide_to_open.extend(answer.open_time.map(|opened| opened - open.decided));
            samples.request_to_answer.push(answer.received - open.sent);
            self.delays.payouts.extend(answer.payout);
        } else if body.contains("\"event\":\"in_doubt\"") {
            // The venue did not answer, so there is no delay to measure.
            self.pending.remove(&intent);
        }
        Ok(())
    }
}

impl Delays {
    pub async fn read(reader: &mut Reader, run: Option<u64>) -> Result<Self, RecordsError> {
        let mut collector = DelayCollector::for_run(run);
        visit_lines(reader, |stored| collector.add_line(stored)).await?;
        Ok(collector.delays)
    }

    /// Returns the longest time from the close of a candle to its arrival; `None` without live candles.
    pub fn longest_candle_delay(&self) -> Option<Millis> {
        let longest = |samples: &Samples| samples.close_to_available.keys().next_back().copied();
        self.symbols.values().filter_map(longest).max()
    }

    pub const fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    pub fn arrival_delays(&self) -> BTreeMap<Symbol, Vec<Millis>> {
        let samples = self.symbols.iter().map(|(symbol, delays)| (*symbol, delays.decide_to_arrival.clone()));
        samples.filter(|(_, samples)| !samples.is_empty()).collect()
    }

    pub fn median_payout_percent(&self) -> Option<f64> {
        let mut sorted = self.payouts.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map(|payout| payout.to_fraction() * 100.0)
    }

    pub fn lines(&self) -> Vec<DelayLine> {
        let line = |(symbol, samples): (&Symbol, &Samples)| DelayLine {
            symbol: symbol.to_string(),
            close_to_available_ms: DelayPercentiles::from_counts(&samples.close_to_available),
            decide_to_arrival_ms: DelayPercentiles::from_samples(&samples.decide_to_arrival),
            decide_to_open_ms: DelayPercentiles::from_samples(&samples.decide_to_open),
            request_to_answer_ms: DelayPercentiles::from_samples(&samples.request_to_answer),
        };
        self.symbols.iter().map(line).collect()
    }
}

impl DelayPercentiles {
    fn from_samples(samples: &[Millis]) -> Option<Self> {
        let mut counts = BTreeMap::new();
        for sample in samples {
            *counts.entry(*sample).or_default() += 1;
        }
        Self::from_counts(&counts)
    }

    fn from_counts(counts: &BTreeMap<Millis, usize>) -> Option<Self> {
        let max = *counts.last_key_value()?.0;
        let count: usize = counts.values().sum();
        let at = |percent: usize| {
            let rank = (count * percent).div_ceil(100).max(1);
            let mut seen = 0;
            let found = counts.iter().find(|(_, many)| {
                seen += **many;
                seen >= rank
            });
            found.map_or(max, |(sample, _)| *sample)
        };
        Some(Self { count, p50: at(50), p90: at(90), p99: at(99), max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_uses_the_nearest_rank() {
        let spread = |values: &[i64]| {
            let samples: Vec<Millis> = values.iter().copied().map(Millis::new).collect();
            DelayPercentiles::from_samples(&samples).map(|spread| {
                let DelayPercentiles { count, p50, p90, p99, max } = spread;
                (count, [p50, p90, p99, max].map(Millis::get))
            })
        };
        assert_eq!((spread(&[]), spread(&[7])), (None, Some((1, [7, 7, 7, 7]))));
        // The expected values have ranks 5, 9 and 10 of ten.
        assert_eq!(spread(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), Some((10, [5, 9, 10, 10])));
        let hundred: Vec<i64> = (1..=200).collect();
        assert_eq!(spread(&hundred), Some((200, [100, 180, 198, 200])));
    }
}

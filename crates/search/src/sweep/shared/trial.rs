//! A single trial: a session without a trade book or journal, for searches.

use super::bitset::{BitSet, EntryBits};
use super::trial_context::{TrialContext, TrialTotals, TrialTrade};
use crate::sweep::Figures;
use candlewick_engine::{BookedTrade, BotId, EngineError, OrderTerms, Session, TrialSession};
use candlewick_sdk::{Candle, CandleSeries, Millis, Payout, Signal, count_closing_before};
use candlewick_simulator::Simulator;
use std::ops::Range;

/// A run of one strategy in a search, with the same trades as in a backtest. With a limit of one open trade at a time,
/// each trade is settled as soon as it is approved. Without this limit, trades go through the simulated venue.
pub struct Trial<'a> {
    session: TrialSession,
    context: TrialContext<'a>,
    closes: CloseTimes<'a>,
}

pub(crate) struct PlannedEntry {
    pub(crate) bits: EntryBits,
    pub(crate) signal: Signal,
}

impl<'a> Trial<'a> {
    pub fn new(
        session: Session,
        candles: &'a CandleSeries,
        (venue, payout): (Simulator, Payout),
        span: &Range<Millis>,
    ) -> Result<Self, EngineError> {
        let mut session = TrialSession::new(session)?;
        session.disable_verdicts();
        let (scale, start) = (session.session().money_scale(), session.session().ledger().free_balance());
        let context = TrialContext {
            venue,
            tally: TrialTotals::new(scale, payout, start, span),
            symbol: candles.symbol(),
            payout,
            pending_orders: Vec::with_capacity(16),
            is_limited_to_one_trade: None,
            trades: None,
        };
        let closes = CloseTimes::new(candles.candles(), candles.interval().length());
        Ok(Self { session, context, closes })
    }

    pub fn record_trades(&mut self, trades: &'a mut Vec<TrialTrade>) {
        self.context.trades = Some(trades);
    }

    pub(crate) fn run_with_entries(mut self, entries: &[PlannedEntry], candidates: &BitSet) -> Figures {
        let mut cursor = 0;
        let mut opened = 0;
        while let Some(index) = candidates.find_next(cursor) {
            cursor = index + 1;
            let close = self.closes.close_time_at(index);
            self.handle_due_events(close);
            let entry = entries.iter().find(|entry| entry.bits.iter().all(|set| set.contains(index)));
            let Some(entry) = entry else { continue };
            let context = &mut self.context;
            let outcome = |terms: &OrderTerms| context.settle_immediately(index, terms);
            let answer = self.session.handle_signal(close, &entry.signal, outcome);
            opened += u64::from(answer.is_ok());
            cursor = match answer {
                Ok(BookedTrade::Settled { settled_at, .. }) => self.closes.closing_index(cursor, settled_at),
                Ok(BookedTrade::Pending(terms)) => self.open_trade(&terms, index),
                Err(_) => self.next_approvable_candle(cursor, close),
            };
        }
        // Every candidate candle whose signal was not approved counts as refused.
        self.context.tally.refused += candidates.count(0..self.closes.candles().len()) - opened;
        self.finish()
    }

    pub fn run_all_candles(mut self) -> Figures {
        let candles = self.closes.candles();
        let (mut cursor, mut after) = (0, None);
        while cursor < candles.len() {
            self.handle_due_events(self.closes.close_time_at(cursor));
            let end = match self.context.venue.next_due() {
                Some(due) => self.closes.closing_index(cursor, due).max(cursor + 1),
                None => candles.len(),
            };
            let context = &mut self.context;
            let outcome =
                |place: usize, terms: &OrderTerms| context.settle_immediately(cursor + place, terms);
            let after_trade = after.as_ref().map(|(suppressed, settlement)| (*suppressed, settlement));
            let shown = self.session.feed_candles(after_trade, &candles[cursor..end], outcome);
            cursor += shown.candle_count;
            self.context.tally.refused += shown.suppressed;
            after = None;
            match shown.result {
                None => {}
                Some(Ok(BookedTrade::Settled { settlement, settled_at })) => {
                    after = Some((self.closes.closing_index(cursor, settled_at) - cursor, settlement));
                }
                Some(Ok(BookedTrade::Pending(terms))) => {
                    let end = self.open_trade(&terms, cursor - 1);
                    self.feed_suppressed_candles(&mut cursor, end);
                }
                Some(Err(_)) => {
                    self.context.tally.refused += 1;
                    let end = self.next_approvable_candle(cursor, self.closes.close_time_at(cursor - 1));
                    self.feed_suppressed_candles(&mut cursor, end);
                }
            }
        }
        self.finish()
    }

    fn feed_suppressed_candles(&mut self, cursor: &mut usize, until: usize) {
        if let Some(candles) = self.closes.candles().get(*cursor..until).filter(|candles| !candles.is_empty())
        {
            self.context.tally.refused += self.session.suppress_signals(candles);
            *cursor = until;
        }
    }

    /// Returns the index of the first candle, from `cursor` on, whose signal may be approved.
    #[inline]
    fn next_approvable_candle(&mut self, cursor: usize, now: Millis) -> usize {
        let until = self.session.refused_until(now);
        if until <= now {
            return cursor;
        }
        self.closes.closing_index(cursor, until.min(self.context.venue.next_due().unwrap_or(Millis::MAX)))
    }

    fn finish(mut self) -> Figures {
        self.handle_due_events(Millis::MAX);
        let stopped_by = self.session.session().stopped_by(BotId::FIRST);
        self.context.tally.into_figures(stopped_by)
    }

    #[inline(never)]
    fn open_trade(&mut self, terms: &OrderTerms, index: usize) -> usize {
        if self.context.pending_orders.is_empty() && self.context.is_limited_to_one_trade.is_none() {
            self.context.is_limited_to_one_trade = Some(self.session.is_at_trade_limit());
        }
        self.context.submit(terms);
        self.next_approvable_candle(index + 1, terms.decision_time())
    }

    #[inline]
    fn handle_due_events(&mut self, now: Millis) {
        // Usually, no trade is open.
        if self.context.venue.next_due().is_some_and(|due| due <= now) {
            self.handle_due_events_slow(now);
        }
    }

    #[inline(never)]
    fn handle_due_events_slow(&mut self, now: Millis) {
        while let Some(event) = self.context.venue.pop_due(now) {
            self.session.handle(&self.context.translate_event(&event));
        }
    }
}

/// Close times of a series. If the series has no gaps, they are computed without reading the candles.
struct CloseTimes<'a> {
    candles: &'a [Candle],
    interval: Millis,
    /// Close time of the first candle; `None` if the series has gaps.
    gapless_from: Option<Millis>,
    /// Latest duration in ms and its number of candles, cached because successive trades often have the same duration.
    last: (i64, usize),
}

impl<'a> CloseTimes<'a> {
    fn new(candles: &'a [Candle], interval: Millis) -> Self {
        let gapless_from = match (candles.first(), candles.last()) {
            (Some(first), Some(last))
                if last.time() - first.time() == interval * (candles.len() as i64 - 1) =>
            {
                Some(first.time() + interval)
            }
            _ => None,
        };
        Self { candles, interval, gapless_from, last: (0, 0) }
    }

    const fn candles(&self) -> &'a [Candle] {
        self.candles
    }

    #[inline]
    fn close_time_at(&self, index: usize) -> Millis {
        match self.gapless_from {
            Some(first) => first + self.interval * index as i64,
            None => self.candles[index].time() + self.interval,
        }
    }

    /// Returns the index of the first candle, from `index` on, that closes at or after `until`.
    #[inline]
    fn closing_index(&mut self, index: usize, until: Millis) -> usize {
        if let Some(first) = self.gapless_from
            && index < self.candles.len()
        {
            let left = (until - (first + self.interval * index as i64)).get();
            if left != self.last.0 {
                self.last = (left, candles_rounded_up(left, self.interval));
            }
            return index.saturating_add(self.last.1).min(self.candles.len());
        }
        self.closing_index_slow(index, until)
    }

    #[inline(never)]
    fn closing_index_slow(&self, index: usize, until: Millis) -> usize {
        let rest = self.candles.get(index..).unwrap_or_default();
        index + count_closing_before(rest, self.interval, until)
    }
}

#[cold]
fn candles_rounded_up(left: i64, interval: Millis) -> usize {
    let count = if left <= 0 { 0 } else { (left - 1) / interval.get() + 1 };
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Ohlcv};

    fn minutes(of: impl Iterator<Item = i64>) -> Vec<Candle> {
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        of.map(|minute| Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()).collect()
    }

    #[test]
    fn computed_closes_equal_those_of_the_candles() {
        let (whole, broken) = (minutes(3..40), minutes((3..40).filter(|minute| minute % 9 != 5)));
        for candles in [&whole[..], &broken[..], &whole[..1], &[]] {
            let mut closes = CloseTimes::new(candles, Millis::MINUTE);
            for (index, candle) in candles.iter().enumerate() {
                assert_eq!(closes.close_time_at(index), candle.time() + Millis::MINUTE);
            }
            let moments = (0..45_i64).flat_map(|minute| [-1, 0, 1].map(|offset| minute * 60_000 + offset));
            for until in moments.chain([i64::MIN, i64::MAX]).map(Millis::new) {
                for index in 0..=candles.len() {
                    let counted =
                        candles[index..].iter().take_while(|c| c.time() + Millis::MINUTE < until).count();
                    assert_eq!(closes.closing_index(index, until), index + counted, "{index} until {until}");
                }
            }
        }
    }
}

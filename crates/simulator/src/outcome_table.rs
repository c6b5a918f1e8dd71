//! Precomputed order outcomes, shared by many runs over the same candles.

use crate::moments::TradeTimes;
use crate::order::{Opening, Order, Refusal};
use crate::order_outcome::{OrderOutcome, QuotedOrder, trade_profit};
use crate::path::PricePath;
use crate::{Market, SettledTrade, SimulationSettings, SimulatorError};
use candlewick_sdk::{
    Candle, CandleSeries, Direction, ExpirationType, Expiry, Millis, Money, Outcome, Symbol,
};
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// Outcomes of BUY and SELL orders with one expiry that are decided at the close of a candle. Each candle has one byte
/// for its outcomes, which are computed on first use. Threads can share a table, because every thread computes the same
/// outcomes. Pass tables to [`Simulator::with_outcome_tables`](crate::Simulator::with_outcome_tables).
pub struct OutcomeTable {
    path: PricePath,
    settings: SimulationSettings,
    expiry: Expiry,
    candles: CandleSeries,
    /// Delays from a decision to the open time and to the close time, `None` if they vary between candles.
    constant_delays: Option<(Millis, Millis)>,
    outcomes: Box<[AtomicU8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableTrade {
    pub(crate) outcome: Outcome,
    pub(crate) open_time: Millis,
    pub(crate) close_time: Millis,
    pub(crate) known_at: Millis,
}

/// Outcome of an order, stored in three bits of a table byte. All three bits are 0 until the outcome is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum OutcomeKind {
    Won = 1,
    Lost = 2,
    Draw = 3,
    Cancelled = 4,
    StaysOpen = 5,
    NoPrice = 6,
}

const KIND_BITS: u32 = 3;
const KIND_MASK: u8 = 0b111;

/// Outcome for each value of three bits, `None` if unused. A lookup avoids branches (see docs/performance.md).
const KIND_BY_BITS: [Option<OutcomeKind>; 8] = {
    use OutcomeKind::{Cancelled, Draw, Lost, NoPrice, StaysOpen, Won};
    [None, Some(Won), Some(Lost), Some(Draw), Some(Cancelled), Some(StaysOpen), Some(NoPrice), None]
};

const OUTCOME_BY_KIND: [Option<Outcome>; 8] = {
    use Outcome::{Cancelled, Draw, Lost, Won};
    [None, Some(Won), Some(Lost), Some(Draw), Some(Cancelled), None, None, None]
};

impl OutcomeTable {
    /// Creates a table for orders that are decided on `candles` and priced by `market`.
    /// Returns `None` if `settings` contain recorded latencies, because an order's outcome then depends on its number.
    pub fn new(
        settings: &SimulationSettings,
        market: Market,
        candles: &CandleSeries,
        expiry: Expiry,
    ) -> Result<Option<Self>, SimulatorError> {
        if settings.recorded_latency.is_some() {
            return Ok(None);
        }
        let path = PricePath::new(market, settings)?;
        let outcomes = candles.candles().iter().map(|_| AtomicU8::new(0)).collect();
        let constant_delays = compute_fixed_delays(expiry, candles, settings);
        let (settings, candles) = (settings.clone(), candles.clone());
        Ok(Some(Self { path, settings, expiry, candles, constant_delays, outcomes }))
    }

    pub const fn expiry(&self) -> Expiry {
        self.expiry
    }

    pub fn symbol(&self) -> Symbol {
        self.path.symbol()
    }

    pub(crate) fn order_outcome(&self, order: &Order) -> Option<OrderOutcome> {
        if order.expiry != self.expiry || order.symbol != self.symbol() {
            return None;
        }
        let opens = order.time - self.candles.interval().length();
        let candle = self.candles.candles().binary_search_by_key(&opens, Candle::time).ok()?;
        let kind = self.outcome_kind((candle, order.time), order.direction)?;
        let (open_time, close_time) = self.open_and_close_time(order.time);
        let payout = self.settings.payout_of(self.symbol());
        let opening = Opening { open_time, open_price: None, close_time, payout };
        let Some(outcome) = kind.outcome() else {
            return Some(match kind {
                OutcomeKind::NoPrice => OrderOutcome::Refused(Refusal::NoPrice),
                _ => OrderOutcome::StaysOpen(opening),
            });
        };
        let trade = SettledTrade {
            number: order.number,
            known_at: close_time + self.settings.settle_delay_ms,
            outcome,
            profit: trade_profit(outcome, order.stake, payout),
            open_price: None,
            close_price: None,
            open_time,
            close_time,
        };
        Some(OrderOutcome::Settles(opening, trade))
    }

    /// Returns the trade of an order decided at the close of the candle at index `candle`, `None` if the trade does not
    /// settle. `close` must be the close time of this candle.
    #[inline]
    pub(crate) fn trade(&self, (candle, close): (usize, Millis), direction: Direction) -> Option<TableTrade> {
        let outcome = self.outcome_kind((candle, close), direction)?.outcome()?;
        let (open_time, close_time) = self.open_and_close_time(close);
        let known_at = close_time + self.settings.settle_delay_ms;
        Some(TableTrade { outcome, open_time, close_time, known_at })
    }

    #[inline]
    fn outcome_kind(&self, (candle, close): (usize, Millis), direction: Direction) -> Option<OutcomeKind> {
        let outcomes = self.outcomes.get(candle)?;
        let shift = match direction {
            Direction::Buy => 0,
            Direction::Sell => KIND_BITS,
        };
        let bits = outcomes.load(Ordering::Relaxed) >> shift & KIND_MASK;
        Some(
            OutcomeKind::from_bits(bits)
                .unwrap_or_else(|| self.compute_outcome_kind(outcomes, direction, close, shift)),
        )
    }

    #[inline]
    fn open_and_close_time(&self, close: Millis) -> (Millis, Millis) {
        match self.constant_delays {
            Some((opens, closes)) => (close + opens, close + closes),
            None => self.compute_open_and_close_time(close),
        }
    }

    #[inline(never)]
    fn compute_open_and_close_time(&self, close: Millis) -> (Millis, Millis) {
        let moments = TradeTimes::new(self.expiry, close + self.settings.latency_ms, &self.settings);
        (moments.open_time, moments.close_time)
    }

    #[cold]
    fn compute_outcome_kind(
        &self,
        outcomes: &AtomicU8,
        direction: Direction,
        close: Millis,
        shift: u32,
    ) -> OutcomeKind {
        let order = Order {
            number: 0,
            symbol: self.path.symbol(),
            direction,
            stake: Money::from_minor(1),
            expiry: self.expiry,
            time: close,
        };
        let arrival = close + self.settings.latency_ms;
        let quoted = QuotedOrder::new(&order, arrival, &self.path, &self.settings);
        let kind = match quoted.unsettled_outcome().unwrap_or_else(|| quoted.settled_outcome()) {
            OrderOutcome::Refused(_) => OutcomeKind::NoPrice,
            OrderOutcome::StaysOpen(_) => OutcomeKind::StaysOpen,
            OrderOutcome::Settles(_, trade) => match trade.outcome {
                Outcome::Won => OutcomeKind::Won,
                Outcome::Lost => OutcomeKind::Lost,
                Outcome::Draw => OutcomeKind::Draw,
                Outcome::Cancelled => OutcomeKind::Cancelled,
            },
        };
        outcomes.fetch_or((kind as u8) << shift, Ordering::Relaxed);
        kind
    }
}

impl fmt::Debug for OutcomeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (symbol, candles) = (self.symbol(), self.outcomes.len());
        f.debug_struct("OutcomeTable")
            .field("symbol", &symbol)
            .field("expiry", &self.expiry)
            .field("candles", &candles)
            .finish_non_exhaustive()
    }
}

impl OutcomeKind {
    #[inline]
    fn from_bits(bits: u8) -> Option<Self> {
        KIND_BY_BITS[usize::from(bits & KIND_MASK)]
    }

    #[inline]
    const fn outcome(self) -> Option<Outcome> {
        OUTCOME_BY_KIND[self as usize]
    }
}

/// Returns the delays from a decision to the open and to the close, `None` if they may vary between candles.
fn compute_fixed_delays(
    expiry: Expiry,
    candles: &CandleSeries,
    settings: &SimulationSettings,
) -> Option<(Millis, Millis)> {
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => {}
        ExpirationType::CandleClose | ExpirationType::NextCandle => return None,
    }
    let length = candles.interval().length();
    let first = candles.candles().first()?.time() + length;
    let is_alike = |candle: &Candle| (candle.time() + length - first).is_aligned_to(Millis::SECOND);
    let moments = TradeTimes::new(expiry, first + settings.latency_ms, settings);
    let after = (moments.open_time - first, moments.close_time - first);
    candles.candles().iter().all(is_alike).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, AnswerKind, OrderAtClose, RecordedLatency, Simulator, VenueEvent};
    use candlewick_sdk::{Interval, Ohlcv, Series};
    use std::sync::Arc;

    fn market() -> Market {
        let candle = |minute: i64| {
            let price = |minute: i64| 100.0 + f64::from((minute * 7 % 11) as i32) * 0.25;
            let open = price(minute);
            let close = if minute % 10 == 3 { open } else { price(minute + 1) };
            let numbers = Ohlcv { open, high: 110.0, low: 90.0, close, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        let minutes = (0..120).filter(|minute| !(40..44).contains(minute) && minute % 23 != 7).map(candle);
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        Market { prices: CandleSeries::new(series, minutes.collect::<Vec<_>>()).unwrap(), detail: Vec::new() }
    }

    fn check(settings: &SimulationSettings, kind: ExpirationType, close_type: &str) {
        let expiry = Expiry { close_type: close_type.parse().unwrap(), expiration_type: kind };
        let candles = market().prices;
        let table = Arc::new(OutcomeTable::new(settings, market(), &candles, expiry).unwrap().unwrap());
        let balance = Money::from_minor(100_000);
        let all = candles.candles().iter().enumerate();
        for (index, candle) in all.clone().chain(all) {
            for direction in [Direction::Buy, Direction::Sell] {
                let time = candle.close_time(Interval::MINUTE);
                let order = Order { number: 7, direction, time, ..first_order(&table, 1_000) };
                let mut own = Simulator::new(settings.clone(), balance, vec![market()]).unwrap();
                own.submit(&order);
                // This venue has no market, so all outcomes must come from the table.
                let mut other = venue(settings, balance, &table);
                let answer = other.submit(&order);
                check_at_once(settings, (&table, index, &order), (&answer, &mut other.clone()));
                assert_eq!(events(&mut other), events(&mut own), "{order:?}");
                let state = |venue: &Simulator| (venue.balance(), venue.unsettled().to_vec());
                assert_eq!(state(&other), state(&own), "{order:?}");
            }
        }
        assert_eq!(table.trade((candles.candles().len(), candles.end()), Direction::Buy), None);
    }

    fn venue(settings: &SimulationSettings, balance: Money, table: &Arc<OutcomeTable>) -> Simulator {
        let venue = Simulator::new(settings.clone(), balance, Vec::new()).unwrap();
        venue.with_outcome_tables(vec![table.clone()])
    }

    fn events(venue: &mut Simulator) -> Vec<VenueEvent> {
        let mut events: Vec<VenueEvent> = std::iter::from_fn(|| venue.pop_due(Millis::MAX)).collect();
        for event in &mut events {
            match event {
                VenueEvent::Settled(trade) => (trade.open_price, trade.close_price) = (None, None),
                VenueEvent::Answered(answer) => {
                    if let AnswerKind::Opened(opening) = &mut answer.kind {
                        opening.open_price = None;
                    }
                }
            }
        }
        events
    }

    fn check_at_once(
        settings: &SimulationSettings,
        (table, candle, order): (&Arc<OutcomeTable>, usize, &Order),
        (answer, other): (&Answer, &mut Simulator),
    ) {
        let mut venue = venue(settings, other.balance(), table);
        let Order { direction, expiry, stake, time, .. } = *order;
        let settled =
            venue.settle_immediately(&OrderAtClose { candle_index: candle, time, direction, expiry, stake });
        let events = events(other);
        match (&events[..], settled) {
            ([VenueEvent::Answered(answered), VenueEvent::Settled(trade)], Some(settled)) => {
                let AnswerKind::Opened(opening) = answered.kind else { panic!("{answered:?}") };
                assert_eq!((settled.answered_at, settled.known_at), (answer.at, trade.known_at));
                let times = (settled.open_time, settled.close_time);
                assert_eq!(times, (opening.open_time, opening.close_time));
                assert_eq!(times, (trade.open_time, trade.close_time));
                assert_eq!((settled.outcome, settled.profit), (trade.outcome, trade.profit));
                assert_eq!(venue.balance(), other.balance());
            }
            ([VenueEvent::Answered(_), VenueEvent::Settled(_)], None) | (_, Some(_)) => {
                panic!("{settled:?} of {events:?}")
            }
            (_, None) => {}
        }
    }

    #[test]
    fn precomputed_order_ends_like_a_computed_one() {
        let stressed =
            SimulationSettings { stress: 0.05, max_gap_intervals: 2, ..SimulationSettings::default() };
        for settings in [SimulationSettings::default(), stressed] {
            check(&settings, ExpirationType::TimeFixed, "01:00");
            check(&settings, ExpirationType::TimeFixed, "05:00");
            check(&settings, ExpirationType::CandleClose, "03:00");
            check(&settings, ExpirationType::NextCandle, "02:00");
        }
    }

    fn minute_expiry() -> Expiry {
        Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed }
    }

    fn minute_table() -> OutcomeTable {
        let settings = SimulationSettings::default();
        OutcomeTable::new(&settings, market(), &market().prices, minute_expiry()).unwrap().unwrap()
    }

    fn first_order(table: &OutcomeTable, stake: i64) -> Order {
        let (symbol, stake, expiry) = (table.symbol(), Money::from_minor(stake), table.expiry());
        Order { number: 1, symbol, direction: Direction::Buy, stake, expiry, time: Millis::MINUTE }
    }

    #[test]
    fn table_ignores_other_expiries_symbols_and_times() {
        let table = minute_table();
        let own = first_order(&table, 1);
        assert!(table.order_outcome(&own).is_some());
        let longer = Expiry { close_type: "02:00".parse().unwrap(), ..own.expiry };
        for other in [
            Order { expiry: longer, ..own },
            Order { symbol: "ETHUSDT".parse().unwrap(), ..own },
            Order { time: Millis::MINUTE + Millis::new(1), ..own },
        ] {
            assert_eq!(table.order_outcome(&other), None, "{other:?}");
        }
    }

    #[test]
    fn outcome_is_computed_once_and_cached() {
        let table = minute_table();
        let ask = || {
            let directions = [Direction::Buy, Direction::Sell];
            directions.map(|direction| table.trade((0, Millis::MINUTE), direction).map(|trade| trade.outcome))
        };
        // The second minute falls from 101.75 to 100.75.
        assert_eq!(ask(), [Some(Outcome::Lost), Some(Outcome::Won)]);
        assert_eq!(
            table.outcomes[0].load(Ordering::Relaxed),
            OutcomeKind::Lost as u8 | (OutcomeKind::Won as u8) << KIND_BITS
        );
        table.outcomes[0]
            .store(OutcomeKind::Won as u8 | (OutcomeKind::Draw as u8) << KIND_BITS, Ordering::Relaxed);
        assert_eq!(ask(), [Some(Outcome::Won), Some(Outcome::Draw)]);
    }

    #[test]
    fn settles_immediately_only_if_covered_and_nothing_is_in_flight() {
        let (table, settings) = (Arc::new(minute_table()), SimulationSettings::default());
        for (stake, is_busy, expected) in [
            (1_000, false, true),
            (1_001, false, false),
            (0, false, false),
            (-1, false, false),
            (1, true, false),
        ] {
            let balance = Money::from_minor(1_000);
            let mut venue = venue(&settings, balance, &table);
            if is_busy {
                venue.submit(&first_order(&table, 1));
            }
            let Order { direction, expiry, stake, time, .. } = first_order(&table, stake);
            let settled =
                venue.settle_immediately(&OrderAtClose { candle_index: 0, time, direction, expiry, stake });
            assert_eq!(settled.is_some(), expected, "{stake:?}, busy: {is_busy}");
            assert_eq!(venue.balance() == balance, !expected);
        }
    }

    #[test]
    fn declines_order_above_the_balance() {
        let table = Arc::new(minute_table());
        let mut venue = venue(&SimulationSettings::default(), Money::from_minor(10), &table);
        let answer = venue.submit(&first_order(&table, 1_000));
        assert_eq!(answer.kind, AnswerKind::Refused(Refusal::InsufficientBalance));
    }

    #[test]
    fn latencies_that_depend_on_the_order_are_not_shared() {
        let samples_ms = [("BTCUSDT".parse().unwrap(), vec![Millis::new(100), Millis::new(900)])].into();
        let recorded = RecordedLatency { seed: 1, samples_ms };
        let settings =
            SimulationSettings { recorded_latency: Some(recorded), ..SimulationSettings::default() };
        let table = OutcomeTable::new(&settings, market(), &market().prices, minute_expiry());
        assert!(table.unwrap().is_none());
    }
}

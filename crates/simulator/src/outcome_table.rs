//! What becomes of orders at the closes of a series, worked out once for many runs over the same candles.

use crate::fate::Fate;
use crate::moments::Moments;
use crate::order::{Opening, Order, Refusal};
use crate::outcome::profit_of;
use crate::path::PricePath;
use crate::{Market, SettledTrade, SimulationSettings, SimulatorError};
use candlewick_sdk::{
    Candle, CandleSeries, Direction, ExpirationType, Expiry, Millis, Money, Outcome, Symbol,
};
use std::sync::atomic::{AtomicU8, Ordering};

/// The fates of orders of one expiry that are decided at the closes of a series, both directions: a byte a candle,
/// worked out when first asked for. Threads share it; which of them works one out makes no difference.
pub struct FateTable {
    path: PricePath,
    settings: SimulationSettings,
    expiry: Expiry,
    /// Where trades open and close, counted from their decisions, when that is the same at every close.
    steady: Option<(Millis, Millis)>,
    known: Box<[AtomicU8]>,
}

/// What an order at a close comes to, if the wallet covers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    kind: Kind,
    opening: Opening,
    known_at: Millis,
}

/// Three bits of a table's byte; 0 is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Won = 1,
    Lost = 2,
    Draw = 3,
    Cancelled = 4,
    StaysOpen = 5,
    NoPrice = 6,
}

const BITS: u32 = 3;
const MASK: u8 = 0b111;

/// What three bits say. Looked up, because how a trade ends is what no processor can guess where it has to jump.
const KINDS: [Option<Kind>; 8] = [
    None,
    Some(Kind::Won),
    Some(Kind::Lost),
    Some(Kind::Draw),
    Some(Kind::Cancelled),
    Some(Kind::StaysOpen),
    Some(Kind::NoPrice),
    None,
];

/// How what a kind says ends, by its bits.
const OUTCOMES: [Option<Outcome>; 8] = [
    None,
    Some(Outcome::Won),
    Some(Outcome::Lost),
    Some(Outcome::Draw),
    Some(Outcome::Cancelled),
    None,
    None,
    None,
];

impl FateTable {
    /// The table of orders that a bot on `candles` decides and `market` prices. `None` where an order's latency
    /// depends on its number, so that runs do not share what becomes of it.
    ///
    /// # Errors
    /// As [`PricePath::new`].
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
        let known = candles.candles().iter().map(|_| AtomicU8::new(0)).collect();
        let steady = steady(expiry, candles, settings);
        Ok(Some(Self { path, settings: settings.clone(), expiry, steady, known }))
    }

    /// Of which expiry it is.
    pub const fn expiry(&self) -> Expiry {
        self.expiry
    }

    /// What becomes of an order in this direction that is decided at the close of the candle with this index, which is
    /// `close`.
    #[inline]
    pub fn foresee(&self, (index, close): (usize, Millis), direction: Direction) -> Option<Foreseen> {
        let kind = self.kind((index, close), direction)?;
        let (open_time, close_time) = self.moments(close);
        // The prices are what a search does not ask for; without them a candle takes a byte.
        let opening =
            Opening { open_time, open_price: None, close_time, payout: self.settings.payout_percent };
        let known_at = close_time + self.settings.settle_delay_ms;
        Some(Foreseen { kind, opening, known_at })
    }

    /// How such an order ends, and when its settlement becomes known; `None` for what does not settle.
    #[inline]
    pub fn end(&self, (index, close): (usize, Millis), direction: Direction) -> Option<(Outcome, Millis)> {
        let outcome = self.kind((index, close), direction)?.outcome()?;
        Some((outcome, self.moments(close).1 + self.settings.settle_delay_ms))
    }

    /// When the venue's answer to an order arrives that is decided at `close`.
    #[inline]
    pub fn answered_at(&self, close: Millis) -> Millis {
        close + self.settings.latency_ms
    }

    #[inline]
    fn kind(&self, (index, close): (usize, Millis), direction: Direction) -> Option<Kind> {
        let known = self.known.get(index)?;
        let shift = match direction {
            Direction::Buy => 0,
            Direction::Sell => BITS,
        };
        let bits = known.load(Ordering::Relaxed) >> shift & MASK;
        Some(Kind::from_bits(bits).unwrap_or_else(|| self.work_out(known, direction, close, shift)))
    }

    /// When a trade that is decided at `close` opens and closes.
    #[inline]
    fn moments(&self, close: Millis) -> (Millis, Millis) {
        match self.steady {
            Some((opens, closes)) => (close + opens, close + closes),
            None => self.own_moments(close),
        }
    }

    #[inline(never)]
    fn own_moments(&self, close: Millis) -> (Millis, Millis) {
        let moments = Moments::of(self.expiry, self.answered_at(close), &self.settings);
        (moments.open_time, moments.close_time)
    }

    #[cold]
    fn work_out(&self, known: &AtomicU8, direction: Direction, close: Millis, shift: u32) -> Kind {
        let order = Order {
            number: 0,
            symbol: self.path.symbol(),
            direction,
            stake: Money::from_minor(1),
            expiry: self.expiry,
            time: close,
        };
        let kind = match Fate::of(&order, self.answered_at(close), &self.path, &self.settings) {
            Fate::Refused(_) => Kind::NoPrice,
            Fate::StaysOpen(_) => Kind::StaysOpen,
            Fate::Settles(_, trade) => match trade.outcome {
                Outcome::Won => Kind::Won,
                Outcome::Lost => Kind::Lost,
                Outcome::Draw => Kind::Draw,
                Outcome::Cancelled => Kind::Cancelled,
            },
        };
        known.fetch_or((kind as u8) << shift, Ordering::Relaxed);
        kind
    }

    /// The symbol whose orders these are.
    pub fn symbol(&self) -> Symbol {
        self.path.symbol()
    }
}

impl Kind {
    #[inline]
    fn from_bits(bits: u8) -> Option<Self> {
        KINDS[usize::from(bits & MASK)]
    }

    /// `None` for what does not settle.
    #[inline]
    const fn outcome(self) -> Option<Outcome> {
        OUTCOMES[self as usize]
    }
}

/// An order of a fixed duration lasts as long wherever it is decided, when all closes stand alike in their seconds.
fn steady(expiry: Expiry, candles: &CandleSeries, settings: &SimulationSettings) -> Option<(Millis, Millis)> {
    match expiry.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => {}
        ExpirationType::CandleClose | ExpirationType::NextCandle => return None,
    }
    let length = candles.interval().length();
    let first = candles.candles().first()?.time() + length;
    let is_alike = |candle: &Candle| (candle.time() + length - first).is_aligned_to(Millis::SECOND);
    let moments = Moments::of(expiry, first + settings.latency_ms, settings);
    let after = (moments.open_time - first, moments.close_time - first);
    candles.candles().iter().all(is_alike).then_some(after)
}

impl Foreseen {
    /// When the trade opens and how it closes, as the answer tells it.
    #[inline]
    pub const fn opening(&self) -> &Opening {
        &self.opening
    }

    /// When its settlement becomes known.
    #[inline]
    pub const fn known_at(&self) -> Millis {
        self.known_at
    }

    /// The fate of an order with this number and stake.
    pub(crate) fn fate(&self, number: u64, stake: Money) -> Fate {
        let opening = self.opening;
        let Some(outcome) = self.kind.outcome() else {
            return match self.kind {
                Kind::NoPrice => Fate::Refused(Refusal::NoPrice),
                _ => Fate::StaysOpen(opening),
            };
        };
        let trade = SettledTrade {
            number,
            known_at: self.known_at,
            outcome,
            profit: profit_of(outcome, stake, opening.payout),
            open_price: None,
            close_price: None,
            open_time: opening.open_time,
            close_time: opening.close_time,
        };
        Fate::Settles(opening, trade)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, AnswerKind, RecordedLatency, Simulator, VenueEvent};
    use candlewick_sdk::{Interval, Ohlcv, Series};

    /// Two hours of minutes that go up and down, some of them missing, some of them flat.
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
        let table = FateTable::new(settings, market(), &candles, expiry).unwrap().unwrap();
        let balance = Money::from_minor(100_000);
        // Twice, since the second time nothing is worked out.
        for (index, candle) in
            candles.candles().iter().enumerate().chain(candles.candles().iter().enumerate())
        {
            for direction in [Direction::Buy, Direction::Sell] {
                let order = Order {
                    number: 7,
                    symbol: candles.symbol(),
                    direction,
                    stake: Money::from_minor(1_000),
                    expiry,
                    time: candle.close_time(Interval::MINUTE),
                };
                let mut own = Simulator::new(settings.clone(), balance, vec![market()]).unwrap();
                own.submit(&order);
                let mut other = Simulator::new(settings.clone(), balance, Vec::new()).unwrap();
                let foreseen = table.foresee((index, order.time), direction).unwrap();
                let answer = other.submit_foreseen(&order, &foreseen);
                check_at_once(settings, (&table, index, &order), (&answer, &mut other.clone()));
                let told = |venue: &mut Simulator| {
                    let mut events: Vec<VenueEvent> =
                        std::iter::from_fn(|| venue.pop_due(Millis::MAX)).collect();
                    for event in &mut events {
                        match event {
                            VenueEvent::Settled(trade) => {
                                (trade.open_price, trade.close_price) = (None, None);
                            }
                            VenueEvent::Answered(answer) => {
                                if let AnswerKind::Opened(opening) = &mut answer.kind {
                                    opening.open_price = None;
                                }
                            }
                        }
                    }
                    (events, venue.balance(), venue.unsettled().to_vec())
                };
                assert_eq!(told(&mut other), told(&mut own), "{order:?}");
            }
        }
        assert_eq!(table.foresee((candles.candles().len(), candles.end()), Direction::Buy), None);
    }

    /// Bringing an order to its end at once is to hear what the venue tells of it.
    fn check_at_once(
        settings: &SimulationSettings,
        (table, index, order): (&FateTable, usize, &Order),
        (answer, told): (&Answer, &mut Simulator),
    ) {
        let foreseen = table.foresee((index, order.time), order.direction).unwrap();
        let mut venue = Simulator::new(settings.clone(), told.balance(), Vec::new()).unwrap();
        let end = table.end((index, order.time), order.direction);
        let at_once =
            end.and_then(|(outcome, _)| Some((outcome, venue.settle_at_once(order.stake, outcome)?)));
        let events: Vec<VenueEvent> = std::iter::from_fn(|| told.pop_due(Millis::MAX)).collect();
        assert_eq!(table.answered_at(order.time), answer.at);
        match &events[..] {
            [VenueEvent::Answered(answer), VenueEvent::Settled(trade)] => {
                assert_eq!(answer.kind, AnswerKind::Opened(*foreseen.opening()));
                assert_eq!(at_once, Some((trade.outcome, trade.profit)));
                let opening = foreseen.opening();
                assert_eq!((opening.open_time, opening.close_time), (trade.open_time, trade.close_time));
                assert_eq!((foreseen.known_at(), end.unwrap().1), (trade.known_at, trade.known_at));
            }
            _ => assert_eq!(at_once, None, "{events:?}"),
        }
        if at_once.is_some() {
            assert_eq!(venue.balance(), told.balance());
        }
    }

    #[test]
    fn a_foreseen_order_ends_as_one_that_is_worked_out() {
        let stressed =
            SimulationSettings { stress: 0.05, max_gap_intervals: 2, ..SimulationSettings::default() };
        for settings in [SimulationSettings::default(), stressed] {
            check(&settings, ExpirationType::TimeFixed, "01:00");
            check(&settings, ExpirationType::TimeFixed, "05:00");
            check(&settings, ExpirationType::CandleClose, "03:00");
            check(&settings, ExpirationType::NextCandle, "02:00");
        }
    }

    #[test]
    fn an_order_that_the_wallet_does_not_cover_is_refused() {
        let settings = SimulationSettings::default();
        let expiry =
            Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed };
        let table = FateTable::new(&settings, market(), &market().prices, expiry).unwrap().unwrap();
        let mut venue = Simulator::new(settings, Money::from_minor(10), Vec::new()).unwrap();
        let stake = Money::from_minor(1_000);
        let order = Order {
            number: 1,
            symbol: table.symbol(),
            direction: Direction::Buy,
            stake,
            expiry,
            time: Millis::MINUTE,
        };
        let answer = venue.submit_foreseen(&order, &table.foresee((0, order.time), Direction::Buy).unwrap());
        assert_eq!(answer.kind, AnswerKind::Refused(Refusal::InsufficientBalance));
    }

    #[test]
    fn latencies_that_depend_on_the_order_are_not_shared() {
        let samples_ms = [("BTCUSDT".parse().unwrap(), vec![Millis::new(100), Millis::new(900)])].into();
        let recorded = RecordedLatency { seed: 1, samples_ms };
        let settings =
            SimulationSettings { recorded_latency: Some(recorded), ..SimulationSettings::default() };
        let expiry =
            Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed };
        assert!(FateTable::new(&settings, market(), &market().prices, expiry).unwrap().is_none());
    }
}

//! Paper trading: simulates trades locally with the real prices of a venue.

use async_trait::async_trait;
use candlewick_broker::clock::Clock;
use candlewick_broker::{
    Account, AsOf, Balances, Broker, BrokerError, DetailLevel, Identity, MarketData, OpenOutcome,
    PriceAnswer, Reply, ReportedValue, TradeListing, TradeOrder, TradeProgress, TradeReport,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{CloseType, Direction, ExpirationType, Expiry, Millis, Outcome, Symbol};
use candlewick_simulator::{PriceMoment, SimulationSettings, TradeTimes, trade_outcome};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

const MAX_PRICE_AGE: Millis = Millis::from_seconds(5);

/// Broker for paper trading. The id of each trade encodes the trade's complete state.
pub struct PaperBroker {
    market: Arc<dyn MarketData>,
    clock: Arc<dyn Clock>,
    settings: SimulationSettings,
    balance: Decimal,
    opened: Mutex<Vec<Ticket>>,
}

impl PaperBroker {
    pub fn new(
        market: Arc<dyn MarketData>,
        clock: Arc<dyn Clock>,
        settings: SimulationSettings,
        balance: Decimal,
    ) -> Self {
        Self { market, clock, settings, balance, opened: Mutex::default() }
    }

    fn reply<T>(&self, value: T) -> Reply<T> {
        Reply::without_latency(value, self.clock.now())
    }

    fn trade_times(&self, ticket: &Ticket) -> TradeTimes {
        let expiry = Expiry { close_type: ticket.close_type, expiration_type: ticket.expiration_type };
        TradeTimes::new(expiry, ticket.arrival, &self.settings)
    }

    /// Returns the price at a moment. `None` if the venue's latest price record is too old.
    async fn price_at(&self, symbol: &Symbol, moment: PriceMoment) -> Result<Option<f64>, BrokerError> {
        let (second, is_open) = match moment {
            PriceMoment::Entry(at) => (at.floor_to(Millis::SECOND), at.is_aligned_to(Millis::SECOND)),
            PriceMoment::SecondEntry(at) | PriceMoment::Exit(at) => {
                ((at - Millis::new(1)).floor_to(Millis::SECOND), false)
            }
        };
        let PriceAnswer::Record(record) = self.market.price(symbol, AsOf::Moment(second)).await?.value else {
            return Err(BrokerError::Unavailable {
                text: "the price at the requested second is not available yet".to_owned(),
            });
        };
        let price = if is_open && record.time == second { record.prices.open } else { record.prices.close };
        Ok((second - record.time <= MAX_PRICE_AGE && price > 0.0).then_some(price))
    }

    async fn settle(&self, ticket: &Ticket) -> Result<TradeReport, BrokerError> {
        let moments = self.trade_times(ticket);
        let report = self.trade_report(ticket, &moments);
        if self.clock.now() < moments.close_time + self.settings.settle_delay_ms {
            return Ok(report);
        }
        let entry = self.price_at(&ticket.symbol, moments.entry).await?;
        let exit = self.price_at(&ticket.symbol, moments.exit).await?;
        let outcome = match (entry, exit) {
            (Some(entry), Some(exit)) => trade_outcome(ticket.direction, entry, exit, self.settings.draw),
            _ => Outcome::Cancelled,
        };
        Ok(TradeReport {
            progress: TradeProgress::Over(outcome),
            open_price: entry,
            close_price: exit,
            ..report
        })
    }

    fn trade_report(&self, ticket: &Ticket, moments: &TradeTimes) -> TradeReport {
        TradeReport {
            symbol: Some(ticket.symbol.to_string()),
            direction: Some(ReportedValue::Known(ticket.direction)),
            payout: Some(self.settings.payout_of(ticket.symbol)),
            request_time: Some(ticket.arrival),
            open_time: Some(moments.open_time),
            close_time: Some(moments.close_time),
            account: Some(Account::Demo),
            ..TradeReport::new(ticket.to_string())
        }
    }

    fn open_tickets(&self) -> Vec<Ticket> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Broker for PaperBroker {
    async fn open(&self, order: &TradeOrder, leave_by: Millis) -> OpenOutcome {
        let now = self.clock.now();
        if now > leave_by {
            return OpenOutcome::NotSent { reason: format!("{} ms too late", (now - leave_by).get()) };
        }
        let ticket = Ticket {
            symbol: order.symbol,
            direction: order.direction,
            close_type: order.close_type,
            expiration_type: order.expiration_type,
            arrival: now + self.settings.latency_ms,
        };
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(ticket);
        let moments = self.trade_times(&ticket);
        OpenOutcome::Opened(self.reply(Box::new(self.trade_report(&ticket, &moments))))
    }

    async fn trade(&self, id: &str, _detail: DetailLevel) -> Result<Reply<TradeReport>, BrokerError> {
        let ticket = id
            .parse::<Ticket>()
            .map_err(|_| BrokerError::NotFound { text: format!("no paper trade {id}") })?;
        Ok(self.reply(self.settle(&ticket).await?))
    }

    /// Returns the trades that this process has opened. Earlier trades exist only as ids in the journal.
    async fn trades(&self) -> TradeListing {
        let now = self.clock.now();
        let report = |ticket: &Ticket| self.trade_report(ticket, &self.trade_times(ticket));
        let trades = self.open_tickets().iter().map(report).collect();
        TradeListing { began: now, ended: now, is_complete: true, trades, end_error: None }
    }

    async fn balances(&self) -> Result<Reply<Balances>, BrokerError> {
        Ok(self.reply(Balances { demo: Some(self.balance), real: None, ..Balances::default() }))
    }

    async fn identity(&self) -> Result<Reply<Identity>, BrokerError> {
        Ok(self.reply(Identity { user: "paper".to_owned(), restrictions: Vec::new() }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) symbol: Symbol,
    pub(super) direction: Direction,
    pub(super) close_type: CloseType,
    pub(super) expiration_type: ExpirationType,
    pub(super) arrival: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidTicket;

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Buy => 'b',
            Direction::Sell => 's',
        };
        let kind = match self.expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed => 'f',
            ExpirationType::CandleClose => 'c',
            ExpirationType::NextCandle => 'n',
        };
        // Hexadecimal numbers are shorter. The longest id must fit into the 63 bytes that the journal stores.
        let seconds = self.close_type.duration().get() / 1_000;
        write!(f, "p{direction}{kind}{seconds:x}.{:x}.{}", self.arrival.get(), self.symbol)
    }
}

impl FromStr for Ticket {
    type Err = InvalidTicket;

    fn from_str(text: &str) -> Result<Self, InvalidTicket> {
        let rest = text.strip_prefix('p').ok_or(InvalidTicket)?;
        let direction = match rest.get(..1) {
            Some("b") => Direction::Buy,
            Some("s") => Direction::Sell,
            _ => return Err(InvalidTicket),
        };
        let expiration_type = match rest.get(1..2) {
            Some("f") => ExpirationType::TimeFixed,
            Some("c") => ExpirationType::CandleClose,
            Some("n") => ExpirationType::NextCandle,
            _ => return Err(InvalidTicket),
        };
        let mut parts = rest.get(2..).unwrap_or_default().splitn(3, '.');
        let mut number = || i64::from_str_radix(parts.next()?, 16).ok();
        let seconds = number().ok_or(InvalidTicket)?;
        let arrival = number().ok_or(InvalidTicket)?;
        let symbol = parts.next().ok_or(InvalidTicket)?.parse().map_err(|_| InvalidTicket)?;
        let close_type = CloseType::new(Millis::from_seconds(seconds)).map_err(|_| InvalidTicket)?;
        Ok(Self { symbol, direction, close_type, expiration_type, arrival: Millis::new(arrival) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_round_trips_and_fits_an_id() {
        for (symbol, close_type, expiration_type) in [
            ("BTCUSDT", "00:05", ExpirationType::TimeFixed),
            ("A.B C.OTC", "24:00:00", ExpirationType::CandleClose),
            ("EXACTLY-THIRTY-ONE-BYTES-SYMBOL", "1:00:00", ExpirationType::NextCandle),
        ] {
            let ticket = Ticket {
                symbol: symbol.parse().unwrap(),
                direction: Direction::Sell,
                close_type: close_type.parse().unwrap(),
                expiration_type,
                arrival: Millis::new(1_795_176_000_999),
            };
            let text = ticket.to_string();
            assert_eq!(text.parse(), Ok(ticket), "{text}");
            assert!(text.len() <= 52, "{text} has {} bytes", text.len());
        }
    }

    #[test]
    fn rejects_invalid_tickets() {
        for text in
            ["", "p", "pxf1.2.A", "pbf1.2", "pbfz.2.A", "pbf0.2.A", "01KE60F1KJQNJN26HJFP5WRFZE", "pé"]
        {
            assert_eq!(text.parse::<Ticket>(), Err(InvalidTicket), "{text:?}");
        }
    }
}

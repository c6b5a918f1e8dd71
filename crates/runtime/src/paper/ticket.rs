//! Id of a paper trade, which contains its whole state.

use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis, Symbol};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) symbol: Symbol,
    pub(super) direction: Direction,
    pub(super) close_type: CloseType,
    pub(super) expiration_type: ExpirationType,
    pub(super) arrival: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoTicket;

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
        // Hexadecimal keeps the longest within the 63 bytes that the journal keeps.
        let seconds = self.close_type.duration().get() / 1_000;
        write!(f, "p{direction}{kind}{seconds:x}.{:x}.{}", self.arrival.get(), self.symbol)
    }
}

impl FromStr for Ticket {
    type Err = NoTicket;

    fn from_str(text: &str) -> Result<Self, NoTicket> {
        let rest = text.strip_prefix('p').ok_or(NoTicket)?;
        let direction = match rest.get(..1) {
            Some("b") => Direction::Buy,
            Some("s") => Direction::Sell,
            _ => return Err(NoTicket),
        };
        let expiration_type = match rest.get(1..2) {
            Some("f") => ExpirationType::TimeFixed,
            Some("c") => ExpirationType::CandleClose,
            Some("n") => ExpirationType::NextCandle,
            _ => return Err(NoTicket),
        };
        let mut parts = rest.get(2..).unwrap_or_default().splitn(3, '.');
        let mut number = || i64::from_str_radix(parts.next()?, 16).ok();
        let seconds = number().ok_or(NoTicket)?;
        let arrival = number().ok_or(NoTicket)?;
        let symbol = parts.next().ok_or(NoTicket)?.parse().map_err(|_| NoTicket)?;
        let close_type = CloseType::new(Millis::from_seconds(seconds)).map_err(|_| NoTicket)?;
        Ok(Self { symbol, direction, close_type, expiration_type, arrival: Millis::new(arrival) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_survives_its_text_and_fits_an_identifier() {
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
    fn other_texts_are_no_tickets() {
        for text in
            ["", "p", "pxf1.2.A", "pbf1.2", "pbfz.2.A", "pbf0.2.A", "01KE60F1KJQNJN26HJFP5WRFZE", "pé"]
        {
            assert_eq!(text.parse::<Ticket>(), Err(NoTicket), "{text:?}");
        }
    }
}

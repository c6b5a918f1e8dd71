//! A trade book in a form that can be kept and read back, to the bit.

use crate::book::Told;
use crate::reasons::Reasons;
use crate::{Approved, BotId, IntentId, IntentRow, IntentState, SymbolId, TradeBook};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Payout, Reason};
use serde::{Deserialize, Serialize};

/// The trades and counts of a run that no venue named anything of: a backtest's. Texts and expiries, of which there are
/// few, stand in lists of their own.
#[derive(Debug, Serialize, Deserialize)]
pub struct BookRecord {
    texts: Vec<String>,
    expiries: Vec<Expiry>,
    rows: Vec<RowRecord>,
    refused: Vec<u64>,
    no_price: u64,
    rejected: u64,
    not_sent: u64,
    news: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct RowRecord {
    intent: IntentId,
    bot: BotId,
    symbol: SymbolId,
    direction: Direction,
    /// Its place in the list.
    expiry: u32,
    stake: Money,
    decision_time: Millis,
    /// Its place in the list of texts.
    reason: u32,
    /// Names, by their places in the list of texts.
    numbers: Vec<(u32, f64)>,
    state: IntentState,
    answered_at: Option<Millis>,
    open_time: Option<Millis>,
    open_price: Option<f64>,
    close_time: Option<Millis>,
    close_price: Option<f64>,
    /// In the smallest parts.
    payout: Option<u32>,
    outcome: Option<Outcome>,
    profit: Money,
    settled_at: Option<Millis>,
    /// Decided, answered, left out, settled.
    places: [u32; 4],
    answered_payout: Option<u32>,
    settled_payout: Option<u32>,
}

impl TradeBook {
    /// All of it; nothing of a book with names that a venue gave, which no record has room for.
    pub fn to_record(&self) -> Option<BookRecord> {
        let Self { rows, refused, no_price, rejected, not_sent, news, reasons, venue_ids } = self;
        if !venue_ids.is_empty() {
            return None;
        }
        let (mut texts, mut expiries) = (Vec::new(), Vec::new());
        let record = |row: &IntentRow| RowRecord::of(row, &reasons.at(row.reason), &mut texts, &mut expiries);
        let rows = rows.iter().map(record).collect::<Option<Vec<_>>>()?;
        Some(BookRecord {
            texts: texts.into_iter().map(str::to_owned).collect(),
            expiries,
            rows,
            refused: refused.to_vec(),
            no_price: *no_price,
            rejected: *rejected,
            not_sent: *not_sent,
            news: *news,
        })
    }

    /// The book that was recorded so; its trades are remembered, and nothing opens them again. None of what is no record.
    pub fn from_record(record: BookRecord) -> Option<Self> {
        // For the life of the program: a reason holds a fixed text. Strategies have few.
        let keep = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let texts: Vec<&'static str> = record.texts.into_iter().map(keep).collect();
        let mut reasons = Reasons::default();
        let rows = record.rows.iter().map(|row| row.to_row(&texts, &record.expiries, &mut reasons));
        Some(Self {
            rows: rows.collect::<Option<Vec<_>>>()?,
            reasons,
            venue_ids: Vec::new(),
            refused: record.refused.try_into().ok()?,
            no_price: record.no_price,
            rejected: record.rejected,
            not_sent: record.not_sent,
            news: record.news,
        })
    }
}

impl RowRecord {
    fn of(
        row: &IntentRow,
        reason: &Reason,
        texts: &mut Vec<&'static str>,
        expiries: &mut Vec<Expiry>,
    ) -> Option<Self> {
        let IntentRow { approved, told, .. } = row;
        let mut named = |(name, value): &(&'static str, f64)| Some((place_in(texts, *name)?, *value));
        let numbers = reason.numbers().iter().map(&mut named).collect::<Option<Vec<_>>>()?;
        let parts = |payout: Option<Payout>| payout.map(Payout::parts);
        Some(Self {
            intent: approved.intent(),
            bot: approved.bot(),
            symbol: approved.symbol(),
            direction: approved.direction(),
            expiry: place_in(expiries, approved.expiry())?,
            stake: approved.stake(),
            decision_time: approved.decision_time(),
            reason: place_in(texts, reason.text())?,
            numbers,
            state: row.state,
            answered_at: row.answered_at,
            open_time: row.open_time,
            open_price: row.open_price,
            close_time: row.close_time,
            close_price: row.close_price,
            payout: parts(row.payout),
            outcome: row.outcome,
            profit: row.profit,
            settled_at: row.settled_at,
            places: [told.decided, told.answered, told.left_out, told.settled],
            answered_payout: parts(told.answered_payout),
            settled_payout: parts(told.settled_payout),
        })
    }

    fn to_row(
        &self,
        texts: &[&'static str],
        expiries: &[Expiry],
        reasons: &mut Reasons,
    ) -> Option<IntentRow> {
        let text = |place: u32| texts.get(place as usize).copied();
        let expiry = *expiries.get(self.expiry as usize)?;
        let reason =
            self.numbers.iter().try_fold(Reason::new(text(self.reason)?), |reason, (name, value)| {
                Some(reason.with(text(*name)?, *value))
            })?;
        let payout = |parts: Option<u32>| parts.and_then(Payout::from_parts);
        let [decided, answered, left_out, settled] = self.places;
        let (answered_payout, settled_payout) = (payout(self.answered_payout), payout(self.settled_payout));
        let approved = Approved::recorded(
            self.intent,
            (self.bot, self.symbol),
            (self.direction, expiry, self.stake),
            self.decision_time,
            reason,
        );
        Some(IntentRow {
            approved: *approved.terms(),
            reason: reasons.put(&reason),
            venue_id: None,
            state: self.state,
            answered_at: self.answered_at,
            open_time: self.open_time,
            open_price: self.open_price,
            close_time: self.close_time,
            close_price: self.close_price,
            payout: payout(self.payout),
            outcome: self.outcome,
            profit: self.profit,
            settled_at: self.settled_at,
            told: Told { decided, answered, left_out, settled, answered_payout, settled_payout },
        })
    }
}

/// The place of a value in a list, at whose end it is put if it is new.
fn place_in<T: PartialEq>(list: &mut Vec<T>, value: T) -> Option<u32> {
    let place = list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    });
    u32::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Event, EventKind, Opened, Refused, Rejection, Rule, Settled, VenueId};
    use candlewick_sdk::ExpirationType;

    fn approved(number: u64, reason: Reason) -> Approved {
        let expiration_type =
            if number.is_multiple_of(2) { ExpirationType::CandleClose } else { ExpirationType::Unstated };
        let expiry = Expiry { close_type: "05:00".parse().unwrap(), expiration_type };
        let terms = (Direction::Sell, expiry, Money::from_minor(1_050));
        let place = (BotId::FIRST, SymbolId::FIRST);
        Approved::recorded(IntentId::new(number), place, terms, Millis::new(60_000), reason)
    }

    /// A trade that is settled, one that is refused, one that is not sent and one that is under way.
    fn book(venue_id: Option<VenueId>) -> TradeBook {
        let mut book = TradeBook::default();
        let reason = Reason::new("low").with("rsi", 29.0 + 1e-14).with("level", -0.0).with("odd", f64::NAN);
        (1..=4).for_each(|number| book.record_action(&Action::Open(approved(number, reason))));
        let refused = Refused {
            bot: BotId::FIRST,
            decision_time: Millis::ZERO,
            direction: Direction::Buy,
            rule: Rule::Cooldown,
            reason,
        };
        book.record_action(&Action::Refuse(refused));
        let mut tell = |at: i64, kind| {
            book.record_event(&Event { at: Millis::new(at), received: Millis::new(at), kind });
        };
        let intent = IntentId::new;
        let (open_time, open_price) = (Some(Millis::new(7)), Some(0.1 + 0.2));
        let (close_time, payout) = (Some(Millis::new(9)), Payout::from_parts(875_000));
        let opened = Opened { intent: intent(1), venue_id, open_time, open_price, close_time, payout };
        tell(62_000, EventKind::Opened(opened));
        tell(
            90_000,
            EventKind::Settled(Settled {
                intent: intent(1),
                outcome: Outcome::Won,
                profit: Money::from_minor(-5),
                open_time: None,
                open_price: None,
                close_time: None,
                close_price: Some(1.0 / 3.0),
                payout: None,
            }),
        );
        tell(62_000, EventKind::Rejected { intent: intent(2), rejection: Rejection::NoPrice });
        tell(62_000, EventKind::NotSent { intent: intent(3) });
        book
    }

    #[test]
    fn a_book_is_read_back_to_the_bit() {
        let book = book(None);
        let record = book.to_record().unwrap();
        // As text, so that numbers that are none compare, too.
        let text = |book: &TradeBook| format!("{book:?}");
        let read = TradeBook::from_record(record).unwrap();
        assert_eq!(text(&read), text(&book));
        assert!(text(&read).contains("-0.0") && text(&read).contains("29.00000000000001"), "{read:?}");
    }

    #[test]
    fn a_book_with_names_of_a_venue_is_not_recorded() {
        assert!(book(VenueId::new("v1")).to_record().is_none());
    }

    #[test]
    fn what_is_no_record_is_no_book() {
        let mut no_text = book(None).to_record().unwrap();
        no_text.texts.clear();
        let mut no_expiry = book(None).to_record().unwrap();
        no_expiry.expiries.clear();
        let mut no_rules = book(None).to_record().unwrap();
        no_rules.refused.pop();
        for broken in [no_text, no_expiry, no_rules] {
            assert!(TradeBook::from_record(broken).is_none());
        }
    }
}

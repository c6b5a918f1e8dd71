//! The lean drive of a Session: candidates and settlements where they are declared, else every candle, and no book.

use super::closes::Closes;
use super::marks::{Marks, Tests};
use super::tally::Tally;
use crate::translation::{to_opened, to_rejection, to_settled};
use candlewick_engine::{
    Action, Approved, BotId, Event, EventKind, IntentId, SeriesId, Session, Settled, Telling,
};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Payout, Signal, Symbol};
use candlewick_simulator::{
    AnswerKind, FateTable, Foreseen, Opening, Order, SettledTrade, Simulator, VenueEvent,
};
use std::sync::Arc;

/// A settled trade of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialTrade {
    /// The number of its intent.
    pub number: u64,
    /// The bet.
    pub direction: Direction,
    /// How it ends.
    pub expiry: Expiry,
    /// What was bet.
    pub stake: Money,
    /// When it was decided.
    pub decision_time: Millis,
    /// When it opened.
    pub open_time: Millis,
    /// When it closed.
    pub close_time: Millis,
    /// When its settlement became known.
    pub settled_at: Millis,
    /// How it ended.
    pub outcome: Outcome,
    /// Net.
    pub profit: Money,
}

/// An entry of a declaration, ready to be asked.
pub(crate) struct PlannedEntry {
    pub(crate) tests: Tests,
    pub(crate) signal: Signal,
}

/// Candles that are shown to a strategy at once.
const FEW: usize = 256;

/// One trial, under way.
pub(crate) struct Walk<'a> {
    pub(crate) session: Session,
    pub(crate) venue: Simulator,
    pub(crate) tally: Tally,
    /// The candles of the only bot.
    pub(crate) closes: Closes<'a>,
    pub(crate) symbol: Symbol,
    pub(crate) payout: Payout,
    /// What becomes of orders, where that is shared.
    pub(crate) fates: Vec<Arc<FateTable>>,
    /// What was approved and has not ended.
    pub(crate) pending: Vec<Order>,
    /// Whether no trade may be opened beside a single one, once that was asked.
    pub(crate) is_one_enough: Option<bool>,
    /// The settled trades, where somebody wants them one by one.
    pub(crate) trades: Option<&'a mut Vec<TrialTrade>>,
    pub(crate) actions: Vec<Action>,
}

impl Walk<'_> {
    /// Goes from one marked candle to the next that may be approved.
    pub(crate) fn run_declared(mut self, entries: &[PlannedEntry], marks: &Marks) -> Tally {
        let mut cursor = 0;
        let mut opened = 0;
        while let Some(index) = marks.next(cursor) {
            cursor = index + 1;
            let close = self.closes.at(index);
            self.hear_venue(close);
            let entry = entries.iter().find(|entry| entry.tests.iter().all(|test| test.has(index)));
            let Some(entry) = entry else { continue };
            cursor = match self.session.answer_candidate(BotId::FIRST, close, &entry.signal) {
                Ok(approved) => {
                    opened += 1;
                    self.open(&approved, index, Telling::Nobody)
                }
                Err(_) => self.refused_until(cursor, close),
            };
        }
        // Every candidate was refused, by a rule or for certain, unless it was approved.
        self.tally.refused += marks.count(0..self.closes.candles().len()) - opened;
        self.end()
    }

    /// Shows every candle to the strategy.
    pub(crate) fn run_candles(mut self) -> Tally {
        let (mut cursor, mut actions) = (0, Vec::with_capacity(4));
        let candles = self.closes.candles();
        while cursor < candles.len() {
            self.hear_venue(self.closes.at(cursor));
            // Few at a time: the Session looks for what time alone brings about among them, and sees at once that it is not
            // before the last.
            let end = (cursor / FEW + 1) * FEW;
            let end = match self.venue.next_due() {
                Some(due) => end.min(self.closes.first_from(cursor, due).max(cursor + 1)),
                None => end,
            };
            let end = end.min(candles.len());
            cursor += self.session.handle_candles(SeriesId::FIRST, &candles[cursor..end], &mut actions);
            let last = cursor - 1;
            for action in actions.drain(..) {
                match action {
                    Action::DayOpened { .. } | Action::Verdict(_) => {}
                    Action::Refuse(_) => {
                        self.tally.refused += 1;
                        let end = self.refused_until(cursor, self.closes.at(last));
                        self.pass_refused(cursor, end);
                        cursor = end;
                    }
                    Action::Open(approved) => {
                        cursor = self.open(&approved, last, Telling::Strategy);
                    }
                }
            }
        }
        self.end()
    }

    /// Shows candles to the strategy that is certain to be refused.
    fn pass_refused(&mut self, from: usize, until: usize) {
        if let Some(candles) = self.closes.candles().get(from..until).filter(|candles| !candles.is_empty()) {
            self.tally.refused += self.session.pass_refused(SeriesId::FIRST, candles);
        }
    }

    /// The first candle from `cursor` on whose signal may be approved, for all that is known at `now`.
    #[inline]
    fn refused_until(&mut self, cursor: usize, now: Millis) -> usize {
        let until = self.session.refuses_until(BotId::FIRST, now);
        if until <= now {
            return cursor;
        }
        self.closes.first_from(cursor, until.min(self.venue.next_due().unwrap_or(Millis::MAX)))
    }

    fn end(mut self) -> Tally {
        self.hear_venue(Millis::MAX);
        self.tally
    }

    /// Opens what was approved at the candle with this index; the first candle after it whose signal may be approved.
    /// A strategy that is told anything is shown the candles that are passed over.
    #[inline]
    fn open(&mut self, approved: &Approved, index: usize, telling: Telling) -> usize {
        self.tally.open();
        let (time, expiry) = (approved.decision_time(), approved.expiry());
        let table = self.fates.iter().find(|table| table.expiry() == expiry);
        let foreseen = table.and_then(|table| table.foresee((index, time), approved.direction()));
        // Nearly always no other may be open beside it, so that nothing happens before it ends.
        if let Some(foreseen) = &foreseen
            && self.is_full()
            && let Some((outcome, profit)) = self.venue.settle_foreseen(approved.stake(), foreseen)
        {
            let end = self.closes.first_from(index + 1, foreseen.known_at());
            if telling == Telling::Strategy {
                self.pass_refused(index + 1, end);
            }
            let opened = to_opened(approved.intent(), foreseen.opening());
            let Opening { open_time, close_time, .. } = *foreseen.opening();
            let settled = Settled {
                intent: approved.intent(),
                outcome,
                profit,
                open_time: Some(open_time),
                open_price: None,
                close_time: Some(close_time),
                close_price: None,
                payout: Some(self.payout),
            };
            self.tally.settle((time, foreseen.known_at()), outcome, (approved.stake(), profit));
            if self.trades.is_some() {
                self.keep_foreseen(approved, foreseen, (outcome, profit));
            }
            let (answered_at, known_at) = (foreseen.answered_at(), foreseen.known_at());
            self.session.hear_trade((&opened, answered_at), (&settled, known_at), telling);
            return end;
        }
        self.submit(approved, foreseen.as_ref());
        let end = self.refused_until(index + 1, time);
        if telling == Telling::Strategy {
            self.pass_refused(index + 1, end);
        }
        end
    }

    /// Whether no trade may be opened beside the one that was just approved. Of one that is alone it is asked once.
    #[inline]
    fn is_full(&mut self) -> bool {
        match self.is_one_enough {
            Some(is_one_enough) if self.pending.is_empty() => is_one_enough,
            _ => self.ask_if_full(),
        }
    }

    #[inline(never)]
    fn ask_if_full(&mut self) -> bool {
        let is_full = self.session.is_full(BotId::FIRST);
        if self.pending.is_empty() {
            self.is_one_enough = Some(is_full);
        }
        is_full
    }

    /// Sends the venue what was approved, to be heard of later.
    fn submit(&mut self, approved: &Approved, foreseen: Option<&Foreseen>) {
        let order = Order {
            number: approved.intent().number(),
            symbol: self.symbol,
            direction: approved.direction(),
            stake: approved.stake(),
            expiry: approved.expiry(),
            time: approved.decision_time(),
        };
        match foreseen {
            Some(foreseen) => self.venue.submit_foreseen(&order, foreseen),
            None => self.venue.submit(&order),
        };
        self.pending.push(order);
    }

    /// Keeps a trade that was brought to its end at once.
    #[cold]
    fn keep_foreseen(&mut self, approved: &Approved, foreseen: &Foreseen, end: (Outcome, Money)) {
        if let Some(trades) = &mut self.trades {
            trades.push(TrialTrade {
                number: approved.intent().number(),
                direction: approved.direction(),
                expiry: approved.expiry(),
                stake: approved.stake(),
                decision_time: approved.decision_time(),
                open_time: foreseen.opening().open_time,
                close_time: foreseen.opening().close_time,
                settled_at: foreseen.known_at(),
                outcome: end.0,
                profit: end.1,
            });
        }
    }

    /// Hands the Session everything the venue has to say until `now`.
    #[inline]
    fn hear_venue(&mut self, now: Millis) {
        // Nearly always: nothing is under way.
        if self.venue.next_due().is_some_and(|due| due <= now) {
            self.hear_all(now);
        }
    }

    #[inline(never)]
    fn hear_all(&mut self, now: Millis) {
        while let Some(event) = self.venue.pop_due(now) {
            let event = self.translate(&event);
            self.session.handle(&event, &mut self.actions);
            self.actions.clear(); // a day may have begun, a verdict fallen; no trade follows from what the venue says
        }
    }

    fn translate(&mut self, event: &VenueEvent) -> Event {
        let (at, kind) = match event {
            VenueEvent::Answered(answer) => {
                let intent = IntentId::new(answer.number);
                let kind = match &answer.kind {
                    AnswerKind::Opened(opening) => EventKind::Opened(to_opened(intent, opening)),
                    AnswerKind::Refused(refusal) => {
                        self.tally.reject();
                        self.take_pending(answer.number);
                        EventKind::Rejected { intent, rejection: to_rejection(*refusal) }
                    }
                };
                (answer.at, kind)
            }
            VenueEvent::Settled(trade) => {
                let settled = match self.take_pending(trade.number) {
                    Some(order) => self.settle(&order, trade),
                    None => to_settled(trade, Some(self.payout)),
                };
                (trade.known_at, EventKind::Settled(settled))
            }
        };
        Event { at, received: at, kind }
    }

    /// Counts a settlement; as the Session hears it.
    fn settle(&mut self, order: &Order, trade: &SettledTrade) -> Settled {
        self.tally.settle((order.time, trade.known_at), trade.outcome, (order.stake, trade.profit));
        if let Some(trades) = &mut self.trades {
            trades.push(TrialTrade {
                number: trade.number,
                direction: order.direction,
                expiry: order.expiry,
                stake: order.stake,
                decision_time: order.time,
                open_time: trade.open_time,
                close_time: trade.close_time,
                settled_at: trade.known_at,
                outcome: trade.outcome,
                profit: trade.profit,
            });
        }
        to_settled(trade, Some(self.payout))
    }

    fn take_pending(&mut self, number: u64) -> Option<Order> {
        let place = self.pending.iter().position(|order| order.number == number)?;
        Some(self.pending.remove(place))
    }
}

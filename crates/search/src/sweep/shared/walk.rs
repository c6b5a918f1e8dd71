//! The lean drive of a Session: candidates and settlements where they are declared, else every candle, and no book.

use super::closes::Closes;
use super::marks::{Marks, Tests};
use super::tally::Tally;
use candlewick_backtest::translation::{to_opened, to_rejection, to_settled};
use candlewick_engine::{
    Action, BotId, Event, EventKind, Foretold, IntentId, OrderTerms, SeriesId, Session, Settled, Traded,
};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Payout, Signal, Symbol};
use candlewick_simulator::{AnswerKind, FateTable, Foreseen, Order, SettledTrade, Simulator, VenueEvent};
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

/// One trial, under way.
pub(crate) struct Walk<'a> {
    pub(crate) session: Session,
    pub(crate) floor: Floor<'a>,
    /// The candles of the only bot.
    pub(crate) closes: Closes<'a>,
    pub(crate) actions: Vec<Action>,
}

/// Where a trial's orders go, and what is kept of them.
pub(crate) struct Floor<'a> {
    pub(crate) venue: Simulator,
    pub(crate) tally: Tally,
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
            let floor = &mut self.floor;
            let fate = |intended: &OrderTerms| floor.foretell(index, intended);
            let answer = self.session.answer_foretold(BotId::FIRST, close, &entry.signal, fate);
            opened += u64::from(answer.is_ok());
            cursor = match answer {
                Ok(Traded::Ended { settled_at, .. }) => self.closes.first_from(cursor, settled_at),
                Ok(Traded::UnderWay(intended)) => self.open(&intended, index),
                Err(_) => self.refused_until(cursor, close),
            };
        }
        // Every candidate was refused, by a rule or for certain, unless it was approved.
        self.floor.tally.refused += marks.count(0..self.closes.candles().len()) - opened;
        self.end()
    }

    /// Shows every candle to the strategy.
    pub(crate) fn run_candles(mut self) -> Tally {
        let candles = self.closes.candles();
        let (mut cursor, mut after) = (0, None);
        while cursor < candles.len() {
            self.hear_venue(self.closes.at(cursor));
            let end = match self.floor.venue.next_due() {
                Some(due) => self.closes.first_from(cursor, due).max(cursor + 1),
                None => candles.len(),
            };
            let floor = &mut self.floor;
            let fate = |place: usize, intended: &OrderTerms| floor.foretell(cursor + place, intended);
            let told = after.as_ref().map(|(unheard, settlement)| (*unheard, settlement));
            let shown = self.session.show_foretold(SeriesId::FIRST, told, &candles[cursor..end], fate);
            cursor += shown.count;
            self.floor.tally.refused += shown.unheard;
            after = None;
            match shown.answer {
                None => {}
                Some(Ok(Traded::Ended { settlement, settled_at })) => {
                    after = Some((self.closes.first_from(cursor, settled_at) - cursor, settlement));
                }
                Some(Ok(Traded::UnderWay(intended))) => {
                    let end = self.open(&intended, cursor - 1);
                    self.pass_refused(&mut cursor, end);
                }
                Some(Err(_)) => {
                    self.floor.tally.refused += 1;
                    let end = self.refused_until(cursor, self.closes.at(cursor - 1));
                    self.pass_refused(&mut cursor, end);
                }
            }
        }
        self.end()
    }

    /// Shows candles to the strategy that is certain to be refused.
    fn pass_refused(&mut self, cursor: &mut usize, until: usize) {
        if let Some(candles) = self.closes.candles().get(*cursor..until).filter(|candles| !candles.is_empty())
        {
            self.floor.tally.refused += self.session.pass_refused(SeriesId::FIRST, candles);
            *cursor = until;
        }
    }

    /// The first candle from `cursor` on whose signal may be approved, for all that is known at `now`.
    #[inline]
    fn refused_until(&mut self, cursor: usize, now: Millis) -> usize {
        let until = self.session.refuses_until(BotId::FIRST, now);
        if until <= now {
            return cursor;
        }
        self.closes.first_from(cursor, until.min(self.floor.venue.next_due().unwrap_or(Millis::MAX)))
    }

    fn end(mut self) -> Tally {
        self.hear_venue(Millis::MAX);
        self.floor.tally
    }

    /// Sends the venue what was approved at the candle with this index, to be heard of later; the first candle after it whose
    /// signal may be approved.
    #[inline(never)]
    fn open(&mut self, intended: &OrderTerms, index: usize) -> usize {
        if self.floor.pending.is_empty() && self.floor.is_one_enough.is_none() {
            self.floor.is_one_enough = Some(self.session.is_full(BotId::FIRST));
        }
        self.floor.submit(intended, index);
        self.refused_until(index + 1, intended.decision_time())
    }

    /// Hands the Session everything the venue has to say until `now`.
    #[inline]
    fn hear_venue(&mut self, now: Millis) {
        // Nearly always: nothing is under way.
        if self.floor.venue.next_due().is_some_and(|due| due <= now) {
            self.hear_all(now);
        }
    }

    #[inline(never)]
    fn hear_all(&mut self, now: Millis) {
        while let Some(event) = self.floor.venue.pop_due(now) {
            let event = self.floor.translate(&event);
            self.session.handle(&event, &mut self.actions);
            self.actions.clear(); // a day may have begun, a verdict fallen; no trade follows from what the venue says
        }
    }
}

impl Floor<'_> {
    /// Brings a trade that was approved at the candle with this index to its end at once, where nothing can happen before that:
    /// nearly always no other may be open beside it.
    ///
    /// A part of the loop over candles: what it answers, and what that is put together from, then stays in registers.
    #[allow(clippy::inline_always, reason = "what is handed over in memory is waited for")]
    #[inline(always)]
    fn foretell(&mut self, index: usize, intended: &OrderTerms) -> Option<Foretold> {
        if self.is_one_enough != Some(true) || !self.pending.is_empty() {
            return None;
        }
        let (time, stake) = (intended.decision_time(), intended.stake());
        let table = self.fates.iter().find(|table| table.expiry() == intended.expiry())?;
        let (outcome, settled_at) = table.end((index, time), intended.direction())?;
        let answered_at = table.answered_at(time);
        let profit = self.venue.settle_at_once(stake, outcome)?;
        self.tally.open();
        self.tally.settle((time, settled_at), outcome, (stake, profit));
        if self.trades.is_some() {
            self.keep_foreseen(index, intended, (outcome, profit));
        }
        Some(Foretold { answered_at, payout: self.payout, settled_at, outcome, profit })
    }

    fn foresee(&self, index: usize, intended: &OrderTerms) -> Option<Foreseen> {
        let table = self.fates.iter().find(|table| table.expiry() == intended.expiry())?;
        table.foresee((index, intended.decision_time()), intended.direction())
    }

    /// Sends the venue what was approved, to be heard of later.
    fn submit(&mut self, intended: &OrderTerms, index: usize) {
        self.tally.open();
        let order = Order {
            number: intended.intent().number(),
            symbol: self.symbol,
            direction: intended.direction(),
            stake: intended.stake(),
            expiry: intended.expiry(),
            time: intended.decision_time(),
        };
        match self.foresee(index, intended) {
            Some(foreseen) => self.venue.submit_foreseen(&order, &foreseen),
            None => self.venue.submit(&order),
        };
        self.pending.push(order);
    }

    /// Keeps a trade that was brought to its end at once.
    #[cold]
    fn keep_foreseen(&mut self, index: usize, intended: &OrderTerms, end: (Outcome, Money)) {
        if let (Some(foreseen), Some(trades)) = (self.foresee(index, intended), &mut self.trades) {
            trades.push(TrialTrade {
                number: intended.intent().number(),
                direction: intended.direction(),
                expiry: intended.expiry(),
                stake: intended.stake(),
                decision_time: intended.decision_time(),
                open_time: foreseen.opening().open_time,
                close_time: foreseen.opening().close_time,
                settled_at: foreseen.known_at(),
                outcome: end.0,
                profit: end.1,
            });
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

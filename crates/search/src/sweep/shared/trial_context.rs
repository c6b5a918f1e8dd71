//! Where the orders of a trial go, and what is kept of them.

use super::tally::Tally;
use candlewick_backtest::translation::{to_opened, to_rejection, to_settled};
use candlewick_engine::{Event, EventKind, IntentId, OrderTerms, PrecomputedOutcome, Settled};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Payout, Symbol};
use candlewick_simulator::{
    AnswerKind, Order, OrderAtClose, SettledAtOnce, SettledTrade, Simulator, VenueEvent,
};

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

/// The venue of a trial, the orders under way, and the figures so far.
pub(super) struct TrialContext<'a> {
    pub(super) venue: Simulator,
    pub(super) tally: Tally,
    pub(super) symbol: Symbol,
    pub(super) payout: Payout,
    /// What was approved and has not ended.
    pub(super) pending: Vec<Order>,
    /// Whether no trade can be open beside a single one, once that was asked.
    pub(super) is_one_enough: Option<bool>,
    /// The settled trades, where somebody wants them one by one.
    pub(super) trades: Option<&'a mut Vec<TrialTrade>>,
}

impl TrialContext<'_> {
    /// Settles a trade that was approved at the candle with this index at once, where nothing can happen before it ends: nearly
    /// always no other can be open beside it.
    #[allow(clippy::inline_always, reason = "its arguments stay out of memory: see docs/performance.md")]
    #[inline(always)]
    pub(super) fn settle_at_once(&mut self, candle: usize, terms: &OrderTerms) -> Option<PrecomputedOutcome> {
        if self.is_one_enough != Some(true) || !self.pending.is_empty() {
            return None;
        }
        let (time, stake) = (terms.decision_time(), terms.stake());
        let order =
            OrderAtClose { candle, time, direction: terms.direction(), expiry: terms.expiry(), stake };
        let settled = self.venue.settle_at_once(&order)?;
        let SettledAtOnce { answered_at, known_at: settled_at, outcome, profit, .. } = settled;
        self.tally.open();
        self.tally.settle((time, settled_at), outcome, (stake, profit));
        if self.trades.is_some() {
            self.note_settled(terms, &settled);
        }
        Some(PrecomputedOutcome { answered_at, payout: self.payout, settled_at, outcome, profit })
    }

    /// Sends the venue what was approved; its answer and settlement come as events.
    pub(super) fn submit(&mut self, terms: &OrderTerms) {
        self.tally.open();
        let order = Order {
            number: terms.intent().number(),
            symbol: self.symbol,
            direction: terms.direction(),
            stake: terms.stake(),
            expiry: terms.expiry(),
            time: terms.decision_time(),
        };
        self.venue.submit(&order);
        self.pending.push(order);
    }

    /// Notes a trade that was settled at once.
    #[cold]
    fn note_settled(&mut self, terms: &OrderTerms, settled: &SettledAtOnce) {
        if let Some(trades) = &mut self.trades {
            trades.push(TrialTrade {
                number: terms.intent().number(),
                direction: terms.direction(),
                expiry: terms.expiry(),
                stake: terms.stake(),
                decision_time: terms.decision_time(),
                open_time: settled.open_time,
                close_time: settled.close_time,
                settled_at: settled.known_at,
                outcome: settled.outcome,
                profit: settled.profit,
            });
        }
    }

    /// What the venue says, as the Session takes it.
    pub(super) fn translate(&mut self, event: &VenueEvent) -> Event {
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

    /// Counts a settlement; as the Session takes it.
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

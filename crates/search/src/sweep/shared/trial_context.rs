//! Venue side of a trial: simulator, open orders and totals.

use crate::sweep::Figures;
use crate::sweep::figures::TrialEndState;
use crate::sweep::timeline::TimelineBuilder;
use candlewick_backtest::translation::{to_opened_trade, to_rejection, to_settlement};
use candlewick_backtest::{RunTotals, SettledTradeFigures};
use candlewick_engine::{Event, EventKind, IntentId, OrderTerms, PrecomputedOutcome, Rule, TradeSettlement};
use candlewick_sdk::{Direction, Expiry, Millis, Money, MoneyScale, Outcome, Payout, Symbol};
use candlewick_simulator::{
    AnswerKind, ImmediateSettlement, Order, OrderAtClose, SettledTrade, Simulator, VenueEvent,
};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrialTrade {
    pub number: u64,
    pub direction: Direction,
    pub expiry: Expiry,
    pub stake: Money,
    pub decision_time: Millis,
    pub open_time: Millis,
    pub close_time: Millis,
    pub settled_at: Millis,
    pub outcome: Outcome,
    pub profit: Money,
}

pub(super) struct TrialContext<'a> {
    pub(super) venue: Simulator,
    pub(super) tally: TrialTotals,
    pub(super) symbol: Symbol,
    pub(super) payout: Payout,
    pub(super) pending_orders: Vec<Order>,
    /// Whether the limits allow only one open trade; `None` until checked.
    pub(super) is_limited_to_one_trade: Option<bool>,
    pub(super) trades: Option<&'a mut Vec<TrialTrade>>,
}

impl TrialContext<'_> {
    /// Settles an approved trade immediately. Does nothing and returns `None` if it must be [submitted](Self::submit).
    #[allow(clippy::inline_always, reason = "keeps its arguments in registers: see docs/performance.md")]
    #[inline(always)]
    pub(super) fn settle_immediately(
        &mut self,
        candle: usize,
        terms: &OrderTerms,
    ) -> Option<PrecomputedOutcome> {
        if self.is_limited_to_one_trade != Some(true) || !self.pending_orders.is_empty() {
            return None;
        }
        let (time, stake) = (terms.decision_time(), terms.stake());
        let order = OrderAtClose {
            candle_index: candle,
            time,
            direction: terms.direction(),
            expiry: terms.expiry(),
            stake,
        };
        let settled = self.venue.settle_immediately(&order)?;
        let ImmediateSettlement { answered_at, known_at: settled_at, outcome, profit, .. } = settled;
        self.tally.count_opened();
        self.tally.count_settled((time, settled_at), outcome, (stake, profit));
        if self.trades.is_some() {
            self.record_settlement(terms, &settled);
        }
        Some(PrecomputedOutcome { answered_at, payout: self.payout, settled_at, outcome, profit })
    }

    pub(super) fn submit(&mut self, terms: &OrderTerms) {
        self.tally.count_opened();
        let order = Order {
            number: terms.intent().number(),
            symbol: self.symbol,
            direction: terms.direction(),
            stake: terms.stake(),
            expiry: terms.expiry(),
            time: terms.decision_time(),
        };
        self.venue.submit(&order);
        self.pending_orders.push(order);
    }

    #[cold]
    fn record_settlement(&mut self, terms: &OrderTerms, settled: &ImmediateSettlement) {
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

    pub(super) fn translate_event(&mut self, event: &VenueEvent) -> Event {
        let (at, kind) = match event {
            VenueEvent::Answered(answer) => {
                let intent = IntentId::new(answer.number);
                let kind = match &answer.kind {
                    AnswerKind::Opened(opening) => EventKind::Opened(to_opened_trade(intent, opening)),
                    AnswerKind::Refused(refusal) => {
                        self.tally.count_rejected();
                        self.remove_pending(answer.number);
                        EventKind::Rejected { intent, rejection: to_rejection(*refusal) }
                    }
                };
                (answer.at, kind)
            }
            VenueEvent::Settled(trade) => {
                let settled = match self.remove_pending(trade.number) {
                    Some(order) => self.settle(&order, trade),
                    None => to_settlement(trade, Some(self.payout)),
                };
                (trade.known_at, EventKind::Settled(settled))
            }
        };
        Event { at, received: at, kind }
    }

    fn settle(&mut self, order: &Order, trade: &SettledTrade) -> TradeSettlement {
        self.tally.count_settled((order.time, trade.known_at), trade.outcome, (order.stake, trade.profit));
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
        to_settlement(trade, Some(self.payout))
    }

    fn remove_pending(&mut self, number: u64) -> Option<Order> {
        let place = self.pending_orders.iter().position(|order| order.number == number)?;
        Some(self.pending_orders.remove(place))
    }
}

pub(crate) struct TrialTotals {
    scale: MoneyScale,
    payout: Payout,
    opened: u64,
    pub(crate) refused: u64,
    rejected: u64,
    totals: RunTotals,
    timeline: TimelineBuilder,
}

impl TrialTotals {
    pub(crate) fn new(scale: MoneyScale, payout: Payout, balance: Money, span: &Range<Millis>) -> Self {
        Self {
            scale,
            payout,
            opened: 0,
            refused: 0,
            rejected: 0,
            totals: RunTotals::new(balance).with_daily_profits(span),
            timeline: TimelineBuilder::new(span),
        }
    }

    #[inline]
    pub(crate) const fn count_opened(&mut self) {
        self.opened += 1;
    }

    const fn count_rejected(&mut self) {
        self.rejected += 1;
    }

    /// Counts a settled trade: `decided` is the time of its decision, `at` the time when its settlement became known.
    #[allow(clippy::inline_always, reason = "the call would be a third of its cost")]
    #[inline(always)]
    pub(crate) fn count_settled(
        &mut self,
        (decided, at): (Millis, Millis),
        outcome: Outcome,
        (stake, profit): (Money, Money),
    ) {
        let payout = Some(self.payout);
        self.totals.add_trade(&SettledTradeFigures { settled_at: Some(at), outcome, stake, profit, payout });
        self.timeline.count_trade(decided, at, outcome);
    }

    pub(crate) fn into_figures(self, stopped_by: Option<Rule>) -> Figures {
        let evidence = self.totals.evidence_at(self.payout);
        let open = TrialEndState {
            unsettled: self.opened - self.totals.trades() - self.rejected,
            refused: self.refused + self.rejected,
            stopped_by,
        };
        Figures::from_totals(&self.totals, evidence, open, self.timeline.into_timeline(), self.scale)
    }
}

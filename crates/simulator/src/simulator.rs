//! The simulated venue: accepts orders, returns answers and settlements, and manages one wallet.
#![allow(clippy::inline_always, reason = "writes outcomes directly into their queue: docs/performance.md")]

use crate::order::{Answer, AnswerKind, Order, Refusal, SettledTrade, UnsettledTrade, VenueEvent};
use crate::order_outcome::{OrderOutcome, QuotedOrder, trade_profit};
use crate::outcome_table::{OutcomeTable, TableTrade};
use crate::path::{PathPrice, PriceMoment, PricePath};
use crate::queue::DueQueue;
use crate::{Market, SimulationSettings, SimulatorError};
use candlewick_sdk::{Direction, Expiry, Millis, Money, Outcome, Symbol};
use std::sync::Arc;

/// In-memory venue for fixed-time trades.
///
/// The simulator has all candles from the start, so it computes the whole outcome of an order on submission. It returns
/// each part as an event when that part becomes known: the answer at the order's arrival, and the settlement after the
/// settle delay. A stake leaves the wallet with the answer and returns with the settlement. The caller controls the
/// time. Orders must be submitted in chronological order. Before an order of time `t`, every event due before `t` must
/// be popped.
#[derive(Clone, Debug)]
pub struct Simulator {
    settings: SimulationSettings,
    paths: Vec<PricePath>,
    tables: Vec<Arc<OutcomeTable>>,
    state: VenueState,
    /// Stake of the last immediately settled trade, and its profit by outcome. Cached, because stakes rarely change.
    last_profits: (Money, [Money; 4]),
}

#[derive(Clone, Debug)]
struct VenueState {
    wallet: Wallet,
    answers: DueQueue<PendingAnswer>,
    settlements: DueQueue<PendingSettlement>,
    next_due: Millis,
    unsettled: Vec<UnsettledTrade>,
}

#[derive(Clone, Debug)]
struct PendingAnswer {
    answer: Answer,
    stake: Money,
}

#[derive(Clone, Debug)]
struct PendingSettlement {
    trade: SettledTrade,
    stake: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderAtClose {
    pub candle_index: usize,
    pub time: Millis,
    pub direction: Direction,
    pub expiry: Expiry,
    pub stake: Money,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImmediateSettlement {
    pub answered_at: Millis,
    pub open_time: Millis,
    pub close_time: Millis,
    pub known_at: Millis,
    pub outcome: Outcome,
    pub profit: Money,
}

impl Simulator {
    pub fn new(
        settings: SimulationSettings,
        balance: Money,
        markets: Vec<Market>,
    ) -> Result<Self, SimulatorError> {
        settings.check()?;
        if balance < Money::ZERO {
            return Err(SimulatorError::RaiseBalance { balance });
        }
        let paths = markets.into_iter().map(|market| PricePath::new(market, &settings));
        let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
        paths.sort_by_key(PricePath::symbol);
        if let Some(pair) = paths.windows(2).find(|pair| pair[0].symbol() == pair[1].symbol()) {
            return Err(SimulatorError::MergeMarkets { symbol: pair[0].symbol() });
        }
        Ok(Self {
            settings,
            paths,
            tables: Vec::new(),
            state: VenueState {
                wallet: Wallet { balance, staked: Money::ZERO, reserved: Money::ZERO },
                answers: DueQueue::new(),
                settlements: DueQueue::new(),
                next_due: Millis::MAX,
                unsettled: Vec::new(),
            },
            last_profits: (Money::ZERO, [Money::ZERO; 4]),
        })
    }

    /// Uses precomputed outcomes from these tables.
    /// All tables must belong to one symbol and use this venue's settings and candles. Orders with another symbol,
    /// expiry or decision time are priced from the candles. Answers and settlements from a table have no prices.
    #[must_use]
    pub fn with_outcome_tables(mut self, tables: Vec<Arc<OutcomeTable>>) -> Self {
        debug_assert!(tables.windows(2).all(|pair| pair[0].symbol() == pair[1].symbol()));
        self.tables = tables;
        self
    }

    /// Submits an order at its decision time. Returns the answer at once, before it is due.
    /// Queues the answer and, for a trade, its settlement as events. A trade never settles and stays in
    /// [`unsettled`](Self::unsettled) if its entry is at or after the end of the data, or if its exit is after the end.
    pub fn submit(&mut self, order: &Order) -> Answer {
        let at = order.time + self.settings.latency_of(order.symbol, order.number);
        if !self.tables.is_empty()
            && let Some(answer) = self.submit_precomputed(order, at)
        {
            return answer;
        }
        let Self { settings, paths, state, .. } = self;
        let Some(path) = paths.iter().find(|path| path.has_symbol(&order.symbol)) else {
            return state.enqueue_cold(order, at, OrderOutcome::Refused(Refusal::UnknownSymbol));
        };
        if !state.covers(order.stake, at) {
            return state.enqueue_cold(order, at, OrderOutcome::Refused(Refusal::InsufficientBalance));
        }
        let quoted = QuotedOrder::new(order, at, path, settings);
        match quoted.unsettled_outcome() {
            None => state.enqueue(order, at, quoted.settled_outcome()),
            Some(outcome) => state.enqueue_cold(order, at, outcome),
        }
    }

    /// Submits an order whose outcome is in a table. Does nothing and returns `None` for other orders.
    /// `inline(never)`, because inlining makes [`submit`](Self::submit) copy the outcomes of other orders.
    #[inline(never)]
    fn submit_precomputed(&mut self, order: &Order, at: Millis) -> Option<Answer> {
        let outcome = self.tables.iter().find_map(|table| table.order_outcome(order))?;
        let insufficient = OrderOutcome::Refused(Refusal::InsufficientBalance);
        let outcome = if self.state.covers(order.stake, at) { outcome } else { insufficient };
        Some(self.state.enqueue(order, at, outcome))
    }

    /// Submits an order and settles its trade immediately, without events.
    /// The effect is the same as calling [`submit`](Self::submit) and then popping all events of the order. Does
    /// nothing and returns `None` if other orders are in flight, the wallet does not cover the stake, or no
    /// [table](Self::with_outcome_tables) has a settlement for the order.
    #[inline(always)]
    pub fn settle_immediately(&mut self, order: &OrderAtClose) -> Option<ImmediateSettlement> {
        let OrderAtClose { candle_index: candle, time, direction, expiry, stake } = *order;
        let table = self.tables.iter().find(|table| table.expiry() == expiry)?;
        let TableTrade { outcome, open_time, close_time, known_at } =
            table.trade((candle, time), direction)?;
        let VenueState { next_due, wallet, .. } = &mut self.state;
        if *next_due != Millis::MAX || !stake.is_positive() || stake > wallet.free_balance() {
            return None;
        }
        let answered_at = time + self.settings.latency_ms;
        if stake != self.last_profits.0 {
            let payout = self.settings.payout_of(table.symbol());
            self.last_profits = (stake, Outcome::ALL.map(|outcome| trade_profit(outcome, stake, payout)));
        }
        let profit = self.last_profits.1[outcome as usize];
        wallet.book_profit(profit);
        Some(ImmediateSettlement { answered_at, open_time, close_time, known_at, outcome, profit })
    }

    #[inline]
    pub fn next_due(&self) -> Option<Millis> {
        let due = self.state.next_due;
        (due != Millis::MAX).then_some(due)
    }

    /// Returns the next event that is due at or before `now`.
    /// Events are sorted by time. If times are equal, settlements come first, then lower order numbers.
    #[inline]
    pub fn pop_due(&mut self, now: Millis) -> Option<VenueEvent> {
        let state = &mut self.state;
        if state.next_due > now {
            return None;
        }
        let event = if state.settlements.next_due() <= state.answers.next_due() {
            let PendingSettlement { trade, stake } = state.settlements.pop()?;
            state.wallet.settle(stake, trade.profit);
            VenueEvent::Settled(trade)
        } else {
            let PendingAnswer { answer, stake } = state.answers.pop()?;
            match answer.kind {
                AnswerKind::Opened(_) => state.wallet.take_stake(stake),
                AnswerKind::Refused(_) => {}
            }
            VenueEvent::Answered(answer)
        };
        state.update_next_due();
        Some(event)
    }

    /// Returns the balance after the last popped event. Stakes of open trades are not included.
    #[inline]
    pub fn balance(&self) -> Money {
        self.state.wallet.balance
    }

    /// Returns the total of stakes that left the wallet and have not returned.
    /// After all events are popped, only stakes of unsettled trades are left. `balance() + open_stakes()` is then the
    /// balance with these stakes refunded.
    #[inline]
    pub fn open_stakes(&self) -> Money {
        self.state.wallet.staked
    }

    /// Returns a symbol's exit price at this time, without stress. For an unknown symbol, returns a gap.
    pub fn price_at(&self, symbol: Symbol, at: Millis) -> PathPrice {
        self.find_path(symbol).map_or(PathPrice::Gap, |path| path.price(PriceMoment::Exit(at)))
    }

    pub fn unsettled(&self) -> &[UnsettledTrade] {
        &self.state.unsettled
    }

    #[inline]
    fn find_path(&self, symbol: Symbol) -> Option<&PricePath> {
        self.paths.iter().find(|path| path.symbol() == symbol)
    }
}

impl VenueState {
    #[inline(always)]
    fn enqueue(&mut self, order: &Order, at: Millis, outcome: OrderOutcome) -> Answer {
        let Order { number, stake, .. } = *order;
        let answer = Answer { number, at, kind: outcome.answer() };
        match outcome {
            OrderOutcome::Refused(_) => self.answers.push(at, number, || PendingAnswer { answer, stake }),
            OrderOutcome::Settles(_, trade) => {
                self.accept(answer, stake);
                self.settlements.push(trade.known_at, number, || PendingSettlement { trade, stake });
            }
            OrderOutcome::StaysOpen(_) => {
                self.accept(answer, stake);
                self.unsettled.push(UnsettledTrade { number, stake });
            }
        }
        self.update_next_due();
        answer
    }

    #[cold]
    fn enqueue_cold(&mut self, order: &Order, at: Millis, outcome: OrderOutcome) -> Answer {
        self.enqueue(order, at, outcome)
    }

    #[inline(always)]
    fn accept(&mut self, answer: Answer, stake: Money) {
        self.wallet.reserve_stake(stake);
        self.answers.push(answer.at, answer.number, || PendingAnswer { answer, stake });
    }

    /// Returns whether the balance minus reserved stakes, plus settlements due by `at`, covers a positive `stake`.
    fn covers(&self, stake: Money, at: Millis) -> bool {
        let free = self.wallet.free_balance();
        let returned = || self.settlements.due_by(at).map(|due| due.stake + due.trade.profit).sum::<Money>();
        stake.is_positive() && (stake <= free || stake <= free + returned())
    }

    #[inline]
    fn update_next_due(&mut self) {
        self.next_due = self.settlements.next_due().min(self.answers.next_due());
    }
}

#[derive(Clone, Debug)]
struct Wallet {
    balance: Money,
    staked: Money,
    reserved: Money,
}

impl Wallet {
    fn free_balance(&self) -> Money {
        self.balance - self.reserved
    }

    /// Reserves the stake of an accepted order in flight. The stake stays in the balance until the answer is due.
    fn reserve_stake(&mut self, stake: Money) {
        self.reserved += stake;
    }

    fn take_stake(&mut self, stake: Money) {
        self.reserved -= stake;
        self.balance -= stake;
        self.staked += stake;
    }

    /// Adds the profit of a trade that settles immediately. Its stake never leaves the balance.
    fn book_profit(&mut self, profit: Money) {
        self.balance += profit;
    }

    fn settle(&mut self, stake: Money, profit: Money) {
        self.staked -= stake;
        self.balance += stake + profit;
    }
}

#[cfg(test)]
mod tests;

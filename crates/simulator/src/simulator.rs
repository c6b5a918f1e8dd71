//! The venue: orders in, answers and settlements out, one wallet.

use crate::event::{Missing, SettledTrade, UnsettledTrade, VenueEvent};
use crate::moments::Moments;
use crate::order::{Answer, AnswerKind, Opening, Order, Refusal};
use crate::outcome::{outcome_of, profit_of};
use crate::path::{PathPrice, PriceMoment, PricePath, Priced, Quote};
use crate::queue::DueQueue;
use crate::{Market, SimulationSettings, SimulatorError};
use candlewick_sdk::{Direction, ExpirationType, Millis, Money, Outcome, Symbol};

/// A fixed-time venue in memory.
///
/// It knows all of its candles from the start and so knows an order's whole fate when it is submitted; each part
/// of that is told when it becomes known: the answer at the arrival, the settlement after the settle delay. Time
/// is the caller's: it submits orders in the order of their times and pops what is due up to a moment.
///
/// The wallet changes as events are popped: a stake leaves with its answer and returns with its settlement.
#[derive(Clone, Debug)]
pub struct Simulator {
    settings: SimulationSettings,
    /// Sorted by symbol.
    paths: Vec<PricePath>,
    wallet: Wallet,
    answers: DueQueue<PendingAnswer>,
    settlements: DueQueue<PendingSettlement>,
    next_due: Millis,
    unsettled: Vec<UnsettledTrade>,
}

/// Three sums that always add up: what is free, what is staked, and what accepted orders are about to take.
#[derive(Clone, Debug)]
struct Wallet {
    balance: Money,
    /// Stakes of trades whose answer was told and whose settlement was not.
    staked: Money,
    /// Stakes of accepted orders whose answer was not told yet; still in the balance.
    promised: Money,
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

/// What an order becomes, decided at its submission.
struct Fate {
    kind: AnswerKind,
    /// How the trade ends, for one that opens.
    end: Option<End>,
}

enum End {
    Settles(SettledTrade),
    Never,
}

impl Simulator {
    /// A venue with these candles and a wallet.
    ///
    /// # Errors
    /// [`SimulatorError`] names the first setting or market that cannot be used.
    pub fn new(
        settings: SimulationSettings,
        balance: Money,
        markets: Vec<Market>,
    ) -> Result<Self, SimulatorError> {
        settings.check()?;
        if balance < Money::ZERO {
            return Err(SimulatorError::RaiseBalance { balance });
        }
        let paths: Result<Vec<_>, _> =
            markets.iter().map(|market| PricePath::new(market, &settings)).collect();
        let mut paths = paths?;
        paths.sort_by_key(PricePath::symbol);
        if let Some(pair) = paths.windows(2).find(|pair| pair[0].symbol() == pair[1].symbol()) {
            return Err(SimulatorError::MergeMarkets { symbol: pair[0].symbol() });
        }
        Ok(Self {
            settings,
            paths,
            wallet: Wallet { balance, staked: Money::ZERO, promised: Money::ZERO },
            answers: DueQueue::new(),
            settlements: DueQueue::new(),
            next_due: Millis::MAX,
            unsettled: Vec::new(),
        })
    }

    /// Takes an order at its decision time and says what the venue will answer when it arrives.
    ///
    /// The answer and, for a trade, its settlement are queued as events. An answer that can never come
    /// ([`AnswerKind::Unanswered`]) is not, nor is a settlement whose exit lies after the end of the data: those
    /// are [`unsettled`](Self::unsettled).
    pub fn submit(&mut self, order: &Order) -> Answer {
        let at = order.time + self.settings.latency_ms;
        let fate = self.decide(order, at);
        let answer = Answer { number: order.number, at, kind: fate.kind };
        let stake = order.stake;
        match fate.kind {
            AnswerKind::Opened(_) => self.wallet.promised += stake,
            AnswerKind::Refused(_) => {}
            AnswerKind::Unanswered => {
                self.unsettled.push(UnsettledTrade { number: order.number, stake, missing: Missing::Answer });
                return answer;
            }
        }
        self.answers.push(at, order.number, PendingAnswer { answer, stake });
        match fate.end {
            Some(End::Settles(trade)) => {
                self.settlements.push(trade.known_at, order.number, PendingSettlement { trade, stake });
            }
            Some(End::Never) => {
                let missing = Missing::ExitPrice;
                self.unsettled.push(UnsettledTrade { number: order.number, stake, missing });
            }
            None => {}
        }
        self.update_next_due();
        answer
    }

    /// When the earliest queued event is due.
    #[inline]
    pub fn next_due(&self) -> Option<Millis> {
        (self.next_due != Millis::MAX).then_some(self.next_due)
    }

    /// Takes the next event that is due at `now` or before, in canonical order: by instant; at one instant
    /// settlements (by close time, then order number) before answers (by order number).
    #[inline]
    pub fn pop_due(&mut self, now: Millis) -> Option<VenueEvent> {
        if self.next_due > now {
            return None;
        }
        let event = if self.settlements.next_due() <= self.answers.next_due() {
            let PendingSettlement { trade, stake } = self.settlements.pop()?;
            self.wallet.staked -= stake;
            self.wallet.balance += stake + trade.profit;
            VenueEvent::Settled(trade)
        } else {
            let PendingAnswer { answer, stake } = self.answers.pop()?;
            if let AnswerKind::Opened(_) = answer.kind {
                self.wallet.promised -= stake;
                self.wallet.staked += stake;
                self.wallet.balance -= stake;
            }
            VenueEvent::Answered(answer)
        };
        self.update_next_due();
        Some(event)
    }

    /// The wallet as of the last event popped: without the stakes of open trades.
    #[inline]
    pub fn balance(&self) -> Money {
        self.wallet.balance
    }

    /// The stakes that left the wallet and have not returned. Once all events are popped these are the stakes
    /// of unsettled trades, which `balance() + open_stakes()` gives back.
    #[inline]
    pub fn open_stakes(&self) -> Money {
        self.wallet.staked
    }

    /// The price path of a symbol at a moment, read as an exit and without stress; a symbol that the venue does
    /// not have is all gap.
    pub fn price_at(&self, symbol: Symbol, at: Millis) -> PathPrice {
        self.path_of(symbol).map_or(PathPrice::Gap, |path| path.price(PriceMoment::Exit(at)))
    }

    /// Orders and trades that this data never ends, in the order of their submission.
    pub fn unsettled(&self) -> &[UnsettledTrade] {
        &self.unsettled
    }

    fn decide(&self, order: &Order, at: Millis) -> Fate {
        let Some(path) = self.path_of(order.symbol) else { return Fate::refused(Refusal::UnknownSymbol) };
        if !self.covers(order.stake, at) {
            return Fate::refused(Refusal::InsufficientBalance);
        }
        let moments = Moments::of(order.expiry, at, &self.settings);
        let entry = path.quote(moments.entry);
        let open_price = match order.expiry.expiration_type {
            // Accepted at its arrival; its price is fixed when its candle opens.
            ExpirationType::NextCandle => None,
            ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::CandleClose => match entry
            {
                Quote::Price(priced) => Some(opened_at(priced, order.direction)),
                Quote::Gap => return Fate::refused(Refusal::NoPrice),
                Quote::Beyond => return Fate { kind: AnswerKind::Unanswered, end: None },
            },
        };
        let Moments { open_time, close_time, .. } = moments;
        let payout = self.settings.payout_percent;
        let kind = AnswerKind::Opened(Opening { open_time, open_price, close_time, payout });
        Fate { kind, end: Some(self.end_of(order, moments, entry, path.quote(moments.exit))) }
    }

    /// How a trade with these two prices ends. A missing one cancels it, unless the data ends before its close.
    fn end_of(&self, order: &Order, moments: Moments, entry: Quote, exit: Quote) -> End {
        if matches!(entry, Quote::Beyond) || matches!(exit, Quote::Beyond) {
            return End::Never;
        }
        let open_price = entry.priced().map(|priced| opened_at(priced, order.direction));
        let close_price = exit.priced().map(|priced| closed_at(priced, order.direction));
        let outcome = match (open_price, close_price) {
            (Some(open), Some(close)) => outcome_of(order.direction, open, close, self.settings.draw),
            _ => Outcome::Cancelled,
        };
        let Moments { open_time, close_time, .. } = moments;
        End::Settles(SettledTrade {
            number: order.number,
            known_at: close_time + self.settings.settle_delay_ms,
            outcome,
            profit: profit_of(outcome, order.stake, self.settings.payout_percent),
            open_price,
            close_price,
            open_time,
            close_time,
        })
    }

    /// Whether the wallet will cover a stake at an arrival: settlements known by then have returned, and orders
    /// accepted before have taken theirs.
    fn covers(&self, stake: Money, at: Millis) -> bool {
        let free = self.wallet.balance - self.wallet.promised;
        let returned = || self.settlements.due_by(at).map(|due| due.stake + due.trade.profit).sum::<Money>();
        stake.is_positive() && (stake <= free || stake <= free + returned())
    }

    #[inline]
    fn path_of(&self, symbol: Symbol) -> Option<&PricePath> {
        let index = self.paths.binary_search_by_key(&symbol, PricePath::symbol).ok()?;
        self.paths.get(index)
    }

    #[inline]
    fn update_next_due(&mut self) {
        self.next_due = self.settlements.next_due().min(self.answers.next_due());
    }
}

impl Fate {
    fn refused(refusal: Refusal) -> Self {
        Self { kind: AnswerKind::Refused(refusal), end: None }
    }
}

/// An open price, moved against the trade by its stress.
fn opened_at(priced: Priced, direction: Direction) -> f64 {
    match direction {
        Direction::Buy => priced.price + priced.shift,
        Direction::Sell => priced.price - priced.shift,
    }
}

/// A close price, moved against the trade by its stress.
fn closed_at(priced: Priced, direction: Direction) -> f64 {
    opened_at(priced, direction.opposite())
}

//! Simulated venue: the simulator, and the trades that the API returns.

mod order;
mod projection;
mod table;

pub(crate) use order::{BodyShape, OrderRequest, read_body};
pub(crate) use projection::{PageRequest, RowOrder};

use crate::body;
use crate::chance::{IdKind, RandomSource, generate_id};
use crate::fault::{Fault, FaultSwitchboard};
use crate::market::PricePaths;
use crate::{Replies, TradedWallet};
use candlewick_sdk::{ExpirationType, Millis, Money, MoneyScale};
use candlewick_simulator::{
    AnswerKind, Market, Order, PathPrice, PriceMoment, Refusal, SimulationSettings, Simulator,
    SimulatorError, TradeTimes, VenueEvent, check_expiry,
};
use projection::Account;
use std::borrow::Cow;
use std::sync::Arc;
use table::{Trade, TradeState, TradeTable};

const MAX_OPEN_TRADES: usize = 1_000_000;

/// Venue behind the API. Reading trades or wallets first advances the venue to the time `now`.
pub(crate) struct Venue {
    simulator: Simulator,
    simulation: SimulationSettings,
    markets: Vec<Market>,
    /// Price paths for the entry prices of `NEXT_CANDLE` trades. The simulator only reports these at settlement.
    paths: PricePaths,
    trades: TradeTable,
    orders: u64,
    account: Account,
    chance: RandomSource,
    switchboard: Arc<FaultSwitchboard>,
}

pub(crate) struct OpenResult {
    pub(crate) arrival: Millis,
    pub(crate) trade: Result<u64, Rejection>,
}

/// Reason why an order was rejected. Contract section 5 does not specify the messages and codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) message: Cow<'static, str>,
    /// Value of the response field `error`. If `None`, the field contains the name of the HTTP status.
    pub(crate) code: Option<&'static str>,
}

impl Rejection {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), code: None }
    }

    const fn with_code(message: &'static str, code: &'static str) -> Self {
        Self { message: Cow::Borrowed(message), code: Some(code) }
    }
}

pub(crate) const SYMBOL_NOT_ACTIVE: Rejection =
    Rejection::with_code("Symbol not active", "SYMBOL_NOT_ACTIVE");

impl Venue {
    pub(crate) fn new(
        simulation: SimulationSettings,
        (wallet, balance, scale): (TradedWallet, Money, MoneyScale),
        keep_trades: u32,
        (markets, paths): (Vec<Market>, PricePaths),
        start: Millis,
        chance: RandomSource,
        switchboard: Arc<FaultSwitchboard>,
    ) -> Result<Self, SimulatorError> {
        Ok(Self {
            paths,
            simulator: Simulator::new(simulation.clone(), balance, markets.clone())?,
            simulation,
            markets,
            trades: TradeTable::new(usize::try_from(keep_trades).unwrap_or(usize::MAX)),
            orders: 0,
            account: Account::new(chance, start, (wallet, scale)),
            chance,
            switchboard,
        })
    }

    pub(crate) fn check_pricing(&self, request: &OrderRequest) -> PricingCheck {
        match self.markets.iter().find(|market| market.symbol() == request.symbol) {
            None => PricingCheck::NoSuchSymbol,
            Some(market) if check_expiry(request.expiry, market).is_err() => PricingCheck::CandlesTooLong,
            Some(_) => PricingCheck::Possible,
        }
    }

    pub(crate) fn open(&mut self, request: &OrderRequest, replies: Replies, now: Millis) -> OpenResult {
        let rejected = |reason, arrival| OpenResult { arrival, trade: Err(reason) };
        self.advance_to(now);
        if self.trades.open_count() >= MAX_OPEN_TRADES {
            return rejected(Rejection::with_code("Too many trades", "TOO_MANY_TRADES"), now);
        }
        self.orders += 1;
        let OrderRequest { symbol, direction, stake, expiry } = *request;
        let order = Order { number: self.orders, symbol, direction, stake, expiry, time: now };
        let balance = self.simulator.balance() - self.pending_stakes(now);
        let hidden = self.trades.hidden_payout(now);
        let may_settle_late = self.switchboard.profile().rate(Fault::LateSettlement).is_some();
        if (hidden.is_positive() || may_settle_late) && stake > balance - hidden {
            // The balance of the simulator may already include money that the wallet does not show yet.
            return rejected(to_rejection(Refusal::InsufficientBalance), now + self.simulation.latency_ms);
        }
        let answer = self.simulator.submit(&order);
        let arrival = answer.at;
        let TradeTimes { open_time, close_time, .. } = TradeTimes::new(expiry, arrival, &self.simulation);
        let open_price = match answer.kind {
            AnswerKind::Opened(opening) => opening.open_price,
            AnswerKind::Refused(refusal) => return rejected(to_rejection(refusal), arrival),
        };
        let shown = match replies {
            Replies::AtOnce => now,
            Replies::WhenArrived => arrival,
        };
        let lag = self.switchboard.draw_fault(Fault::ListLag).unwrap_or_default();
        let trade = Trade {
            id: generate_id(self.chance, IdKind::Trade, arrival, [order.number, 0]),
            order,
            request_time: arrival,
            open_time,
            open_price,
            close_time,
            payout: self.simulation.payout_of(order.symbol),
            balance_before: balance,
            listed_from: shown + lag,
            state: TradeState::Running,
        };
        self.trades.insert(trade);
        OpenResult { arrival, trade: Ok(order.number) }
    }

    fn advance_to(&mut self, now: Millis) {
        while let Some(event) = self.simulator.pop_due(now) {
            match event {
                // If the order was rejected, no trade has this number and nothing is recorded.
                VenueEvent::Answered(answer) => {
                    self.trades.record_arrival(answer.number, self.simulator.balance());
                }
                VenueEvent::Settled(settled) => {
                    let lateness = self.switchboard.draw_fault(Fault::LateSettlement);
                    self.trades.settle(settled, lateness.unwrap_or_default());
                }
            }
        }
        self.trades.advance_to(now);
    }

    /// Returns the total stake of orders that have not arrived yet. The balance still includes these stakes.
    fn pending_stakes(&self, now: Millis) -> Money {
        let on_the_way = self.trades.newest_first().take_while(|trade| trade.request_time > now);
        on_the_way.map(|trade| trade.order.stake).sum()
    }

    pub(crate) fn wallets(&mut self, now: Millis) -> Vec<body::Wallet> {
        self.advance_to(now);
        self.account.wallets(self.simulator.balance() - self.trades.hidden_payout(now))
    }

    pub(crate) fn user(&self, now: Millis) -> body::User {
        self.account.user(now)
    }

    /// Returns the entry price if it is known at `now`. If `simulation.stress` is set, settlement may still change it.
    fn open_price_at(&self, trade: &Trade, now: Millis) -> Option<f64> {
        if let Some(settled) = trade.visible_settlement(now) {
            return settled.open_price;
        }
        if now < trade.open_time {
            return None;
        }
        if trade.open_price.is_some() || trade.order.expiry.expiration_type != ExpirationType::NextCandle {
            return trade.open_price;
        }
        match self.paths.get(&trade.order.symbol)?.price(PriceMoment::Entry(trade.open_time)) {
            PathPrice::Price(price) => Some(price),
            PathPrice::Gap | PathPrice::Beyond => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PricingCheck {
    Possible,
    CandlesTooLong,
    NoSuchSymbol,
}

const fn to_rejection(refusal: Refusal) -> Rejection {
    match refusal {
        Refusal::NoPrice => Rejection::with_code("Outdated price", "NO_PRICE"),
        Refusal::InsufficientBalance => Rejection::with_code("Insufficient balance", "INSUFFICIENT_BALANCE"),
        Refusal::UnknownSymbol => SYMBOL_NOT_ACTIVE,
    }
}

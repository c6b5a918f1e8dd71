//! A broker that fills orders at the current price.

use crate::market::{SYMBOL, price_at};
use async_trait::async_trait;
use candlewick_broker::clock::Clock;
use candlewick_broker::{
    Account, Balances, Broker, BrokerError, DetailLevel, Identity, OpenOutcome, Rejection, RejectionReason,
    Reply, ReportedValue, TradeListing, TradeOrder, TradeProgress, TradeReport,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Direction, ExpirationType, Millis, Outcome, Payout};
use std::sync::{Arc, Mutex, PoisonError};

/// Profit of a win in percent of the stake.
const PAYOUT_PERCENT: i64 = 80;

/// A broker that fills every order at once and settles it at its close time.
pub struct SineBroker {
    clock: Arc<dyn Clock>,
    trades: Mutex<Vec<Trade>>,
}

#[derive(Clone)]
struct Trade {
    id: String,
    order: TradeOrder,
    open_time: Millis,
}

impl Trade {
    fn close_time(&self) -> Millis {
        self.open_time + self.order.close_type.duration()
    }

    /// Returns outcome and profit; `None` while the trade is running.
    fn settlement(&self, now: Millis) -> Option<(Outcome, Decimal)> {
        let (open, close) = (price_at(self.open_time), price_at(self.close_time()));
        let wins = match self.order.direction {
            Direction::Buy => close > open,
            Direction::Sell => close < open,
        };
        let stake = self.order.amount;
        let settlement = if wins {
            (Outcome::Won, stake * Decimal::new(PAYOUT_PERCENT, 2))
        } else {
            (Outcome::Lost, -stake)
        };
        (self.close_time() <= now).then_some(settlement)
    }

    fn report(&self, now: Millis) -> TradeReport {
        let settlement = self.settlement(now);
        TradeReport {
            progress: settlement.map_or(TradeProgress::Running, |(outcome, _)| TradeProgress::Over(outcome)),
            symbol: Some(self.order.symbol.to_string()),
            direction: Some(ReportedValue::Known(self.order.direction)),
            amount: Some(self.order.amount),
            close_type: Some(ReportedValue::Known(self.order.close_type)),
            expiration_type: Some(ReportedValue::Known(ExpirationType::TimeFixed)),
            account: Some(Account::Demo),
            is_opened_with_token: Some(true),
            request_time: Some(self.open_time),
            open_time: Some(self.open_time),
            open_price: Some(price_at(self.open_time)),
            close_time: Some(self.close_time()),
            close_price: settlement.map(|_| price_at(self.close_time())),
            payout: Payout::from_percent(Decimal::from(PAYOUT_PERCENT)).ok(),
            profit: settlement.map(|(_, profit)| profit),
            ..TradeReport::new(self.id.as_str())
        }
    }
}

impl SineBroker {
    /// Creates a broker without trades.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, trades: Mutex::default() }
    }

    fn all_trades(&self) -> Vec<Trade> {
        self.trades.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns 10,000 plus all profits, excluding the stakes of open trades.
    fn balance(&self, now: Millis) -> Decimal {
        let change = |trade: &Trade| trade.settlement(now).map_or(-trade.order.amount, |(_, profit)| profit);
        Decimal::from(10_000) + self.all_trades().iter().map(change).sum::<Decimal>()
    }
}

#[async_trait]
impl Broker for SineBroker {
    async fn open(&self, order: &TradeOrder, leave_by: Millis) -> OpenOutcome {
        let now = self.clock.now();
        if now > leave_by {
            return OpenOutcome::NotSent { reason: "the deadline of the request has passed".to_owned() };
        }
        let is_unknown = order.symbol.as_str() != SYMBOL || order.account != Account::Demo;
        let rejected = |reason, text: &str| {
            OpenOutcome::Rejected(Rejection { reason, text: text.to_owned(), venue_time: Some(now) })
        };
        match order.expiration_type {
            _ if is_unknown => {
                return rejected(RejectionReason::Other, "only SINE on the demo account can be traded");
            }
            _ if order.amount > self.balance(now) => {
                return rejected(
                    RejectionReason::InsufficientBalance,
                    "the balance does not cover the stake",
                );
            }
            ExpirationType::Unstated | ExpirationType::TimeFixed => {}
            ExpirationType::CandleClose | ExpirationType::NextCandle => {
                return rejected(RejectionReason::Other, "only TIME_FIXED is supported");
            }
        }
        let mut trades = self.trades.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("sine-{}", trades.len() + 1);
        let trade = Trade { id, order: order.clone(), open_time: now };
        let report = trade.report(now);
        trades.push(trade);
        OpenOutcome::Opened(Reply::without_latency(Box::new(report), now))
    }

    async fn trade(&self, id: &str, _detail: DetailLevel) -> Result<Reply<TradeReport>, BrokerError> {
        let now = self.clock.now();
        let found = self.all_trades().into_iter().find(|trade| trade.id == id);
        let found = found.ok_or_else(|| BrokerError::NotFound { text: format!("trade {id}") })?;
        Ok(Reply::without_latency(found.report(now), now))
    }

    async fn trades(&self) -> TradeListing {
        let now = self.clock.now();
        let trades = self.all_trades().iter().map(|trade| trade.report(now)).collect();
        TradeListing { began: now, ended: now, is_complete: true, trades, end_error: None }
    }

    async fn balances(&self) -> Result<Reply<Balances>, BrokerError> {
        let now = self.clock.now();
        Ok(Reply::without_latency(Balances { demo: Some(self.balance(now)), ..Balances::default() }, now))
    }

    async fn identity(&self) -> Result<Reply<Identity>, BrokerError> {
        let identity = Identity { user: "you".to_owned(), restrictions: Vec::new() };
        Ok(Reply::without_latency(identity, self.clock.now()))
    }
}

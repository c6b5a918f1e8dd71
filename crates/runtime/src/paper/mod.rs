//! Paper trading: the venue's own candles and prices, and trades that only exist here.
//!
//! [`PaperVenue`] stands where a venue stands, so a paper run is a live run. Orders open and close by the rules of
//! the simulated venue; their prices are the venue's one-second records. A trade's whole state is its identifier,
//! so a run that is started again goes on with the trades of the one before it. No trading token is needed.

mod ticket;

use async_trait::async_trait;
use candlewick_api::clock::Clock;
use candlewick_api::model::{
    CandleQuery, CandleRows, LastPrice, LimitTime, PriceRecord, Tolerant, TradePage, TradeQuery, TradeRecord,
    TradeResult, TradeStatus, User, Wallet, WalletType,
};
use candlewick_api::{ApiError, OpenOrder, OpenReply, Reply, Venue};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Expiry, Millis, Outcome, Symbol};
use candlewick_simulator::{Moments, PriceMoment, SimulationSettings, outcome_of};
use std::sync::Arc;
use ticket::Ticket;

/// A price record older than this at its moment is no price for it.
const STALE: Millis = Millis::from_seconds(5);

/// Real candles and prices, simulated trades.
pub struct PaperVenue {
    market: Arc<dyn Venue>,
    clock: Arc<dyn Clock>,
    settings: SimulationSettings,
    balance: Decimal,
}

impl PaperVenue {
    /// Trades on `market`'s prices by these rules, in a wallet that begins with `balance`.
    pub fn new(
        market: Arc<dyn Venue>,
        clock: Arc<dyn Clock>,
        settings: SimulationSettings,
        balance: Decimal,
    ) -> Self {
        Self { market, clock, settings, balance }
    }

    fn reply<T>(&self, value: T) -> Reply<T> {
        Reply::at(value, self.clock.now())
    }

    fn moments(&self, ticket: &Ticket) -> Moments {
        let expiry = Expiry { close_type: ticket.close_type, expiration_type: ticket.expiration_type };
        Moments::of(expiry, ticket.arrival, &self.settings)
    }

    /// The price of a moment: the close of the second that ends there, or, for a candle's open, the open of the
    /// second that begins there.
    async fn price(&self, symbol: &Symbol, moment: PriceMoment) -> Result<Option<f64>, ApiError> {
        let (second, is_open) = match moment {
            PriceMoment::Entry(at) => (at.floor_to(Millis::SECOND), at.is_aligned_to(Millis::SECOND)),
            PriceMoment::SecondEntry(at) | PriceMoment::Exit(at) => {
                ((at - Millis::new(1)).floor_to(Millis::SECOND), false)
            }
        };
        let LastPrice::Record(record) = self.market.last_price(symbol, LimitTime::At(second)).await?.value
        else {
            return Err(ApiError::Unavailable {
                text: "the price of a past second is not there yet".to_owned(),
            });
        };
        let price = if is_open && record.time == second { record.open_price } else { record.close_price };
        Ok((second - record.time <= STALE && price > 0.0).then_some(price))
    }

    async fn settle(&self, ticket: &Ticket) -> Result<TradeRecord, ApiError> {
        let moments = self.moments(ticket);
        let mut record = self.open_record(ticket, &moments);
        if self.clock.now() < moments.close_time + self.settings.settle_delay_ms {
            return Ok(record);
        }
        let entry = self.price(&ticket.symbol, moments.entry).await?;
        let exit = self.price(&ticket.symbol, moments.exit).await?;
        let outcome = match (entry, exit) {
            (Some(entry), Some(exit)) => outcome_of(ticket.direction, entry, exit, self.settings.draw),
            _ => Outcome::Cancelled,
        };
        record.open_price = entry;
        record.close_price = exit;
        record.result = Some(TradeResult::from(outcome));
        record.status = Some(match outcome {
            Outcome::Cancelled => TradeStatus::Cancelled,
            Outcome::Won | Outcome::Lost | Outcome::Draw => TradeStatus::Completed,
        });
        Ok(record)
    }

    fn open_record(&self, ticket: &Ticket, moments: &Moments) -> TradeRecord {
        TradeRecord {
            id: ticket.to_string(),
            status: Some(TradeStatus::Open),
            result: Some(TradeResult::Pending),
            symbol: Some(ticket.symbol.to_string()),
            direction: Some(Tolerant::Known(ticket.direction)),
            payout: Decimal::try_from(self.settings.payout_percent.to_percent()).ok(),
            request_time: Some(ticket.arrival),
            open_time: Some(moments.open_time),
            close_time: Some(moments.close_time),
            is_demo: Some(true),
            ..TradeRecord::default()
        }
    }
}

#[async_trait]
impl Venue for PaperVenue {
    async fn wallets(&self) -> Result<Reply<Vec<Wallet>>, ApiError> {
        let wallet = Wallet {
            id: "paper".to_owned(),
            user_id: Some("paper".to_owned()),
            wallet_type: WalletType::Demo,
            balance: self.balance,
            created_at: None,
        };
        Ok(self.reply(vec![wallet]))
    }

    async fn trades(&self, query: &TradeQuery) -> Result<Reply<TradePage>, ApiError> {
        let page = TradePage { current_page: Some(query.page), last_page: Some(1), ..TradePage::default() };
        Ok(self.reply(page))
    }

    async fn trade(&self, id: &str) -> Result<Reply<TradeRecord>, ApiError> {
        let ticket =
            id.parse::<Ticket>().map_err(|_| ApiError::NotFound { text: format!("no paper trade {id}") })?;
        Ok(self.reply(self.settle(&ticket).await?))
    }

    async fn open(&self, order: &OpenOrder, _leave_by: Millis) -> Result<Reply<OpenReply>, ApiError> {
        let ticket = Ticket {
            symbol: order.symbol,
            direction: order.direction,
            close_type: order.close_type,
            expiration_type: order.expiration_type,
            arrival: self.clock.now() + self.settings.latency_ms,
        };
        let moments = self.moments(&ticket);
        Ok(self.reply(OpenReply::from(self.open_record(&ticket, &moments))))
    }

    async fn me(&self) -> Result<Reply<User>, ApiError> {
        Ok(self.reply(User { id: "paper".to_owned(), ..User::default() }))
    }

    async fn last_price(&self, pair: &Symbol, limit: LimitTime) -> Result<Reply<LastPrice>, ApiError> {
        self.market.last_price(pair, limit).await
    }

    async fn default_price(&self, pair: &Symbol) -> Result<Reply<PriceRecord>, ApiError> {
        self.market.default_price(pair).await
    }

    async fn candles(&self, query: &CandleQuery) -> Result<Reply<CandleRows>, ApiError> {
        self.market.candles(query).await
    }
}

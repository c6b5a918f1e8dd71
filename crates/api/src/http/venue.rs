//! The old port, until its users ask the new ones.

use super::open::Unopened;
use super::{Api, HttpBroker};
use crate::model::{
    CandleQuery, CandleRows, LastPrice, LimitTime, PriceRecord, TradePage, TradeQuery, TradeRecord, User,
    Wallet, read_record,
};
use crate::{ApiError, OpenReply, Venue};
use async_trait::async_trait;
use candlewick_broker::{BrokerError, OpenOrder, Reply};
use candlewick_sdk::{Millis, Symbol};

#[async_trait]
impl Venue for HttpBroker {
    async fn wallets(&self) -> Result<Reply<Vec<Wallet>>, ApiError> {
        Ok(self.ask_wallets().await?)
    }

    async fn trades(&self, query: &TradeQuery) -> Result<Reply<TradePage>, ApiError> {
        Ok(self.ask_page(query).await?)
    }

    async fn trade(&self, id: &str) -> Result<Reply<TradeRecord>, ApiError> {
        Ok(self.ask_trade(id).await?)
    }

    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> Result<Reply<OpenReply>, ApiError> {
        Ok(self.send_open(order, leave_by).await?.map(OpenReply::from))
    }

    async fn me(&self) -> Result<Reply<User>, ApiError> {
        Ok(self.ask_user().await?)
    }

    async fn last_price(&self, pair: &Symbol, limit: LimitTime) -> Result<Reply<LastPrice>, ApiError> {
        Ok(self.ask_price(pair, limit).await?)
    }

    async fn default_price(&self, pair: &Symbol) -> Result<Reply<PriceRecord>, ApiError> {
        let answer = self
            .read(Api::Prices, self.url(Api::Prices, ["symbol-price", "default", pair.as_str()], &[])?)
            .await?;
        Ok(self.parse(&answer, |json| read_record(json, &self.unrecognised))?)
    }

    async fn candles(&self, query: &CandleQuery) -> Result<Reply<CandleRows>, ApiError> {
        Ok(self.ask_candles(query).await?)
    }
}

impl From<BrokerError> for ApiError {
    fn from(error: BrokerError) -> Self {
        match error {
            BrokerError::Settings { key, value, problem } => Self::Settings { key, value, problem },
            BrokerError::Credentials { text } => Self::Unauthorized { text },
            BrokerError::Refused { text } => Self::Rejected { status: 400, text, venue_time: None },
            BrokerError::NotFound { text } => Self::NotFound { text },
            BrokerError::RateLimited { text, retry_after } => Self::RateLimited { text, retry_after },
            BrokerError::Unavailable { text } => Self::Unavailable { text },
            BrokerError::Malformed { problem, head } => Self::Malformed { problem, head },
        }
    }
}

impl From<Unopened> for ApiError {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::Refused { status, refusal } => {
                Self::Rejected { status, text: refusal.text, venue_time: refusal.venue_time }
            }
            Unopened::NotSent { reason } => Self::NotSent { text: reason },
            Unopened::Unknown { reason } => Self::Ambiguous { text: reason },
        }
    }
}

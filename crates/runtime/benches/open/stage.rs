//! What stands around the measured run: a clock that runs fast, a venue that only its opens leave the process for, and a
//! strategy that signals at every candle and notes when.

use async_trait::async_trait;
use candlewick_api::clock::{Clock, Hold};
use candlewick_api::model::{
    CandleQuery, CandleRow, CandleRows, LastPrice, LimitTime, PriceRecord, TradePage, TradeQuery,
    TradeRecord, User, Wallet, WalletType,
};
use candlewick_api::{ApiError, HttpVenue, OpenOrder, OpenReply, Reply, Venue};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, Millis, Signal, Strategy, Symbol};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Moments, in the order in which they were noted.
pub(crate) type Moments = Arc<Mutex<Vec<Instant>>>;

/// A clock that is not made by the program, so that the run waits for nothing that a live one does not wait for, but runs
/// so fast that a minute's candle closes within a moment.
pub(crate) struct FastClock {
    pub(crate) began: Instant,
    pub(crate) start: Millis,
    /// How long a minute takes.
    pub(crate) minute: Duration,
}

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Millis {
        let minutes = self.began.elapsed().as_secs_f64() / self.minute.as_secs_f64();
        self.start + Millis::new((minutes * 60_000.0) as i64)
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        let minutes = (at - self.start).get().clamp(0, 1 << 40) as f64 / 60_000.0;
        tokio::time::sleep_until((self.began + self.minute.mul_f64(minutes)).into()).await;
        Hold::none()
    }

    fn hold(&self) -> Hold {
        Hold::none()
    }

    fn is_virtual(&self) -> bool {
        false
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

/// Signals at every candle.
pub(crate) struct Signaller(pub(crate) Moments);

impl Strategy for Signaller {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        self.0.lock().unwrap().push(Instant::now());
        Some(Signal::buy("every candle"))
    }
}

/// Answers everything in memory but opens, which go out through the client of the program.
pub(crate) struct BenchVenue {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) client: HttpVenue,
    /// When each open was handed to the client.
    pub(crate) handed: Moments,
}

impl BenchVenue {
    fn reply<T>(&self, value: T) -> Reply<T> {
        Reply::at(value, self.clock.now())
    }
}

#[async_trait]
impl Venue for BenchVenue {
    async fn open(&self, order: &OpenOrder, leave_by: Millis) -> Result<Reply<OpenReply>, ApiError> {
        self.handed.lock().unwrap().push(Instant::now());
        self.client.open(order, leave_by).await
    }

    async fn candles(&self, query: &CandleQuery) -> Result<Reply<CandleRows>, ApiError> {
        let length = query.interval.length();
        let first = query.start_time.floor_to(length);
        let opens = std::iter::successors(Some(first), |open| Some(*open + length));
        let row = |time| CandleRow {
            volume: 1.0,
            open_price: 100.0,
            close_price: 101.0,
            high_price: 102.0,
            low_price: 99.0,
            time,
        };
        let rows = opens.take_while(|open| *open <= query.end_time).map(row).collect();
        Ok(self.reply(CandleRows { rows, unreadable: 0 }))
    }

    async fn me(&self) -> Result<Reply<User>, ApiError> {
        Ok(self.reply(User { id: "user".to_owned(), ..User::default() }))
    }

    async fn wallets(&self) -> Result<Reply<Vec<Wallet>>, ApiError> {
        let wallet = Wallet {
            id: "wallet".to_owned(),
            user_id: None,
            wallet_type: WalletType::Demo,
            balance: Decimal::from(10_000),
            created_at: None,
        };
        Ok(self.reply(vec![wallet]))
    }

    async fn trades(&self, _query: &TradeQuery) -> Result<Reply<TradePage>, ApiError> {
        Ok(self.reply(TradePage::default()))
    }

    async fn trade(&self, id: &str) -> Result<Reply<TradeRecord>, ApiError> {
        Err(ApiError::NotFound { text: id.to_owned() })
    }

    async fn last_price(&self, pair: &Symbol, _limit: LimitTime) -> Result<Reply<LastPrice>, ApiError> {
        Err(ApiError::NotFound { text: pair.to_string() })
    }

    async fn default_price(&self, pair: &Symbol) -> Result<Reply<PriceRecord>, ApiError> {
        Err(ApiError::NotFound { text: pair.to_string() })
    }
}

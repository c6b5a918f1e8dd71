//! The parts of a live run.

use crate::past::Past;
use crate::{Account, RuntimeSettings, Watcher};
use candlewick_broker::clock::Clock;
use candlewick_broker::{Broker, MarketData, TokenState, UnrecognisedData};
use candlewick_engine::{BotSettings, Header, Session};
use candlewick_journal::{Journal, LoggedExchange};
use candlewick_sdk::Millis;
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct Parts {
    pub settings: RuntimeSettings,
    pub header: Header,
    pub market: Arc<dyn MarketData>,
    pub broker: Arc<dyn Broker>,
    pub clock: Arc<dyn Clock>,
    pub account: Account,
    pub session: Session,
    /// Bots in the session's order.
    pub bots: Vec<BotSettings>,
    pub wants_prices: Vec<bool>,
    pub journal: Box<dyn Journal>,
    pub past: Past,
    pub exchanges: mpsc::Receiver<LoggedExchange>,
    pub unrecognised: Arc<UnrecognisedData>,
    pub token: Arc<TokenState>,
    pub watchers: Vec<Watcher>,
    pub until: Option<Millis>,
}

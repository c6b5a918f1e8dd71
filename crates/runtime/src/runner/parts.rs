//! What a live run is made from.

use crate::past::Past;
use crate::{Account, RuntimeSettings, Watcher};
use candlewick_broker::clock::Clock;
use candlewick_broker::{Broker, MarketData, TokenState, UnrecognisedData};
use candlewick_engine::{BotSettings, Header, Session};
use candlewick_journal::{Journal, LoggedExchange};
use candlewick_sdk::Millis;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Everything a run is made from.
pub struct Parts {
    /// How it polls and waits.
    pub settings: RuntimeSettings,
    /// What the journal of this run begins with.
    pub header: Header,
    /// Candles and prices.
    pub market: Arc<dyn MarketData>,
    /// Who accepts trades.
    pub broker: Arc<dyn Broker>,
    /// Venue time.
    pub clock: Arc<dyn Clock>,
    /// Whose account it trades on.
    pub account: Account,
    /// What decides.
    pub session: Session,
    /// The bots, in the Session's order.
    pub bots: Vec<BotSettings>,
    /// Whether each bot's strategy wants prices.
    pub wants_prices: Vec<bool>,
    /// What remembers.
    pub journal: Box<dyn Journal>,
    /// What earlier runs left.
    pub past: Past,
    /// Requests and answers of the trading API.
    pub exchanges: mpsc::Receiver<LoggedExchange>,
    /// What the venue's adapter has met that it does not know.
    pub unrecognised: Arc<UnrecognisedData>,
    /// Whether the venue accepts the adapter's token.
    pub token: Arc<TokenState>,
    /// Who watches.
    pub watchers: Vec<Watcher>,
    /// Venue time at which the run ends by itself.
    pub until: Option<Millis>,
}

//! JSON format of the events.

use crate::control::VenueApi;
use candlewick_engine::{EdgeVerdict, IntentId};
use candlewick_sdk::{Direction, Millis, Outcome};
use schemars::JsonSchema;
use serde::Serialize;

/// An event of a run. Money is in the wallet's currency, times are milliseconds since the Unix epoch (UTC).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run has started.
    Started {
        /// Program version.
        #[schemars(with = "String")]
        version: &'static str,
        /// Kind of trading: `demo`, `paper`, `real` or `sandbox`.
        trading: String,
        /// Names of the bots.
        bots: Vec<String>,
        /// Free balance plus open stakes.
        balance: f64,
    },
    /// A candle has closed.
    Candle {
        /// Symbol.
        symbol: String,
        /// Candle interval.
        interval: String,
        /// Open time.
        #[schemars(with = "i64")]
        time: Millis,
        /// Open price.
        open: f64,
        /// Highest price.
        high: f64,
        /// Lowest price.
        low: f64,
        /// Close price.
        close: f64,
        /// Volume.
        volume: f64,
        /// Whether the candle was backfilled. Backfilled candles never open trades.
        is_late: bool,
    },
    /// A signal was approved. The order is sent once its intent is durable in the journal.
    Signal {
        /// Order terms.
        #[serde(flatten)]
        order: OrderFacts,
        /// Decision time.
        #[schemars(with = "i64")]
        decision_time: Millis,
        /// Requested duration of the trade (the venue's `closeType`).
        close_type: String,
        /// Reason given by the strategy.
        reason: String,
    },
    /// A risk rule rejected a signal.
    Refused {
        /// Bot name.
        bot: String,
        /// Direction.
        #[schemars(with = "String")]
        direction: Direction,
        /// Decision time.
        #[schemars(with = "i64")]
        decision_time: Millis,
        /// Name of the first rule that rejected the signal.
        #[schemars(with = "String")]
        rule: &'static str,
        /// Reason given by the strategy.
        reason: String,
    },
    /// The venue accepted an order, or its trade was found at the venue.
    Opened {
        /// Known details of the trade.
        #[serde(flatten)]
        trade: TradeFacts,
        /// Whether the status of the order was unknown before its trade was found.
        is_adopted: bool,
    },
    /// Details of an open trade have changed.
    Updated {
        /// Known details of the trade.
        #[serde(flatten)]
        trade: TradeFacts,
    },
    /// The venue declined an order. Its stake is free again.
    Rejected {
        /// Order terms.
        #[serde(flatten)]
        order: OrderFacts,
        /// Reason.
        reason: String,
    },
    /// An order was not sent.
    NotSent {
        /// Order terms.
        #[serde(flatten)]
        order: OrderFacts,
    },
    /// The status of an order is unknown, or the venue lists a trade for a declined order. The symbol is blocked.
    InDoubt {
        /// Order terms.
        #[serde(flatten)]
        order: OrderFacts,
    },
    /// The status of an order is known again.
    Resolved {
        /// Trade number.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// Resolution: `adopted`, `not_opened`, `rejected`, `not_sent` or `settled_by_person`.
        #[schemars(with = "String")]
        how: &'static str,
    },
    /// The venue opened no trade for an order.
    NotOpened {
        /// Order terms.
        #[serde(flatten)]
        order: OrderFacts,
    },
    /// A trade was settled.
    Settled {
        /// Known details of the trade.
        #[serde(flatten)]
        trade: TradeFacts,
        /// Outcome.
        #[schemars(with = "String")]
        outcome: Outcome,
        /// Net profit.
        pnl: f64,
        /// Close price.
        close_price: Option<f64>,
        /// Whether the operator entered the result. This is necessary if the venue no longer has the trade.
        #[serde(rename = "is_by_person")]
        is_by_operator: bool,
        /// Free balance after the settlement.
        balance: f64,
        /// Open stakes after the settlement.
        open_stakes: f64,
    },
    /// The venue changed the result of a settled trade, and the ledger was corrected.
    Corrected {
        /// Trade number.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// Corrected outcome.
        #[schemars(with = "String")]
        outcome: Outcome,
        /// Corrected net profit.
        pnl: f64,
        /// Free balance after the correction.
        balance: f64,
    },
    /// The venue opened a second trade for one order.
    SecondTrade {
        /// Trade number of the order.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// Trade id at the venue.
        venue_id: String,
        /// Stake.
        stake: f64,
    },
    /// The second trade for an order was settled.
    SecondTradeSettled {
        /// Trade number of the order.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// Trade id at the venue.
        venue_id: String,
        /// Net profit.
        pnl: f64,
    },
    /// Money entered or left the wallet, and no trade explains the change.
    Deposit {
        /// Amount, negative for a withdrawal.
        amount: f64,
    },
    /// The difference between the wallet and the ledger has changed.
    WalletDifference {
        /// Wallet balance minus ledger balance: negative for a shortage, 0 once both agree again.
        amount: f64,
    },
    /// The wallet was read.
    Wallet {
        /// Balance.
        amount: f64,
    },
    /// The local clock differs from the venue's.
    Skew {
        /// Local clock minus the venue's, in ms.
        offset_ms: i64,
    },
    /// The daily limits were reset, because a new day has started.
    Day {
        /// Free balance plus open stakes at the first event of the day.
        balance: f64,
    },
    /// The verdict on a bot's edge has changed.
    Verdict {
        /// Bot name.
        bot: String,
        /// Verdict on the bot's edge.
        #[schemars(with = "String")]
        edge: EdgeVerdict,
        /// Number of trades on which the verdict is based.
        trades: u64,
    },
    /// The run is halted until the operator resumes it.
    Halted {
        /// Reason.
        reason: Option<String>,
    },
    /// Trading is suspended until the journal is writable, the venue accepts the token and the account may trade.
    Suspended {
        /// Reason.
        reason: Option<String>,
    },
    /// Trading has resumed.
    Resumed,
    /// Reloaded settings are in effect.
    Reloaded,
    /// An API of the venue no longer answers: requests to this API fail.
    VenueSilent {
        /// Time of the last answer.
        #[schemars(with = "Option<i64>")]
        heard: Option<Millis>,
        /// API: `trading` or `prices`.
        #[schemars(with = "String")]
        api: VenueApi,
    },
    /// An API of the venue answers again.
    VenueHeard {
        /// API: `trading` or `prices`.
        #[schemars(with = "String")]
        api: VenueApi,
    },
    /// Candles of a series are late by more than two intervals.
    SeriesLate {
        /// Symbol.
        symbol: String,
        /// Candle interval.
        interval: String,
        /// Close time of the first missing candle.
        #[schemars(with = "i64")]
        since: Millis,
        /// Whether candle requests fail. If false, the venue answers, but without the candle.
        is_unanswered: bool,
    },
    /// Candles of a series that was late are arriving again.
    SeriesRecovered {
        /// Symbol.
        symbol: String,
        /// Candle interval.
        interval: String,
        /// Close time of the first missing candle.
        #[schemars(with = "i64")]
        since: Millis,
    },
    /// An informational message, for example about a reloaded list.
    Note {
        /// Message.
        text: String,
    },
    /// A message that needs the operator's attention.
    Alarm {
        /// Message.
        text: String,
    },
    /// A problem that does not stop the run.
    Warning {
        /// Message.
        text: String,
    },
    /// Events were dropped at this point, because the reader was too slow.
    Dropped {
        /// Number of dropped events.
        count: u64,
    },
    /// The run is stopping. It opens no new trades, and waits until the open trades have closed.
    Stopping {
        /// Number of open trades and orders of unknown status.
        unfinished: usize,
        /// Time at which the run stops waiting for the open trades and orders.
        #[schemars(with = "i64")]
        waits_until: Millis,
    },
    /// The run has ended.
    Ended(Totals),
}

/// Order terms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OrderFacts {
    /// Trade number.
    #[schemars(with = "u64")]
    pub intent: IntentId,
    /// Bot name.
    pub bot: String,
    /// Symbol.
    pub symbol: String,
    /// Direction.
    #[schemars(with = "String")]
    pub direction: Direction,
    /// Stake.
    pub stake: f64,
}

/// Known details of a trade.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TradeFacts {
    /// Order terms.
    #[serde(flatten)]
    pub order: OrderFacts,
    /// Trade id at the venue. Only `opened` and `updated` events contain it.
    pub venue_id: Option<String>,
    /// Open time.
    #[schemars(with = "Option<i64>")]
    pub open_time: Option<Millis>,
    /// Open price.
    pub open_price: Option<f64>,
    /// Close time.
    #[schemars(with = "Option<i64>")]
    pub close_time: Option<Millis>,
    /// Payout in percent.
    pub payout: Option<f64>,
}

/// Totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// Stop reason: `time_up`, `data_ends`, `interrupted`, `terminated`, or the name of a risk rule.
    #[schemars(with = "String")]
    pub stop: &'static str,
    /// Number of candles that closed during the run, excluding the warm-up.
    pub candles: u64,
    /// Number of settled trades.
    pub trades: u64,
    /// Number of won trades.
    pub won: u64,
    /// Number of lost trades.
    pub lost: u64,
    /// Number of draws.
    pub draw: u64,
    /// Number of trades cancelled by the venue.
    pub cancelled: u64,
    /// Number of open trades and orders of unknown status.
    pub unfinished: usize,
    /// Net profit of the settled trades.
    pub pnl: f64,
    /// Free balance.
    pub balance: f64,
    /// Number of events dropped before they reached any follower, because the run produced them too fast.
    pub dropped: u64,
}

/// Builds the JSON Schema of an event, without the common fields `seq` and `at`.
pub fn event_schema() -> serde_json::Value {
    schemars::schema_for!(RunEvent).to_value()
}

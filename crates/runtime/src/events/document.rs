//! JSON documents of the events.

use crate::control::VenueApi;
use candlewick_engine::{Edge, IntentId};
use candlewick_sdk::{Direction, Millis, Outcome};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that happened in a run. Money is a number in the wallet's currency, times are milliseconds since 1970, UTC.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run begins.
    Started {
        /// The program's version.
        #[schemars(with = "String")]
        version: &'static str,
        /// What its trades are worth: `demo`, `paper`, `real` or `sandbox`.
        trading: String,
        /// The bots, by their names.
        bots: Vec<String>,
        /// Free balance and open stakes.
        balance: f64,
    },
    /// A candle has closed.
    Candle {
        /// The pair.
        symbol: String,
        /// Its interval.
        interval: String,
        /// When it began.
        #[schemars(with = "i64")]
        time: Millis,
        /// Its first price.
        open: f64,
        /// Its highest price.
        high: f64,
        /// Its lowest price.
        low: f64,
        /// Its last price.
        close: f64,
        /// Its volume.
        volume: f64,
        /// Whether it was fetched later, so that nothing is opened on it.
        is_late: bool,
    },
    /// A signal was approved: its intent is made durable, and then its open leaves.
    Signal {
        /// The order's terms.
        #[serde(flatten)]
        order: OrderFacts,
        /// When it was decided.
        #[schemars(with = "i64")]
        decision_time: Millis,
        /// The expiry that is asked for.
        close_type: String,
        /// The strategy's reason.
        reason: String,
    },
    /// A signal was refused.
    Refused {
        /// Whose signal.
        bot: String,
        /// Its direction.
        #[schemars(with = "String")]
        direction: Direction,
        /// When it was given.
        #[schemars(with = "i64")]
        decision_time: Millis,
        /// The first rule that refused it, by its name.
        #[schemars(with = "String")]
        rule: &'static str,
        /// The strategy's reason.
        reason: String,
    },
    /// The venue accepted an intent, or a trade of it was found there.
    Opened {
        /// Which trade.
        #[serde(flatten)]
        trade: TradeFacts,
        /// Whether it was found after a doubt.
        is_adopted: bool,
    },
    /// More is known of a trade that is open.
    Updated {
        /// Which trade.
        #[serde(flatten)]
        trade: TradeFacts,
    },
    /// The venue refused an intent: its stake is free again.
    Rejected {
        /// The order's terms.
        #[serde(flatten)]
        order: OrderFacts,
        /// Why.
        reason: String,
    },
    /// The request of an intent never left.
    NotSent {
        /// The order's terms.
        #[serde(flatten)]
        order: OrderFacts,
    },
    /// Nobody knows whether the venue has a trade of an intent: its symbol is blocked. Also sent when the venue lists a trade of an intent that it had rejected.
    InDoubt {
        /// The order's terms.
        #[serde(flatten)]
        order: OrderFacts,
    },
    /// A doubt is over.
    Resolved {
        /// Which intent.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// How: `adopted`, `not_opened`, `rejected`, `not_sent` or `settled_by_person`.
        #[schemars(with = "String")]
        how: &'static str,
    },
    /// The venue has no trade of an intent.
    NotOpened {
        /// The order's terms.
        #[serde(flatten)]
        order: OrderFacts,
    },
    /// A trade's outcome is known.
    Settled {
        /// Which trade.
        #[serde(flatten)]
        trade: TradeFacts,
        /// How it ended.
        #[schemars(with = "String")]
        outcome: Outcome,
        /// Net profit.
        pnl: f64,
        /// The price at which it closed.
        close_price: Option<f64>,
        /// Whether a person said so, because the venue no longer shows it.
        is_by_person: bool,
        /// What can be staked after it.
        balance: f64,
        /// What is staked after it.
        open_stakes: f64,
    },
    /// The venue changed the result of a settled trade: the ledger follows.
    Corrected {
        /// Intent of the trade.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// Right outcome.
        #[schemars(with = "String")]
        outcome: Outcome,
        /// Right net profit.
        pnl: f64,
        /// Free balance after the correction.
        balance: f64,
    },
    /// The venue has a second trade of one request.
    SecondTrade {
        /// Of which intent.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// The venue's name of it.
        venue_id: String,
        /// Its stake.
        stake: f64,
    },
    /// It is over.
    SecondTradeSettled {
        /// Of which intent.
        #[schemars(with = "u64")]
        intent: IntentId,
        /// The venue's name of it.
        venue_id: String,
        /// Net profit.
        pnl: f64,
    },
    /// Money came into the wallet or left it, and no trade explains it.
    Deposit {
        /// How much.
        amount: f64,
    },
    /// The wallet holds another amount than the trades explain, or no longer does.
    WalletDifference {
        /// Wallet minus what the trades explain: below zero for a shortage, 0 when the difference has ended.
        amount: f64,
    },
    /// The wallet was read.
    Wallet {
        /// What it holds.
        amount: f64,
    },
    /// The clock certainly differs from the venue's.
    Skew {
        /// Ours minus theirs, in ms.
        offset_ms: i64,
    },
    /// A day begins for the daily limits.
    Day {
        /// Free balance and open stakes at its first event.
        balance: f64,
    },
    /// The verdict on a bot's edge has fallen.
    Verdict {
        /// On which bot.
        bot: String,
        /// What it says.
        #[schemars(with = "String")]
        edge: Edge,
        /// Trades it rests on.
        trades: u64,
    },
    /// No opens until somebody resumes.
    Halted {
        /// Why.
        reason: Option<String>,
    },
    /// No opens until the journal can be written, the venue accepts the token and the account may trade.
    Suspended {
        /// Why.
        reason: Option<String>,
    },
    /// Opens are allowed again.
    Resumed,
    /// Settings that were read again are in force.
    Reloaded,
    /// An API of the venue has not answered for a while, and requests to it fail.
    VenueSilent {
        /// When it last answered.
        #[schemars(with = "Option<i64>")]
        heard: Option<Millis>,
        /// Which API: `trading` or `prices`.
        #[schemars(with = "String")]
        api: VenueApi,
    },
    /// An API of the venue answers again.
    VenueHeard {
        /// Which API: `trading` or `prices`.
        #[schemars(with = "String")]
        api: VenueApi,
    },
    /// Candles of a series are late by more than two intervals.
    SeriesLate {
        /// The pair.
        symbol: String,
        /// Its interval.
        interval: String,
        /// Close time of the first missing candle.
        #[schemars(with = "i64")]
        since: Millis,
        /// Whether requests for the candles fail; else they are answered without the candle.
        is_unanswered: bool,
    },
    /// Candles of a series that was late come again.
    SeriesRecovered {
        /// The pair.
        symbol: String,
        /// Its interval.
        interval: String,
        /// Close time of the first candle that was missing.
        #[schemars(with = "i64")]
        since: Millis,
    },
    /// Something of interest, such as that a list was read again.
    Note {
        /// What.
        text: String,
    },
    /// Something that a person must see.
    Alarm {
        /// What.
        text: String,
    },
    /// Something went wrong that the run survives.
    Warning {
        /// What.
        text: String,
    },
    /// Events were left out here, because they came faster than they were taken.
    Dropped {
        /// How many.
        count: u64,
    },
    /// No more trades are opened, and what is open is tracked to its end.
    Stopping {
        /// How many trades and doubts that are.
        unfinished: usize,
        /// When the run no longer waits for them.
        #[schemars(with = "i64")]
        waits_until: Millis,
    },
    /// The run is over.
    Ended(Totals),
}

/// What was ordered.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OrderFacts {
    /// Which intent.
    #[schemars(with = "u64")]
    pub intent: IntentId,
    /// Whose it is.
    pub bot: String,
    /// The pair.
    pub symbol: String,
    /// The direction.
    #[schemars(with = "String")]
    pub direction: Direction,
    /// The stake.
    pub stake: f64,
}

/// A trade as far as it is known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TradeFacts {
    /// What was ordered.
    #[serde(flatten)]
    pub order: OrderFacts,
    /// The venue's name of it, where the event says so.
    pub venue_id: Option<String>,
    /// When it opened.
    #[schemars(with = "Option<i64>")]
    pub open_time: Option<Millis>,
    /// The price at which it opened.
    pub open_price: Option<f64>,
    /// When it closes or closed.
    #[schemars(with = "Option<i64>")]
    pub close_time: Option<Millis>,
    /// What a win pays, in percent.
    pub payout: Option<f64>,
}

/// What a run came to: intents that were decided in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// Why it ended: `time_up`, `data_ends`, `interrupted`, `terminated`, or the name of a risk rule.
    #[schemars(with = "String")]
    pub stop: &'static str,
    /// Candles that closed during the run, without those of the warm-up.
    pub candles: u64,
    /// Trades that settled.
    pub trades: u64,
    /// Trades that were won.
    pub won: u64,
    /// Trades that were lost.
    pub lost: u64,
    /// Trades whose stake came back.
    pub draw: u64,
    /// Trades that the venue cancelled.
    pub cancelled: u64,
    /// What is open or in doubt.
    pub unfinished: usize,
    /// Net profit of what settled.
    pub pnl: f64,
    /// What can be staked.
    pub balance: f64,
    /// Events that were left out for all followers, because they came faster than they could be made into lines.
    pub dropped: u64,
}

/// Builds the JSON Schema of an event, without the common fields `seq` and `at`.
pub fn event_schema() -> serde_json::Value {
    schemars::schema_for!(RunEvent).to_value()
}

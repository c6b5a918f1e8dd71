//! What keeps a live run from starting or going on.

use candlewick_broker::BrokerError;
use candlewick_engine::EngineError;
use candlewick_journal::JournalError;
use candlewick_sdk::Series;

/// Why a live run cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The venue did not answer: check the connection and the credentials.
    #[error("the venue did not answer \"{question}\"")]
    Venue {
        /// What was asked.
        question: String,
        /// What came back.
        source: BrokerError,
    },
    /// The venue has no candles of this interval: give the bots another.
    #[error(
        "the venue rejected the request for past candles of {series}: this interval is none of those that such venues have"
    )]
    UnsupportedInterval {
        /// The bots' series.
        series: Series,
        /// What came back.
        source: BrokerError,
    },
    /// The venue does not have the series: check the bots' symbol and asset type.
    #[error("the venue has no candles of {series}: it does not know the symbol or its asset type")]
    UnknownSeries {
        /// The bots' series.
        series: Series,
        /// What came back.
        source: BrokerError,
    },
    /// The account has no wallet of this kind: open one at the venue.
    #[error("the account has no {kind} wallet; the venue listed: {listed}")]
    NoWallet {
        /// `DEMO` or `REAL`.
        kind: &'static str,
        /// The types of the wallets that it listed.
        listed: String,
    },
    /// The venue has no such trade: name one of its own list.
    #[error("the venue has no trade {venue_id}: look for its identifier in the venue's own list")]
    UnknownTrade {
        /// What was named.
        venue_id: String,
    },
    /// The venue has the trade after all: it says how that ends.
    #[error("the venue has trade {venue_id}, and says how it ends: a bot that runs books it")]
    TradeKnown {
        /// What was named.
        venue_id: String,
    },
    /// The trade is not what was asked for: name another.
    #[error("trade {venue_id} is {found}, and asked for was {wanted}")]
    TradeMismatch {
        /// What was named.
        venue_id: String,
        /// What the venue says of it.
        found: String,
        /// What the intent asked for.
        wanted: String,
    },
    /// The wallet's balance has more decimals than the configured money scale.
    #[error(
        "the wallet's balance {balance} cannot be counted with {decimals} decimals: set account.money_scale"
    )]
    MoneyScaleMismatch {
        /// What the wallet holds.
        balance: String,
        /// The configured scale.
        decimals: u32,
    },
    /// The bots or the risk settings are wrong.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An entry of an earlier run cannot be read: do not trust the journal.
    #[error("the journal's entry {seq} cannot be read: {problem}")]
    UnreadableEntry {
        /// Its number.
        seq: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// A snapshot is not what the entries before it come to: do not trust it.
    #[error("the journal's entry {seq} is a snapshot that the entries before it do not come to")]
    WrongSnapshot {
        /// Its number.
        seq: u64,
    },
    /// A row of the tables is not what the entries come to: make the tables anew.
    #[error("row {row} is not what the journal's entries come to")]
    WrongRow {
        /// Which row, of which table.
        row: String,
    },
    /// What a start would go on from is not the same in a compacted copy: use the journal as it is.
    #[error("a start from the compacted copy would not go on from where this journal ends, so none was made")]
    CompactionDiffers,
    /// The journal cannot be written: see the cause.
    #[error("the journal cannot be written")]
    Journal(#[from] JournalError),
}

//! Why a run ends: a stop, or an error.

use candlewick_broker::BrokerError;
use candlewick_engine::{EngineError, Rule};
use candlewick_journal::JournalError;
use candlewick_sdk::{Millis, Series};

pub(crate) type Result<T, E = RuntimeError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("the venue did not answer \"{question}\"")]
    Venue { question: String, source: BrokerError },
    #[error(
        "the venue rejected the request for past candles of {series}: this interval is none of those that such venues have"
    )]
    UnsupportedInterval { series: Series, source: BrokerError },
    #[error("the venue has no candles of {series}: it does not know the symbol or its asset type")]
    UnknownSeries { series: Series, source: BrokerError },
    #[error("the account has no {kind} wallet; the venue listed: {listed}")]
    NoWallet { kind: &'static str, listed: String },
    #[error("the venue has no trade {venue_id}: look for its identifier in the venue's own list")]
    UnknownTrade { venue_id: String },
    #[error("the venue has trade {venue_id}, and says how it ends: a bot that runs books it")]
    TradeKnown { venue_id: String },
    #[error("trade {venue_id} is {found}, and asked for was {wanted}")]
    TradeMismatch { venue_id: String, found: String, wanted: String },
    #[error(
        "the wallet's balance {balance} cannot be counted with {decimals} decimals: set account.money_scale"
    )]
    MoneyScaleMismatch { balance: String, decimals: u32 },
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("the journal's entry {seq} cannot be read: {problem}")]
    UnreadableEntry { seq: u64, problem: String },
    #[error("the journal's entry {seq} is a snapshot that the entries before it do not come to")]
    WrongSnapshot { seq: u64 },
    #[error("row {row} is not what the journal's entries come to")]
    WrongRow { row: String },
    #[error("a start from the compacted copy would not go on from where this journal ends, so none was made")]
    CompactionDiffers,
    #[error("the journal cannot be written")]
    Journal(#[from] JournalError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    TimeUp,
    DataEnds(Millis),
    Interrupted,
    Terminated,
    Limit(Rule),
}

impl Stop {
    /// Returns whether the stop came from outside.
    /// Such a stop limits the run's patience, and a second one ends it at once.
    pub(crate) const fn is_signal(self) -> bool {
        matches!(self, Self::Interrupted | Self::Terminated)
    }
}

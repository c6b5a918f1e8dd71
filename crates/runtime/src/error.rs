//! Errors of a run, and the reasons why a run ends.

use candlewick_broker::BrokerError;
use candlewick_engine::{EngineError, Rule};
use candlewick_journal::JournalError;
use candlewick_sdk::{Millis, Series};

pub(crate) type Result<T, E = RuntimeError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("the venue did not answer a request for {question}")]
    Venue { question: String, source: BrokerError },
    #[error("the venue rejected the request for past candles of {series}: unusual interval")]
    UnsupportedInterval { series: Series, source: BrokerError },
    #[error("the venue has no candles of {series}: unknown symbol or asset type")]
    UnknownSeries { series: Series, source: BrokerError },
    #[error("the account has no {kind} wallet; the venue listed: {listed}")]
    NoWallet { kind: &'static str, listed: String },
    #[error("the venue has no trade {venue_id}. Look up its id in the venue's trade list")]
    UnknownTrade { venue_id: String },
    #[error("the venue still reports trade {venue_id}. Start the bot, which books the result")]
    TradeKnown { venue_id: String },
    #[error("trade {venue_id} is {found}, but ordered was {wanted}")]
    TradeMismatch { venue_id: String, found: String, wanted: String },
    #[error("the wallet balance {balance} has more than {decimals} decimals. Set account.money_scale")]
    MoneyScaleMismatch { balance: String, decimals: u32 },
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("journal entry {seq} cannot be read: {problem}")]
    UnreadableEntry { seq: u64, problem: String },
    #[error("the snapshot in journal entry {seq} does not match the entries before it")]
    WrongSnapshot { seq: u64 },
    #[error("{row} does not match the journal entries")]
    WrongRow { row: String },
    #[error("the compacted copy restored a different state, so it was discarded")]
    CompactionDiffers,
    #[error("the journal cannot be written")]
    Journal(#[from] JournalError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    TimeUp,
    DataEnds(Millis),
    Interrupted,
    Terminated,
    Limit(Rule),
}

impl StopReason {
    pub(crate) const fn is_os_signal(self) -> bool {
        matches!(self, Self::Interrupted | Self::Terminated)
    }
}

//! What keeps a live run from starting or going on.

use candlewick_api::ApiError;
use candlewick_engine::EngineError;
use candlewick_journal::JournalError;
use candlewick_sdk::Series;

/// Why a live run cannot start or go on, named by what to mend.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// Mend the connection or the credentials.
    #[error("the venue did not answer \"{question}\"")]
    Venue {
        /// What was asked.
        question: String,
        /// What came back.
        source: ApiError,
    },
    /// Give the bots an interval of which the venue has candles.
    #[error(
        "the venue refused past candles of {series}: this interval is none of those that such venues have"
    )]
    ChangeInterval {
        /// What the bots listen to.
        series: Series,
        /// What came back.
        source: ApiError,
    },
    /// Open a wallet of this kind at the venue.
    #[error("the account has no {kind} wallet")]
    OpenWallet {
        /// `DEMO` or `REAL`.
        kind: &'static str,
    },
    /// Name a trade of the venue's own list.
    #[error("the venue has no trade {venue_id}: look for its identifier in the venue's own list")]
    NameTrade {
        /// What was named.
        venue_id: String,
    },
    /// Name another trade: this one is not what was asked for.
    #[error("trade {venue_id} is {found}, and asked for was {wanted}")]
    NameOtherTrade {
        /// What was named.
        venue_id: String,
        /// What the venue says of it.
        found: String,
        /// What the intent asked for.
        wanted: String,
    },
    /// The venue's wallet cannot be counted at the configured money scale.
    #[error(
        "the wallet's balance {balance} cannot be counted with {decimals} decimals: set account.money_scale"
    )]
    SetMoneyScale {
        /// What the wallet holds.
        balance: String,
        /// The configured scale.
        decimals: u32,
    },
    /// Mend the bots or the risk settings.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Do not trust the journal: an entry of an earlier run is not one.
    #[error("the journal's entry {seq} cannot be folded: {problem}")]
    Past {
        /// Its number.
        seq: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Mend the journal, or end the other process that holds it.
    #[error("the journal cannot be kept")]
    Journal(#[from] JournalError),
}

//! What a run and its loop by hand have to agree on.

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Settled trades.
    pub trades: u64,
    /// The balance after them, in cents.
    pub balance: i64,
}

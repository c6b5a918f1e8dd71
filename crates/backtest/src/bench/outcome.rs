//! Results in which a run and its hand-written loop must agree.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub trades: u64,
    /// Final balance in cents.
    pub balance: i64,
}

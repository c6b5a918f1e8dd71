//! Which questions are unanswered.

use super::input::RequestId;
use candlewick_engine::IntentId;
use std::collections::BTreeSet;

/// The questions that were asked and not answered, each at most once.
#[derive(Debug, Default)]
pub(crate) struct Requests(BTreeSet<RequestId>);

impl Requests {
    /// A question is asked.
    pub(crate) fn begin(&mut self, id: RequestId) {
        self.0.insert(id);
    }

    /// It is answered; false when nobody had asked it.
    pub(crate) fn end(&mut self, id: RequestId) -> bool {
        self.0.remove(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, id: RequestId) -> bool {
        self.0.contains(&id)
    }

    /// Whether the venue's list, or the balances after it, are being read.
    pub(crate) fn has_trades(&self) -> bool {
        self.has(RequestId::Trades) || self.has(RequestId::BalancesAfterTrades)
    }

    /// Intents whose open left and is not answered.
    pub(crate) fn opening(&self) -> impl Iterator<Item = IntentId> {
        self.0.iter().filter_map(|id| match id {
            RequestId::Open(intent) => Some(*intent),
            _ => None,
        })
    }
}

//! Pending requests.

use super::input::RequestId;
use candlewick_engine::IntentId;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(crate) struct Requests(BTreeSet<RequestId>);

impl Requests {
    pub(crate) fn begin(&mut self, id: RequestId) {
        self.0.insert(id);
    }

    pub(crate) fn end(&mut self, id: RequestId) -> bool {
        self.0.remove(&id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, id: RequestId) -> bool {
        self.0.contains(&id)
    }

    pub(crate) fn has_trades(&self) -> bool {
        self.has(RequestId::Trades) || self.has(RequestId::BalancesAfterTrades)
    }

    pub(crate) fn opening(&self) -> impl Iterator<Item = IntentId> {
        self.0.iter().filter_map(|id| match id {
            RequestId::Open(intent) => Some(*intent),
            _ => None,
        })
    }
}

//! Order in which a Session received the updates of an intent.

use candlewick_sdk::Payout;
use serde::{Deserialize, Serialize};

/// The order in which a Session received the updates of an intent.
///
/// Values are 1-based update numbers of the book, 0 for updates that did not happen. Payouts are
/// those reported with the updates. Several updates can share a time, and the Session decided in
/// this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSequence {
    pub(crate) decided: u32,
    pub(crate) answered: u32,
    /// End without evidence: rejected, not sent, not found, other terms than ordered, or settled by
    /// an operator.
    pub(crate) left_out: u32,
    pub(crate) settled: u32,
    pub(crate) answered_payout: Option<Payout>,
    pub(crate) settled_payout: Option<Payout>,
}

impl EventSequence {
    pub(crate) const fn ended(self) -> u32 {
        if self.left_out > 0 { self.left_out } else { self.settled }
    }

    pub(crate) const fn after(self, news: u32) -> Self {
        const fn moved(place: u32, by: u32) -> u32 {
            if place == 0 { 0 } else { place + by }
        }
        let Self { decided, answered, left_out, settled, .. } = self;
        Self {
            decided: moved(decided, news),
            answered: moved(answered, news),
            left_out: moved(left_out, news),
            settled: moved(settled, news),
            ..self
        }
    }
}

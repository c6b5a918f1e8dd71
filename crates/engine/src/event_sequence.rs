//! The order in which a Session was handed what is known of an intent.

use candlewick_sdk::Payout;
use serde::{Deserialize, Serialize};

/// The order in which a Session was handed what is known of an intent: numbers of its book's news, from 1, 0 for what did not
/// happen, and the payouts reported then. Several things become known at one moment; the Session decided in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSequence {
    pub(crate) decided: u32,
    pub(crate) answered: u32,
    /// It is no evidence: refused, not sent, looked for in vain, another bet than was meant, or settled by a person's word.
    pub(crate) left_out: u32,
    pub(crate) settled: u32,
    /// Payout that the answer stated.
    pub(crate) answered_payout: Option<Payout>,
    /// The same, as the settlement said.
    pub(crate) settled_payout: Option<Payout>,
}

impl EventSequence {
    /// The number of its end; 0 where it has not ended.
    pub(crate) const fn ended(self) -> u32 {
        if self.left_out > 0 { self.left_out } else { self.settled }
    }

    /// The same behind so much other news.
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

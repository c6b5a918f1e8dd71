//! Ladders given up because the venue did not accept an order, until that is certain.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// Position that a ladder would have if the venue had accepted the order. A rejected order may turn out to be a trade.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct GivenUp<P> {
    /// First of the orders that were not accepted since the last approved one.
    pub(super) first: IntentId,
    pub(super) position: P,
}

impl<P: Copy> GivenUp<P> {
    /// Records another order that was not accepted. `current` is the position before it if it is the first one.
    pub(super) fn extend(known: Option<Self>, intent: IntentId, current: P) -> Self {
        known.map_or(Self { first: intent, position: current }, |known| Self {
            first: known.first.min(intent),
            ..known
        })
    }

    pub(super) fn take_position(known: &mut Option<Self>, intent: IntentId) -> Option<P> {
        known.take_if(|known| intent >= known.first).map(|known| known.position)
    }
}

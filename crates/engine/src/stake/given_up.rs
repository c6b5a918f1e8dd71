//! Ladders that restarted because the venue did not accept an order, and that may be restored later.

use crate::IntentId;
use serde::{Deserialize, Serialize};

/// Ladder position before the restart, restored if a failed order did open a trade after all.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct GivenUpPosition<P> {
    /// First unaccepted order since the last approved signal.
    pub(super) first: IntentId,
    pub(super) position: P,
}

impl<P: Copy> GivenUpPosition<P> {
    /// Records an order that the venue did not accept. `current` is stored for the first such order only.
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

//! An open that may be sent, because its intent is durable.

use candlewick_broker::OpenOrder;
use candlewick_engine::IntentId;
use candlewick_sdk::Millis;

/// An approved trade with a durable intent: the only thing that is ever sent.
///
/// Only [`Coordinator`](super::Coordinator) creates it, once the journal has confirmed the intent.
/// It rejects late signals at that point and sets the deadline for sending.
#[derive(Clone, Debug, PartialEq)]
pub struct DurableOpen {
    intent: IntentId,
    order: OpenOrder,
    leave_by: Millis,
}

impl DurableOpen {
    pub(super) const fn new(intent: IntentId, order: OpenOrder, leave_by: Millis) -> Self {
        Self { intent, order, leave_by }
    }

    pub const fn intent(&self) -> IntentId {
        self.intent
    }

    pub const fn order(&self) -> &OpenOrder {
        &self.order
    }

    /// Deadline by the local clock. An adapter that had to wait must not send later.
    pub const fn leave_by(&self) -> Millis {
        self.leave_by
    }
}

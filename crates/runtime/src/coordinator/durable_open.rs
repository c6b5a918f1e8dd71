//! An open that may be sent: its intent is durable.

use candlewick_broker::OpenOrder;
use candlewick_engine::IntentId;
use candlewick_sdk::Millis;

/// An approved trade whose intent is durable: the only thing that is ever sent.
///
/// It is made in one place ([`Coordinator`](super::Coordinator), when the journal has made its intent durable), which also
/// decides whether it is too late: what may still be sent carries the moment by which it has to leave.
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

    /// Whose request it is.
    pub const fn intent(&self) -> IntentId {
        self.intent
    }

    /// What is ordered.
    pub const fn order(&self) -> &OpenOrder {
        &self.order
    }

    /// When its signal is too old, by our clock: an adapter that has to wait does not send it after that.
    pub const fn leave_by(&self) -> Millis {
        self.leave_by
    }
}

//! Clocks of a venue and of a bot whose machine sleeps and then catches up.

use async_trait::async_trait;
use candlewick_broker::clock::{Clock, Hold, VirtualClock};
use candlewick_sdk::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Clone)]
pub(super) struct LeapingClock {
    time: VirtualClock,
    /// Lead over `time`, in milliseconds.
    lead: Arc<AtomicI64>,
    venue_lead: Arc<AtomicI64>,
}

impl LeapingClock {
    /// Returns the venue's clock and the bot's clock.
    pub(super) fn pair(time: VirtualClock) -> (Self, Self) {
        let lead: Arc<AtomicI64> = Arc::default();
        let venue = Self { time, venue_lead: Arc::clone(&lead), lead };
        let bot = Self { lead: Arc::default(), ..venue.clone() };
        (venue, bot)
    }

    pub(super) fn leap(&self, span: Millis) {
        self.venue_lead.fetch_add(span.get(), Ordering::Relaxed);
    }

    fn lead(&self) -> Millis {
        Millis::new(self.lead.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Clock for LeapingClock {
    fn now(&self) -> Millis {
        self.time.now() + self.lead()
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        self.time.sleep_until(at - self.lead()).await
    }

    fn hold(&self) -> Hold {
        self.time.hold()
    }

    fn catch_up(&self) -> Millis {
        let venue = self.venue_lead.load(Ordering::Relaxed);
        Millis::new(venue - self.lead.swap(venue, Ordering::Relaxed))
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

//! Clock of a suspendable machine: on waking, the bot's clock catches up with the venue's.

use async_trait::async_trait;
use candlewick_broker::clock::{Clock, Hold, VirtualClock};
use candlewick_sdk::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

#[derive(Clone)]
pub(super) struct LeapingClock {
    time: VirtualClock,
    leapt: Arc<AtomicI64>,
    venue: Arc<AtomicI64>,
}

impl LeapingClock {
    pub(super) fn of_venue(time: VirtualClock) -> Self {
        let leapt = Arc::new(AtomicI64::new(0));
        Self { time, venue: Arc::clone(&leapt), leapt }
    }

    pub(super) fn of_bot(&self) -> Self {
        Self { leapt: Arc::new(AtomicI64::new(0)), ..self.clone() }
    }

    pub(super) fn leap(&self, by: Millis) {
        self.venue.fetch_add(by.get(), Ordering::Relaxed);
    }

    fn leapt(&self) -> Millis {
        Millis::new(self.leapt.load(Ordering::Relaxed))
    }
}

#[async_trait]
impl Clock for LeapingClock {
    fn now(&self) -> Millis {
        self.time.now() + self.leapt()
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        self.time.sleep_until(at - self.leapt()).await
    }

    fn hold(&self) -> Hold {
        self.time.hold()
    }

    fn catch_up(&self) -> Millis {
        let venue = self.venue.load(Ordering::Relaxed);
        Millis::new(venue - self.leapt.swap(venue, Ordering::Relaxed))
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

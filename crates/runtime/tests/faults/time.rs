//! Two times: the venue's, which is true, and that of a run's clock, which may differ from it and jumps between runs.

use async_trait::async_trait;
use candlewick_api::clock::{Clock, Hold};
use candlewick_sdk::Millis;
use std::time::Duration;
use tokio::time::Instant;

/// The venue's time, on paused time.
#[derive(Clone, Copy)]
pub(crate) struct TrueTime {
    began: Instant,
    epoch: Millis,
}

/// The clock of one run.
pub(crate) struct OffClock {
    time: TrueTime,
    /// Ours minus the venue's.
    offset: Millis,
}

impl TrueTime {
    pub(crate) fn from(epoch: Millis) -> Self {
        Self { began: Instant::now(), epoch }
    }

    pub(crate) fn now(&self) -> Millis {
        self.epoch + Millis::new(self.began.elapsed().as_millis() as i64)
    }

    /// Since the beginning.
    pub(crate) fn elapsed(&self) -> Millis {
        self.now() - self.epoch
    }

    pub(crate) async fn sleep_until(&self, at: Millis) {
        let wait = u64::try_from((at - self.epoch).get()).unwrap_or(0);
        match self.began.checked_add(Duration::from_millis(wait)) {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }
}

impl OffClock {
    pub(crate) const fn new(time: TrueTime, offset: Millis) -> Self {
        Self { time, offset }
    }
}

#[async_trait]
impl Clock for OffClock {
    fn now(&self) -> Millis {
        self.time.now() + self.offset
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        self.time.sleep_until(at - self.offset).await;
        Hold::none()
    }

    fn hold(&self) -> Hold {
        Hold::none()
    }

    fn is_virtual(&self) -> bool {
        false
    }

    fn is_lock_step(&self) -> bool {
        false
    }
}

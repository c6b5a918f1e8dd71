//! Two times: the venue's, which is true, and that of a run's clock, which may differ from it and jumps, between runs and within
//! them.

use async_trait::async_trait;
use candlewick_broker::clock::{Clock, Hold};
use candlewick_sdk::Millis;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
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
    /// Ours minus the venue's, in ms.
    offset: AtomicI64,
    /// What it would be had the machine never slept, in ms.
    awake: AtomicI64,
}

/// How a clock jumps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Jump {
    /// The machine sleeps for so long: its clock can catch up.
    Sleep(Millis),
    /// One of the two clocks is set, so that they differ by this.
    Set(Millis),
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
        Self { time, offset: AtomicI64::new(offset.get()), awake: AtomicI64::new(offset.get()) }
    }

    /// Ours minus the venue's.
    pub(crate) fn offset(&self) -> Millis {
        Millis::new(self.offset.load(Relaxed))
    }

    pub(crate) fn jump(&self, jump: Jump) {
        match jump {
            Jump::Sleep(span) => {
                self.offset.fetch_sub(span.get(), Relaxed);
            }
            Jump::Set(offset) => {
                self.offset.store(offset.get(), Relaxed);
                self.awake.store(offset.get(), Relaxed);
            }
        }
    }
}

#[async_trait]
impl Clock for OffClock {
    fn now(&self) -> Millis {
        self.time.now() + self.offset()
    }

    async fn sleep_until(&self, at: Millis) -> Hold {
        self.time.sleep_until(at - self.offset()).await;
        Hold::none()
    }

    fn catch_up(&self) -> Millis {
        let behind = self.awake.load(Relaxed) - self.offset.load(Relaxed);
        if behind < 500 {
            return Millis::ZERO;
        }
        self.offset.fetch_add(behind, Relaxed);
        Millis::new(behind)
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

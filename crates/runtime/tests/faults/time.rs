//! True time of the venue, and the clock of a run, which may be off and jump.

use crate::prelude::*;
use candlewick_broker::clock::Hold;
use tokio::time::Instant;

#[derive(Clone)]
pub(crate) struct TrueTime {
    epoch: Millis,
    /// Start of a runtime with paused time, `None` if time is moved explicitly.
    began: Option<Instant>,
    moved: Arc<AtomicI64>,
}

pub(crate) struct OffClock {
    time: TrueTime,
    offset: AtomicI64,
    /// Offset in ms as if the machine had never slept.
    awake: AtomicI64,
}

impl TrueTime {
    pub(crate) fn new(epoch: Millis, is_paused: bool) -> Self {
        Self { epoch, began: is_paused.then(Instant::now), moved: Arc::default() }
    }

    pub(crate) fn now(&self) -> Millis {
        let elapsed = self.began.map(|began| began.elapsed().as_millis() as i64);
        self.epoch + Millis::new(elapsed.unwrap_or_else(|| self.moved.load(Relaxed)))
    }

    pub(crate) fn move_to(&self, at: Millis) {
        assert!(self.began.is_none(), "a runtime moves its own time");
        self.moved.fetch_max((at - self.epoch).get(), Relaxed);
    }

    pub(crate) fn elapsed(&self) -> Millis {
        self.now() - self.epoch
    }

    pub(crate) async fn sleep_until(&self, at: Millis) {
        let began = self.began.expect("only a paused runtime can sleep");
        let wait = u64::try_from((at - self.epoch).get()).unwrap_or(0);
        match began.checked_add(Duration::from_millis(wait)) {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }
}

impl OffClock {
    pub(crate) const fn new(time: TrueTime, offset: Millis) -> Self {
        Self { time, offset: AtomicI64::new(offset.get()), awake: AtomicI64::new(offset.get()) }
    }

    pub(crate) fn offset(&self) -> Millis {
        Millis::new(self.offset.load(Relaxed))
    }

    pub(crate) fn sleep(&self, span: Millis) {
        self.offset.fetch_sub(span.get(), Relaxed);
    }

    pub(crate) fn set(&self, offset: Millis) {
        self.offset.store(offset.get(), Relaxed);
        self.awake.store(offset.get(), Relaxed);
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

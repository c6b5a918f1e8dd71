//! Sample strategies for the kit's own tests.

use crate::{BotContext, BuildError, Candle, Expiry, Signal, Strategy, StrategyFactory};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

crate::parameters! {
    /// What is far.
    pub(super) struct Params {
        /// A rise of so much calls for the other direction, for five minutes.
        far: f64 = 1.0, 0.0..=5.0;
    }
}

pub(super) struct Follows {
    far: f64,
}

impl Strategy for Follows {
    fn warmup(&self) -> usize {
        1
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rise = candle.close() - candle.open();
        assert!(rise <= 0.0 || self.far < 5.0, "too far");
        let signal = match rise {
            rise if rise >= self.far => Signal::sell("rose far").expiring(five_minutes()),
            rise if rise > 0.0 => Signal::buy("rose"),
            _ => return None,
        };
        Some(signal.with("by", rise))
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![None, Some(five_minutes())]
    }
}

fn five_minutes() -> Expiry {
    Expiry::minutes(5).unwrap()
}

impl StrategyFactory for Follows {
    const NAME: &'static str = "follows";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Follows.";
    type Params = Params;

    fn build(params: Params, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { far: params.far })
    }
}

pub(super) struct ReadsTheClock;

impl Strategy for ReadsTheClock {
    fn warmup(&self) -> usize {
        1
    }

    #[allow(clippy::disallowed_methods, reason = "this is what must not be")]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let is_new = u128::from(candle.time().get().unsigned_abs()) > now;
        (!is_new && candle.close() > candle.open()).then(|| Signal::buy("rose"))
    }
}

impl StrategyFactory for ReadsTheClock {
    const NAME: &'static str = "reads-the-clock";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Reads the clock.";
    type Params = Params;

    fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self)
    }
}

pub(super) struct Shares;

static SEEN: AtomicUsize = AtomicUsize::new(0);

impl Strategy for Shares {
    fn warmup(&self) -> usize {
        1
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        SEEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(97).then(|| Signal::buy("97 seen"))
    }
}

impl StrategyFactory for Shares {
    const NAME: &'static str = "shares";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Shares a count.";
    type Params = Params;

    fn build(_: Params, _: &BotContext) -> Result<Self, BuildError> {
        Ok(Self)
    }
}

pub(super) fn message_of(check: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("it passes");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

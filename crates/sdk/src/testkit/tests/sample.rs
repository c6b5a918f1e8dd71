//! A sample strategy for the kit's own tests.

use crate::{BotContext, BuildError, Candle, Expiry, Signal, Strategy, StrategyFactory};
use std::panic::{AssertUnwindSafe, catch_unwind};

crate::parameters! {
    /// Parameters of the sample.
    pub(super) struct Params {
        /// Minimum rise for a bet on a fall within five minutes.
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
            rise if rise >= self.far => Signal::sell("rose far").with_expiry(five_minutes()),
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

pub(super) fn panic_message(check: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(check)).expect_err("it passes");
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

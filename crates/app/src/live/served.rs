//! A sandbox that is served to anyone's client.

use crate::candles;
use crate::configuration::{Loaded, Problems};
use crate::error::AppError;
use candlewick_broker::clock::{Clock, Speed, SystemClock, VirtualClock};
use candlewick_sandbox::{
    Foundation, NamedSpeed, RunningSandbox, Sandbox, SandboxSettings, SandboxSpeed, markets_of,
};
use candlewick_sdk::{CandleSeries, Millis};
use std::sync::Arc;

/// A sandbox that runs, and venue time at its start.
pub struct ServedSandbox {
    /// The venue.
    pub running: RunningSandbox,
    /// Venue time at the start.
    pub start: Millis,
}

/// Venue time, where it starts, and the candles around that.
struct Timeline {
    clock: Arc<dyn Clock>,
    start: Millis,
    series: Vec<CandleSeries>,
}

impl ServedSandbox {
    /// Begins to serve the candles.
    ///
    /// # Errors
    /// Wrong settings, candles that do not reach the start, or an address that cannot be listened on.
    pub async fn start(
        settings: SandboxSettings,
        series: Vec<CandleSeries>,
        loaded: &Loaded,
    ) -> Result<Self, AppError> {
        loaded.check_simulation().map_err(Problems::from)?;
        let Timeline { clock, start, series } = timeline_of(&settings, series)?;
        let foundation = Foundation {
            clock,
            markets: markets_of(&series),
            series,
            simulation: loaded.config.simulation.clone(),
            balance: loaded.initial_balance()?,
            scale: loaded.config.account.money_scale,
        };
        let running = Sandbox::new(settings, foundation)?.bind(std::future::pending()).await?;
        Ok(Self { running, start })
    }
}

/// At speed 1 without a start, venue time is real time and the candles are moved to it by whole days, so that a
/// client that reads its own clock finds them where it looks. Otherwise the candles stay, and venue time begins
/// among them.
fn timeline_of(settings: &SandboxSettings, series: Vec<CandleSeries>) -> Result<Timeline, AppError> {
    let speed = match settings.speed {
        SandboxSpeed::Times(factor) => factor,
        SandboxSpeed::Named(NamedSpeed::Max) => {
            let problem = "--speed max needs a bot in the same process, for which the clock waits";
            return Err(AppError::invalid(problem).help("use `live --sandbox --speed max`, or give a factor"));
        }
    };
    if speed == 1.0 && settings.start.is_none() {
        let clock = SystemClock::new();
        let start = clock.now();
        let series = candles::shift_to(start, &series)?;
        return Ok(Timeline { clock: Arc::new(clock), start, series });
    }
    let start = candles::start_among(&series, settings.start.map(|start| start.0))?;
    Ok(Timeline { clock: Arc::new(VirtualClock::new(start, Speed::Times(speed))), start, series })
}

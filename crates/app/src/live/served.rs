//! A standalone sandbox that serves any client.

use crate::candles;
use crate::configuration::{Loaded, Problems};
use crate::error::AppError;
use candlewick_broker::clock::{Clock, Speed, SystemClock, VirtualClock};
use candlewick_sandbox::{
    Foundation, NamedSpeed, RunningSandbox, Sandbox, SandboxSettings, SandboxSpeed, markets_of,
};
use candlewick_sdk::{CandleSeries, Millis};
use std::sync::Arc;

pub struct ServedSandbox {
    pub running: RunningSandbox,
    pub start: Millis,
}

struct Timeline {
    clock: Arc<dyn Clock>,
    start: Millis,
    series: Vec<CandleSeries>,
}

impl ServedSandbox {
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

/// Chooses the clock and places the candles on it.
///
/// At speed 1 without a start, venue time is real time and the candles are shifted to it by whole
/// days, for clients that read their own clock. Otherwise venue time starts among the unshifted
/// candles.
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

//! Heartbeat to a configured URL, whose absence reveals a dead process.

use super::health::Health;
use crate::configuration::HeartbeatSettings;
use crate::error::AppError;
use reqwest::redirect::Policy;
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(10);

/// Sends heartbeats while the run is healthy.
///
/// Failures are logged without the URL, which may be secret.
pub(super) fn beat(
    settings: &HeartbeatSettings,
    health: Arc<Health>,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>, AppError> {
    let Some(url) = settings.url.clone() else { return Ok(None) };
    let every = Duration::from_secs(u64::from(settings.every_s.max(1)));
    candlewick_api::prepare_tls();
    let client = reqwest::Client::builder().timeout(DEADLINE.min(every)).redirect(Policy::none()).build();
    let client =
        client.map_err(|error| AppError::system("the client of the heartbeat cannot be made", error))?;
    Ok(Some(async move {
        let mut pace = tokio::time::interval(every);
        pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut failures = 0_u64;
        loop {
            pace.tick().await;
            if !health.troubles().is_empty() {
                continue;
            }
            let problem = match client.get(&url).send().await {
                Ok(answer) if answer.status().is_success() => None,
                Ok(answer) => Some(format!("the answer is {}", answer.status())),
                Err(error) => Some(error.without_url().to_string()),
            };
            failures = if problem.is_some() { failures + 1 } else { 0 };
            if let Some(problem) = problem {
                tracing::warn!(failures, %problem, "the heartbeat was not taken");
            }
        }
    }))
}

//! A sign of life to an address of the user's, which tells what a dead process cannot.

use super::health::Health;
use crate::configuration::HeartbeatSettings;
use crate::error::AppError;
use std::sync::Arc;
use std::time::Duration;

/// How long a sign may take to be answered.
const DEADLINE: Duration = Duration::from_secs(10);

/// Gives it for as long as the run is healthy; one that is not taken is logged by a word, without the address: it may be secret.
///
/// # Errors
/// The client cannot be made.
pub(super) fn beat(
    settings: &HeartbeatSettings,
    health: Arc<Health>,
) -> Result<Option<impl Future<Output = ()> + Send + 'static>, AppError> {
    let Some(url) = settings.url.clone() else { return Ok(None) };
    let every = Duration::from_secs(u64::from(settings.every_s.max(1)));
    candlewick_api::prepare_tls();
    let client = reqwest::Client::builder().timeout(DEADLINE.min(every)).build();
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
            match client.get(&url).send().await.and_then(reqwest::Response::error_for_status) {
                Ok(_) => failures = 0,
                Err(error) => {
                    failures += 1;
                    let error = error.without_url();
                    tracing::warn!(failures, %error, "the heartbeat was not taken");
                }
            }
        }
    }))
}

//! Notifications to systemd (`Type=notify`): readiness, status and the watchdog (`WatchdogSec=`).

use super::health::Health;
use sd_notify::NotifyState;
use std::sync::Arc;
use std::time::Duration;

const PACE: Duration = Duration::from_secs(10);

/// Notifies systemd while the run is healthy.
///
/// A stalled run stops notifying, so that systemd restarts it.
pub(super) async fn tell(health: Arc<Health>) {
    // Half of what systemd waits for.
    let pace = sd_notify::watchdog_enabled().map_or(PACE, |span| (span / 2).min(PACE));
    let mut pace = tokio::time::interval(pace.max(Duration::from_millis(100)));
    let mut is_ready = false;
    loop {
        pace.tick().await;
        let (troubles, obstacles) = (health.troubles(), health.obstacles());
        let status = if obstacles.is_empty() { "trading".to_owned() } else { obstacles.join("; ") };
        let mut news = vec![NotifyState::Status(&status)];
        let becomes_ready = !is_ready && health.has_begun();
        if becomes_ready {
            news.push(NotifyState::Ready);
        }
        if troubles.is_empty() {
            news.push(NotifyState::Watchdog);
        }
        match sd_notify::notify(&news) {
            Ok(()) => is_ready |= becomes_ready,
            Err(error) => tracing::debug!(%error, "systemd was not told"),
        }
    }
}

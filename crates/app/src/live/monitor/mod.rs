//! External monitoring of a run: health, metrics, heartbeat and systemd notifications.

#[cfg(feature = "metrics")]
mod figures;
mod health;
#[cfg(feature = "metrics")]
mod server;

use super::WaitingRequestCounter;
use crate::configuration::{LoadedConfig, Problems, monitoring_problems};
use crate::error::Result;
use candlewick_broker::clock::Clock;
use candlewick_runtime::control::ControlRequest;
use candlewick_runtime::events::EventFeed;
use candlewick_runtime::{Observer, Runner};
use health::Health;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub(super) struct Monitoring {
    health: Arc<Health>,
    #[cfg(feature = "metrics")]
    listener: Option<tokio::net::TcpListener>,
    tasks: JoinSet<()>,
}

pub(super) struct MonitorSources {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) control_requests: mpsc::WeakSender<ControlRequest>,
    pub(super) feed: EventFeed,
    pub(super) requests_per_second: f64,
    pub(super) waiting_requests: WaitingRequestCounter,
}

impl Monitoring {
    #[cfg_attr(
        not(feature = "metrics"),
        allow(clippy::unused_async, reason = "listening is asynchronous with metrics")
    )]
    pub(super) async fn begin(loaded: &LoadedConfig) -> Result<Self> {
        Problems::check(monitoring_problems(loaded))?;
        let (health, mut tasks) = (Arc::new(Health::default()), JoinSet::new());
        if let Some(beating) = health::send_heartbeats(&loaded.config.heartbeat, Arc::clone(&health))? {
            tasks.spawn(beating);
        }
        #[cfg(all(feature = "systemd", target_os = "linux"))]
        tasks.spawn(health::notify_systemd(Arc::clone(&health)));
        Ok(Self {
            health,
            #[cfg(feature = "metrics")]
            listener: server::listen(loaded.config.metrics.listen).await?,
            tasks,
        })
    }

    pub(super) fn attach_observers(
        &mut self,
        runner: Runner,
        loaded: &LoadedConfig,
        sources: MonitorSources,
    ) -> Runner {
        #[cfg(feature = "metrics")]
        let figures = self.serve(loaded, sources);
        #[cfg(not(feature = "metrics"))]
        let figures = discard_sources(loaded, sources);
        tracing::debug!("{} monitoring tasks are running", self.tasks.len());
        let observers = [Some(Arc::clone(&self.health) as Arc<dyn Observer>), figures];
        observers.into_iter().flatten().fold(runner, Runner::with_observer)
    }

    #[cfg(feature = "metrics")]
    fn serve(&mut self, loaded: &LoadedConfig, sources: MonitorSources) -> Option<Arc<dyn Observer>> {
        let listener = self.listener.take()?;
        let monitor = Arc::new(server::Monitor::new(loaded, sources, Arc::clone(&self.health)));
        let figures = monitor.observer();
        self.tasks.spawn(server::serve(listener, monitor));
        Some(figures)
    }
}

#[cfg(not(feature = "metrics"))]
fn discard_sources(_loaded: &LoadedConfig, sources: MonitorSources) -> Option<Arc<dyn Observer>> {
    let MonitorSources {
        clock,
        control_requests: orders,
        feed,
        requests_per_second,
        waiting_requests: waiting,
    } = sources;
    drop((clock, orders, feed, requests_per_second, waiting));
    None
}

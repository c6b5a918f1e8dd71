//! Answers to scrapes: the counted metrics and the run's own status.

use super::Sources;
use super::figures::Figures;
use super::health::Health;
use super::moment::Moment;
use crate::configuration::Loaded;
use candlewick_runtime::Observer;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest, RunState, VenueApi};
use candlewick_runtime::events::Names;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(1);
const FRESH: Duration = Duration::from_secs(1);

pub(super) struct Monitor {
    pub(super) health: Arc<Health>,
    pub(super) allowed_hosts: Vec<String>,
    figures: Arc<Figures>,
    sources: Sources,
    state: Mutex<(Option<Instant>, Option<RunState>)>,
}

impl Monitor {
    pub(super) fn new(loaded: &Loaded, sources: Sources, health: Arc<Health>) -> Self {
        let names = Names::new(&loaded.config.bots, loaded.config.account.money_scale);
        let figures = Arc::new(Figures::new(names, sources.requests_per_second));
        let allowed_hosts = loaded.config.metrics.allowed_hosts.clone();
        Self { health, allowed_hosts, figures, sources, state: Mutex::default() }
    }

    pub(super) fn figures(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.figures) as _
    }

    pub(super) async fn text(&self) -> String {
        // One asks the run, the others wait for what it says.
        let mut known = self.state.lock().await;
        if known.0.is_none_or(|at| at.elapsed() > FRESH) {
            let state = tokio::time::timeout(PATIENCE, self.ask()).await.ok().flatten();
            *known = (Some(Instant::now()), state.or(known.1.take()));
        }
        let Sources { clock, feed, waiting, .. } = &self.sources;
        self.figures.text(&Moment {
            now: clock.now(),
            state: known.1.as_ref(),
            loop_age: self.health.age(),
            is_written: self.health.is_written(),
            is_heard: VenueApi::ALL.map(|api| self.health.is_heard(api)),
            late_series: self.health.late_series(),
            followers: feed.followers(),
            missed: feed.missed(),
            waiting: waiting(),
        })
    }

    async fn ask(&self) -> Option<RunState> {
        let (answer, answered) = oneshot::channel();
        let request = ControlRequest::new(ControlOrder::Status, answer);
        self.sources.orders.upgrade()?.send(request).await.ok()?;
        match answered.await.ok()? {
            ControlAnswer::Done { state } => Some(*state),
            ControlAnswer::Signal { .. }
            | ControlAnswer::Refused { .. }
            | ControlAnswer::VenueFailed { .. }
            | ControlAnswer::Unanswered { .. } => None,
        }
    }
}

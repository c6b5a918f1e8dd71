//! What a scrape is answered with: what was counted, and what the run says of itself when it is asked.

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

/// How long the run may take to say how it stands; a scrape without that has what it said before.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long what it said is as good as new, however many scrape.
const FRESH: Duration = Duration::from_secs(1);

/// Answers scrapes.
pub(super) struct Monitor {
    pub(super) health: Arc<Health>,
    /// Names under which it may be asked, beside addresses.
    pub(super) allowed_hosts: Vec<String>,
    figures: Arc<Figures>,
    sources: Sources,
    /// How the run stands, and when it said so.
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

    /// The figures as they stand.
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

//! Delivery of signals to the run, and reports of malformed input, for all sources.

use candlewick_broker::clock::{Clock, Hold};
use candlewick_engine::SignalSource;
use candlewick_runtime::control::{
    ControlAnswer, ControlOrder, ControlRequest, NextEntry, SignalBots, SignalOrder, SignalOutcome,
    send_signal,
};
use candlewick_sdk::{Millis, escape_hidden};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_PENDING_SIGNALS: usize = 256;
/// Minimum time between two reports of malformed input. It protects the run from a flood of messages.
const MIN_REPORT_INTERVAL: Duration = Duration::from_millis(500);
const MAX_PROBLEM_CHARS: usize = 200;
const MAX_COUNTED_REASONS: usize = 16;

#[derive(Clone)]
pub(super) struct SignalSink {
    pub(super) source: SignalSource,
    pub(super) clock: Arc<dyn Clock>,
    bots: Arc<SignalBots>,
    orders: mpsc::WeakSender<ControlRequest>,
    slots: Arc<Semaphore>,
    problems: Arc<Mutex<ProblemCount>>,
}

#[derive(Debug, Default)]
struct ProblemCount {
    malformed: u64,
    turned_away: u64,
    first: String,
    last: String,
    reasons: BTreeMap<String, u64>,
    is_reported: bool,
}

impl ProblemCount {
    fn add_malformed(&mut self, problem: &str) {
        self.malformed += 1;
        let reason = truncate_problem(problem);
        if self.reasons.len() < MAX_COUNTED_REASONS || self.reasons.contains_key(&reason) {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }
}

fn truncate_problem(problem: &str) -> String {
    escape_hidden(&problem.chars().take(MAX_PROBLEM_CHARS).collect::<String>()).to_string()
}

impl SignalSink {
    pub(super) fn new(
        source: &str,
        clock: Arc<dyn Clock>,
        bots: Arc<SignalBots>,
        orders: mpsc::WeakSender<ControlRequest>,
    ) -> Self {
        let source = SignalSource::truncated(source);
        let slots = Arc::new(Semaphore::new(MAX_PENDING_SIGNALS));
        Self { source, clock, bots, orders, slots, problems: Arc::default() }
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(super) fn check(&self, order: &SignalOrder) -> Result<usize, String> {
        self.bots.check(order, self.now())
    }

    /// Queues a signal without waiting for the outcome. Returns `false` if the run has ended.
    pub(super) async fn send(&self, order: SignalOrder, hold: Hold) -> bool {
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return false };
        let (source, id) = (order.source, order.id);
        match timeout(RESPONSE_TIMEOUT, send_signal(&self.orders, order, hold)).await {
            Ok(Ok(answered)) => {
                tokio::spawn(async move {
                    log_outcome(source.as_str(), id.as_str(), timeout(RESPONSE_TIMEOUT, answered).await.ok());
                    drop(slot);
                });
                true
            }
            Ok(Err(_)) => false,
            Err(_) => {
                log_outcome(source.as_str(), id.as_str(), None);
                true
            }
        }
    }

    /// Waits without a timeout until the run answers requests. Returns `false` if the run has ended.
    pub(super) async fn wait_for_run(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        let Some(orders) = self.orders.upgrade() else { return false };
        let request = ControlRequest::new(ControlOrder::Status, answer);
        let is_sent = orders.send(request).await.is_ok();
        drop(orders);
        is_sent && answered.await.is_ok()
    }

    pub(super) fn report_malformed_input(&self, problem: &str) {
        self.report(problem, |count| count.add_malformed(problem));
    }

    pub(super) fn report_malformed_line(&self, line: u64, problem: &str) {
        self.report(&format!("line {line}: {problem}"), |count| count.add_malformed(problem));
    }

    pub(super) fn report_throttling(&self, problem: &str) {
        self.report(problem, |count| count.turned_away += 1);
    }

    fn report(&self, problem: &str, add: impl FnOnce(&mut ProblemCount)) {
        let mut count = self.lock_problems();
        let problem = truncate_problem(problem);
        // Only the first problem is stored, because it may have caused the later problems.
        if (count.malformed, count.turned_away) == (0, 0) {
            count.first.clone_from(&problem);
        }
        count.last = problem;
        add(&mut count);
        if !std::mem::replace(&mut count.is_reported, true) {
            let sink = self.clone();
            tokio::spawn(async move { sink.send_problem_reports().await });
        }
    }

    async fn send_problem_reports(self) {
        while let Some(permit) = self.reserve_queue_slot().await {
            let counts = {
                let mut count = self.lock_problems();
                if (count.malformed, count.turned_away) == (0, 0) {
                    count.is_reported = false;
                    return;
                }
                std::mem::replace(&mut *count, ProblemCount { is_reported: true, ..ProblemCount::default() })
            };
            let ProblemCount { malformed, turned_away, first, last, reasons, .. } = counts;
            let source = self.source;
            let order = ControlOrder::SignalProblem { source, first, last, malformed, turned_away, reasons };
            permit.send(ControlRequest::new(order, oneshot::channel().0));
            tokio::time::sleep(MIN_REPORT_INTERVAL).await;
        }
        // The problems are reported with the next one.
        self.lock_problems().is_reported = false;
    }

    pub(super) async fn send_note(&self, text: String, fixed: &[String]) {
        let fixed = fixed.iter().map(|problem| truncate_problem(problem)).collect();
        self.send_request(ControlOrder::SignalNote { source: self.source, text, fixed }).await;
    }

    pub(super) async fn report_next_entry(&self, next: Option<NextEntry>, passed_over: Option<String>) {
        self.send_request(ControlOrder::SignalNext { next, passed_over }).await;
    }

    async fn send_request(&self, order: ControlOrder) {
        if let Some(permit) = self.reserve_queue_slot().await {
            permit.send(ControlRequest::new(order, oneshot::channel().0));
        }
    }

    async fn reserve_queue_slot(&self) -> Option<mpsc::OwnedPermit<ControlRequest>> {
        timeout(RESPONSE_TIMEOUT, self.orders.upgrade()?.reserve_owned()).await.ok()?.ok()
    }

    fn lock_problems(&self) -> MutexGuard<'_, ProblemCount> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn log_outcome(source: &str, id: &str, answered: Option<Result<ControlAnswer, oneshot::error::RecvError>>) {
    let (source, id) = (escape_hidden(source), escape_hidden(id));
    match answered {
        Some(Ok(ControlAnswer::Signal { outcome })) => match outcome {
            SignalOutcome::Approved { intent } => tracing::info!("signal {id} ({source}): trade {intent}"),
            SignalOutcome::Refused { rule } => tracing::info!("signal {id} ({source}): rejected by {rule}"),
            SignalOutcome::Duplicate => tracing::info!("signal {id} ({source}): dropped as a duplicate"),
        },
        Some(Ok(ControlAnswer::Refused { problem })) => {
            tracing::warn!("signal {id} ({source}): {}", escape_hidden(&problem));
        }
        Some(Ok(_) | Err(_)) => tracing::warn!("signal {id} ({source}): the run has ended"),
        None => {
            tracing::warn!("signal {id} ({source}): the run did not answer in time; the signal is dropped");
        }
    }
}

//! Sends the alerts of a run from start to end, receives chat commands, and sends test messages.

use super::ChannelTest;
use super::channels::{OpenChannel, delivery_settings, event_name, open_all, open_chats};
use super::facts::{AlertBuilder, alert};
use crate::configuration::{AlertEvent, LoadedConfig, Problems, notify_section_problems};
use crate::control::{describe, send_to_run};
use crate::error::AppError;
use crate::live::stop_name;
use candlewick_broker::clock::{Clock, Stopwatch, SystemClock};
use candlewick_notify::{Alert, ChannelCounts, ChatQuestion, ChatRequest, Message, Notifier, Severity};
use candlewick_records::count_text;
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_runtime::events::{EventNames, RunEvent};
use candlewick_runtime::{Notice, NoticeFilter, NoticeReceiver, NoticeSender, StopReason};
use candlewick_sdk::{Millis, suggest};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

const QUEUE_CAPACITY: usize = 4_096;
const TICK_INTERVAL: Duration = Duration::from_secs(1);
const FOLLOWER_TIMEOUT: Duration = Duration::from_secs(3);
const CHAT_TIMEOUT: Duration = Duration::from_secs(10);
const TEST_TIMEOUT: Duration = Duration::from_secs(15);
/// Number of checks for unsent alerts before the wait is reported.
const DRAIN_CHECKS: u32 = 20;
const DRAIN_INTERVAL: Duration = Duration::from_millis(50);

/// Alerts of a run. Sending them never blocks trading.
pub(crate) struct Alerts(Option<RunningAlerts>);

struct RunningAlerts {
    notifier: Arc<Notifier>,
    following: JoinHandle<()>,
    _conversations: JoinSet<()>,
    clock: Arc<dyn Clock>,
    end_timeout: Duration,
}

impl Alerts {
    pub(crate) fn begin(
        loaded: &LoadedConfig,
        watchers: &mut Vec<NoticeSender>,
        (clock, orders): (&Arc<dyn Clock>, &mpsc::WeakSender<ControlRequest>),
    ) -> Result<Self, AppError> {
        Problems::check(notify_section_problems(loaded))?;
        let config = &loaded.config;
        if config.notify.channels.is_empty() {
            return Ok(Self(None));
        }
        let channels = open_all(loaded)?;
        let channels = channels.into_iter().map(|open| (open.name, open.filter, open.sender)).collect();
        let notifier = Arc::new(Notifier::start(&config.notify.sender, channels, delivery_settings(loaded)));
        let (watcher, notices) = NoticeSender::channel(QUEUE_CAPACITY, NoticeFilter::Trades);
        watchers.push(watcher);
        let scale = config.account.money_scale;
        let following = AlertFollower {
            notifier: Arc::clone(&notifier),
            names: EventNames::new(&config.bots, scale),
            facts: AlertBuilder::new(&config.notify, scale),
            clock: Arc::clone(clock),
        };
        let mut conversations = JoinSet::new();
        for chat in open_chats(loaded)? {
            let (asked, questions) = mpsc::channel(1);
            conversations.spawn(chat.listen(asked));
            conversations.spawn(answer_chat(questions, orders.clone()));
        }
        Ok(Self(Some(RunningAlerts {
            notifier,
            _conversations: conversations,
            following: tokio::spawn(following.follow(notices)),
            clock: Arc::clone(clock),
            end_timeout: Duration::from_secs(u64::from(config.notify.end_timeout_s)),
        })))
    }

    pub(crate) async fn end(self, how: Result<StopReason, &AppError>) {
        let Some(RunningAlerts { notifier, mut following, clock, end_timeout, .. }) = self.0 else { return };
        if timeout(FOLLOWER_TIMEOUT, &mut following).await.is_err() {
            following.abort();
            drop(following.await);
        }
        notifier.send(final_alert(clock.as_ref(), how));
        let slow = slow_channels(&notifier, end_timeout).await;
        let seconds = end_timeout.as_secs();
        if !slow.is_empty() {
            tracing::warn!("waiting up to {seconds} s for unsent alerts to {}", slow.join(", "));
        }
        let Ok(notifier) = Arc::try_unwrap(notifier) else { return };
        for ChannelCounts { channel, waiting, dropped, refused, .. } in notifier.shut_down(end_timeout).await
        {
            if waiting > 0 {
                tracing::warn!("{waiting} alerts for the channel {channel} were not sent within {seconds} s");
            }
            if dropped + refused > 0 {
                tracing::warn!(
                    "alerts for the channel {channel}: {dropped} dropped (queue full), {refused} declined by the receiver"
                );
            }
        }
    }
}

struct AlertFollower {
    notifier: Arc<Notifier>,
    names: EventNames,
    facts: AlertBuilder,
    clock: Arc<dyn Clock>,
}

impl AlertFollower {
    async fn follow(mut self, mut notices: NoticeReceiver) {
        let mut pace = interval(TICK_INTERVAL);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                received = notices.next() => {
                    let Some(received) = received else { return };
                    if received.missed > 0 {
                        self.send_event(self.clock.now(), RunEvent::Dropped { count: received.missed });
                    }
                    self.handle(received.notice);
                }
                _ = pace.tick() => {
                    for alert in self.facts.alerts_for_orders_in_doubt(self.clock.now()) {
                        self.notifier.send(alert);
                    }
                    self.notifier.tick();
                }
            }
        }
    }

    fn handle(&mut self, notice: Notice) {
        let now = self.clock.now();
        let funds = match &notice {
            Notice::Logged { .. } => return,
            Notice::LeftInDoubt(row) => {
                return self
                    .facts
                    .record_order_in_doubt(row.approved.decision_time(), self.names.row_order_facts(row));
            }
            Notice::Begins(funds) => {
                let bots = count_text(self.names.bots().len(), "bot", "bots");
                let text = format!("the run starts with {bots}");
                self.notifier.send(alert(now, AlertEvent::Started, &text));
                Some(*funds)
            }
            Notice::Handled { funds, .. } => Some(*funds),
            _ => None,
        };
        let mut events = Vec::new();
        self.names.translate(notice, now, |at, event| events.push((at, event)));
        for (at, event) in events {
            self.send_event(at, event);
        }
        if let Some(alert) = funds.and_then(|funds| self.facts.check_funds(now, funds)) {
            self.notifier.send(alert);
        }
    }

    fn send_event(&mut self, at: Millis, event: RunEvent) {
        if let Some(alert) = self.facts.alert_for(at, event) {
            self.notifier.send(alert);
        }
    }
}

async fn slow_channels(notifier: &Notifier, end_timeout: Duration) -> Vec<String> {
    for _ in 0..DRAIN_CHECKS {
        let counts = notifier.counts().into_iter();
        if counts.map(|counts| counts.waiting).sum::<u64>() == 0
            || end_timeout <= DRAIN_INTERVAL * DRAIN_CHECKS
        {
            return Vec::new();
        }
        sleep(DRAIN_INTERVAL).await;
    }
    let counts = notifier.counts().into_iter();
    counts.filter(|counts| counts.waiting > 0).map(|counts| counts.channel).collect()
}

fn final_alert(clock: &dyn Clock, how: Result<StopReason, &AppError>) -> Alert {
    let (severity, text) = match how {
        Ok(StopReason::Limit(rule)) => {
            (Severity::Critical, format!("the run ended because it reached the limit {}", rule.as_str()))
        }
        Ok(stop) => (Severity::Notice, format!("the run ended: {}", stop_name(stop).replace('_', " "))),
        Err(error) => {
            let mut text = format!("the run failed: {error}");
            let mut cause = error.source();
            while let Some(deeper) = cause {
                text = format!("{text}: {deeper}");
                cause = deeper.source();
            }
            (Severity::Critical, text)
        }
    };
    Alert { severity, ..alert(clock.now(), AlertEvent::Ended, &text) }
}

async fn answer_chat(mut questions: mpsc::Receiver<ChatQuestion>, orders: mpsc::WeakSender<ControlRequest>) {
    while let Some(ChatQuestion { request, reply_to: answer }) = questions.recv().await {
        let order = match request {
            ChatRequest::Status => ControlOrder::Status,
            ChatRequest::Halt { by } => ControlOrder::Halt { reason: format!("by a chat ({by})") },
        };
        let words = match timeout(CHAT_TIMEOUT, send_to_run(&orders, order)).await {
            Ok(Some(ControlAnswer::Done { state })) => describe(&state),
            Ok(Some(
                ControlAnswer::Refused { problem }
                | ControlAnswer::VenueFailed { problem }
                | ControlAnswer::Unanswered { problem },
            )) => problem,
            Ok(Some(ControlAnswer::Signal { .. })) => "Accepted.".to_owned(),
            Ok(None) => "The run has ended or is ending.".to_owned(),
            Err(_) => "The run did not answer in time: send /status to check it.".to_owned(),
        };
        let _ = answer.send(words);
    }
}

pub async fn send_test_messages(
    loaded: &LoadedConfig,
    channel: Option<&str>,
) -> Result<Vec<ChannelTest>, AppError> {
    Problems::check(notify_section_problems(loaded))?;
    let settings = &loaded.config.notify;
    if settings.channels.is_empty() {
        let problem = "no alert channel is configured";
        return Err(AppError::invalid(problem)
            .with_help("add [notify.channels.NAME] to the configuration (docs/alerts.md)"));
    }
    if let Some(wanted) = channel.filter(|wanted| !settings.channels.contains_key(*wanted)) {
        let names: Vec<&str> = settings.channels.keys().map(String::as_str).collect();
        return Err(AppError::invalid(format!("unknown channel {wanted:?}; {}", suggest(wanted, names))));
    }
    let mut tested = Vec::new();
    for open in open_all(loaded)? {
        let is_of = |name: &str| {
            open.name == name || open.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))
        };
        if channel.is_none_or(is_of) {
            tested.push(send_test(&open, &settings.sender).await);
        }
    }
    Ok(tested)
}

async fn send_test(open: &OpenChannel, sender: &str) -> ChannelTest {
    let (now, stopwatch) = (SystemClock::new().now().get(), Stopwatch::start());
    let text = format!("Test message to the channel {}: delivery works.", open.name);
    let alert = Alert::new(now, Severity::Notice, &event_name(AlertEvent::Test), text);
    let message = Message {
        id: format!("test_{now}_{}", open.name.replace(' ', "_")),
        sender: sender.to_owned(),
        alerts: vec![alert],
        dropped: 0,
    };
    let sent = timeout(TEST_TIMEOUT, open.sender.deliver(&message)).await;
    let problem = match sent {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure.to_string()),
        Err(_) => Some("no answer in time".to_owned()),
    };
    let took_ms = u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX);
    ChannelTest { channel: open.name.clone(), kind: open.kind.as_str(), problem, took_ms }
}

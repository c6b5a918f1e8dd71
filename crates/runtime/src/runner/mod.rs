//! Executes the commands of the coordinator in a live run. The runner makes no decisions.
//! Every await has a deadline, and every queue has a maximum length. A virtual clock is held while a request is
//! unanswered, so that requests take no venue time.

mod journal_writer;
mod order_tracker;
mod requests;
mod watchers;

pub(crate) use requests::{LIST_DEADLINE, within_deadline};

use crate::control::{ControlAnswer, ControlOrder, ControlRequest};
use crate::coordinator::{Answer, Command, Coordinator, CoordinatorParts, FinishedRun, Input, RunResult};
use crate::notice::Observer;
use crate::past::RecoveredState;
use crate::reload::SettingsReader;
use crate::{ConnectedAccount, NoticeSender, RuntimeError, RuntimeSettings, StopReason};
use candlewick_broker::clock::{BootClock, Clock, Hold};
use candlewick_broker::{Broker, MarketData, TokenState, UnrecognisedData};
use candlewick_engine::{BotSettings, Header, Session};
use candlewick_journal::{Journal, LoggedExchange, OrderToken};
use candlewick_sdk::Millis;
use journal_writer::{JournalWriter, LeaseCheck, SaveReport};
use order_tracker::{OrderRegistration, OrderTracker};
use requests::{Feeds, Requests, Response};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval};
use watchers::Watchers;

/// Real-time interval at which an idle run saves its journal. Each save renews the lease.
const LEASE_RENEWAL_INTERVAL: Duration = Duration::from_secs(5);

pub struct Runner {
    coordinator: Coordinator,
    clock: Arc<dyn Clock>,
    requests: Requests,
    feeds: Feeds,
    journal: JournalWriter,
    exchanges: mpsc::Receiver<LoggedExchange>,
    unrecognised: Arc<UnrecognisedData>,
    token: Arc<TokenState>,
    known_refusal: Option<String>,
    watchers: Watchers,
    orders: OrderTracker,
    sleep: SuspendWatch,
    commands: Vec<Command>,
    wake_at: Millis,
    result: Option<RunResult>,
}

impl Runner {
    pub fn new(parts: RunnerParts) -> Self {
        let RunnerParts { settings, header, market, broker, clock, account, session, bots, .. } = parts;
        let is_compared = settings.wallet_every_s > 0;
        let is_simulated = clock.is_virtual();
        let priced = bots.iter().zip(parts.wants_prices).filter(|(_, wants)| *wants);
        let coordinator = Coordinator::new(
            CoordinatorParts {
                settings,
                header,
                account: account.kind,
                session,
                priced_symbols: priced.map(|(bot, _)| bot.symbol).collect(),
                recovered: parts.recovered,
                is_simulated,
                until: parts.until,
                balances: account.balances.filter(|_| is_compared),
            },
            clock.now(),
        );
        Self {
            coordinator,
            requests: Requests::new(market, broker, Arc::clone(&clock)),
            clock,
            feeds: Feeds::default(),
            journal: JournalWriter::new(parts.journal),
            exchanges: parts.exchanges,
            unrecognised: parts.unrecognised,
            token: parts.token,
            known_refusal: None,
            watchers: Watchers::new(parts.watchers),
            orders: OrderTracker::default(),
            sleep: SuspendWatch::start(),
            commands: Vec::with_capacity(64),
            wake_at: Millis::MAX,
            result: None,
        }
    }

    #[must_use]
    pub fn with_settings_reader(mut self, reader: SettingsReader) -> Self {
        self.requests.set_settings_reader(reader);
        self
    }

    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.watchers.add(observer);
        self
    }

    /// Runs until `stop` has fired and all open trades have settled, or until the wait for them times out.
    /// A second signal on `stop` ends the run immediately.
    pub async fn run(
        mut self,
        mut stop: mpsc::Receiver<StopReason>,
        mut orders: mpsc::Receiver<ControlRequest>,
    ) -> Result<FinishedRun, RuntimeError> {
        let clock = Arc::clone(&self.clock);
        let mut hold = clock.hold();
        let mut renewal =
            tokio::time::interval_at(Instant::now() + LEASE_RENEWAL_INTERVAL, LEASE_RENEWAL_INTERVAL);
        self.watchers.begin(self.coordinator.initial_funds(), self.coordinator.intents_in_doubt());
        self.feed(Input::Start).await;
        loop {
            self.watchers.on_loop_turn();
            self.feed(Input::Time).await;
            if let Some(result) = self.result.take() {
                return self.report_drops(result);
            }
            self.watchers.send_overview(|| self.coordinator.overview(self.clock.now()));
            self.journal.write_snapshot_piece(self.clock.is_virtual()).await;
            let spent = if self.requests.is_empty() {
                std::mem::replace(&mut hold, Hold::none())
            } else {
                Hold::none()
            };
            let wake_at = self.wake_at;
            let next = tokio::select! {
                biased;
                Some(response) = self.requests.next() => NextEvent::Answer(Box::new(response)),
                Some((why, held)) = receive(&mut stop, clock.as_ref()) => {
                    hold = held;
                    NextEvent::Stop(why)
                }
                Some((order, held)) = receive(&mut orders, clock.as_ref()), if self.coordinator.is_started() => {
                    hold = held;
                    NextEvent::Order(order)
                }
                (symbol, next) = self.feeds.next() => {
                    // The new hold starts before the hold of the price is released, so that no time passes in between.
                    hold = clock.hold();
                    NextEvent::Input(next.map_or(Input::FeedEnded(symbol), |(tick, _)| Input::Tick(symbol, tick)))
                }
                held = wait_for_renewal(&mut renewal, clock.as_ref()) => {
                    hold = held;
                    NextEvent::Input(Input::RenewJournal)
                }
                returned = self.journal.wait_for_save() => NextEvent::Journal(returned),
                woken = sleep_until(clock.as_ref(), wake_at, spent) => {
                    hold = woken;
                    NextEvent::Input(Input::Time)
                }
            };
            // The suspension is detected before the input is processed, because the clock may be stale after it.
            let absence = self.sleep.detect_suspension();
            let behind = absence.map_or(Millis::ZERO, |_| self.clock.catch_up());
            let next = if absence.is_some() { self.confirm_lease(next).await } else { next };
            if self.result.is_some() {
                continue;
            }
            self.feed_event(next, &mut renewal).await;
            if behind > Millis::ZERO {
                self.feed(Input::ClockMoved(behind)).await;
            } else if let Some(absence) = absence.filter(|_| !self.clock.is_virtual()) {
                self.feed(Input::ProcessSuspended(absence)).await;
            }
        }
    }

    async fn feed_event(&mut self, next: NextEvent, renewal: &mut Interval) {
        match next {
            NextEvent::Answer(response) => {
                self.feed_answer(*response).await;
                self.feed_available_answers().await;
            }
            NextEvent::Stop(why) => self.feed(Input::Stop(why)).await,
            NextEvent::Order(order) => self.feed_order(order).await,
            NextEvent::Journal(returned) => {
                self.handle_save_report(returned).await;
                // The interval starts again, so that a slow journal is not saved again immediately.
                renewal.reset();
            }
            NextEvent::Input(input) => self.feed(input).await,
        }
    }

    /// Confirms the lease before any trade opens. Another process may have taken it while this process was suspended.
    async fn confirm_lease(&mut self, next: NextEvent) -> NextEvent {
        tracing::debug!("this process was suspended: confirming the journal lease");
        let confirmed = self.journal.confirm_lease().await;
        // The time that the confirmation took does not count as a suspension.
        self.sleep.reset();
        match (next, confirmed) {
            // The earlier result is outdated, so the result of the confirmation is included.
            (NextEvent::Journal(returned), LeaseCheck::Here(confirmed)) => NextEvent::Journal(SaveReport {
                save_result: returned.save_result.and(confirmed),
                ..returned
            }),
            (next, LeaseCheck::Here(Ok(()))) => next,
            (next, LeaseCheck::Here(Err(error))) => {
                self.feed(Input::Durable(Err(error))).await;
                next
            }
            (next, LeaseCheck::Returned(returned)) => {
                self.handle_save_report(returned).await;
                next
            }
        }
    }

    /// Passes all available answers to the coordinator before any other event, which keeps the answers in order.
    async fn feed_available_answers(&mut self) {
        while let Some(response) = self.requests.try_next() {
            self.feed_answer(response).await;
        }
    }

    async fn feed_answer(&mut self, response: Response) {
        self.feed_exchanges();
        self.feed_token().await;
        if let Answer::Balances(_) = &response.answer {
            let met = self.unrecognised.snapshot();
            self.feed(Input::Unrecognised(met)).await;
        }
        self.watchers.on_answer(&response);
        if let Some(feed) = response.feed {
            self.feeds.add(feed);
        }
        self.feed(Input::Answer(response.answer)).await;
    }

    async fn feed_token(&mut self) {
        let refused = self.token.rejection();
        if refused != self.known_refusal {
            self.known_refusal.clone_from(&refused);
            self.feed(Input::Token(refused)).await;
        }
    }

    async fn feed_order(&mut self, request: ControlRequest) {
        match self.orders.register(request) {
            OrderRegistration::New(id, order) => {
                if order == ControlOrder::Resume {
                    // The operator considers the token valid. The next answer of the venue will show whether it is.
                    self.token.clear_rejection();
                    self.feed_token().await;
                }
                self.feed(Input::Order(id, order)).await;
            }
            OrderRegistration::UnderWay | OrderRegistration::Abandoned => {}
            OrderRegistration::Answered(token, answer) => self.journal_answer(token, &answer),
        }
    }

    fn journal_answer(&mut self, token: OrderToken, answer: &ControlAnswer) {
        match serde_json::to_string(answer) {
            Ok(text) => self.journal.answer_order(token, text),
            Err(error) => tracing::warn!(%error, "the answer to an operator's order cannot be serialized"),
        }
    }

    async fn handle_save_report(&mut self, returned: SaveReport) {
        let SaveReport { save_result: durable, write_result, .. } = self.watchers.notify_save(returned);
        if let Err(error) = write_result {
            tracing::warn!(%error, "the journal rejected an entry");
            self.feed(Input::EntryRefused).await;
        }
        self.feed(Input::Durable(durable)).await;
    }

    fn feed_exchanges(&mut self) {
        while let Ok(exchange) = self.exchanges.try_recv() {
            self.journal.record_exchange(exchange);
        }
    }

    async fn feed(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let mut commands = std::mem::take(&mut self.commands);
            self.coordinator.on_input(input, self.clock.now(), &mut commands);
            for command in commands.drain(..) {
                self.execute_command(command, &mut inputs).await;
            }
            self.commands = commands;
        }
    }

    async fn execute_command(&mut self, command: Command, inputs: &mut VecDeque<Input>) {
        match command {
            Command::Ask(question) => {
                let priority = self.coordinator.priority(&question);
                self.requests.start_request(question, priority);
            }
            Command::Send(open) => self.requests.start_open(open),
            Command::Record(entry) => {
                if let Err(error) = self.journal.record(entry) {
                    tracing::warn!(%error, "the journal rejected an entry");
                    inputs.push_back(Input::EntryRefused);
                }
            }
            Command::MakeDurable => {
                self.feed_exchanges();
                self.journal.make_durable();
                if self.clock.is_virtual() || self.coordinator.is_closing() {
                    let returned = self.journal.wait_for_save().await;
                    let SaveReport { save_result: durable, write_result, .. } =
                        self.watchers.notify_save(returned);
                    inputs.extend(write_result.is_err().then_some(Input::EntryRefused));
                    // Events that were frozen during the save continue now.
                    inputs.extend([Input::Durable(durable), Input::Time]);
                }
            }
            Command::CloseJournal => {
                let closed = self.journal.close().await.inspect_err(|error| {
                    tracing::warn!(%error, "the journal lease could not be released");
                });
                inputs.push_back(Input::JournalClosed(closed));
            }
            Command::Notify(notice) => self.watchers.notify(&notice),
            Command::AnswerOrder(id, answer) => {
                if let Some(token) = self.orders.answer(id, &answer) {
                    self.journal_answer(token, &answer);
                }
            }
            Command::CatchUpClock => inputs.push_back(Input::ClockMoved(self.clock.catch_up())),
            Command::WakeAt(at) => self.wake_at = at,
            Command::Finish(why) => {
                while let Some(response) = self.requests.try_next() {
                    inputs.push_back(Input::Answer(response.answer));
                }
                inputs.push_back(Input::Finish(why));
            }
            Command::End(result) => self.result = Some(*result),
        }
    }

    fn report_drops(&self, result: RunResult) -> RunResult {
        let dropped_prices = self.feeds.dropped_prices();
        if dropped_prices > 0 {
            tracing::warn!(dropped_prices, "streamed prices were dropped because they arrived too fast");
        }
        result.map(|finished| FinishedRun { dropped_notices: self.watchers.dropped_notices(), ..finished })
    }
}

pub struct RunnerParts {
    pub settings: RuntimeSettings,
    pub header: Header,
    pub market: Arc<dyn MarketData>,
    pub broker: Arc<dyn Broker>,
    pub clock: Arc<dyn Clock>,
    pub account: ConnectedAccount,
    pub session: Session,
    pub bots: Vec<BotSettings>,
    pub wants_prices: Vec<bool>,
    pub journal: Box<dyn Journal>,
    pub recovered: RecoveredState,
    pub exchanges: mpsc::Receiver<LoggedExchange>,
    pub unrecognised: Arc<UnrecognisedData>,
    pub token: Arc<TokenState>,
    pub watchers: Vec<NoticeSender>,
    pub until: Option<Millis>,
}

pub(crate) enum NextEvent {
    Answer(Box<Response>),
    Stop(StopReason),
    Order(ControlRequest),
    Journal(SaveReport),
    Input(Input),
}

async fn receive<T>(queue: &mut mpsc::Receiver<T>, clock: &dyn Clock) -> Option<(T, Hold)> {
    let item = queue.recv().await?;
    Some((item, clock.hold()))
}

async fn wait_for_renewal(renewal: &mut Interval, clock: &dyn Clock) -> Hold {
    renewal.tick().await;
    clock.hold()
}

/// Sleeps until `wake`. The sleep is registered before the clock is released, so a virtual clock cannot skip it.
pub(crate) async fn sleep_until(clock: &dyn Clock, wake: Millis, spent: Hold) -> Hold {
    let mut sleep = clock.sleep_until(wake);
    let first = poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
    drop(spent);
    match first {
        Poll::Ready(held) => held,
        Poll::Pending => sleep.await,
    }
}

/// Longest gap between checks that is not a suspension. Must be between the renewal interval and the lease duration.
const MAX_CHECK_GAP: Duration = Duration::from_secs(12);

pub(crate) struct SuspendWatch {
    clock: BootClock,
    seen: Duration,
}

impl SuspendWatch {
    pub(crate) fn start() -> Self {
        let clock = BootClock::start();
        Self { clock, seen: clock.elapsed() }
    }

    fn reset(&mut self) {
        self.seen = self.clock.elapsed();
    }

    pub(crate) fn detect_suspension(&mut self) -> Option<Duration> {
        self.detect_suspension_at(self.clock.elapsed())
    }

    fn detect_suspension_at(&mut self, now: Duration) -> Option<Duration> {
        let absence = now.saturating_sub(std::mem::replace(&mut self.seen, now));
        Some(absence).filter(|absence| *absence > MAX_CHECK_GAP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_journal::LeaseTerms;

    #[test]
    fn long_gap_counts_as_one_suspension() {
        let mut watch = SuspendWatch::start();
        assert_eq!(watch.detect_suspension(), None, "it has just begun");
        let mut now = watch.clock.elapsed();
        let mut seen_after = |seconds: u64| {
            now += Duration::from_secs(seconds);
            watch.detect_suspension_at(now).map(|absence| absence.as_secs())
        };
        let found = [5, 12, 13, 0, 3_600, 12].map(&mut seen_after);
        assert_eq!(found, [None, None, Some(13), None, Some(3_600), None]);
        // A shorter suspension is not detected, so the lease must still be valid after it.
        let lease = Duration::from_millis(LeaseTerms::default().duration.get().unsigned_abs());
        assert!(LEASE_RENEWAL_INTERVAL + MAX_CHECK_GAP < lease);
    }
}

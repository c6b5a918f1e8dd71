//! The deterministic core of a live run. The coordinator turns inputs and time into commands.
//!
//! The coordinator reads no clock, does no I/O and never blocks. A [`Runner`](crate::Runner) executes the commands.
//! [`MarketWatch`] schedules requests for market data, and [`EventQueue`] sorts the events of one instant. All events
//! reach the session through [`RecordedSession`]. [`TradeWatch`] tracks open trades, [`Doubts`] finds out what
//! happened to orders without an answer, and [`Audits`] checks the venue's reports.

mod agenda;
mod answers;
mod cancellations;
mod candle_watch;
mod command;
mod contradictions;
mod doubts;
mod ending;
mod findings;
mod foreign_trades;
mod journal_state;
mod market_watch;
mod open_answer;
mod orders;
mod plausibility;
mod recorded_session;
mod resolutions;
mod standing;
#[cfg(test)]
mod tests;
mod trade_watch;
mod venue_watch;
mod wallet_watch;
mod warm_up;

pub use command::{
    Answer, Command, ControlOrderId, DurableOrder, Input, JournalEntry, ReadRequest, RequestId, RunResult,
    StreamSupport,
};
pub use ending::{FinishedRun, UnfinishedKind, UnfinishedTrade, WalletDifference};
pub(crate) use plausibility::with_rounded_amount;
pub use plausibility::{changed_terms, remove_impossible_payout, remove_impossible_times};
pub(crate) use recorded_session::Reservations;
pub use trade_watch::computed_profit;

use crate::audit::Audits;
use crate::past::RecoveredState;
use crate::skew::SkewWatch;
use crate::{RuntimeError, RuntimeSettings};
use agenda::{Agenda, EventQueue, Job};
use candlewick_broker::{Account, Balances, Reply};
use candlewick_engine::{
    Control, EventKind, Header, IntentId, ReloadTrigger, Session, SettingsReload, SymbolId,
};
use candlewick_journal::JournalError;
use candlewick_sdk::{Millis, Symbol};
use command::{PendingRequests, Step};
use contradictions::Contradictions;
use doubts::Doubts;
use ending::{Phase, StopState};
use journal_state::{SaveOutcome, Urgency};
use market_watch::{MarketWatch, StreamWatch};
use orders::{AdoptionRequest, ExternalSignals};
use recorded_session::RecordedSession;
use standing::ReportedState;
use std::collections::{BTreeMap, BTreeSet};
use trade_watch::TradeWatch;
use venue_watch::VenueWatch;
use wallet_watch::WalletWatch;
use warm_up::WarmUp;

pub struct Coordinator {
    header: Header,
    settings: RuntimeSettings,
    is_simulated: bool,
    runs_before: u64,
    phase: Phase,
    session: RecordedSession,
    agenda: Agenda,
    events: EventQueue,
    market: MarketWatch,
    trades: TradeWatch,
    doubts: Doubts,
    audits: Audits,
    contradictions: Contradictions,
    skew: SkewWatch,
    jump: Option<answers::ClockJump>,
    requests: PendingRequests,
    claims: BTreeMap<ControlOrderId, AdoptionRequest>,
    reloading: Option<(ControlOrderId, ReloadTrigger)>,
    reloaded: Option<SettingsReload>,
    outside: ExternalSignals,
    ending: StopState,
    rejected_rows: u64,
    venue: VenueWatch,
    streams: StreamWatch,
    foreign_trades: foreign_trades::ForeignTrades,
    request_times: open_answer::RequestTimes,
    /// Symbols whose last price record was rejected. Used to avoid repeated warnings.
    refused_prices: BTreeSet<SymbolId>,
    refused_at: Option<Millis>,
    wallet: WalletWatch,
    token_refused: Option<String>,
    last_reported: ReportedState,
}

pub struct CoordinatorParts {
    pub settings: RuntimeSettings,
    pub header: Header,
    pub account: Account,
    pub session: Session,
    pub priced_symbols: Vec<Symbol>,
    pub recovered: RecoveredState,
    /// Whether the venue's time is simulated. A simulated run handles no events while the journal is being saved.
    pub is_simulated: bool,
    pub until: Option<Millis>,
    /// Balances that were read while connecting. `None` if the wallet is not compared with the ledger.
    pub balances: Option<Reply<Balances>>,
}

impl Coordinator {
    pub fn new(parts: CoordinatorParts, now: Millis) -> Self {
        let CoordinatorParts {
            settings,
            header,
            account,
            session,
            priced_symbols: priced,
            recovered: mut past,
            ..
        } = parts;
        let CoordinatorParts { is_simulated, until, balances, .. } = parts;
        let halt = past.halt();
        Self {
            phase: Phase::Starting(WarmUp::new(&session, &settings, now)),
            agenda: Agenda::default(),
            events: EventQueue::new(Millis::new(i64::from(settings.hold_ms))),
            market: MarketWatch::new(&session, |symbol| priced.contains(&symbol), &settings),
            trades: TradeWatch::new(Millis::new(i64::from(settings.settle_after_ms))),
            doubts: Doubts::new(account, &settings, &mut past, now),
            audits: Audits::from_journal(
                past.wallet,
                past.findings,
                past.evicted.payouts_by_symbol(session.symbols()),
            ),
            contradictions: Contradictions::default(),
            skew: SkewWatch::default(),
            jump: None,
            requests: PendingRequests::default(),
            claims: BTreeMap::new(),
            reloading: None,
            reloaded: None,
            outside: ExternalSignals::default(),
            ending: StopState::new(&settings, until),
            rejected_rows: 0,
            venue: VenueWatch::default(),
            streams: StreamWatch::default(),
            foreign_trades: foreign_trades::ForeignTrades::default(),
            request_times: open_answer::RequestTimes::default(),
            refused_prices: BTreeSet::new(),
            refused_at: None,
            wallet: WalletWatch::new(balances),
            token_refused: None,
            last_reported: ReportedState::default(),
            runs_before: past.runs,
            session: RecordedSession::new(session, (past.book, past.evicted), account, halt, is_simulated),
            is_simulated,
            header,
            settings,
        }
    }

    pub fn on_input(&mut self, input: Input, now: Millis, commands: &mut Vec<Command>) {
        let step = &mut Step { now, commands };
        match input {
            Input::Start => self.on_start(step),
            Input::Answer(answer) => self.on_answer(answer, step),
            Input::Tick(symbol, tick) => self.on_tick(symbol, tick, step),
            Input::FeedEnded(symbol) => self.on_feed_ended(symbol, step),
            Input::Token(refused) => self.on_token_status(refused, step),
            Input::Unrecognised(names) => self.audit_unrecognised_data(names, step),
            Input::Durable(result) => self.on_durable(result, step),
            Input::EntryRefused => self.session.journal.is_corrupted = true,
            Input::RenewJournal => self.save(Urgency::Now, step),
            Input::JournalClosed(result) => self.on_journal_closed(result, step),
            Input::ClockMoved(by) => self.on_clock_moved(by, step),
            Input::ProcessSuspended(span) => self.on_suspension(span, step),
            Input::Order(id, order) => self.on_order(id, order, step),
            Input::Stop(why) => self.on_stop(why, step),
            Input::Finish(why) => self.on_finish(why, step),
            Input::Time => self.on_time(step),
        }
        self.publish_changes(step);
    }

    pub const fn is_started(&self) -> bool {
        !matches!(self.phase, Phase::Starting(_))
    }

    fn on_start(&mut self, step: &mut Step<'_>) {
        self.session.begin(&self.header, step);
        let amount = self.first_wallet_balance().unwrap_or(self.session.ledger().free_balance());
        self.handle(step.now, EventKind::Balance { amount }, step);
        if self.runs_before > 0 {
            // An earlier run may have left the session suspended, for example because it was stopping.
            self.apply_control(Control::Continue, step);
        }
        self.recover(step);
        self.read_first_wallet(step);
        self.subscribe_all(step);
        self.continue_start(step);
    }

    fn continue_start(&mut self, step: &mut Step<'_>) {
        let Phase::Starting(warm_up) = &self.phase else { return };
        if let Some(series) = warm_up.request_next_series(step) {
            return self.requests.begin(RequestId::Candles(series));
        }
        let began = warm_up.began();
        self.market.schedule_prices(began, &mut self.agenda);
        if let Some(at) = self.next_balance_poll(began) {
            self.agenda.add(at, Job::Balances);
        }
        self.schedule_user_poll(began);
        self.phase = Phase::Running;
    }

    fn on_time(&mut self, step: &mut Step<'_>) {
        match self.phase {
            Phase::Running if !self.session.journal.is_stalled() => {}
            Phase::Running => return,
            // These phases end only when an answer arrives.
            Phase::Starting(_) | Phase::Closing { .. } | Phase::Ended => {
                return step.commands.push(Command::WakeAt(Millis::MAX));
            }
        }
        self.run_due_jobs(step);
        self.dispatch_events(step);
        if self.doubts.next_routine_poll(step.now).is_none() {
            self.forget_old_intents(step.now);
        }
        self.save(Urgency::WhenWorthwhile, step);
        if self.session.journal.is_stalled() || self.phase.is_over() {
            return;
        }
        self.stop_if_due(step);
        let under_way = self.pending_work();
        if let Some(why) = self.ending.final_stop_reason(under_way, step.now)
            && !self.awaits_last_wallet_reading(step)
        {
            return Self::finish(why, step);
        }
        let times = [
            self.agenda.next_at(),
            self.events.wakes_at(step.now),
            self.ending.wakes_at(under_way, step.now),
        ];
        step.commands.push(Command::WakeAt(times.into_iter().flatten().min().unwrap_or(Millis::MAX)));
    }

    fn run_due_jobs(&mut self, step: &mut Step<'_>) {
        while let Some((due, job)) = self.agenda.pop_due(step.now) {
            match job {
                Job::Departure(intent) => self.send_held_order(intent, due, step),
                Job::Candles(series) => {
                    if self.market.request_candles(series, &mut self.events, step) {
                        self.requests.begin(RequestId::Candles(series));
                    }
                }
                Job::Price(symbol) => {
                    let parts = (&mut self.events, &mut self.agenda);
                    if self.market.on_price_due(symbol, due, parts, step) {
                        self.requests.begin(RequestId::Price(symbol));
                    } else {
                        self.apply_streamed_price(symbol, false, step);
                    }
                }
                Job::Subscription(symbol) => self.subscribe(symbol, step),
                Job::StreamedPrice(symbol) => self.apply_streamed_price(symbol, true, step),
                Job::Trade(intent) => self.request_trade(intent, due, step),
                Job::Trades => self.request_trades(step),
                Job::SettlementPrices => self.request_settlement_prices(step),
                Job::User => self.request(ReadRequest::User, step),
                Job::Balances => {
                    self.request(ReadRequest::Balances, step);
                }
            }
        }
    }

    fn request_trades(&mut self, step: &mut Step<'_>) {
        if self.requests.has_list_request() {
            return;
        }
        self.doubts.resolver.begin_poll(step.now);
        self.foreign_trades.begin_search();
        self.request(ReadRequest::Trades, step);
    }

    fn dispatch_events(&mut self, step: &mut Step<'_>) {
        while let Some((at, kind)) = self.events.pop_ready(step.now) {
            self.handle(at, kind, step);
        }
    }

    fn handle(&mut self, at: Millis, kind: EventKind, step: &mut Step<'_>) {
        let handled = self.session.handle(at, kind, step);
        self.audits.wallet.record_event_balance(handled.free, handled.released, step.now);
        // While a wallet difference is unconfirmed, the next reading may show that the limit does not apply.
        if let Some(rule) = handled.blocking_rule.filter(|_| !self.audits.wallet.has_suspected_difference()) {
            self.ending.record_limit(rule);
        }
        if let EventKind::OutsideSignal(signal) = &kind {
            self.answer_signal(signal, handled.decision, step);
        }
    }

    fn apply_control(&mut self, control: Control, step: &mut Step<'_>) {
        self.handle(step.now, EventKind::Control { control }, step);
    }

    fn save(&mut self, urgency: Urgency, step: &mut Step<'_>) {
        if let Err(error) = self.session.journal.save(urgency, step) {
            self.suspend(error, step);
        }
    }

    /// Handles the end of a save. Sends the orders whose intents are now durable. A failed save suspends trading.
    fn on_durable(&mut self, result: Result<(), JournalError>, step: &mut Step<'_>) {
        match self.session.journal.on_durable(result) {
            SaveOutcome::Failed(error) => self.suspend(error, step),
            SaveOutcome::Durable { opens, was_suspended } => {
                if was_suspended {
                    self.resume_trading_if_allowed(step);
                    step.warn("the journal can be written again");
                }
                for approved in opens {
                    self.send_or_hold(approved, step);
                }
            }
        }
        self.continue_closing(step);
    }

    fn mark_not_sent(&mut self, intent: IntentId, reason: &str, step: &mut Step<'_>) {
        self.session.note_unsent_order(intent, reason, false, step);
        self.handle(step.now, EventKind::NotSent { intent }, step);
    }

    fn suspend(&mut self, error: JournalError, step: &mut Step<'_>) {
        let unsent = self.session.journal.take_waiting_trades();
        if self.session.journal.suspend(&error) {
            self.apply_control(Control::Suspend, step);
            step.alarm(format!("trading is suspended, because the journal cannot be written: {error}"));
        }
        for approved in unsent {
            self.mark_not_sent(approved.intent(), "the journal could not be written", step);
        }
        if self.session.journal.is_fatal(&error) {
            self.fail(RuntimeError::Journal(error), step);
        }
    }
}

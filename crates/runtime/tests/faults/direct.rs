//! One process reduced to its coordinator: inputs in order of true time, and its commands executed.

use crate::alarms::{self, Alarms};
use crate::lies;
use crate::memory_journal::Durability;
use crate::network::MAX_QUEUE_TIME;
use crate::prelude::*;
use crate::process::{Operator, OperatorStep, RecoveredRun, header, recover, session_settings};
use crate::questions::{PendingRequest, RequestProgress};
use crate::records;
use crate::stream::{self, Flow};
use crate::world::MAX_QUESTIONS;
use candlewick_broker::{Rejection, RejectionReason};
use candlewick_engine::{Entry, Recorder};
use candlewick_journal::Journal;
use candlewick_runtime::{
    Command, ControlOrderId, Coordinator, CoordinatorParts, DurableOrder, Input, JournalEntry,
};
use std::collections::VecDeque;
use std::ops::ControlFlow;

const RENEWAL: Millis = Millis::from_seconds(5);
const JOURNAL_DEADLINE: Millis = Millis::from_seconds(10);

enum Occurrence {
    Question(Box<PendingRequest>),
    Post(Box<DurableOrder>),
    Arrived(Box<Flight>),
    Answer(Box<Answer>),
    Written(Durability, bool),
    Renewal,
    OperatorStep,
    Stream(SymbolId, u64),
}

struct Flight {
    open: DurableOrder,
    ticket: u64,
    is_unanswered: bool,
    answer: Millis,
    patience: Millis,
}

struct Process<'a> {
    world: &'a Arc<World>,
    clock: Arc<OffClock>,
    network: ModelNetwork,
    fuse: Arc<Fuse>,
    coordinator: Coordinator,
    watcher: Watcher,
    alarms: Alarms,
    seen: Arc<Mutex<Observations>>,
    journal: CrashingJournal,
    waiting: Option<Vec<JournalEntry>>,
    happenings: BTreeMap<(Millis, u64), Occurrence>,
    count: u64,
    wake_at: Millis,
    commands: Vec<Command>,
    inputs: VecDeque<Input>,
    orders: u64,
    flights: BTreeMap<u64, bool>,
    ended: Option<RunEnd>,
    flow: Flow,
    streams: BTreeMap<SymbolId, u64>,
}

pub(crate) fn live(world: &Arc<World>, end: End, offset: Millis) -> RunEnd {
    let RecoveredRun { session, past } = match recover(world) {
        Ok(folded) => folded,
        Err(error) => return RunEnd::Failed(error),
    };
    let fuse = Fuse::new(if let End::Crash(crash) = end { crash } else { Crash::Never });
    let clock = Arc::new(OffClock::new(world.time.clone(), offset));
    let seen = Arc::new(Mutex::new(Observations::new(&past, session.ledger(), world)));
    let settings = session_settings(world);
    let flow = Flow::new(world.plan.seed, past.runs);
    let journal = CrashingJournal::new(Arc::clone(world), Arc::clone(&fuse), past.runs + 1, clock.now());
    let watcher = Watcher::new(world, &past, Arc::clone(&seen));
    let parts = CoordinatorParts {
        settings: world.plan.settings.clone(),
        header: header(&settings),
        account: Account::Demo,
        session,
        priced_symbols: stream::priced(&world.plan),
        is_simulated: false,
        until: None,
        balances: world
            .plan
            .lies
            .money
            .map(|_| Reply::without_latency(records::balances(world), clock.now())),
        recovered: past,
    };
    let mut process = Process {
        world,
        network: ModelNetwork { world: Arc::clone(world), clock: Arc::clone(&clock) },
        coordinator: Coordinator::new(parts, clock.now()),
        clock,
        fuse,
        watcher,
        alarms: Alarms::default(),
        seen,
        journal,
        waiting: None,
        happenings: BTreeMap::new(),
        count: 0,
        wake_at: Millis::MAX,
        commands: Vec::new(),
        inputs: VecDeque::new(),
        orders: 0,
        flights: BTreeMap::new(),
        ended: None,
        flow,
        streams: BTreeMap::new(),
    };
    process.run(end)
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        let by = self.world.time.now() + MAX_QUEUE_TIME;
        for (ticket, survives) in &self.flights {
            self.world.truth().abandon(*ticket, *survives, by);
        }
    }
}

impl Process<'_> {
    fn run(&mut self, end: End) -> RunEnd {
        let mut operator = Operator::new(self.world);
        self.happen_after(Millis::ZERO, Occurrence::OperatorStep);
        self.happen_after(RENEWAL, Occurrence::Renewal);
        self.feed(Input::Start);
        loop {
            self.feed(Input::Time);
            if let Some(ended) = self.ended.take() {
                return ended;
            }
            if self.fuse.is_spinning() {
                self.world.require(false, || "a run goes round in circles".to_owned());
                return RunEnd::Crashed;
            }
            let wake =
                if self.wake_at == Millis::MAX { Millis::MAX } else { self.wake_at - self.clock.offset() };
            match self.happenings.first_key_value().map(|((at, _), _)| *at) {
                Some(at) if at <= wake => self.take_due(at, end, &mut operator),
                _ if wake == Millis::MAX => return RunEnd::Never,
                _ => self.world.time.move_to(wake),
            }
        }
    }

    fn take_due(&mut self, at: Millis, end: End, operator: &mut Operator) {
        self.world.time.move_to(at);
        while let Some(first) = self.happenings.first_entry() {
            if first.key().0 > at || self.ended.is_some() {
                return;
            }
            let happening = first.remove();
            if self.coordinator.is_closing() && !matches!(happening, Occurrence::Written(..)) {
                continue;
            }
            match happening {
                Occurrence::Question(asking) => self.go_on(asking),
                Occurrence::Post(open) => self.post(*open),
                Occurrence::Arrived(flight) => self.arrive(*flight),
                Occurrence::Answer(answer) => self.feed(Input::Answer(*answer)),
                Occurrence::Written(durability, is_closing) => self.on_written(durability, is_closing),
                Occurrence::Stream(symbol, number) => self.bring(symbol, number),
                Occurrence::Renewal => {
                    self.happen_after(RENEWAL, Occurrence::Renewal);
                    self.feed(Input::RenewJournal);
                }
                Occurrence::OperatorStep => {
                    match operator.act((self.world.as_ref(), self.clock.as_ref()), end, &self.seen) {
                        ControlFlow::Continue(look) => self.on_look(look),
                        ControlFlow::Break(ended) => self.ended = Some(ended),
                    }
                }
            }
        }
    }

    fn happen_after(&mut self, span: Millis, happening: Occurrence) {
        self.count += 1;
        self.happenings.insert((self.world.time.now() + span, self.count), happening);
    }

    fn on_look(&mut self, look: OperatorStep) {
        self.happen_after(look.next - self.world.time.now(), Occurrence::OperatorStep);
        if let Some(why) = look.stop {
            self.feed(Input::Stop(why));
        }
        for order in look.orders {
            if self.coordinator.is_started() {
                self.orders += 1;
                self.feed(Input::Order(ControlOrderId(self.orders), order));
            }
        }
    }

    fn feed(&mut self, input: Input) {
        let due = match &input {
            Input::Answer(answer) if self.world.plan.lies.has_any() => {
                self.alarms.due(self.world, answer, (&self.watcher.book, self.clock.now()))
            }
            _ => Vec::new(),
        };
        self.carry_on(input);
        if self.ended.is_none() {
            alarms::check(self.world, &due, self.seen.lock().unwrap().is_halted);
        }
    }

    fn carry_on(&mut self, input: Input) {
        self.inputs.push_back(input);
        while let Some(input) = self.inputs.pop_front() {
            let mut commands = std::mem::take(&mut self.commands);
            self.coordinator.on_input(input, self.clock.now(), &mut commands);
            for command in commands.drain(..) {
                if self.ended.is_some() {
                    return;
                }
                self.carry_out(command);
                if self.fuse.burn() {
                    self.ended = Some(RunEnd::Crashed);
                    return;
                }
            }
            self.commands = commands;
        }
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Ask(ask) => {
                if self.world.count("questions", 1) > MAX_QUESTIONS {
                    return self.world.require(false, || "questions without end".to_owned());
                }
                let (asking, span) = PendingRequest::begin(self.world, ask, self.clock.now());
                self.happen_after(span, Occurrence::Question(Box::new(asking)));
            }
            Command::Send(open) => self.send(open),
            Command::Record(entry) => match &mut self.waiting {
                Some(waiting) => waiting.push(entry),
                None => write(&mut self.journal, entry),
            },
            Command::MakeDurable => self.make_durable(false),
            Command::CloseJournal => self.make_durable(true),
            Command::Notify(notice) => self.watcher.take(notice),
            Command::AnswerOrder(_, answer) => self.world.log(|| format!("the operator receives {answer:?}")),
            Command::CatchUpClock => self.inputs.push_back(Input::ClockMoved(self.clock.catch_up())),
            Command::WakeAt(at) => self.wake_at = at,
            Command::Finish(why) => self.inputs.push_back(Input::Finish(why)),
            Command::End(result) => {
                let ended = (*result).map(|run| self.world.count("intents forgotten", run.forgotten));
                self.ended = Some(ended.map_or_else(RunEnd::Failed, |_| RunEnd::Finished));
            }
        }
    }

    fn bring(&mut self, symbol: SymbolId, number: u64) {
        if self.streams.get(&symbol) != Some(&number) {
            return;
        }
        let Some(name) = stream::name_of(&self.world.plan, symbol) else { return };
        let Some((ticks, pause)) = self.flow.next(self.world, name) else {
            self.streams.remove(&symbol);
            return self.feed(Input::FeedEnded(symbol));
        };
        self.happen_after(pause, Occurrence::Stream(symbol, number));
        for tick in ticks {
            self.feed(Input::Tick(symbol, tick));
        }
    }

    fn go_on(&mut self, asking: Box<PendingRequest>) {
        match asking.go_on(self.world, self.clock.now()) {
            RequestProgress::Pending(asking, span) => self.happen_after(span, Occurrence::Question(asking)),
            RequestProgress::Came(answer) => {
                if let Answer::Subscription(symbol, Ok(StreamSupport::Yes)) = &answer {
                    self.count += 1;
                    self.streams.insert(*symbol, self.count);
                    self.happen_after(Millis::ZERO, Occurrence::Stream(*symbol, self.count));
                }
                self.feed(Input::Answer(answer));
            }
        }
    }

    fn send(&mut self, open: DurableOrder) {
        let is_limited = self.world.plan.habits.requests_per_second > 0.0;
        let wait = if is_limited { Millis::new(self.world.dice().skewed(0, 400)) } else { Millis::ZERO };
        if wait == Millis::ZERO {
            return self.post(open);
        }
        self.happen_after(wait, Occurrence::Post(Box::new(open)));
    }

    fn post(&mut self, open: DurableOrder) {
        let intent = open.intent();
        let outcome = |outcome| Occurrence::Answer(Box::new(Answer::Open(intent, outcome)));
        let is_late =
            self.clock.now() > open.send_deadline() && self.world.plan.habits.requests_per_second > 0.0;
        if is_late {
            return self.happen_after(Millis::ZERO, outcome(not_sent("it waited for its turn for too long")));
        }
        let number = self.network.check_post(Some(intent.number()), open.order());
        let way = self.network.draw_way(open.order());
        self.world.log(|| format!("posted {number:?} {way:?}"));
        let patience = Millis::new(self.world.plan.habits.patience_ms);
        if way.is_unsent {
            return self.happen_after(Millis::new(1), outcome(not_sent("as it happens")));
        }
        if way.is_lost {
            crate::others::join(self.world, number, open.order(), true);
            return self.happen_after(patience, outcome(unknown()));
        }
        let request = self.network.request(number, open.order(), &way, patience);
        let arrival = self.world.time.now() + way.underway;
        let habits = &self.world.plan.habits;
        let ticket = self.world.truth().send(arrival, request, habits, &mut self.world.dice());
        self.flights.insert(ticket, way.survives);
        let (is_unanswered, answer) = (way.is_unanswered, way.answer);
        if way.underway >= patience {
            self.flights.insert(ticket, true);
            return self.happen_after(patience, outcome(unknown()));
        }
        let flight = Flight { open, ticket, is_unanswered, answer, patience: patience - way.underway };
        self.happen_after(way.underway, Occurrence::Arrived(Box::new(flight)));
    }

    fn arrive(&mut self, flight: Flight) {
        let Flight { open, ticket, is_unanswered, answer, patience } = flight;
        self.flights.remove(&ticket);
        let state = self.world.truth().states[&ticket];
        let outcome = match state {
            RequestState::Underway => unknown(),
            _ if is_unanswered || answer > patience => unknown(),
            RequestState::Rejected => rejected(ticket),
            RequestState::Accepted(place) => {
                let denial = lies::denial_of(&self.world.truth().trades[place]);
                match denial {
                    Some(MoneyLie::UnsentTaken) => not_sent("as it happens"),
                    Some(_) => rejected(ticket),
                    None => {
                        let report = Box::new(records::opened(self.world, place));
                        OpenOutcome::Opened(Reply::without_latency(report, self.clock.now()))
                    }
                }
            }
        };
        let answer = answer.min(patience);
        self.happen_after(answer, Occurrence::Answer(Box::new(Answer::Open(open.intent(), outcome))));
    }

    fn make_durable(&mut self, is_closing: bool) {
        self.waiting.get_or_insert_default();
        let begun = self.journal.begin_durable();
        let (span, durability) = match begun {
            Durability::Never => {
                self.ended = Some(RunEnd::Crashed);
                return;
            }
            Durability::After(span, _) if span < JOURNAL_DEADLINE => (span, begun),
            Durability::After(..) => {
                let (url, source) = ("memory".to_owned(), "it does not answer".into());
                (JOURNAL_DEADLINE, Durability::Failed(JournalError::Unavailable { url, source }))
            }
            Durability::Done | Durability::Failed(_) => (Millis::ZERO, begun),
        };
        self.happen_after(span, Occurrence::Written(durability, is_closing));
    }

    fn on_written(&mut self, durability: Durability, is_closing: bool) {
        let result = match durability {
            Durability::After(_, is_last) if !self.journal.end_durable(is_last) => {
                self.ended = Some(RunEnd::Crashed);
                return;
            }
            Durability::Failed(error) => Err(error),
            _ => Ok(()),
        };
        for entry in self.waiting.take().unwrap_or_default() {
            write(&mut self.journal, entry);
        }
        self.feed(if is_closing { Input::JournalClosed(result) } else { Input::Durable(result) });
    }
}

fn unknown() -> OpenOutcome {
    OpenOutcome::Unknown { reason: "as it happens".to_owned() }
}

fn not_sent(reason: &str) -> OpenOutcome {
    OpenOutcome::NotSent { reason: reason.to_owned() }
}

fn rejected(ticket: u64) -> OpenOutcome {
    let reasons = [
        RejectionReason::Other,
        RejectionReason::SymbolInactive,
        RejectionReason::TradesPerMinute,
        RejectionReason::NoPrice,
        RejectionReason::Credentials,
    ];
    OpenOutcome::Rejected(Rejection {
        reason: reasons[mix([ticket, 4_003, 1]) as usize % reasons.len()],
        text: "no".to_owned(),
        venue_time: None,
    })
}

fn write(journal: &mut CrashingJournal, entry: JournalEntry) {
    let recorded = match entry {
        JournalEntry::Header(header) => journal.record(Entry::Header(&header)),
        JournalEntry::Event(event) => journal.record(Entry::Event(&event)),
        JournalEntry::Action(action) => journal.record(Entry::Action(&action)),
        JournalEntry::Note(at, body) => return journal.note(at, body),
        JournalEntry::NoteAbout(at, intent, body) => return journal.note_about(at, intent, body),
    };
    recorded.expect("a journal in memory takes every entry");
}

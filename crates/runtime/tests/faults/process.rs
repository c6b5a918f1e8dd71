//! One process of the program: recovery from the disk, a run, and its end by crash or order.

use crate::lies;
use crate::money_checks::has_misbooked;
use crate::network::USER;
use crate::others;
use crate::prelude::*;
use candlewick_api::{Credentials, HttpBroker, Secret, Settings};
use candlewick_broker::Account as Kind;
use candlewick_engine::{Header, SessionSettings};
use candlewick_journal::JournalFollower as _;
use candlewick_runtime::control::{ControlOrder, ControlRequest, Resolution};
use candlewick_runtime::{
    ConnectedAccount, JournalFold, NoticeFilter, NoticeReceiver, NoticeSender as Channel, Runner, RunnerParts,
};
use candlewick_sdk::{Candle, Price, Signal, Strategy};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};

/// Clock offset up to which trades can be distinguished by their times, with a margin.
pub(crate) const MAX_OFF_MS: i64 = 800;
const MAX_NOTICES: usize = 10_000;
const RESUMED_ONE_IN: i64 = 20;
const LOOK_INTERVAL: Millis = Millis::from_seconds(7);

pub(crate) const MAX_WAIT: Millis = Millis::from_seconds(2_400);

/// Extra wait for a trade that only a list with failing or shuffled pages can show.
const LIST_PATIENCE: Millis = Millis::from_seconds(6 * 3_600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Crash(Crash),
    Killed(Millis),
    Stopped(Millis, StopReason),
    Quiet,
}

#[derive(Debug)]
pub(crate) enum RunEnd {
    Crashed,
    Finished,
    Failed(RuntimeError),
    Never,
}

struct Random {
    seed: u64,
    bot: u64,
    often: u64,
    until: Millis,
}

impl Strategy for Random {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.signal(self.bot, candle.time(), 1_000)
    }

    fn on_price(&mut self, price: &Price) -> Option<Signal> {
        self.signal(self.bot + 1_000, price.time, 20_000)
    }
}

impl Random {
    fn signal(&self, key: u64, time: Millis, out_of: u64) -> Option<Signal> {
        let word = mix([self.seed, key, time.get() as u64]);
        let direction = if word & 1 == 0 { Direction::Buy } else { Direction::Sell };
        let is_given = time < self.until && (word >> 1) % out_of < self.often;
        let reason = if out_of == 1_000 { "as it happens" } else { "at this price" };
        is_given.then(|| Signal::new(direction, reason))
    }
}

pub(crate) fn session_settings(world: &World) -> SessionSettings {
    let (money_scale, balance) = (MoneyScale::default(), Decimal::new(BALANCE, 2));
    let (risk, bots) = (world.plan.risk.clone(), world.plan.bots.clone());
    SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None }
}

pub(crate) fn new_session(world: &World) -> Session {
    let plan = &world.plan;
    let (seed, often, until) = (plan.seed, plan.signals as u64, plan.epoch + plan.trading);
    let strategy = |bot| Box::new(Random { seed, bot, often, until }) as Box<dyn Strategy>;
    Session::new(&session_settings(world), (0..plan.bots.len() as u64).map(strategy).collect()).unwrap()
}

pub(crate) async fn live(world: &Arc<World>, end: End, offset: Millis) -> RunEnd {
    let RecoveredRun { session, past } = match recover(world) {
        Ok(folded) => folded,
        Err(error) => return RunEnd::Failed(error),
    };
    let fuse = Fuse::new(if let End::Crash(crash) = end { crash } else { Crash::Never });
    let clock = Arc::new(OffClock::new(world.time.clone(), offset));
    let seen = Arc::new(Mutex::new(Observations::new(&past, session.ledger(), world)));
    let settings = session_settings(world);
    let balance = settings.balance;
    let journal = CrashingJournal::new(Arc::clone(world), Arc::clone(&fuse), past.runs + 1, clock.now());
    let venue = Arc::new(client(world, &clock));
    let (channel, notices) = Channel::channel(MAX_NOTICES, NoticeFilter::Everything);
    let watcher = Watcher::new(world, &past, Arc::clone(&seen));
    let runner = Runner::new(RunnerParts {
        settings: world.plan.settings.clone(),
        header: header(&settings),
        unrecognised: venue.unrecognised_data(),
        token: venue.token_state(),
        market: Arc::clone(&venue) as _,
        broker: venue,
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        account: ConnectedAccount { user: USER.to_owned(), kind: Kind::Demo, balance, balances: None },
        session,
        wants_prices: vec![false; settings.bots.len()],
        bots: settings.bots,
        journal: Box::new(journal),
        recovered: past,
        exchanges: mpsc::channel(1).1,
        watchers: vec![channel],
        until: None,
    });
    let (stop, stops) = mpsc::channel(4);
    let (orders, ordered) = mpsc::channel(4);
    let life = Box::pin(async move { Box::pin(runner.run(stops, ordered)).await });
    let mortal = Mortal { life, fuse: Arc::clone(&fuse), watched: (watcher, notices) };
    let ended = tokio::select! {
        biased;
        ended = mortal => match ended {
            None => RunEnd::Crashed,
            Some(Ok(finished)) => {
                world.count("intents forgotten", finished.forgotten);
                RunEnd::Finished
            }
            Some(Err(error)) => RunEnd::Failed(error),
        },
        ended = attend((world, clock.as_ref()), end, &seen, (stop, orders)) => ended,
    };
    world.require(!fuse.is_spinning(), || "the run is in an endless loop".to_owned());
    ended
}

pub(crate) fn header(settings: &SessionSettings) -> Header {
    Header { format: 1, settings: json!({ "session": settings }), strategies: Vec::new(), data_hash: None }
}

fn client(world: &Arc<World>, clock: &Arc<OffClock>) -> HttpBroker {
    let habits = &world.plan.habits;
    let network = ModelNetwork { world: Arc::clone(world), clock: Arc::clone(clock) };
    let settings = Settings {
        timeout_ms: habits.patience_ms as u64,
        read_attempts: habits.read_attempts,
        // The jitter of retry pauses does not come from the seed.
        retry_pause_ms: 0,
        requests_per_second: habits.requests_per_second,
        ..Settings::default()
    };
    let secret = |text: &str| Some(Secret::new(text).unwrap());
    let credentials = Credentials { api_token: secret("token"), api_key: secret("key") };
    HttpBroker::with_transport(Arc::new(network), settings, credentials, Arc::clone(clock) as _).unwrap()
}

fn jump(world: &World, clock: &OffClock) {
    let habits = &world.plan.habits;
    let (is_jumping, is_wild, is_sleep, share) = {
        let mut dice = world.dice();
        (dice.per_mille(habits.clock_jumps), dice.one_in(4), dice.one_in(3), dice.between(-1_000, 1_000))
    };
    if !is_jumping {
        return;
    }
    let most = if is_wild && habits.has_wild_clocks { 300_000 } else { MAX_OFF_MS };
    if is_sleep {
        let room = clock.offset() + Millis::new(most);
        clock.sleep(Millis::new(room.get().max(0) * share.abs() / 1_000));
    } else {
        clock.set(Millis::new(most * share / 1_000));
    }
    world.note_offset(clock.offset());
    world.log(|| format!("the clock jumps to {} ms off", clock.offset()));
}

pub(crate) struct Operator {
    began: Millis,
    has_stopped: bool,
}

pub(crate) struct OperatorStep {
    pub(crate) stop: Option<StopReason>,
    pub(crate) orders: Vec<ControlOrder>,
    pub(crate) next: Millis,
}

impl Operator {
    pub(crate) fn new(world: &World) -> Self {
        Self { began: world.time.now(), has_stopped: false }
    }

    pub(crate) fn act(
        &mut self,
        (world, clock): (&World, &OffClock),
        end: End,
        seen: &Mutex<Observations>,
    ) -> ControlFlow<RunEnd, OperatorStep> {
        let (began, now) = (self.began, world.time.now());
        let patience = world.plan.trading + Millis::from_seconds(3_600);
        let plan_end = world.plan.trading + Millis::MINUTE;
        let (why, at) = match end {
            End::Killed(span) if now >= began + span => return ControlFlow::Break(RunEnd::Crashed),
            End::Stopped(span, why) => (Some(why), began + span),
            End::Quiet if is_quiet(world, seen) => (Some(StopReason::TimeUp), now),
            End::Quiet if world.plan.lies.is_halting => {
                let over = world.plan.epoch + world.plan.trading + MAX_WAIT;
                (Some(StopReason::TimeUp), over.max(began + MAX_WAIT))
            }
            End::Quiet => (Some(StopReason::TimeUp), Millis::MAX),
            End::Killed(span) => (None, began + span),
            End::Crash(_) => (None, Millis::MAX),
        };
        let stop = why.filter(|_| now >= at && !self.has_stopped);
        self.has_stopped |= stop.is_some();
        let is_over = seen.lock().unwrap().is_over();
        if now >= began + patience + if is_over { LIST_PATIENCE } else { Millis::ZERO } {
            world.log(|| format!("not quiet yet: {}", missing(world, seen)));
            return ControlFlow::Break(RunEnd::Never);
        }
        if matches!(end, End::Crash(_)) && world.time.elapsed() > plan_end {
            return ControlFlow::Break(RunEnd::Crashed);
        }
        if now >= began + patience {
            world.notes.counts.lock().unwrap().insert("waited for the list", 1);
        }
        let mut orders = resolve_doubts(world, seen);
        orders.extend(settle_missing(world, seen));
        if seen.lock().unwrap().is_halted && world.dice().one_in(RESUMED_ONE_IN) {
            orders.push(ControlOrder::Resume);
        }
        jump(world, clock);
        others::trade_as_stranger(world);
        others::follow(world);
        let next = if now < at { at.min(now + LOOK_INTERVAL) } else { now + LOOK_INTERVAL };
        ControlFlow::Continue(OperatorStep { stop, orders, next })
    }
}

async fn attend(
    (world, clock): (&Arc<World>, &OffClock),
    end: End,
    seen: &Mutex<Observations>,
    (stop, orders): (mpsc::Sender<StopReason>, mpsc::Sender<ControlRequest>),
) -> RunEnd {
    let mut operator = Operator::new(world);
    loop {
        let look = match operator.act((world, clock), end, seen) {
            ControlFlow::Continue(look) => look,
            ControlFlow::Break(ended) => return ended,
        };
        if let Some(why) = look.stop {
            let _ = stop.try_send(why);
        }
        for order in look.orders {
            drop(orders.try_send(ControlRequest::new(order, oneshot::channel().0)));
        }
        world.time.sleep_until(look.next).await;
    }
}

fn missing(world: &World, seen: &Mutex<Observations>) -> String {
    let (seen, truth) = (seen.lock().unwrap(), world.truth());
    let missing = truth.unaccounted(world, &seen.accounts());
    let missing: Vec<_> = missing.iter().map(|trade| trade.id.as_str()).collect();
    let (unfinished, staked, is_quiet) = (seen.unfinished, seen.open_stakes, truth.is_quiet());
    format!("{unfinished} unfinished, {staked} at stake, missing {missing:?}, quiet venue {is_quiet}")
}

fn is_quiet(world: &World, seen: &Mutex<Observations>) -> bool {
    let seen = seen.lock().unwrap();
    let truth = world.truth();
    let has_traded = world.time.elapsed() > world.plan.trading;
    let is_accounted_for = || {
        let missing = truth.unaccounted(world, &seen.accounts());
        missing.len() <= seen.unnamed && missing.iter().all(|trade| trade.intent.is_none())
    };
    let booked = seen.booked.iter().map(|(intent, booked)| (*intent, *booked));
    let is_right = || !has_misbooked(world, &truth, booked);
    let is_compared = || seen.covered.is_confirmed(world, &truth);
    has_traded && truth.is_quiet() && seen.is_over() && is_accounted_for() && is_right() && is_compared()
}

fn resolve_doubts(world: &World, seen: &Mutex<Observations>) -> Vec<ControlOrder> {
    let mut orders = Vec::new();
    let (asked, reported) = {
        let seen = seen.lock().unwrap();
        (seen.asked.clone(), seen.reported.clone())
    };
    for number in asked {
        let is_given_up = world.disk().unclear.get(&number).is_some_and(Option::is_some);
        let seconds = world.disk().seconds.clone();
        let mut truth = world.truth();
        truth.show(number);
        // It is another intent's second trade, or, under a clock far off, a foreign trade unlike the request.
        let is_counted = truth.trade_of(number).is_some_and(|trade| {
            let is_unlike = world.is_far_off() && trade.lie.is_some_and(Lie::is_unlike_asked);
            seconds.contains(&trade.id) || (is_unlike && reported.contains(&trade.id))
        });
        let resolution = match truth.trade_of(number) {
            Some(trade) if trade.lie.is_some_and(Lie::is_lost_with_its_answer) && is_given_up => continue,
            Some(trade) if trade.lie.is_some_and(Lie::is_lost_with_its_answer) => Resolution::NotOpened,
            Some(trade) if lies::is_mistaken(trade, world.time.now()) => continue,
            Some(_) if is_given_up && is_counted => continue,
            Some(_) if is_counted => Resolution::NotOpened,
            Some(trade) => Resolution::Adopt(VenueId::truncated(&trade.id)),
            None if is_given_up || truth.is_underway(number) => continue,
            None => Resolution::NotOpened,
        };
        let order = resolve(number, resolution);
        world.log(|| format!("the operator orders {order:?}"));
        orders.push(order);
    }
    orders
}

fn resolve(number: u64, resolution: Resolution) -> ControlOrder {
    ControlOrder::Resolve { intent: IntentId::new(number), resolution, reason: "seen".to_owned() }
}

fn settle_missing(world: &World, seen: &Mutex<Observations>) -> Vec<ControlOrder> {
    let missing = seen.lock().unwrap().missing.clone();
    let truth = world.truth();
    let over = missing.into_iter().filter_map(|number| {
        let trade = truth.trade_of(number)?;
        (trade.lie == Some(Lie::Vanishes) && trade.is_settled).then_some((number, trade.outcome))
    });
    over.map(|(number, outcome)| resolve(number, Resolution::Settled(outcome))).collect()
}

const MAX_POLLS: u64 = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    Never,
    AtWrite(u64),
    AtStep(u64),
}

#[derive(Debug)]
pub(crate) struct Fuse {
    crash: Crash,
    writes: AtomicU64,
    polls: AtomicU64,
    pub(crate) is_burnt: AtomicBool,
}

impl Fuse {
    pub(crate) fn new(crash: Crash) -> Arc<Self> {
        let (writes, polls) = (AtomicU64::new(0), AtomicU64::new(0));
        Arc::new(Self { crash, writes, polls, is_burnt: AtomicBool::new(false) })
    }

    pub(crate) fn burn_by_writing(&self) -> bool {
        if self.crash == Crash::AtWrite(self.writes.fetch_add(1, Relaxed) + 1) {
            self.is_burnt.store(true, Relaxed);
        }
        self.is_burnt.load(Relaxed)
    }

    pub(crate) fn is_spinning(&self) -> bool {
        self.polls.load(Relaxed) > MAX_POLLS
    }

    pub(crate) fn burn(&self) -> bool {
        let polls = self.polls.fetch_add(1, Relaxed) + 1;
        if self.crash == Crash::AtStep(polls) || polls > MAX_POLLS {
            self.is_burnt.store(true, Relaxed);
        }
        self.is_burnt.load(Relaxed)
    }
}

pub(crate) struct Mortal<T> {
    pub(crate) life: Pin<Box<dyn Future<Output = T>>>,
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) watched: (Watcher, NoticeReceiver),
}

impl<T> Future for Mortal<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        if self.fuse.burn() {
            return Poll::Ready(None);
        }
        let lived = self.life.as_mut().poll(context);
        let (watcher, notices) = &mut self.watched;
        while let Some(received) = notices.try_next() {
            watcher.take(received.notice);
        }
        if self.fuse.is_burnt.load(Relaxed) { Poll::Ready(None) } else { lived.map(Some) }
    }
}

pub(crate) struct RecoveredRun {
    pub(crate) session: Session,
    pub(crate) past: RecoveredState,
}

pub(crate) fn recover(world: &World) -> Result<RecoveredRun, RuntimeError> {
    let mut session = new_session(world);
    let settings = session_settings(world);
    let disk = world.disk();
    let count = disk.lines.len();
    let place = |which: u64| mix([world.plan.seed, count as u64, which]) as usize % (count + 1);
    let mut places = [place(1), place(2)];
    places.sort_unstable();
    let part = 1 + place(3) as u64 % 4;
    let mut fold = JournalFold::new(&settings, 1)?.with_part_size(part);
    let (mut kept, mut from) = (Vec::new(), 0);
    for to in places {
        disk.lines[from..to].iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
        from = to;
        while let Some(body) = fold.next_snapshot_piece(true) {
            let (at, seq) = (Millis::ZERO, kept.len() as u64 + 1);
            let line = Line { run: 1, kind: LineKind::Note, intent: None, at, received: at, body };
            let piece = StoredLine { seq, hash: ChainHash::GENESIS.next(seq, &line), line };
            fold.on_snapshot_piece_stored(piece.head());
            kept.insert(0, piece);
        }
        if !kept.is_empty() {
            fold = JournalFold::from_snapshot(&settings, 1, &kept).unwrap().with_part_size(part);
        }
    }
    disk.lines[from..].iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
    if fold.lacks_settlement() {
        fold = JournalFold::new(&settings, 1)?;
        disk.lines.iter().try_for_each(|stored| fold.fold(stored.seq, &stored.line))?;
    }
    Ok(RecoveredRun { past: fold.restore_into(&mut session)?, session })
}

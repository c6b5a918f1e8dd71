//! The one task that conducts a run.
//!
//! Its loop: begin what is due, tell the Session what may be told, keep the journal, then wait for the next reply,
//! the next moment, or an order. It holds the clock while anything is unanswered, so that on a virtual clock a
//! question takes no venue time.

mod answer;
mod audits;
mod begin;
mod doubt;
mod due;
mod end;
mod keep;
mod keeper;
mod orders;
mod tell;

pub use end::Finished;

use crate::agenda::Agenda;
use crate::audit::Audits;
use crate::candle_watch::CandleWatch;
use crate::control::ControlRequest;
use crate::gate::Gate;
use crate::past::Past;
use crate::queue::Queue;
use crate::request::{Asked, Report};
use crate::resolver::{LagMeter, Resolver};
use crate::skew::SkewWatch;
use crate::trade_watch::TradeWatch;
use crate::{Account, Notice, Observer, RuntimeError, RuntimeSettings, Stop};
use candlewick_api::clock::{Clock, Hold};
use candlewick_api::{SchemaDrift, Venue};
use candlewick_engine::{
    Action, Approved, BotSettings, Header, IntentId, JournalHash, Rule, Session, SymbolId, TradeBook,
};
use candlewick_journal::{Journal, LoggedExchange};
use candlewick_sdk::Millis;
use end::Stopping;
use keep::Urgency;
use keeper::Keeper;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, Interval};

/// How often a quiet run makes its journal durable, in real time, so that its lease is renewed.
const RENEWAL: Duration = Duration::from_secs(5);

/// A live run, ready to start.
pub struct Conductor {
    settings: RuntimeSettings,
    venue: Arc<dyn Venue>,
    clock: Arc<dyn Clock>,
    account: Account,
    session: Session,
    journal: Keeper,
    hash: JournalHash,
    observer: Box<dyn Observer>,
    book: TradeBook,
    /// Asset type of each series, in the Session's order.
    asset_types: Vec<String>,
    /// Place of each series among the candles of an instant.
    ranks: Vec<usize>,
    /// Whether a strategy wants the symbol's prices, in the Session's order.
    priced: Vec<bool>,
    agenda: Agenda,
    queue: Queue,
    gate: Gate,
    candles: Vec<CandleWatch>,
    trades: TradeWatch,
    skew: SkewWatch,
    audits: Audits,
    /// What the client has met that it does not know.
    drift: Arc<SchemaDrift>,
    requests: JoinSet<Report>,
    /// What each running request is about.
    asked: HashMap<Id, Asked>,
    actions: Vec<Action>,
    /// Approved trades whose intents are not durable yet.
    outbox: Vec<Approved>,
    /// How many of them, from the first on, are durable once the journal is back.
    leaving: usize,
    /// Whether opens are suspended because the journal cannot be kept.
    suspended: bool,
    /// Whether the journal has refused an entry: it has a hole, and nothing can be promised any more.
    is_journal_torn: bool,
    /// Whether venue time is virtual.
    is_simulated: bool,
    /// Requests and answers of the trading API, to be kept beside the entries.
    exchanges: mpsc::Receiver<LoggedExchange>,
    resolver: Resolver,
    /// Identifiers of all trades that are an intent's.
    claimed: BTreeSet<String>,
    /// When each intent's request left, or was about to.
    sent: BTreeMap<IntentId, Millis>,
    /// When doubts of earlier runs began.
    doubted: BTreeMap<IntentId, Millis>,
    /// The first intent of this run.
    first: IntentId,
    /// How many runs the journal had before this one.
    runs_before: u64,
    /// Why a person halted the run.
    halted: Option<String>,
    stopping: Option<Stopping>,
    /// A limit that only a person can lift has been reached.
    limit: Option<Rule>,
    counts: Counts,
}

/// What a run counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    candles: u64,
    rejected_rows: u64,
}

/// Everything a run is made from.
pub struct Parts {
    /// How it polls and waits.
    pub settings: RuntimeSettings,
    /// Who accepts trades.
    pub venue: Arc<dyn Venue>,
    /// Venue time.
    pub clock: Arc<dyn Clock>,
    /// Whose account it trades on.
    pub account: Account,
    /// What decides.
    pub session: Session,
    /// The bots, in the Session's order.
    pub bots: Vec<BotSettings>,
    /// Whether each bot's strategy wants prices.
    pub wants_prices: Vec<bool>,
    /// What remembers.
    pub journal: Box<dyn Journal>,
    /// What earlier runs left.
    pub past: Past,
    /// Requests and answers of the trading API.
    pub exchanges: mpsc::Receiver<LoggedExchange>,
    /// What the client has met that it does not know.
    pub drift: Arc<SchemaDrift>,
    /// Who watches.
    pub observer: Box<dyn Observer>,
}

impl Conductor {
    /// A run of these parts.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            settings,
            venue,
            clock,
            account,
            session,
            bots,
            wants_prices,
            journal,
            past,
            exchanges,
            drift,
            observer,
        } = parts;
        let mut ranks = vec![0; session.series().len()];
        for (rank, id) in session.series_order().into_iter().enumerate() {
            ranks[id.index()] = rank;
        }
        let asset_type = |series: &candlewick_sdk::Series| {
            let bot = bots.iter().find(|bot| bot.series() == *series);
            bot.map(|bot| bot.asset_type.clone()).unwrap_or_default()
        };
        let is_priced = |symbol: &candlewick_sdk::Symbol| {
            bots.iter().zip(&wants_prices).any(|(bot, wants)| *wants && bot.symbol == *symbol)
        };
        let mut resolver = Resolver::new(
            account.kind,
            past.began.unwrap_or_else(|| clock.now()),
            LagMeter::new(Millis::new(i64::from(settings.list_lag_ms))),
        );
        resolver.recall_unexplained(past.unexplained);
        Self {
            asset_types: session.series().iter().map(asset_type).collect(),
            priced: session.symbols().iter().map(is_priced).collect(),
            ranks,
            agenda: Agenda::default(),
            queue: Queue::default(),
            gate: Gate::new(Millis::new(i64::from(settings.hold_ms))),
            candles: Vec::new(),
            trades: TradeWatch::new(Millis::new(i64::from(settings.settle_after_ms))),
            skew: SkewWatch::default(),
            audits: Audits::after(past.wallet),
            drift,
            requests: JoinSet::new(),
            asked: HashMap::new(),
            actions: Vec::with_capacity(64),
            outbox: Vec::new(),
            leaving: 0,
            suspended: false,
            is_journal_torn: false,
            is_simulated: clock.is_virtual(),
            resolver,
            claimed: BTreeSet::new(),
            first: session.next_intent(),
            sent: past.sent,
            doubted: past.doubted,
            runs_before: past.runs,
            halted: past.is_halted.then(|| "halted before this run began".to_owned()),
            exchanges,
            stopping: None,
            limit: None,
            counts: Counts::default(),
            book: past.book,
            hash: JournalHash::new(),
            settings,
            venue,
            clock,
            account,
            session,
            journal: Keeper::new(journal),
            observer,
        }
    }

    /// Runs until `stop` tells it to end and what is open has settled, or patience is over.
    ///
    /// `stop` may tell more than once; the second signal ends the run at once. `until` ends it
    /// when venue time reaches that moment.
    ///
    /// # Errors
    /// [`RuntimeError`] when the venue cannot be reached at the start, or the journal cannot be written.
    pub async fn run(
        mut self,
        header: &Header,
        until: Option<Millis>,
        (mut stop, mut orders): (mpsc::Receiver<Stop>, mpsc::Receiver<ControlRequest>),
    ) -> Result<Finished, RuntimeError> {
        let mut hold = self.clock.hold();
        tokio::select! {
            biased;
            Some(why) = stop.recv() => return Ok(self.finish(why).await),
            begun = self.begin(header) => begun?,
        }
        let clock = Arc::clone(&self.clock);
        let mut renewal = tokio::time::interval_at(Instant::now() + RENEWAL, RENEWAL);
        loop {
            self.begin_due();
            self.tell_due();
            self.keep(Urgency::WhenWorthwhile).await?;
            self.watch_end(until);
            if let Some(why) = self.ended() {
                return Ok(self.finish(why).await);
            }
            let wake = self.wake_at(until);
            let spent = if self.requests.is_empty() {
                std::mem::replace(&mut hold, Hold::none())
            } else {
                Hold::none()
            };
            tokio::select! {
                biased;
                Some(done) = self.requests.join_next_with_id() => {
                    self.hear_end_of(done);
                    self.hear_ready();
                }
                Some((why, held)) = told_to_stop(&mut stop, clock.as_ref()) => {
                    hold = held;
                    if why.is_signal() && self.is_interrupted() {
                        return Ok(self.finish(why).await);
                    }
                    self.stop(why);
                }
                Some((request, held)) = ordered(&mut orders, clock.as_ref()) => {
                    hold = held;
                    self.obey(request);
                }
                held = renewal_due(&mut renewal, clock.as_ref()) => {
                    hold = held;
                    self.keep(Urgency::Now).await?;
                }
                returned = self.journal.returned() => {
                    self.hear_kept(returned)?;
                    // Counted from here: a journal that did not answer is left in peace for as long.
                    renewal.reset();
                }
                woken = rest(clock.as_ref(), wake, spent) => hold = woken,
            }
        }
    }

    /// When there is something to do without any answer.
    fn wake_at(&self, until: Option<Millis>) -> Millis {
        let now = self.clock.now();
        // What is over already, and only waits for an answer, is no reason to wake.
        let ends = self.patience_ends().filter(|at| *at > now);
        let until = until.filter(|at| *at > now && self.stopping.is_none());
        let told = self.queue.next_at().map(|at| match self.gate.opens_at(at, now) {
            Some(opens) if at <= now => opens,
            _ => at,
        });
        [self.agenda.next_at(), told, ends, until].into_iter().flatten().min().unwrap_or(Millis::MAX)
    }

    /// Hears all that has been answered before any of it is told, so that it is told in order however late.
    fn hear_ready(&mut self) {
        while let Some(done) = self.requests.try_join_next_with_id() {
            self.hear_end_of(done);
        }
    }

    /// A request has ended; one whose code broke counts as unanswered.
    fn hear_end_of(&mut self, done: Result<(Id, Report), JoinError>) {
        let id = match &done {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let asked = self.asked.remove(&id);
        match (done, asked) {
            (Ok((_, report)), _) => self.hear(report),
            (Err(error), Some(asked)) => self.hear(Report::broken(asked, error.to_string())),
            (Err(_), None) => {}
        }
    }

    fn warn(&mut self, text: &str) {
        tracing::warn!("{text}");
        self.observer.see(Notice::Warning(text), self.session.ledger(), &self.book);
    }

    /// A warning that is kept in the journal as well: a person must see it.
    fn alarm(&mut self, text: &str) {
        self.warn(text);
        let now = self.clock.now();
        self.journal.note(now, serde_json::json!({ "alarm": text }).to_string());
    }

    fn wallet_pace(&self) -> Millis {
        Millis::from_seconds(i64::from(self.settings.wallet_every_s))
    }

    fn symbol_ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        let symbols = self.session.symbols().to_vec();
        let ids: Vec<SymbolId> =
            symbols.iter().filter_map(|symbol| self.session.symbol_id(*symbol)).collect();
        ids.into_iter()
    }
}

/// The next order of a person, with the clock held from its arrival on.
async fn ordered(
    orders: &mut mpsc::Receiver<ControlRequest>,
    clock: &dyn Clock,
) -> Option<(ControlRequest, Hold)> {
    let request = orders.recv().await?;
    Some((request, clock.hold()))
}

/// The next order to stop, with the clock held from its arrival on.
async fn told_to_stop(stop: &mut mpsc::Receiver<Stop>, clock: &dyn Clock) -> Option<(Stop, Hold)> {
    let why = stop.recv().await?;
    Some((why, clock.hold()))
}

/// The next moment to renew the journal, with the clock held from then on.
async fn renewal_due(renewal: &mut Interval, clock: &dyn Clock) -> Hold {
    renewal.tick().await;
    clock.hold()
}

/// Sleeps, and lets go of the clock only once it knows until when: it could jump past that moment otherwise, to
/// one that somebody else waits for.
async fn rest(clock: &dyn Clock, wake: Millis, spent: Hold) -> Hold {
    let mut sleep = clock.sleep_until(wake);
    let first = poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
    drop(spent);
    match first {
        Poll::Ready(held) => held,
        Poll::Pending => sleep.await,
    }
}

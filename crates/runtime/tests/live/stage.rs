//! A run on the stage: bots that signal when scripted, a scripted venue, a watched run.

use crate::journal::{Failing, MemoryJournal};
use crate::script::{Ask, Script, Spell, Trouble, Which};
use crate::venue::{ScriptedVenue, USER};
use candlewick_broker::clock::{Clock, Speed, SystemClock, VirtualClock};
use candlewick_broker::{Account as Kind, Broker, MarketData, TokenState};
use candlewick_engine::{
    Action, BotSettings, Event, EventKind, Header, Origin, RiskSettings, Rule, Session, SessionSettings,
    StakeSettings,
};
use candlewick_journal::{Journal, NullJournal};
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_runtime::{
    Account, Finished, Interest, Notice, Notices, Parts, Runner, RuntimeError, RuntimeSettings, Stop, Watcher,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{
    Candle, ExpirationType, Interval, Millis, MoneyScale, Outcome, Price, Settlement, Signal, Strategy,
    Symbol,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// More notices than any scripted run has.
const MAX_NOTICES: usize = 50_000;

/// Longer than any scripted run: what has not ended by then never will.
const NEVER: Duration = Duration::from_hours(48);

pub(crate) fn symbol(name: &str) -> Symbol {
    Symbol::new(name).unwrap()
}

pub(crate) fn btc() -> Symbol {
    symbol("BTCUSDT")
}

pub(crate) fn eth() -> Symbol {
    symbol("ETHUSDT")
}

/// Buys at the close of the candles that close at these moments.
struct Signaller {
    closes: Vec<Millis>,
    warmup: usize,
}

impl Strategy for Signaller {
    fn warmup(&self) -> usize {
        self.warmup
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.closes.contains(&candle.close_time(Interval::MINUTE)).then(|| Signal::buy("scripted"))
    }

    fn on_price(&mut self, _price: &Price) -> Option<Signal> {
        None
    }

    fn on_settled(&mut self, _settlement: &Settlement) {}
}

/// Whether the run keeps a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalChoice {
    Memory,
    Nothing,
}

/// Everything a run is set up from. Times in tests are milliseconds after its start, a full minute.
pub(crate) struct Stage {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) start: Millis,
    pub(crate) script: Script,
    pub(crate) settings: RuntimeSettings,
    pub(crate) risk: RiskSettings,
    pub(crate) journal_choice: JournalChoice,
    pub(crate) failing: Failing,
    /// How long the journal takes to make entries durable.
    pub(crate) journal_delay: Duration,
    pub(crate) warmup: usize,
    pub(crate) wants_prices: bool,
    pub(crate) until: Option<i64>,
    /// Whether the venue accepts the token.
    pub(crate) token: Arc<TokenState>,
    bots: Vec<BotSettings>,
    signals: Vec<Vec<Millis>>,
    stops: Vec<(i64, Stop)>,
    orders: Vec<(i64, ControlOrder)>,
}

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) result: Result<Finished, RuntimeError>,
    /// When it ended.
    pub(crate) ended: i64,
    pub(crate) handled: Vec<(Event, Vec<Action>)>,
    pub(crate) warnings: Vec<String>,
    /// What the journal keeps beside the entries.
    pub(crate) notes: Vec<String>,
    pub(crate) stoppings: Vec<(Stop, usize)>,
    /// What is said of how the run stands: phases, the venue's silence, evidence.
    pub(crate) standings: Vec<Notice>,
    pub(crate) lines: Vec<String>,
    /// What was answered to orders, in their order.
    pub(crate) answers: Vec<ControlAnswer>,
    asks: Vec<(Millis, Ask)>,
    start: Millis,
}

#[derive(Default)]
struct Seen {
    handled: Vec<(Event, Vec<Action>)>,
    warnings: Vec<String>,
    stoppings: Vec<(Stop, usize)>,
    standings: Vec<Notice>,
}

impl Seen {
    /// All that whoever watches a run received.
    fn of(mut notices: Notices) -> Self {
        let mut seen = Self::default();
        while let Some(received) = notices.try_next() {
            assert_eq!(received.missed, 0, "a test watches everything");
            match received.notice {
                Notice::Handled { event, actions, .. } => seen.handled.push((event, actions)),
                Notice::Warning(text) | Notice::Alarm(text) | Notice::Logged { text, .. } => {
                    seen.warnings.push(text);
                }
                Notice::Stopping { why, unfinished, .. } => seen.stoppings.push((why, unfinished)),
                Notice::Begins(_) | Notice::Blocked(_) | Notice::Overview(_) | Notice::Price(..) => {}
                standing => seen.standings.push(standing),
            }
        }
        seen
    }
}

impl Stage {
    /// The system's clock on paused time.
    pub(crate) async fn paused() -> Self {
        let clock = SystemClock::new();
        let start = clock.now().floor_to(Millis::MINUTE) + Millis::MINUTE * 2;
        clock.sleep_until(start).await;
        Self::on(Arc::new(clock), start)
    }

    /// A virtual clock in lock-step.
    pub(crate) fn lock_step() -> Self {
        let start = Millis::DAY * 20_000;
        let mut stage = Self::on(Arc::new(VirtualClock::new(start, Speed::Max)), start);
        stage.settings.hold_ms = 0;
        stage.settings.quick_repeats = 0;
        stage
    }

    fn on(clock: Arc<dyn Clock>, start: Millis) -> Self {
        Self {
            clock,
            start,
            script: Script::default(),
            settings: RuntimeSettings {
                list_every_s: 0,
                watch_prices: false,
                wallet_every_s: 0,
                ..RuntimeSettings::default()
            },
            risk: RiskSettings::default(),
            journal_choice: JournalChoice::Memory,
            failing: Failing::Never,
            journal_delay: Duration::ZERO,
            warmup: 0,
            wants_prices: false,
            until: None,
            bots: Vec::new(),
            signals: Vec::new(),
            stops: Vec::new(),
            orders: Vec::new(),
            token: Arc::default(),
        }
    }

    /// The moment so many milliseconds after the start.
    pub(crate) fn at(&self, ms: i64) -> Millis {
        self.start + Millis::new(ms)
    }

    /// A bot that buys at the closes so many milliseconds after the start, for a minute, with a stake of 10.
    pub(crate) fn bot(mut self, symbol: Symbol, closes: &[i64]) -> Self {
        self.signals.push(closes.iter().map(|ms| self.at(*ms)).collect());
        self.bots.push(BotSettings {
            name: format!("bot-{}", self.bots.len()),
            symbol,
            entry_delay_s: 0,
            venue: std::collections::BTreeMap::new(),
            interval: Interval::MINUTE,
            strategy: "signaller".to_owned(),
            close_type: "01:00".parse().unwrap(),
            expiration_type: ExpirationType::TimeFixed,
            params: serde_json::json!({}),
            stake: StakeSettings::Fixed { amount: Decimal::TEN },
        });
        self
    }

    /// Has the trades of all bots so far asked for so many seconds after their decisions.
    pub(crate) fn entering_after(mut self, seconds: i64) -> Self {
        self.bots.iter_mut().for_each(|bot| bot.entry_delay_s = seconds);
        self
    }

    pub(crate) fn stop(mut self, ms: i64, why: Stop) -> Self {
        self.stops.push((ms, why));
        self
    }

    /// A person gives an order.
    pub(crate) fn order(mut self, ms: i64, order: ControlOrder) -> Self {
        self.orders.push((ms, order));
        self
    }

    pub(crate) fn until(mut self, ms: i64) -> Self {
        self.until = Some(ms);
        self
    }

    /// These questions have trouble from a moment on and before another.
    pub(crate) fn spell(mut self, which: Which, (from, to): (i64, i64), trouble: Trouble) -> Self {
        self.script.spells.push(Spell { which, from: self.at(from), to: self.at(to), trouble });
        self
    }

    /// The candle that closes then is there only so much later.
    pub(crate) fn lag(mut self, symbol: Symbol, close: i64, lag: i64) -> Self {
        self.script.lags.insert((symbol, self.at(close)), Millis::new(lag));
        self
    }

    /// Runs it to its end. No breach may have happened.
    pub(crate) async fn run(self) -> Ran {
        let journal = MemoryJournal::default();
        {
            let mut record = journal.0.lock().unwrap();
            (record.failing, record.delay) = (self.failing, self.journal_delay);
        }
        let kept = (self.journal_choice == JournalChoice::Memory).then(|| journal.clone());
        let clock = Arc::clone(&self.clock);
        let venue = Arc::new(ScriptedVenue::new(Arc::clone(&clock), kept, self.start, self.script.clone()));
        let (start, until) = (self.start, self.until.map(|ms| self.at(ms)));
        let (sender, stop) = tokio::sync::mpsc::channel(4);
        let stops: Vec<_> = self.stops.iter().map(|(ms, why)| (self.at(*ms), *why)).collect();
        let stopping_clock = Arc::clone(&clock);
        let stopper = tokio::spawn(async move {
            for (at, why) in stops {
                let _hold = stopping_clock.sleep_until(at).await;
                let _ = sender.send(why).await;
            }
            std::future::pending::<()>().await;
        });
        let (orderer, orders) = tokio::sync::mpsc::channel(4);
        let given: Vec<_> = self.orders.iter().map(|(ms, order)| (self.at(*ms), order.clone())).collect();
        let ordering_clock = Arc::clone(&clock);
        let answers = Arc::new(Mutex::new(Vec::new()));
        let given_answers = Arc::clone(&answers);
        let person = tokio::spawn(async move {
            for (at, order) in given {
                let _hold = ordering_clock.sleep_until(at).await;
                let (answer, answered) = tokio::sync::oneshot::channel();
                let _ = orderer.send(ControlRequest::new(order, answer)).await;
                let answer = answered.await;
                given_answers.lock().unwrap().extend(answer);
            }
        });
        let (watcher, notices) = Watcher::channel(MAX_NOTICES, Interest::Everything);
        // A second one never reads: nothing may wait for it.
        let (stuck, _unread) = Watcher::channel(1, Interest::Everything);
        let runner = self.runner(&venue, journal.clone(), vec![watcher, stuck], until);
        let run = Box::pin(runner.run(stop, orders));
        let result = tokio::time::timeout(NEVER, run).await;
        stopper.abort();
        person.abort();
        assert_eq!(venue.breaches(), Vec::<String>::new());
        let seen = Seen::of(notices);
        let (lines, notes) = {
            let record = journal.0.lock().unwrap();
            (record.lines.clone(), record.notes.clone())
        };
        Ran {
            result: result.expect("every run ends"),
            ended: (clock.now() - start).get(),
            handled: seen.handled,
            warnings: seen.warnings,
            stoppings: seen.stoppings,
            standings: seen.standings,
            answers: std::mem::take(&mut *answers.lock().unwrap()),
            lines,
            notes,
            asks: venue.asks(),
            start,
        }
    }

    fn runner(
        self,
        venue: &Arc<ScriptedVenue>,
        journal: MemoryJournal,
        watchers: Vec<Watcher>,
        until: Option<Millis>,
    ) -> Runner {
        let balance = Decimal::from(1_000);
        let settings = SessionSettings {
            money_scale: MoneyScale::default(),
            balance,
            risk: self.risk,
            bots: self.bots,
            longer_share_percent: None,
        };
        let strategy =
            |closes: Vec<Millis>| Box::new(Signaller { closes, warmup: self.warmup }) as Box<dyn Strategy>;
        let strategies = self.signals.into_iter().map(strategy).collect();
        let journal: Box<dyn Journal> = match self.journal_choice {
            JournalChoice::Memory => Box::new(journal),
            JournalChoice::Nothing => Box::new(NullJournal),
        };
        Runner::new(Parts {
            settings: self.settings,
            header: Header {
                format: 1,
                settings: serde_json::json!({}),
                strategies: Vec::new(),
                data_hash: None,
            },
            market: Arc::clone(venue) as Arc<dyn MarketData>,
            broker: Arc::clone(venue) as Arc<dyn Broker>,
            clock: self.clock,
            account: Account { user: USER.to_owned(), kind: Kind::Demo, balance, balances: None },
            session: Session::new(&settings, strategies).unwrap(),
            wants_prices: vec![self.wants_prices; settings.bots.len()],
            bots: settings.bots,
            journal,
            past: candlewick_runtime::Past::default(),
            unrecognised: Arc::default(),
            token: self.token,
            exchanges: tokio::sync::mpsc::channel(1).1,
            watchers,
            until,
        })
    }
}

impl Ran {
    fn ms(&self, at: Millis) -> i64 {
        (at - self.start).get()
    }

    /// Why it ended.
    pub(crate) fn stop(&self) -> Stop {
        self.finished().stop
    }

    pub(crate) fn finished(&self) -> &Finished {
        self.result.as_ref().expect("the run ends well")
    }

    /// When such a question was asked, after the run's own start.
    pub(crate) fn asked(&self, ask: &Ask) -> Vec<i64> {
        let asked = self.asks.iter().filter(|(_, asked)| asked == ask);
        asked.map(|(at, _)| self.ms(*at)).filter(|ms| *ms > 0).collect()
    }

    /// Candles handled after the start: place of the series, close, received, origin.
    pub(crate) fn candles(&self) -> Vec<(usize, i64, i64, Origin)> {
        let candle = |(event, _): &(Event, Vec<Action>)| match event.kind {
            EventKind::Candle { series, origin, .. } if event.received > self.start => {
                Some((series.index(), self.ms(event.at), self.ms(event.received), origin))
            }
            _ => None,
        };
        self.handled.iter().filter_map(candle).collect()
    }

    /// Every event that `pick` takes, with `at` and `received`.
    pub(crate) fn picked<T>(&self, pick: impl Fn(&EventKind) -> Option<T>) -> Vec<(i64, i64, T)> {
        let handled = self.handled.iter();
        let picked = handled.filter_map(|(event, _)| {
            let value = pick(&event.kind)?;
            Some((self.ms(event.at), self.ms(event.received), value))
        });
        picked.collect()
    }

    /// Settlements: when handled, intent, outcome, profit in minor units.
    pub(crate) fn settled(&self) -> Vec<(i64, u64, Outcome, i64)> {
        let settled = self.picked(|kind| match kind {
            EventKind::Settled(settled) => Some(*settled),
            _ => None,
        });
        let row = |(at, _, settled): (i64, i64, candlewick_engine::Settled)| {
            (at, settled.intent.number(), settled.outcome, settled.profit.minor())
        };
        settled.into_iter().map(row).collect()
    }

    /// When intents were decided, with the place of their symbol.
    pub(crate) fn opens(&self) -> Vec<(i64, usize)> {
        let actions = self.handled.iter().flat_map(|(_, actions)| actions);
        let open = |action: &Action| match action {
            Action::Open(approved) => Some((self.ms(approved.decision_time()), approved.symbol().index())),
            Action::Refuse(_) | Action::DayOpened { .. } | Action::Verdict(_) => None,
        };
        actions.filter_map(open).collect()
    }

    /// When signals were refused, and by which rule.
    pub(crate) fn refused(&self) -> Vec<(i64, Rule)> {
        let actions = self.handled.iter().flat_map(|(_, actions)| actions);
        let refusal = |action: &Action| match action {
            Action::Refuse(refused) => Some((self.ms(refused.decision_time), refused.rule)),
            Action::Open(_) | Action::DayOpened { .. } | Action::Verdict(_) => None,
        };
        actions.filter_map(refusal).collect()
    }
}

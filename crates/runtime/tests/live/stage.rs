//! A staged run: bots with scripted signals, a scripted venue, a watched run.

use crate::journal::{MemoryJournal, Record};
use crate::prelude::*;
use crate::venue::{ScriptedVenue, USER};
use candlewick_broker::Account as Kind;
use candlewick_broker::clock::{Speed, VirtualClock};
use candlewick_engine::{Header, Session, SessionSettings, StakeSettings};
use candlewick_journal::NullJournal;
use candlewick_runtime::control::ControlRequest;
use candlewick_runtime::{ConnectedAccount, FinishedRun, RecoveredState, RunnerParts};
use candlewick_sdk::{ExpirationType, Interval, MoneyScale};
use tokio::sync::{mpsc, oneshot};

pub(crate) const MINUTE: i64 = 60_000;
const MAX_NOTICES: usize = 50_000;
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

pub(crate) struct Signaller(pub(crate) Vec<Millis>);

impl Strategy for Signaller {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.0.contains(&candle.close_time(Interval::MINUTE)).then(|| Signal::buy("scripted"))
    }
}

pub(crate) fn bot_of(number: usize, symbol: Symbol) -> BotSettings {
    BotSettings {
        name: format!("bot-{number}"),
        symbol,
        entry_delay_s: 0,
        venue: std::collections::BTreeMap::new(),
        interval: Interval::MINUTE,
        strategy: "scripted".to_owned(),
        close_type: "01:00".parse().unwrap(),
        expiration_type: ExpirationType::TimeFixed,
        params: serde_json::json!({}),
        stake: StakeSettings::Fixed { amount: Decimal::TEN },
    }
}

pub(crate) fn parts<V: MarketData + Broker + 'static>(
    (venue, clock): (&Arc<V>, Arc<dyn Clock>),
    (user, balance): (&str, i64),
    (risk, bots): (RiskSettings, Vec<BotSettings>),
    strategies: Vec<Box<dyn Strategy>>,
    watchers: Vec<NoticeSender>,
) -> RunnerParts {
    let (money_scale, balance) = (MoneyScale::default(), Decimal::from(balance));
    let settings = SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None };
    let (format, json) = (1, serde_json::json!({}));
    RunnerParts {
        settings: RuntimeSettings::default(),
        header: Header { format, settings: json, strategies: Vec::new(), data_hash: None },
        market: Arc::clone(venue) as _,
        broker: Arc::clone(venue) as _,
        clock,
        account: ConnectedAccount { user: user.to_owned(), kind: Kind::Demo, balance, balances: None },
        session: Session::new(&settings, strategies).unwrap(),
        wants_prices: vec![false; settings.bots.len()],
        bots: settings.bots,
        journal: Box::new(NullJournal),
        recovered: RecoveredState::default(),
        unrecognised: Arc::default(),
        token: Arc::default(),
        exchanges: mpsc::channel(1).1,
        watchers,
        until: None,
    }
}

/// Configuration of a run. Times in tests are milliseconds after its start, which is a full minute.
pub(crate) struct Stage {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) start: Millis,
    pub(crate) script: Script,
    pub(crate) settings: RuntimeSettings,
    pub(crate) risk: RiskSettings,
    pub(crate) keeps_journal: bool,
    pub(crate) record: Record,
    pub(crate) wants_prices: bool,
    until: Option<Millis>,
    bots: Vec<BotSettings>,
    strategies: Vec<Box<dyn Strategy>>,
    stops: Vec<(Millis, StopReason)>,
    orders: Vec<(Millis, ControlOrder)>,
}

pub(crate) struct RunRecord {
    pub(crate) result: Result<FinishedRun, RuntimeError>,
    pub(crate) ended: i64,
    pub(crate) handled: Vec<(Event, Vec<Action>)>,
    pub(crate) warnings: Vec<String>,
    pub(crate) stoppings: Vec<(StopReason, usize)>,
    pub(crate) standings: Vec<Notice>,
    pub(crate) record: Record,
    pub(crate) answers: Vec<ControlAnswer>,
    asks: Vec<(Millis, Ask)>,
    start: Millis,
}

impl Stage {
    pub(crate) async fn paused() -> Self {
        let clock = SystemClock::new();
        let start = clock.now().floor_to(Millis::MINUTE) + Millis::MINUTE * 2;
        clock.sleep_until(start).await;
        Self::on(Arc::new(clock), start)
    }

    pub(crate) fn lock_step() -> Self {
        let start = Millis::DAY * 20_000;
        let mut stage = Self::on(Arc::new(VirtualClock::new(start, Speed::Max)), start);
        (stage.settings.hold_ms, stage.settings.quick_repeats) = (0, 0);
        stage
    }

    fn on(clock: Arc<dyn Clock>, start: Millis) -> Self {
        let mut settings = RuntimeSettings { watch_prices: false, ..RuntimeSettings::default() };
        (settings.list_every_s, settings.wallet_every_s) = (0, 0);
        Self {
            clock,
            start,
            script: Script::default(),
            settings,
            risk: RiskSettings::default(),
            keeps_journal: true,
            record: Record::default(),
            wants_prices: false,
            until: None,
            bots: Vec::new(),
            strategies: Vec::new(),
            stops: Vec::new(),
            orders: Vec::new(),
        }
    }

    pub(crate) fn at(&self, ms: i64) -> Millis {
        self.start + Millis::new(ms)
    }

    pub(crate) fn bot(mut self, symbol: Symbol, closes: &[i64]) -> Self {
        let closes = closes.iter().map(|ms| self.at(*ms)).collect();
        self.strategies.push(Box::new(Signaller(closes)));
        self.bots.push(bot_of(self.bots.len(), symbol));
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn open(mut self, script: OpenScript) -> Self {
        self.script.opens.push_back(script);
        self
    }

    pub(crate) fn failed_open(self, outcome: OpenOutcome) -> Self {
        self.open(OpenScript::failed(outcome))
    }

    pub(crate) fn trade(self, id: &str, open: i64, close: i64, outcome: Outcome, profit: i64) -> Self {
        let (open, close) = (self.at(open), self.at(close));
        self.open(OpenScript::accepted(id, open, close).ending(close, outcome, profit))
    }

    pub(crate) fn won(self, id: &str, minute: i64) -> Self {
        self.trade(id, minute * MINUTE + 999, (minute + 1) * MINUTE + 999, Outcome::Won, 8)
    }

    pub(crate) fn balances(mut self, balances: &[(i64, i64)]) -> Self {
        self.script.balances = balances.iter().map(|(at, balance)| (self.at(*at), *balance)).collect();
        self
    }

    pub(crate) fn entering_after(mut self, seconds: i64) -> Self {
        self.bots.iter_mut().for_each(|bot| bot.entry_delay_s = seconds);
        self
    }

    pub(crate) async fn run_for(self, ms: i64) -> RunRecord {
        self.stop(ms, StopReason::TimeUp).run().await
    }

    pub(crate) fn stop(mut self, ms: i64, why: StopReason) -> Self {
        self.stops.push((self.at(ms), why));
        self
    }

    pub(crate) fn order(mut self, ms: i64, order: ControlOrder) -> Self {
        self.orders.push((self.at(ms), order));
        self
    }

    pub(crate) fn until(mut self, ms: i64) -> Self {
        self.until = Some(self.at(ms));
        self
    }

    pub(crate) fn trouble_during(mut self, which: Which, (from, to): (i64, i64), trouble: Trouble) -> Self {
        self.script.spells.push((which, self.at(from)..self.at(to), trouble));
        self
    }

    pub(crate) fn slow(self, which: Which, span: (i64, i64), ms: i64) -> Self {
        self.trouble_during(which, span, Trouble::Slow(Millis::new(ms)))
    }

    pub(crate) fn hang(self, which: Which, span: (i64, i64)) -> Self {
        self.trouble_during(which, span, Trouble::Hang)
    }

    pub(crate) fn lag(mut self, symbol: Symbol, close: i64, lag: i64) -> Self {
        self.script.lags.insert((symbol, self.at(close)), Millis::new(lag));
        self
    }

    pub(crate) async fn run(self) -> RunRecord {
        let journal = MemoryJournal(Arc::new(Mutex::new(self.record)));
        let kept = self.keeps_journal.then(|| journal.clone());
        let (clock, start) = (self.clock, self.start);
        let (script, state) = (self.script, Mutex::default());
        let venue =
            Arc::new(ScriptedVenue { clock: Arc::clone(&clock), journal: kept, start, script, state });
        let (sender, stop) = mpsc::channel(4);
        let (stops, stopping_clock) = (self.stops, Arc::clone(&clock));
        let stopper = tokio::spawn(async move {
            for (at, why) in stops {
                let _hold = stopping_clock.sleep_until(at).await;
                let _ = sender.send(why).await;
            }
            std::future::pending::<()>().await;
        });
        let (orderer, orders) = mpsc::channel(4);
        let (given, ordering_clock) = (self.orders, Arc::clone(&clock));
        let answers = Arc::new(Mutex::new(Vec::new()));
        let given_answers = Arc::clone(&answers);
        let person = tokio::spawn(async move {
            for (at, order) in given {
                let _hold = ordering_clock.sleep_until(at).await;
                let (answer, answered) = oneshot::channel();
                let _ = orderer.send(ControlRequest::new(order, answer)).await;
                let answer = answered.await;
                given_answers.lock().unwrap().extend(answer);
            }
        });
        let (watcher, mut notices) = NoticeSender::channel(MAX_NOTICES, NoticeFilter::Everything);
        // A second watcher that never reads must block nothing.
        let (stuck, _unread) = NoticeSender::channel(1, NoticeFilter::Everything);
        let (at, watchers) = ((&venue, Arc::clone(&clock)), vec![watcher, stuck]);
        let mut parts = parts(at, (USER, 1_000), (self.risk, self.bots), self.strategies, watchers);
        (parts.settings, parts.until) = (self.settings, self.until);
        parts.wants_prices.fill(self.wants_prices);
        if self.keeps_journal {
            parts.journal = Box::new(journal.clone());
        }
        let run = Box::pin(Runner::new(parts).run(stop, orders));
        let result = tokio::time::timeout(NEVER, run).await;
        stopper.abort();
        person.abort();
        let state = std::mem::take(&mut *venue.state.lock().unwrap());
        assert_eq!(state.breaches, [""; 0]);
        let (mut handled, mut warnings, mut stoppings, mut standings) = (vec![], vec![], vec![], vec![]);
        while let Some(received) = notices.try_next() {
            assert_eq!(received.missed, 0, "tests receive every notice");
            match received.notice {
                Notice::Handled { event, actions, .. } => handled.push((event, actions)),
                Notice::Warning(text) | Notice::Alarm(text) | Notice::Logged { text, .. } => {
                    warnings.push(text);
                }
                Notice::Stopping { why, unfinished, .. } => stoppings.push((why, unfinished)),
                Notice::Begins(_) | Notice::Blocked(_) | Notice::Overview(_) | Notice::Price(..) => {}
                standing => standings.push(standing),
            }
        }
        RunRecord {
            result: result.expect("every run ends"),
            ended: (clock.now() - start).get(),
            handled,
            warnings,
            stoppings,
            standings,
            answers: std::mem::take(&mut *answers.lock().unwrap()),
            record: std::mem::take(&mut *journal.0.lock().unwrap()),
            asks: state.asks,
            start,
        }
    }
}

impl RunRecord {
    fn ms(&self, at: Millis) -> i64 {
        (at - self.start).get()
    }

    pub(crate) fn stop(&self) -> StopReason {
        self.finished().stop
    }

    pub(crate) fn finished(&self) -> &FinishedRun {
        self.result.as_ref().expect("the run must succeed")
    }

    pub(crate) fn states(&self) -> Vec<IntentState> {
        self.finished().book.rows().iter().map(|row| row.state).collect()
    }

    pub(crate) fn warned(&self, text: &str) -> bool {
        self.warnings.iter().any(|warning| warning.contains(text))
    }

    pub(crate) fn request_times(&self, ask: &Ask) -> Vec<i64> {
        let asked = self.asks.iter().filter(|(_, asked)| asked == ask);
        asked.map(|(at, _)| self.ms(*at)).filter(|ms| *ms > 0).collect()
    }

    pub(crate) fn candles(&self) -> Vec<(usize, i64, i64, Origin)> {
        let candle = |(event, _): &(Event, Vec<Action>)| match event.kind {
            EventKind::Candle { series, origin, .. } if event.received > self.start => {
                Some((series.index(), self.ms(event.at), self.ms(event.received), origin))
            }
            _ => None,
        };
        self.handled.iter().filter_map(candle).collect()
    }

    pub(crate) fn closes(&self) -> Vec<(i64, i64)> {
        self.candles().into_iter().map(|(_, close, received, _)| (close, received)).collect()
    }

    pub(crate) fn asked_open(&self, symbol: Symbol) -> Vec<i64> {
        self.request_times(&Ask::Open(symbol))
    }

    pub(crate) fn picked<T>(&self, pick: impl Fn(&EventKind) -> Option<T>) -> Vec<(i64, i64, T)> {
        let picked = |(event, _): &(Event, Vec<Action>)| {
            Some((self.ms(event.at), self.ms(event.received), pick(&event.kind)?))
        };
        self.handled.iter().filter_map(picked).collect()
    }

    pub(crate) fn settled(&self) -> Vec<(i64, u64, Outcome, i64)> {
        let settled = self.picked(|kind| match kind {
            EventKind::Settled(trade) => Some((trade.intent.number(), trade.outcome, trade.profit.minor())),
            _ => None,
        });
        settled.into_iter().map(|(at, _, (intent, outcome, profit))| (at, intent, outcome, profit)).collect()
    }

    fn actions<T>(&self, pick: impl Fn(&Action) -> Option<T>) -> Vec<T> {
        self.handled.iter().flat_map(|(_, actions)| actions).filter_map(pick).collect()
    }

    pub(crate) fn opens(&self) -> Vec<(i64, usize)> {
        self.actions(|action| match action {
            Action::Open(approved) => Some((self.ms(approved.decision_time()), approved.symbol().index())),
            _ => None,
        })
    }

    pub(crate) fn refused(&self) -> Vec<(i64, Rule)> {
        self.actions(|action| match action {
            Action::Refuse(refused) => Some((self.ms(refused.decision_time), refused.rule)),
            _ => None,
        })
    }
}

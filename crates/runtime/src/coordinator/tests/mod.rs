//! Test driver for the coordinator: passes inputs at given times and collects the resulting commands.

mod corrections;
mod foreign_trades;
mod halts;
mod instant;
mod missing;
mod oddities;
mod old_rows;
mod outside;
mod refused;
mod reloading;
mod reported_times;
mod reports;
mod token;
mod venue_watch;
mod wallet;
mod wallet_difference;
mod wallet_proof;
mod warm_up;

use super::*;
use crate::control::{ControlAnswer, ControlOrder, RunState};
use crate::resolver::{order_of_tests, report_of_tests};
use candlewick_broker::{
    Balances, BrokerError, CandleQuery, Candles, OpenOutcome, PriceAnswer, PriceRecord, PriceTick, Reply,
    TradeListing, TradeReport,
};
use candlewick_engine::{
    Action, ApprovedTrade, Event, Origin, RecordedEntry, RiskSettings, SeriesId, SessionSettings, SymbolId,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Candle, Interval, MoneyScale, Ohlcv, Price, Signal, Strategy};

const START: Millis = Millis::new(600_000_000);

struct Buys;

impl Strategy for Buys {
    fn warmup(&self) -> usize {
        0
    }

    fn on_candle(&mut self, _candle: &Candle) -> Option<Signal> {
        Some(Signal::buy("every candle"))
    }
}

fn session(risk: RiskSettings) -> Session {
    delayed_session(risk, Box::new(Buys), 0)
}

/// Creates a session whose only bot stakes 10.00 of 1,000.00 on BTCUSDT for one minute.
fn delayed_session(risk: RiskSettings, strategy: Box<dyn Strategy>, entry_delay_s: i64) -> Session {
    let bot = serde_json::json!({
        "name": "bot", "symbol": "BTCUSDT", "interval": "1m", "strategy": "buys", "close_type": "01:00",
        "expiration_type": "TIME_FIXED", "entry_delay_s": entry_delay_s,
    });
    let bots = vec![serde_json::from_value(bot).expect("a sound bot")];
    let (money_scale, balance) = (MoneyScale::default(), Decimal::from(1_000));
    let settings = SessionSettings { money_scale, balance, risk, bots, longer_share_percent: None };
    Session::new(&settings, vec![strategy]).expect("sound settings")
}

fn candle(close: Millis) -> Candle {
    let numbers = Ohlcv { open: 100.0, high: 102.0, low: 99.0, close: 101.0, volume: 1.0 };
    Candle::new(close - Millis::MINUTE, Interval::MINUTE, numbers).expect("a sound candle")
}

fn unlimited() -> RiskSettings {
    RiskSettings {
        max_open_trades: 0,
        max_open_trades_per_symbol: 0,
        max_trades_per_day: 0,
        allow_duplicate: true,
        ..RiskSettings::default()
    }
}

pub(super) fn approved(number: u64) -> ApprovedTrade {
    let mut session = session(unlimited());
    let mut actions = Vec::new();
    for minute in 1..=number {
        let at = START + Millis::MINUTE * minute as i64;
        if minute > 1 {
            // The previous intent ends here, because each symbol may have only one unanswered open.
            let kind = EventKind::NotSent { intent: IntentId::new(minute - 1) };
            session.handle(&Event { at, received: at, kind }, &mut actions);
        }
        let kind = EventKind::Candle { series: SeriesId::FIRST, candle: candle(at), origin: Origin::Live };
        session.handle(&Event { at, received: at, kind }, &mut actions);
    }
    let open = actions.into_iter().rev().find_map(|action| match action {
        Action::Open(approved) => Some(approved),
        _ => None,
    });
    open.expect("a trade is approved")
}

fn no_answer() -> BrokerError {
    BrokerError::Unavailable { text: "no".to_owned() }
}

fn open_answer(report: TradeReport, now: Millis) -> Answer {
    Answer::Open(IntentId::new(1), OpenOutcome::Opened(Reply::without_latency(Box::new(report), now)))
}

fn lost_open(intent: IntentId) -> Answer {
    Answer::Open(intent, OpenOutcome::Unknown { reason: "reset".to_owned() })
}

fn unsent_open() -> Answer {
    Answer::Open(IntentId::new(1), OpenOutcome::NotSent { reason: "no way".to_owned() })
}

fn record_answer(report: TradeReport, now: Millis) -> Answer {
    Answer::Trade(IntentId::new(1), Ok(Box::new(Reply::without_latency(report, now))))
}

fn list_answer(trades: Vec<TradeReport>, now: Millis) -> Answer {
    listing_answer(trades, now, true)
}

fn listing_answer(trades: Vec<TradeReport>, now: Millis, is_complete: bool) -> Answer {
    Answer::Trades(TradeListing { began: now, ended: now, is_complete, trades, end_error: None })
}

fn candles_answer(candles: Vec<Candle>, now: Millis) -> Answer {
    Answer::Candles(
        SeriesId::FIRST,
        Ok(Reply::without_latency(Candles { candles, ..Candles::default() }, now)),
    )
}

fn no_candles() -> Answer {
    Answer::Candles(SeriesId::FIRST, Err(no_answer()))
}

/// Answers with no past candles at the start, a candle at each of `closes`, and nothing otherwise.
fn candles_at(closes: &[i64], ms: i64, now: Millis) -> Answer {
    match ms {
        0 => candles_answer(Vec::new(), now),
        _ if closes.contains(&ms) => candles_answer(vec![candle(now)], now),
        _ => no_candles(),
    }
}

fn no_balances_after_trades() -> Answer {
    Answer::BalancesAfterTrades(Err(no_answer()))
}

fn demo_balances(demo: impl Into<Decimal>) -> Balances {
    Balances { demo: Some(demo.into()), ..Balances::default() }
}

fn balances_answer(demo: impl Into<Decimal>, now: Millis) -> Answer {
    Answer::Balances(Ok(Reply::without_latency(demo_balances(demo), now)))
}

struct Bench {
    coordinator: Coordinator,
    now: Millis,
    commands: Vec<Command>,
}

fn parts() -> CoordinatorParts {
    let (none, defaults) = (serde_json::json!({}), RuntimeSettings::default());
    CoordinatorParts {
        settings: RuntimeSettings { watch_prices: false, wallet_every_s: 0, list_every_s: 0, ..defaults },
        header: Header { format: Header::FORMAT, settings: none, strategies: Vec::new(), data_hash: None },
        account: Account::Demo,
        session: session(RiskSettings::default()),
        priced_symbols: Vec::new(),
        recovered: RecoveredState::default(),
        is_simulated: false,
        until: None,
        balances: None,
    }
}

impl Bench {
    fn new(parts: CoordinatorParts) -> Self {
        Self { coordinator: Coordinator::new(parts, START), now: START, commands: Vec::new() }
    }

    fn with(change: impl FnOnce(&mut CoordinatorParts)) -> Self {
        let mut parts = parts();
        change(&mut parts);
        Self::new(parts)
    }

    /// Starts a run at `START` whose strategies have warmed up.
    fn start(change: impl FnOnce(&mut CoordinatorParts)) -> Self {
        let mut bench = Self::with(change);
        bench.on(Input::Start);
        bench.on(Input::Answer(candles_answer(Vec::new(), START)));
        bench.on(Input::Time);
        bench.on(Input::Durable(Ok(())));
        bench.commands.clear();
        bench
    }

    fn sent() -> Self {
        let mut bench = Self::start(|_| {});
        bench.signal();
        bench.durable();
        bench
    }

    fn in_doubt() -> Self {
        let mut bench = Self::sent();
        bench.at(60_500).answer(lost_open(IntentId::new(1)));
        bench.durable();
        bench
    }

    fn on(&mut self, input: Input) {
        self.coordinator.on_input(input, self.now, &mut self.commands);
    }

    fn step(&mut self, input: Input) -> Vec<Command> {
        self.on(input);
        self.on(Input::Time);
        std::mem::take(&mut self.commands)
    }

    fn answer(&mut self, answer: Answer) -> Vec<Command> {
        self.step(Input::Answer(answer))
    }

    fn durable(&mut self) -> Vec<Command> {
        self.step(Input::Durable(Ok(())))
    }

    fn order(&mut self, order: ControlOrder) -> Vec<Command> {
        self.step(Input::Order(ControlOrderId(1), order))
    }

    fn state(&mut self) -> RunState {
        match answer_in(&self.order(ControlOrder::Status)) {
            Some(ControlAnswer::Done { state }) => RunState::clone(state),
            other => panic!("{other:?}"),
        }
    }

    fn halted(&self) -> Option<&str> {
        self.coordinator.session.halt_reason().map(String::as_str)
    }

    fn free(&self) -> i64 {
        self.coordinator.session.ledger().free_balance().minor()
    }

    fn close(&mut self) -> Vec<Command> {
        let now = self.now;
        self.answer(candles_answer(vec![candle(now)], now))
    }

    fn look(&mut self, trades: Vec<TradeReport>) -> Vec<Command> {
        self.look_with(list_answer(trades, self.now), no_balances_after_trades())
    }

    fn look_with(&mut self, listing: Answer, balances: Answer) -> Vec<Command> {
        self.coordinator.agenda.add(self.now, Job::Trades);
        self.step(Input::Time);
        self.answer(listing);
        self.answer(balances)
    }

    fn drive(
        &mut self,
        span: std::ops::Range<i64>,
        mut respond: impl FnMut(Command, i64, Millis) -> Option<Answer>,
    ) {
        for ms in span.step_by(500) {
            let mut inputs = vec![Input::Time, if ms == 0 { Input::Start } else { Input::Durable(Ok(())) }];
            while let Some(input) = inputs.pop() {
                let now = self.at(ms).now;
                for command in self.step(input) {
                    inputs.extend(respond(command, ms, now).map(Input::Answer));
                }
            }
        }
    }

    fn at(&mut self, ms: i64) -> &mut Self {
        self.now = START + Millis::new(ms);
        self
    }

    fn signal(&mut self) -> Vec<Command> {
        let asked = self.at(60_000).step(Input::Time);
        assert!(asks(&asked, RequestId::Candles(SeriesId::FIRST)), "{asked:?}");
        self.close()
    }

    fn asks_at(&mut self, ms: i64, id: RequestId) -> bool {
        asks(&self.at(ms).step(Input::Time), id)
    }
}

fn asks(commands: &[Command], id: RequestId) -> bool {
    commands.iter().any(|command| matches!(command, Command::Ask(ask) if ask.id() == id))
}

fn mentions(commands: &[Command], text: &str) -> usize {
    commands.iter().filter(|command| format!("{command:?}").contains(text)).count()
}

fn answer_in(commands: &[Command]) -> Option<&ControlAnswer> {
    commands.iter().find_map(|command| match command {
        Command::AnswerOrder(_, answer) => Some(answer),
        _ => None,
    })
}

fn problem_in(commands: &[Command]) -> Option<&str> {
    match answer_in(commands)? {
        ControlAnswer::Refused { problem } => Some(problem),
        _ => None,
    }
}

fn recorded_entries(commands: &[Command]) -> Vec<JournalEntry> {
    let entry = |command: &Command| match command {
        Command::Record(entry) => Some(entry.clone()),
        _ => None,
    };
    commands.iter().filter_map(entry).collect()
}

fn events_in(entries: &[JournalEntry]) -> impl Iterator<Item = &Event> {
    entries.iter().filter_map(|entry| match entry {
        JournalEntry::Event(event) => Some(event),
        _ => None,
    })
}

fn parts_after(entries: Vec<JournalEntry>) -> CoordinatorParts {
    let mut parts =
        CoordinatorParts { recovered: RecoveredState { runs: 1, ..RecoveredState::default() }, ..parts() };
    for entry in entries {
        let recorded = match entry {
            JournalEntry::Event(event) => RecordedEntry::Event(event),
            JournalEntry::Action(Action::Open(approved)) => RecordedEntry::Open(approved),
            _ => continue,
        };
        parts.session.recall(&recorded);
        parts.recovered.book.recall(&recorded);
    }
    parts
}

/// Starts a run at `ms` that polls the list and continues a journal with these entries.
fn continued(ms: i64, entries: Vec<JournalEntry>) -> Bench {
    let mut parts = parts_after(entries);
    (parts.settings.list_every_s, parts.recovered.began) = (300, Some(START));
    let mut bench = Bench::new(parts);
    bench.at(ms).step(Input::Start);
    bench.answer(candles_answer(Vec::new(), bench.now));
    bench.durable();
    bench
}

fn steps(commands: &[Command]) -> Vec<String> {
    let word = |command: &Command| match command {
        Command::Send(open) => Some(format!("send {}", open.intent())),
        Command::MakeDurable => Some("make durable".to_owned()),
        Command::Record(JournalEntry::Action(Action::Open(open))) => {
            Some(format!("record open {}", open.intent()))
        }
        Command::Record(JournalEntry::Event(event)) => match event.kind {
            EventKind::NotSent { intent } => Some(format!("record not sent {intent}")),
            EventKind::InDoubt { intent } => Some(format!("record in doubt {intent}")),
            EventKind::Control { control } => Some(format!("record {control:?}")),
            _ => None,
        },
        Command::End(result) => Some(format!("end {}", if result.is_ok() { "well" } else { "badly" })),
        Command::Finish(_) => Some("finish".to_owned()),
        _ => None,
    };
    commands.iter().filter_map(word).collect()
}

fn full() -> JournalError {
    JournalError::DiskFull { url: "memory".to_owned(), source: "no room".into() }
}

#[test]
fn sends_opens_only_once_durable() {
    let mut bench = Bench::start(|_| {});
    assert_eq!(steps(&bench.signal()), ["record open 1", "make durable"]);
    // This is the last time that the rule allows: 5 s after the decision.
    let commands = bench.at(65_000).durable();
    assert_eq!(steps(&commands), ["send 1"]);
    let leaves = bench.now;
    assert!(commands.iter().any(|one| matches!(one, Command::Send(open) if open.send_deadline() == leaves)));
    assert_eq!(steps(&bench.durable()), [""; 0], "never a second time");
}

#[test]
fn does_not_send_late_or_stopped_opens() {
    let halt = Input::Order(ControlOrderId(1), ControlOrder::Halt { reason: "news".to_owned() });
    for (ms, before, durable) in [
        (65_001, None, Ok(())),
        (60_100, Some(halt), Ok(())),
        (60_100, None, Err(full())),
        (60_100, Some(Input::EntryRefused), Ok(())),
        (60_100, Some(Input::Stop(crate::StopReason::TimeUp)), Ok(())),
    ] {
        let mut bench = Bench::start(|_| {});
        bench.signal();
        bench.at(ms);
        if let Some(input) = before {
            bench.on(input);
        }
        let commands = bench.step(Input::Durable(durable));
        let words = steps(&commands);
        let is_sent = words.contains(&"send 1".to_owned());
        assert!(!is_sent && words.contains(&"record not sent 1".to_owned()), "{words:?}");
    }
}

#[test]
fn corrupted_journal_ends_the_run_but_a_full_disk_does_not() {
    let mut bench = Bench::start(|_| {});
    bench.signal();
    let commands = bench.at(60_100).step(Input::Durable(Err(full())));
    assert_eq!(steps(&commands), ["record Suspend", "record not sent 1"]);
    assert_eq!(steps(&bench.at(65_200).step(Input::RenewJournal)), ["make durable"], "it is tried again");
    assert_eq!(steps(&bench.durable()), ["record Continue", "make durable"]);
    bench.on(Input::EntryRefused);
    assert!(steps(&bench.durable()).contains(&"end badly".to_owned()));
}

#[test]
fn ignores_unrequested_answers() {
    let mut bench = Bench::start(|_| {});
    bench.signal();
    bench.answer(open_answer(TradeReport::new("01JT"), START));
    assert_eq!(bench.coordinator.pending_work().last_close, None);
    bench.durable();
    bench.answer(open_answer(TradeReport::new("01JT"), START));
    assert!(bench.coordinator.pending_work().last_close.is_some());
}

#[test]
fn unanswered_open_is_in_doubt_and_never_resent() {
    let mut bench = Bench::sent();
    let commands = bench.at(60_500).answer(lost_open(IntentId::new(1)));
    assert!(steps(&commands).contains(&"record in doubt 1".to_owned()));
    bench.durable();
    assert!(bench.asks_at(62_500, RequestId::Trades));
    assert!(asks(&bench.answer(list_answer(Vec::new(), bench.now)), RequestId::BalancesAfterTrades));
    for second in 63..600 {
        let commands = bench.at(second * 1_000).durable();
        assert!(!commands.iter().any(|command| matches!(command, Command::Send(_))), "after {second} s");
    }
}

#[test]
fn limits_reports_about_a_list_full_of_oddities() {
    let mut bench = Bench::in_doubt();
    bench.at(62_500).step(Input::Time);
    let at = bench.now;
    let row = |number: u32| TradeReport {
        symbol: Some("XYZ".to_owned()),
        request_time: Some(at),
        close_time: Some(Millis::MAX),
        ..TradeReport::new(format!("01J{number}"))
    };
    let mut commands = bench.answer(list_answer((0..1_000).map(row).collect(), at));
    commands.extend(bench.answer(no_balances_after_trades()));
    let records = recorded_entries(&commands).len();
    assert!((40..100).contains(&records), "{records}");
    // The problem is reported twice: to the operator and to the journal.
    assert_eq!(mentions(&commands, "980 more listed trades have implausible times"), 2);
    assert_eq!(mentions(&commands, "980 more unknown trades are in the venue's list"), 2);
}

#[test]
fn virtual_clock_waits_for_the_journal() {
    let mut bench = Bench::start(|parts| parts.is_simulated = true);
    assert_eq!(steps(&bench.signal()), ["record open 1", "make durable"]);
    assert_eq!(bench.at(120_000).step(Input::Time).len(), 0);
    assert_eq!(steps(&bench.at(60_000).durable()), ["send 1"]);
}

fn dated_close(bench: &mut Bench, minute: i64, ahead: i64) -> Vec<Command> {
    let now = bench.at(minute * 60_000).now;
    bench.step(Input::Time);
    let date = Some((now + Millis::new(ahead)).floor_to(Millis::SECOND));
    let reply = Reply::without_latency(Candles { candles: vec![candle(now)], ..Candles::default() }, now);
    bench.answer(Answer::Candles(SeriesId::FIRST, Ok(Reply { date, ..reply })))
}

#[test]
fn handles_an_answer_after_the_clock_has_caught_up() {
    let mut bench = Bench::start(|_| {});
    // The machine sleeps for ten minutes. Two answers then show that the venue's clock is ahead.
    let [.., last] = [(1, 0), (2, 0), (3, 600_000), (4, 600_000)]
        .map(|(minute, ahead)| dated_close(&mut bench, minute, ahead));
    assert!(last.iter().any(|command| matches!(command, Command::CatchUpClock)), "{last:?}");
    bench.now += Millis::new(600_000);
    let commands = bench.step(Input::ClockMoved(Millis::new(600_000)));
    assert!(alarms(&commands).iter().any(|text| text.contains("was suspended")), "{commands:?}");
    assert!(asks(&commands, RequestId::Candles(SeriesId::FIRST)), "{commands:?}");
}

#[test]
fn early_catch_up_is_not_a_venue_clock_jump() {
    let mut bench = Bench::start(|_| {});
    let answer = |bench: &mut Bench, minute: i64| alarms(&dated_close(bench, minute, 0));
    assert_eq!([answer(&mut bench, 1), answer(&mut bench, 2)], [[""; 0]; 2]);
    bench.now += Millis::new(600_000);
    assert_eq!(alarms(&bench.step(Input::ClockMoved(Millis::new(600_000)))).len(), 1);
    assert_eq!([answer(&mut bench, 13), answer(&mut bench, 14)], [[""; 0]; 2]);
}

fn texts(commands: &[Command]) -> impl Iterator<Item = (bool, String)> {
    commands.iter().filter_map(|command| match command {
        Command::Notify(crate::Notice::Warning(text)) => Some((false, text.clone())),
        Command::Notify(crate::Notice::Alarm(text)) => Some((true, text.clone())),
        Command::Notify(crate::Notice::Logged { text, is_alarm }) => Some((*is_alarm, text.clone())),
        _ => None,
    })
}

fn warnings(commands: &[Command]) -> Vec<String> {
    texts(commands).map(|(_, text)| text).collect()
}

fn alarms(commands: &[Command]) -> Vec<String> {
    texts(commands).filter(|(is_alarm, _)| *is_alarm).map(|(_, text)| text).collect()
}

/// Returns the prices that strategies see for these ticks, as (grid time, price).
fn grid_prices(ticks: &[(i64, f64)], streams: StreamSupport) -> Vec<(i64, f64)> {
    let symbol = order_of_tests().symbol;
    let mut bench = Bench::start(|parts| {
        parts.priced_symbols = vec![symbol];
        parts.settings.price_every_ms = 5_000;
    });
    bench.step(Input::Answer(Answer::Subscription(SymbolId::FIRST, Ok(streams))));
    let (mut seen, moment) = (Vec::new(), |ms: i64| START + Millis::new(ms));
    for ms in (0..=41_000).step_by(100) {
        let mut commands = bench.at(ms).step(Input::Time);
        for &(at, price) in ticks.iter().filter(|(at, _)| *at == ms && streams == StreamSupport::Yes) {
            let tick = PriceTick { time: moment(at), price };
            commands.extend(bench.step(Input::Tick(SymbolId::FIRST, tick)));
        }
        let mut place = 0;
        while place < commands.len() {
            if let Command::Ask(ReadRequest::Price(id, _, at)) = commands[place] {
                assert_eq!(streams, StreamSupport::No, "streamed prices are not requested");
                let newest = ticks.iter().rfind(|(time, _)| moment(*time) <= at);
                let answer = newest.map(|&(time, price)| {
                    let prices = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
                    let record = PriceRecord { time: moment(time), prices, created_time: None };
                    Reply::without_latency(PriceAnswer::Record(record), bench.now)
                });
                let none = BrokerError::NotFound { text: "no price yet".to_owned() };
                commands.extend(bench.answer(Answer::Price(id, at, answer.ok_or(none))));
            }
            place += 1;
        }
        seen.extend(events_in(&recorded_entries(&commands)).filter_map(|event| match event.kind {
            EventKind::Price { price: Price { time, value }, .. } => Some(((time - START).get(), value)),
            _ => None,
        }));
    }
    seen
}

#[test]
fn streamed_and_polled_prices_are_the_same() {
    // The ticks are on and off the grid, arrive in bursts, and have a gap.
    let moments = [200, 4_900, 5_000, 5_100, 9_900, 10_000, 10_000, 14_000, 31_700, 35_000];
    let prices = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 6.5, 7.0, 8.0, 9.0];
    let ticks: Vec<_> = moments.into_iter().zip(prices).collect();
    let asked = grid_prices(&ticks, StreamSupport::No);
    assert_eq!(asked, grid_prices(&ticks, StreamSupport::Yes));
    let expected = (1..).zip([3.0, 6.5, 7.0, 7.0, 7.0, 7.0, 9.0, 9.0]);
    assert_eq!(asked, expected.map(|(place, price)| (place * 5_000, price)).collect::<Vec<_>>());
}

#[test]
fn start_fails_without_past_candles() {
    let mut bench = Bench::new(parts());
    let asked = bench.step(Input::Start);
    let window = |command: &Command| match command {
        Command::Ask(ReadRequest::Candles(_, CandleQuery { start, end, .. })) => Some((*start, *end)),
        _ => None,
    };
    assert_eq!(asked.iter().find_map(window), Some((START - Millis::MINUTE, START)));
    assert_eq!(steps(&bench.answer(no_candles())), ["end badly"]);
}

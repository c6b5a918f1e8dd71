//! On a virtual clock, with an order latency of 0: what is of one instant reaches the Session in the order of a backtest.

use super::*;
use crate::control::{ControlAnswer, ControlOrder, SignalOrder, SignalOutcome};
use candlewick_engine::{SignalId, SignalSource};
use candlewick_sdk::Direction;

fn run(entry_delay_s: i64) -> Bench {
    Bench::start(|parts| {
        parts.is_simulated = true;
        parts.session = delayed_session(RiskSettings::default(), Box::new(Buys), entry_delay_s);
    })
}

/// The venue took the first open at this moment of its own.
fn taken(bench: &Bench) -> Input {
    let report = TradeReport { request_time: Some(bench.now), ..TradeReport::new("01JT") };
    let reply = Reply::at(Box::new(report), bench.now);
    Input::Answer(Answer::Open(IntentId::new(1), OpenOutcome::Opened(reply)))
}

/// The events that reached the Session, each with its moment after the start.
fn handled(commands: &[Command]) -> Vec<(i64, &'static str)> {
    let name = |kind: &EventKind| match kind {
        EventKind::Candle { .. } => "candle",
        EventKind::Opened(_) => "opened",
        EventKind::OutsideSignal(_) => "signal",
        _ => "other",
    };
    let event = |command: &Command| match command {
        Command::Record(JournalEntry::Event(event)) => Some(((event.at - START).get(), name(&event.kind))),
        _ => None,
    };
    commands.iter().filter_map(event).collect()
}

#[test]
fn candles_wait_for_the_answer_to_an_open_that_left_at_their_close() {
    let mut bench = run(60);
    bench.signal();
    assert_eq!(words(&bench.step(Input::Durable(Ok(())))), [""; 0], "it is held");
    let commands = bench.at(120_000).step(Input::Time);
    assert_eq!(words(&commands), ["send 1"]);
    let candles = Candles { candles: vec![candle(bench.now)], ..Candles::default() };
    let answer = Answer::Candles(SeriesId::FIRST, Ok(Reply::at(candles, bench.now)));
    assert_eq!(handled(&bench.step(Input::Answer(answer))), []);
    let answer = taken(&bench);
    assert_eq!(handled(&bench.step(answer)), [(120_000, "opened"), (120_000, "candle")]);
}

#[test]
fn candles_do_not_wait_for_an_answer_that_never_comes() {
    let mut bench = run(60);
    bench.signal();
    bench.step(Input::Durable(Ok(())));
    bench.at(120_000).step(Input::Time);
    let candles = Candles { candles: vec![candle(bench.now)], ..Candles::default() };
    let answer = Answer::Candles(SeriesId::FIRST, Ok(Reply::at(candles, bench.now)));
    bench.step(Input::Answer(answer));
    assert_eq!(handled(&bench.at(179_000).step(Input::Time)), [(120_000, "candle")]);
}

#[test]
fn an_answer_of_the_moment_of_the_decision_comes_after_the_signals_of_that_moment() {
    let mut bench = run(0);
    bench.signal();
    assert_eq!(words(&bench.step(Input::Durable(Ok(())))), ["send 1"]);
    let answer = taken(&bench);
    assert_eq!(handled(&bench.step(answer)), []);
    let signal = SignalOrder {
        bot: Some("bot".to_owned()),
        symbol: None,
        direction: Direction::Buy,
        source: SignalSource::truncated("list"),
        id: SignalId::truncated("1"),
        time: None,
        expires_ms: None,
        close_type: None,
        reason: None,
    };
    let commands = bench.step(Input::Order(OrderId(1), ControlOrder::Signal(signal)));
    assert_eq!(handled(&commands), [(60_000, "signal")]);
    let refused = ControlAnswer::Signal { outcome: SignalOutcome::Refused { rule: "InFlight".to_owned() } };
    assert!(
        commands
            .iter()
            .any(|command| matches!(command, Command::AnswerOrder(_, answer) if *answer == refused)),
        "{commands:?}"
    );
    bench.step(Input::Durable(Ok(())));
    assert_eq!(handled(&bench.at(60_001).step(Input::Time)), [(60_000, "opened")]);
}

//! Tests that a virtual clock without order latency handles simultaneous events in the order of a backtest.

use super::*;
use crate::control::SignalOutcome;

fn run(entry_delay_s: i64) -> Bench {
    Bench::start(|parts| {
        parts.is_simulated = true;
        parts.session = delayed_session(RiskSettings::default(), Box::new(Buys), entry_delay_s);
    })
}

fn from_outside() -> Input {
    Input::Order(ControlOrderId(1), ControlOrder::Signal(outside::order("1")))
}

fn left_at_a_close() -> Bench {
    let mut bench = run(30);
    bench.signal();
    bench.durable();
    assert_eq!(steps(&bench.at(90_000).step(Input::Time)), ["send 1"]);
    bench.answer(unsent_open());
    bench.durable();
    let commands = bench.step(from_outside());
    assert!(steps(&commands).contains(&"record open 2".to_owned()), "{commands:?}");
    bench.durable();
    assert_eq!(steps(&bench.at(120_000).step(Input::Time)), ["send 2"]);
    bench
}

fn taken(bench: &Bench, number: u64) -> Input {
    let report = TradeReport { request_time: Some(bench.now), ..TradeReport::new("01JT") };
    let reply = Reply::without_latency(Box::new(report), bench.now);
    Input::Answer(Answer::Open(IntentId::new(number), OpenOutcome::Opened(reply)))
}

fn handled(commands: &[Command]) -> Vec<(i64, &'static str)> {
    let name = |kind: &EventKind| match kind {
        EventKind::Candle { .. } => "candle",
        EventKind::Opened(_) => "opened",
        EventKind::OutsideSignal(_) => "signal",
        _ => "other",
    };
    let entries = recorded_entries(commands);
    events_in(&entries).map(|event| ((event.at - START).get(), name(&event.kind))).collect()
}

#[test]
fn candles_wait_for_the_answer_to_an_open_of_their_close() {
    let mut bench = left_at_a_close();
    assert_eq!(handled(&bench.close()), []);
    let answer = taken(&bench, 2);
    assert_eq!(handled(&bench.step(answer)), [(120_000, "opened"), (120_000, "candle")]);
    let mut bench = left_at_a_close();
    bench.close();
    assert_eq!(handled(&bench.at(179_000).step(Input::Time)), [(120_000, "candle")]);
}

#[test]
fn answer_at_the_decision_time_follows_its_signals() {
    let mut bench = run(0);
    bench.signal();
    assert_eq!(steps(&bench.durable()), ["send 1"]);
    let answer = taken(&bench, 1);
    assert_eq!(handled(&bench.step(answer)), []);
    let commands = bench.step(from_outside());
    assert_eq!(handled(&commands), [(60_000, "signal")]);
    let refused = ControlAnswer::Signal { outcome: SignalOutcome::Refused { rule: "InFlight".to_owned() } };
    assert_eq!(answer_in(&commands), Some(&refused));
    bench.durable();
    assert_eq!(handled(&bench.at(60_001).step(Input::Time)), [(60_000, "opened")]);
}

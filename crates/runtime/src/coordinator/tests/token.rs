//! A token that the venue refuses, and accepts again.

use super::*;
use crate::control::{ControlAnswer, ControlOrder, Phase};
use candlewick_broker::Balances;
use candlewick_broker::Priority;

fn warnings(commands: &[Command]) -> Vec<&str> {
    let text = |command| match command {
        &Command::Notify(
            crate::Notice::Warning(ref text)
            | crate::Notice::Alarm(ref text)
            | crate::Notice::Logged { ref text, .. },
        ) => Some(text.as_str()),
        _ => None,
    };
    commands.iter().filter_map(text).collect()
}

fn refused() -> Input {
    Input::Token(Some("Invalid token".to_owned()))
}

/// What the run answers to whoever asks how it stands.
fn status(bench: &mut Bench) -> (Phase, Option<String>) {
    let answer = |command: &Command| match command {
        Command::AnswerOrder(_, ControlAnswer::Done { state }) => Some((state.phase, state.reason.clone())),
        _ => None,
    };
    bench.step(Input::Order(OrderId(7), ControlOrder::Status)).iter().find_map(answer).expect("an answer")
}

/// Whether the balances are asked for, at such a moment.
fn asks_balances(bench: &mut Bench, ms: i64) -> bool {
    let commands = bench.at(ms).step(Input::Time);
    commands.iter().any(|command| matches!(command, Command::Ask(Ask::Balances)))
}

#[test]
fn a_refused_token_stops_opens_at_once_is_said_once_and_shown() {
    let mut bench = Bench::start(|_| {});
    bench.signal();
    let commands = bench.at(60_100).step(refused());
    assert_eq!(words(&commands)[0], "record Suspend");
    assert!(matches!(&warnings(&commands)[..], [one] if one.contains("Invalid token")), "{commands:?}");
    // Not even what was approved before is sent.
    let commands = bench.step(Input::Durable(Ok(())));
    assert!(words(&commands).contains(&"record not sent 1".to_owned()), "{:?}", words(&commands));
    let (phase, reason) = status(&mut bench);
    // Nobody has to resume: the file is read again.
    let reason = reason.unwrap_or_default();
    assert!(phase == Phase::Suspended && reason.contains("Invalid token"), "{phase:?} {reason}");
    assert!(reason.contains("broker.api_token_file, which is read again by itself"), "{reason}");
    // It is asked for again soon, although nobody wants the balances, and what follows is not said again.
    assert!(!asks_balances(&mut bench, 70_000));
    for ms in [70_100, 80_100] {
        assert!(asks_balances(&mut bench, ms), "{ms}");
        let error = BrokerError::Credentials { text: "Invalid token".to_owned() };
        bench.on(refused());
        let commands = bench.step(Input::Answer(Answer::Balances(Err(error))));
        assert_eq!(warnings(&commands), [""; 0]);
    }
}

#[test]
fn an_accepted_token_ends_it_unless_opens_stand_still_for_another_reason() {
    let answered = |bench: &mut Bench| {
        let balances = Balances { demo: Some(Decimal::from(1_000)), real: None, ..Balances::default() };
        let reply = Reply::at(balances, bench.now);
        bench.on(Input::Token(None));
        words(&bench.step(Input::Answer(Answer::Balances(Ok(reply)))))
    };
    let mut bench = Bench::start(|_| {});
    bench.step(refused());
    assert!(asks_balances(&mut bench, 10_000));
    assert!(answered(&mut bench).contains(&"record Continue".to_owned()));
    assert_eq!(status(&mut bench), (Phase::Trading, None));
    assert!(!asks_balances(&mut bench, 20_000), "nobody else asks for them");

    // The disk is full as well: each ends for itself.
    bench.step(refused());
    bench.signal();
    bench.step(Input::RenewJournal);
    bench.step(Input::Durable(Err(full())));
    assert!(!words(&bench.step(Input::Token(None))).contains(&"record Continue".to_owned()));
    bench.step(refused());
    bench.at(70_000).step(Input::RenewJournal);
    assert!(!words(&bench.step(Input::Durable(Ok(())))).contains(&"record Continue".to_owned()));
    assert!(words(&bench.step(Input::Token(None))).contains(&"record Continue".to_owned()));
}

#[test]
fn what_money_hangs_on_is_asked_first_and_what_is_shown_last() {
    let mut bench = Bench::start(|parts| parts.priced = parts.session.symbols().to_vec());
    let priority = |bench: &Bench, ask: Ask| bench.coordinator.priority_of(&ask);
    let symbol = order_of_tests().symbol;
    let price = |id| Ask::Price(id, symbol, START);
    let window = CandleQuery { symbol, interval: Interval::MINUTE, start: START, end: START };
    let trade = || Ask::Trade(IntentId::new(1), "01JT".to_owned());
    assert_eq!(priority(&bench, trade()), Priority::Trades);
    assert_eq!(priority(&bench, Ask::Candles(SeriesId::FIRST, window)), Priority::Candles);
    assert_eq!(priority(&bench, price(SymbolId::FIRST)), Priority::Prices);
    assert_eq!(priority(&bench, price(SymbolId::new(1).unwrap())), Priority::Display);
    for ask in [Ask::Balances, Ask::Trades, Ask::SettlementPrice(symbol, START)] {
        assert_eq!(priority(&bench, ask), Priority::Display);
    }
    // A doubt makes the list matter.
    bench.signal();
    bench.step(Input::Durable(Ok(())));
    let unknown = OpenOutcome::Unknown { reason: "reset".to_owned() };
    bench.step(Input::Answer(Answer::Open(IntentId::new(1), unknown)));
    assert_eq!(priority(&bench, Ask::Trades), Priority::Trades);
}

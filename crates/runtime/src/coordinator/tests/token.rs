use super::*;
use crate::control::Phase;
use candlewick_broker::Priority;

fn refused() -> Input {
    Input::Token(Some("Invalid token".to_owned()))
}

#[test]
fn rejected_token_suspends_opens_and_is_reported_once() {
    let mut bench = Bench::start(|_| {});
    bench.signal();
    let commands = bench.at(60_100).step(refused());
    assert_eq!(steps(&commands)[0], "record Suspend");
    assert!(matches!(&warnings(&commands)[..], [one] if one.contains("Invalid token")), "{commands:?}");
    let words = steps(&bench.durable());
    assert!(words.contains(&"record not sent 1".to_owned()), "{words:?}");
    let RunState { phase, reason, .. } = bench.state();
    let reason = reason.unwrap_or_default();
    assert!(phase == Phase::Suspended && reason.contains("Invalid token"), "{phase:?} {reason}");
    assert!(reason.contains("broker.api_token_file (reloaded automatically)"), "{reason}");
    // The token is tested again soon, although no wallet reading is due. The rejection is reported only once.
    assert!(!bench.asks_at(70_000, RequestId::Balances));
    for ms in [70_100, 80_100] {
        assert!(bench.asks_at(ms, RequestId::Balances), "{ms}");
        let error = BrokerError::Credentials { text: "Invalid token".to_owned() };
        bench.on(refused());
        assert_eq!(warnings(&bench.answer(Answer::Balances(Err(error)))), [""; 0]);
    }
}

#[test]
fn accepted_token_continues_opens_unless_otherwise_suspended() {
    let mut bench = Bench::start(|_| {});
    bench.step(refused());
    assert!(bench.asks_at(10_000, RequestId::Balances));
    bench.on(Input::Token(None));
    assert!(steps(&bench.answer(balances_answer(1_000, bench.now))).contains(&"record Continue".to_owned()));
    let RunState { phase, reason, .. } = bench.state();
    assert_eq!((phase, reason), (Phase::Trading, None));
    assert!(!bench.asks_at(20_000, RequestId::Balances), "no other request for balances");

    bench.step(refused());
    bench.signal();
    bench.step(Input::RenewJournal);
    bench.step(Input::Durable(Err(full())));
    assert!(!steps(&bench.step(Input::Token(None))).contains(&"record Continue".to_owned()));
    bench.step(refused());
    bench.at(70_000).step(Input::RenewJournal);
    assert!(!steps(&bench.durable()).contains(&"record Continue".to_owned()));
    assert!(steps(&bench.step(Input::Token(None))).contains(&"record Continue".to_owned()));
}

#[test]
fn prioritizes_trades_over_display_requests() {
    let mut bench = Bench::start(|parts| parts.priced_symbols = parts.session.symbols().to_vec());
    let priority = |bench: &Bench, ask: ReadRequest| bench.coordinator.priority(&ask);
    let symbol = order_of_tests().symbol;
    let price = |id| ReadRequest::Price(id, symbol, START);
    let window = CandleQuery { symbol, interval: Interval::MINUTE, start: START, end: START };
    for (ask, expected) in [
        (ReadRequest::Trade(IntentId::new(1), "01JT".to_owned()), Priority::Trades),
        (ReadRequest::Candles(SeriesId::FIRST, window), Priority::Candles),
        (price(SymbolId::FIRST), Priority::Prices),
        (price(SymbolId::new(1).unwrap()), Priority::Display),
        (ReadRequest::Balances, Priority::Display),
        (ReadRequest::Trades, Priority::Display),
        (ReadRequest::SettlementPrice(symbol, START), Priority::Display),
    ] {
        assert_eq!(priority(&bench, ask), expected);
    }
    bench.signal();
    bench.durable();
    bench.answer(lost_open(IntentId::new(1)));
    assert_eq!(priority(&bench, ReadRequest::Trades), Priority::Trades);
}

//! What stands between a run and its venue: said at once, and shown for as long as it does.

use super::*;
use crate::Notice;
use crate::control::{ControlAnswer, ControlOrder, MarketState, RunState, SlowestCandle, StreamState};
use candlewick_broker::{Balances, Identity};

/// How the run says that it stands.
fn state(bench: &mut Bench) -> RunState {
    let answers = bench.step(Input::Order(OrderId(1), ControlOrder::Status));
    let state = answers.into_iter().find_map(|command| match command {
        Command::AnswerOrder(_, ControlAnswer::Done { state }) => Some(state),
        _ => None,
    });
    state.expect("the status is answered")
}

/// What is warned of, and what the status names as trouble after that.
fn seen(bench: &mut Bench, input: Input) -> (Vec<String>, Vec<String>) {
    let warnings = bench.step(input).into_iter().filter_map(|command| match command {
        Command::Notify(Notice::Warning(text) | Notice::Alarm(text) | Notice::Logged { text, .. }) => {
            Some(text)
        }
        _ => None,
    });
    let warnings = warnings.collect();
    (warnings, state(bench).troubles)
}

/// The venue's word on the user, `ms` after the start.
fn user(bench: &mut Bench, ms: i64, restrictions: &[&str]) -> (Vec<String>, Vec<String>) {
    let asked = bench.at(ms).step(Input::Time);
    assert!(asked.iter().any(|command| matches!(command, Command::Ask(Ask::User))), "{asked:?}");
    let restrictions = restrictions.iter().map(ToString::to_string).collect();
    let identity = Identity { user: "u".to_owned(), restrictions };
    seen(bench, Input::Answer(Answer::User(Ok(Reply::at(identity, bench.now)))))
}

fn watched() -> Bench {
    let mut parts = parts();
    parts.settings.wallet_every_s = 10_000;
    let mut bench = Bench::of(parts);
    bench.on(Input::Start);
    bench.on(Input::Answer(Answer::Candles(SeriesId::FIRST, Ok(Reply::at(Candles::default(), START)))));
    bench
}

#[test]
fn a_user_that_may_not_trade_is_said_at_the_start_and_later_and_shown_while_it_lasts() {
    let mut bench = watched();
    let said =
        |words: &str| vec![format!("the venue says that the account is {words}: it may take no trade")];
    assert_eq!(user(&mut bench, 0, &["banned"]), (said("banned"), vec!["the account is banned".to_owned()]));
    assert_eq!(user(&mut bench, 600_000, &["banned"]).0, [""; 0], "said once");
    let both = user(&mut bench, 1_200_000, &["banned", "deleted"]);
    assert_eq!(both, (said("banned, deleted"), vec!["the account is banned, deleted".to_owned()]));
    let (warnings, troubles) = user(&mut bench, 1_800_000, &[]);
    assert_eq!((warnings.len(), troubles.len()), (1, 0));
}

#[test]
fn a_venue_that_is_silent_and_a_wallet_that_is_gone_are_shown() {
    let mut bench = watched();
    assert_eq!(user(&mut bench, 0, &[]).1, [""; 0]);
    assert_eq!(seen(bench.at(180_000), Input::Time).1, [""; 0]);
    assert_eq!(seen(bench.at(180_001), Input::Time).1, [""; 0], "nothing that was asked has failed");
    let error = BrokerError::Unavailable { text: "no".to_owned() };
    let answer = Answer::Candles(SeriesId::FIRST, Err(error));
    assert_eq!(seen(&mut bench, Input::Answer(answer)).1, ["the venue does not answer"]);
    bench.at(10_000_000).step(Input::Time);
    let none = Balances { demo: None, real: None };
    let answer = Answer::Balances(Ok(Reply::at(none, bench.now)));
    assert_eq!(seen(&mut bench, Input::Answer(answer)).1, ["the venue shows no demo wallet"]);
}

#[test]
fn prices_that_should_stream_and_do_not_are_shown_with_since_when_and_why() {
    let symbol = order_of_tests().symbol;
    let mut bench = Bench::start(|parts| parts.priced = vec![symbol]);
    let stream = |bench: &mut Bench| state(bench).market.and_then(|market| market.stream);
    let stands = |streaming, missed_since| Some(StreamState { streaming, wanted: 1, missed_since });
    let answer = |streams| Input::Answer(Answer::Subscription(SymbolId::FIRST, streams));
    assert_eq!(stream(&mut bench), None, "nobody knows whether the venue streams");
    bench.step(answer(Ok(Streams::Yes)));
    assert_eq!(stream(&mut bench), stands(1, None));
    let trouble =
        |why: &str| vec![format!("prices of 1 of 1 symbol do not stream and are asked for: {symbol}: {why}")];
    let (warnings, troubles) = seen(bench.at(5_500), Input::FeedEnded(SymbolId::FIRST));
    assert_eq!(troubles, trouble("it ended, or brought nothing for too long"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let since = Some(START + Millis::new(5_500));
    assert_eq!(stream(&mut bench), stands(0, since));
    let down =
        || Err(BrokerError::Unavailable { text: "the stream of prices: no answer in time".to_owned() });
    bench.at(9_000).step(Input::Time);
    let (warnings, troubles) = seen(&mut bench, answer(down()));
    assert_eq!(
        (warnings.len(), stream(&mut bench)),
        (0, stands(0, since)),
        "said once, and counted from the first"
    );
    assert!(troubles[0].ends_with("no answer in time"), "{troubles:?}");
    bench.at(12_500).step(Input::Time);
    let (warnings, troubles) = seen(&mut bench, answer(Ok(Streams::Yes)));
    assert_eq!((warnings.len(), troubles.len()), (1, 0));
    assert_eq!(stream(&mut bench), stands(1, None));
}

#[test]
fn a_venue_that_does_not_stream_is_no_trouble() {
    let symbol = order_of_tests().symbol;
    let mut bench = Bench::start(|parts| parts.priced = vec![symbol]);
    bench.step(Input::Answer(Answer::Subscription(SymbolId::FIRST, Ok(Streams::No))));
    let RunState { market, troubles, .. } = state(&mut bench);
    assert_eq!((market.and_then(|market| market.stream), troubles.len()), (None, 0));
}

#[test]
fn the_candle_that_is_waited_for_is_named_until_it_comes() {
    let mut bench = Bench::start(|_| {});
    let slowest = |bench: &mut Bench| state(bench).market.and_then(|market| market.slowest_candle);
    assert_eq!(slowest(&mut bench), None);
    bench.at(60_000).step(Input::Time);
    bench.at(62_500).step(Input::Time);
    let waited = slowest(&mut bench).expect("one is due");
    assert_eq!((waited.delay_ms, waited.has_come), (Millis::new(2_500), false));
    let now = bench.now;
    let candles = Candles { candles: vec![candle(START + Millis::MINUTE)], ..Candles::default() };
    bench.step(Input::Answer(Answer::Candles(SeriesId::FIRST, Ok(Reply::at(candles, now)))));
    bench.at(90_000);
    let came = SlowestCandle { has_come: true, ..waited };
    assert_eq!(
        state(&mut bench).market.as_deref(),
        Some(&MarketState { slowest_candle: Some(came), stream: None })
    );
}

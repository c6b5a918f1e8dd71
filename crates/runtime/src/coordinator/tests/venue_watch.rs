use super::*;
use crate::Notice;
use crate::control::{MarketState, Phase, SlowestCandle, StreamState, VenueApi};
use candlewick_broker::Identity;

/// Passes an input and returns the resulting warnings, and the problems in the run's status.
fn seen(bench: &mut Bench, input: Input) -> (Vec<String>, Vec<String>) {
    (warnings(&bench.step(input)), bench.state().troubles)
}

fn user(bench: &mut Bench, ms: i64, restrictions: &[&str]) -> (Vec<String>, Vec<String>) {
    let input = asked_user(bench, ms, restrictions);
    seen(bench, input)
}

fn asked_user(bench: &mut Bench, ms: i64, restrictions: &[&str]) -> Input {
    assert!(bench.asks_at(ms, RequestId::User), "{ms}");
    let restrictions = restrictions.iter().map(ToString::to_string).collect();
    let identity = Identity { user: "u".to_owned(), restrictions };
    Input::Answer(Answer::User(Ok(Reply::without_latency(identity, bench.now))))
}

fn watched() -> Bench {
    let mut bench = Bench::with(|parts| parts.settings.wallet_every_s = 10_000);
    bench.on(Input::Start);
    bench.on(Input::Answer(candles_answer(Vec::new(), START)));
    bench
}

fn phase(bench: &mut Bench) -> (Phase, String) {
    let state = bench.state();
    (state.phase, state.reason.unwrap_or_default())
}

#[test]
fn restricted_account_suspends_opens() {
    let mut bench = watched();
    let (said, troubles) = user(&mut bench, 0, &["banned"]);
    assert_eq!((said.len(), troubles), (1, vec!["the account is banned".to_owned()]));
    assert_eq!(phase(&mut bench), (Phase::Suspended, said.concat()));
    assert_eq!(user(&mut bench, 60_000, &["banned"]).0, [""; 0], "said once");
    let (said, troubles) = user(&mut bench, 120_000, &["banned", "deleted"]);
    assert_eq!((said.len(), troubles), (1, vec!["the account is banned, deleted".to_owned()]));
    let (warnings, troubles) = user(&mut bench, 180_000, &[]);
    assert_eq!((warnings.len(), troubles.len()), (1, 0));
    assert_eq!(phase(&mut bench), (Phase::Trading, String::new()));
    assert_eq!(user(&mut bench, 780_000, &[]).0, [""; 0], "asked every ten minutes again");
}

#[test]
fn operator_overrides_a_restricted_account() {
    let mut bench = watched();
    let suspends_at = |bench: &mut Bench, ms: i64| {
        let banned = asked_user(bench, ms, &["banned"]);
        steps(&bench.step(banned)).contains(&"record Suspend".to_owned())
    };
    assert!(suspends_at(&mut bench, 0));
    let commands = bench.order(ControlOrder::Resume);
    assert!(steps(&commands).contains(&"record Continue".to_owned()), "{:?}", steps(&commands));
    assert_eq!(phase(&mut bench).0, Phase::Trading);
    assert!(!suspends_at(&mut bench, 60_000), "the same word of the venue changes nothing");
    assert_eq!(bench.state().troubles, ["the account is banned"]);
}

#[test]
fn shows_a_silent_venue_and_a_missing_wallet() {
    let mut bench = watched();
    assert_eq!(user(&mut bench, 0, &[]).1, [""; 0]);
    assert_eq!(seen(bench.at(180_000), Input::Time).1, [""; 0]);
    assert_eq!(seen(bench.at(180_001), Input::Time).1, [""; 0], "nothing that was asked has failed");
    let silent = seen(&mut bench, Input::Answer(no_candles())).1;
    assert_eq!(silent[0], "the price API does not answer");
    bench.at(600_000).step(Input::Time);
    let silent = seen(&mut bench, Input::Answer(Answer::User(Err(no_answer())))).1;
    assert_eq!(silent[0], "the venue does not answer");
    bench.at(10_000_000).step(Input::Time);
    let answer = Answer::Balances(Ok(Reply::without_latency(Balances::default(), bench.now)));
    let troubles = seen(&mut bench, Input::Answer(answer)).1;
    assert_eq!(troubles[0], "the price API does not answer");
    let missing = "the venue shows no demo wallet: its balance is unknown";
    assert!(troubles.contains(&missing.to_owned()), "{troubles:?}");
}

fn told(commands: Vec<Command>) -> Vec<String> {
    let told = commands.into_iter().filter_map(|command| match command {
        Command::Notify(Notice::Venue { api, is_silent, .. }) => Some(format!("{api:?} silent: {is_silent}")),
        Command::Notify(Notice::Candles { series, is_late }) => Some(format!("{series}: {is_late}")),
        _ => None,
    });
    told.collect()
}

#[test]
fn reports_a_silent_price_api_only() {
    let mut bench = watched();
    user(&mut bench, 0, &[]);
    let mut news = Vec::new();
    for second in (60..=300).step_by(5) {
        bench.at(second * 1_000);
        news.extend(told(bench.step(Input::Time)).into_iter().map(|text| (second, text)));
        news.extend(told(bench.answer(no_candles())).into_iter().map(|text| (second, text)));
        bench.on(Input::Answer(balances_answer(1_000, bench.now)));
    }
    // The candle of 60 s is late after 180 s. The API last answered at the start, and is silent after 180 s more.
    let late = "BTCUSDT 1m: no candle since 1970-01-07 22:41:00 UTC, requests fail";
    assert_eq!(news, [(185, "Prices silent: true".to_owned()), (185, format!("{late}: true"))]);
    let state = bench.state();
    assert_eq!(state.venue_problems(), ["the price API does not answer", late]);
    assert_eq!((state.is_silent(VenueApi::Prices), state.is_silent(VenueApi::Trading)), (true, false));
    bench.at(305_000).step(Input::Time);
    let fixed = told(bench.answer(candles_answer(vec![candle(START + Millis::MINUTE * 5)], bench.now)));
    assert_eq!(fixed, ["Prices silent: false".to_owned(), format!("{late}: false")]);
    assert_eq!(bench.state().venue_problems(), [""; 0]);
}

#[test]
fn answers_without_candles_make_a_series_late() {
    let mut bench = watched();
    user(&mut bench, 0, &[]);
    let mut news = Vec::new();
    for second in (60..=190).step_by(5) {
        bench.at(second * 1_000);
        bench.step(Input::Time);
        news.extend(told(bench.answer(candles_answer(Vec::new(), bench.now))));
    }
    let late = "BTCUSDT 1m: no candle since 1970-01-07 22:41:00 UTC, although the price API responds";
    assert_eq!(news, [format!("{late}: true")]);
    assert_eq!(bench.state().venue_problems(), [late]);
}

#[test]
fn warns_once_about_frozen_prices() {
    let mut bench = watched();
    user(&mut bench, 0, &[]);
    let (symbol, mut told) = (order_of_tests().symbol, Vec::new());
    for second in (60..=400).step_by(5) {
        bench.at(second * 1_000);
        bench.step(Input::Time);
        bench.coordinator.market.on_price_record(symbol, START - Millis::new(1), bench.now);
        told.extend(warnings(&bench.answer(candles_answer(Vec::new(), bench.now))));
    }
    let quiet = "BTCUSDT 1m: no candle and no new price since 1970-01-07 22:41:00 UTC. The market is closed, or the venue's \
                 prices are frozen";
    assert_eq!(told, [quiet]);
    assert_eq!(bench.state().venue_problems(), [""; 0]);
}

#[test]
fn reports_a_suspension_and_its_missed_candles() {
    let mut bench = Bench::start(|_| {});
    let said =
        warnings(&bench.at(200_000).step(Input::ProcessSuspended(std::time::Duration::from_secs(150))));
    let is_expected = said[0].contains("150 s") && said[0].contains("3 candles were missed");
    assert!(is_expected && said.len() == 1, "{said:?}");
}

#[test]
fn rejection_for_restrictions_checks_the_account() {
    let mut bench = watched();
    user(&mut bench, 0, &[]);
    bench.on(Input::Durable(Ok(())));
    bench.signal();
    bench.durable();
    let reason = candlewick_broker::RejectionReason::AccountRestricted;
    let rejection = candlewick_broker::Rejection { reason, text: "User banned".to_owned(), venue_time: None };
    let answer = Answer::Open(IntentId::new(1), OpenOutcome::Rejected(rejection));
    assert!(asks(&bench.at(60_500).answer(answer), RequestId::User));
}

#[test]
fn shows_why_and_since_when_prices_do_not_stream() {
    let symbol = order_of_tests().symbol;
    let mut bench = Bench::start(|parts| parts.priced_symbols = vec![symbol]);
    let stream = |bench: &mut Bench| bench.state().market.and_then(|market| market.stream);
    let stands = |streaming, missed_since| Some(StreamState { streaming, wanted: 1, missed_since });
    let answer = |streams| Input::Answer(Answer::Subscription(SymbolId::FIRST, streams));
    assert_eq!(stream(&mut bench), None, "streaming is still unknown");
    bench.step(answer(Ok(StreamSupport::Yes)));
    assert_eq!(stream(&mut bench), stands(1, None));
    assert!(!bench.asks_at(5_000, RequestId::Price(SymbolId::FIRST)));
    let trouble = |why: &str| {
        vec![format!("no price stream for 1 of 1 symbol, so prices are polled (last error: {symbol}: {why})")]
    };
    let (warnings, troubles) = seen(bench.at(5_500), Input::FeedEnded(SymbolId::FIRST));
    assert_eq!(troubles, trouble("the stream ended or was silent for too long"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let since = Some(START + Millis::new(5_500));
    assert_eq!(stream(&mut bench), stands(0, since));
    let down = BrokerError::Unavailable { text: "the stream of prices: no answer in time".to_owned() };
    bench.at(9_000).step(Input::Time);
    let (warnings, troubles) = seen(&mut bench, answer(Err(down)));
    assert_eq!(warnings, [""; 0], "said once");
    assert_eq!(stream(&mut bench), stands(0, since), "counted from the first");
    assert!(troubles[0].ends_with("no answer in time)"), "{troubles:?}");
    assert!(bench.asks_at(10_000, RequestId::Price(SymbolId::FIRST)));
    bench.at(12_500).step(Input::Time);
    let (warnings, troubles) = seen(&mut bench, answer(Ok(StreamSupport::Yes)));
    assert_eq!((warnings.len(), troubles.len()), (1, 0));
    assert_eq!(stream(&mut bench), stands(1, None));
}

#[test]
fn venue_without_streaming_is_no_problem() {
    let symbol = order_of_tests().symbol;
    let mut bench = Bench::start(|parts| parts.priced_symbols = vec![symbol]);
    bench.step(Input::Answer(Answer::Subscription(SymbolId::FIRST, Ok(StreamSupport::No))));
    let RunState { market, troubles, .. } = bench.state();
    assert_eq!((market.and_then(|market| market.stream), troubles.len()), (None, 0));
}

#[test]
fn shows_the_awaited_candle() {
    let mut bench = Bench::start(|_| {});
    let slowest = |bench: &mut Bench| bench.state().market.and_then(|market| market.slowest_candle);
    assert_eq!(slowest(&mut bench), None);
    bench.at(60_000).step(Input::Time);
    bench.at(62_500).step(Input::Time);
    let waited = slowest(&mut bench).expect("one is due");
    assert_eq!((waited.delay_ms, waited.has_come), (Millis::new(2_500), false));
    bench.answer(candles_answer(vec![candle(START + Millis::MINUTE)], bench.now));
    let came = SlowestCandle { has_come: true, ..waited };
    let expected = MarketState { slowest_candle: Some(came), ..MarketState::default() };
    assert_eq!(bench.at(90_000).state().market.as_deref(), Some(&expected));
}

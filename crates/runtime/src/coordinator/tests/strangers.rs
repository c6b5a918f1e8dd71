//! Other programs on the same wallet.

use super::*;
use crate::resolver::report_of_tests;
use candlewick_broker::Balances;
use candlewick_sdk::Payout;

/// A run that reads its wallet and has asked for its first list.
fn begun() -> Bench {
    Bench::start(|parts| {
        parts.settings.wallet_every_s = 10;
        parts.settings.list_every_s = 300;
    })
}

/// What people are told when the list has these trades.
fn list(bench: &mut Bench, trades: Vec<TradeReport>) -> Vec<String> {
    let now = bench.now;
    let listing = TradeListing { began: now, ended: now, is_complete: true, trades, ended_early: None };
    bench.step(Input::Answer(Answer::Trades(listing)));
    let failed = BrokerError::Unavailable { text: "no".to_owned() };
    let commands = bench.step(Input::Answer(Answer::BalancesAfterTrades(Err(failed))));
    let warning = |command: &Command| match command {
        Command::Notify(crate::Notice::Warning(text)) => Some(text.clone()),
        _ => None,
    };
    commands.iter().filter_map(warning).collect()
}

/// Whether the list is asked for when the wallet holds so much.
fn looks_at(bench: &mut Bench, ms: i64, demo: i64) -> bool {
    let mut commands = bench.at(ms).step(Input::Time);
    let balances = Balances { demo: Some(Decimal::from(demo)), real: None };
    let answer = Answer::Balances(Ok(Reply::at(balances, bench.now)));
    commands.extend(bench.step(Input::Answer(answer)));
    commands.iter().any(|command| matches!(command, Command::Ask(Ask::Trades)))
}

fn strangers(at: i64) -> TradeReport {
    TradeReport {
        symbol: Some("ETHUSDT".to_owned()),
        amount: Some(Decimal::from(5)),
        close_time: Some(START + Millis::new(at + 60_000)),
        ..report_of_tests("01JU", START + Millis::new(at))
    }
}

/// 10.00 of 1000.00 are staked at 80 %: 990.00 are free, 1000.00 are there while the stake is still in the wallet, and 1008.00 when the
/// trade is won before that is known. 985.00 none of that explains.
#[test]
fn the_list_is_looked_through_as_soon_as_the_wallet_holds_what_our_trades_do_not_explain() {
    let mut bench = begun();
    assert_eq!(list(&mut bench, Vec::new()), [""; 0]);
    bench.signal();
    bench.at(60_100).step(Input::Durable(Ok(())));
    let payout = Payout::from_percent(Decimal::from(80)).ok();
    let ours = TradeReport { payout, ..report_of_tests("01JT", START + Millis::new(60_400)) };
    let opened = OpenOutcome::Opened(Reply::at(Box::new(ours.clone()), START + Millis::new(60_500)));
    bench.at(60_500).step(Input::Answer(Answer::Open(IntentId::new(1), opened)));
    for (ms, demo, expected) in
        [(61_000, 990, false), (72_000, 1_000, false), (83_000, 1_008, false), (94_000, 985, true)]
    {
        assert_eq!(looks_at(&mut bench, ms, demo), expected, "{demo} after {ms} ms");
    }
    let told = list(&mut bench, vec![ours, strangers(90_000)]);
    let expected = "trade 01JU on ETHUSDT is explained by no intent: does another program trade this wallet?";
    assert_eq!(told, [expected]);
    let now = bench.now;
    let trouble = "another program may trade the wallet: trade 01JU on ETHUSDT with 5.00, found";
    let troubles = |at: Millis| bench.coordinator.troubles(at).join("; ");
    assert!(troubles(now).contains(trouble), "{}", troubles(now));
    assert!(!troubles(now + Millis::new(3_600_000)).contains("another program"), "not for ever");
    assert!(!looks_at(&mut bench, 105_000, 985), "not with each reading");
}

#[test]
fn a_deposit_asks_for_the_list_and_is_no_strangers_trade() {
    let mut bench = begun();
    list(&mut bench, Vec::new());
    assert!(looks_at(&mut bench, 10_000, 1_050));
    assert_eq!(list(&mut bench, Vec::new()), [""; 0]);
    assert_eq!(bench.coordinator.troubles(bench.now), [""; 0]);
}

#[test]
fn trades_that_are_open_before_a_run_begins_are_told_unless_they_were_made_by_hand_or_elsewhere() {
    let over = TradeReport { close_time: Some(START - Millis::new(1)), ..strangers(-90_000) };
    for (trade, is_told) in [
        (strangers(-20_000), true),
        (TradeReport { from_token: Some(false), ..strangers(-20_000) }, false),
        (TradeReport { account: Some(Account::Real), ..strangers(-20_000) }, false),
        (over, false),
    ] {
        let mut bench = begun();
        let told = list(&mut bench, vec![trade.clone()]);
        let expected = "trade 01JU on ETHUSDT with 5.00 is open on the demo wallet, and this journal does not know it: does another \
                        program trade this wallet?";
        assert_eq!(told, [expected][..usize::from(is_told)], "{trade:?}");
        assert_eq!(list(&mut bench, vec![trade]), [""; 0], "once");
    }
}

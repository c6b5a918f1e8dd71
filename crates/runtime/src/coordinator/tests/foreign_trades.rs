use super::*;
use candlewick_sdk::Payout;

fn begun() -> Bench {
    Bench::start(|parts| {
        parts.settings.wallet_every_s = 10;
        parts.settings.list_every_s = 300;
    })
}

fn list(bench: &mut Bench, trades: Vec<TradeReport>) -> Vec<String> {
    list_as(bench, true, trades)
}

fn list_as(bench: &mut Bench, is_complete: bool, trades: Vec<TradeReport>) -> Vec<String> {
    let listing = listing_answer(trades, bench.now, is_complete);
    let commands = bench.look_with(listing, no_balances_after_trades());
    let warning = |command: &Command| match command {
        Command::Notify(crate::Notice::Warning(text)) => Some(text.clone()),
        _ => None,
    };
    commands.iter().filter_map(warning).collect()
}

fn looks_at(bench: &mut Bench, ms: i64, demo: impl Into<Decimal>) -> bool {
    let mut commands = bench.at(ms).step(Input::Time);
    commands.extend(bench.answer(balances_answer(demo, bench.now)));
    asks(&commands, RequestId::Trades)
}

fn foreign_trade(at: i64) -> TradeReport {
    TradeReport {
        symbol: Some("ETHUSDT".to_owned()),
        amount: Some(Decimal::from(5)),
        close_time: Some(START + Millis::new(at + 60_000)),
        ..report_of_tests("01JU", START + Millis::new(at))
    }
}

fn open_ours(bench: &mut Bench) -> TradeReport {
    bench.signal();
    bench.at(60_100).durable();
    let payout = Payout::from_percent(Decimal::from(80)).ok();
    let ours = TradeReport { payout, ..report_of_tests("01JT", START + Millis::new(60_400)) };
    answer_ours(bench, &ours);
    ours
}

fn answer_ours(bench: &mut Bench, ours: &TradeReport) {
    bench.at(60_500).answer(open_answer(ours.clone(), START + Millis::new(60_500)));
}

fn open_for_long() -> TradeReport {
    TradeReport { close_time: Some(START + Millis::new(3_600_000)), ..foreign_trade(-20_000) }
}

const TOLD_AS_OPEN: &str = "unknown trade 01JU on ETHUSDT with 5.00 is open on the demo wallet. Is another \
                            program using this wallet?";

/// The balance is 1,000.00, and 10.00 is staked at 80 %: the ledger has 990.00 free. The wallet may show 1,000.00
/// (the stake has not left yet) or 1,008.00 (the trade is won, but not booked yet). Nothing explains 985.00.
#[test]
fn unexplained_money_starts_a_search() {
    let mut bench = begun();
    assert_eq!(list(&mut bench, Vec::new()), [""; 0]);
    let ours = open_ours(&mut bench);
    for (ms, demo, expected) in
        [(61_000, 990, false), (72_000, 1_000, false), (83_000, 1_008, false), (94_000, 985, true)]
    {
        assert_eq!(looks_at(&mut bench, ms, demo), expected, "{demo} after {ms} ms");
    }
    let listed = vec![ours, foreign_trade(90_000)];
    let told = list(&mut bench, listed.clone());
    let expected = "unknown trade 01JU on ETHUSDT: is another program using this wallet?";
    assert_eq!(told, [expected]);
    let now = bench.now;
    let trouble = "another program may trade on this wallet: unknown trade 01JU on ETHUSDT with 5.00, found";
    let troubles = |at: Millis| bench.coordinator.problems(at).join("; ");
    assert!(troubles(now).contains(trouble), "{}", troubles(now));
    assert!(!troubles(now + Millis::new(3_600_000)).contains("another program"), "not for ever");
    assert!(!looks_at(&mut bench, 105_000, 985), "not with each reading");
    assert!(looks_at(&mut bench, 127_000, 985), "there may be more of them");
    assert_eq!(list(&mut bench, listed), [""; 0]);
    assert!(!looks_at(&mut bench, 160_000, 985), "there was none");
}

#[test]
fn searches_once_per_difference() {
    let mut bench = begun();
    list(&mut bench, Vec::new());
    let ours = open_ours(&mut bench);
    let mut looks = Vec::new();
    let seconds = [61, 94, 127, 160, 193, 204, 237, 248, 259, 292];
    let minors = [104_000, 104_000, 104_000, 105_000, 105_800, 104_001, 104_001, 99_000, 104_001, 104_001];
    for (second, minor) in seconds.into_iter().zip(minors) {
        let is_whole = second > 61;
        if looks_at(&mut bench, second * 1_000, Decimal::new(minor, 2)) {
            looks.push(second);
            assert_eq!(list_as(&mut bench, is_whole, vec![ours.clone()]), [""; 0]);
            assert!(!bench.coordinator.problems(bench.now).join("; ").contains("another program"));
        }
    }
    // The steps are an incomplete list, a complete list with a booked deposit, a cent more, a shortage, the cent again.
    assert_eq!(looks, [61, 94, 204, 248, 259]);
}

#[test]
fn pending_open_is_not_a_foreign_trade() {
    let mut bench = begun();
    bench.signal();
    bench.at(60_100).durable();
    let close_time = Some(START + Millis::new(120_999));
    let ours = TradeReport { close_time, ..report_of_tests("01JT", START + Millis::new(60_400)) };
    let listed = vec![ours.clone(), open_for_long()];
    assert_eq!(list(&mut bench, listed.clone()), [""; 0]);
    answer_ours(&mut bench, &ours);
    assert_eq!(list(&mut bench, listed.clone()), [TOLD_AS_OPEN]);
    assert_eq!(list(&mut bench, listed), [""; 0], "once");
}

#[test]
fn reports_earlier_open_trades_after_the_doubt() {
    let mut bench = continued(70_000, vec![JournalEntry::Action(Action::Open(approved(1)))]);
    assert_eq!(list(&mut bench, vec![open_for_long()]), [""; 0]);
    let new = TradeReport { id: "01JV".to_owned(), ..foreign_trade(80_000) };
    bench.at(90_000).step(Input::Time);
    assert_eq!(list(&mut bench, vec![open_for_long(), new.clone()]).len(), 1, "it was made in this run");
    let mut step = Step { now: bench.now, commands: &mut Vec::new() };
    bench.coordinator.resolve_manually(IntentId::new(1), None, &mut step).expect("it is in doubt");
    bench.step(Input::Time);
    let late =
        TradeReport { close_time: new.close_time, ..report_of_tests("01JT", START + Millis::new(60_400)) };
    let listed = vec![open_for_long(), new, late];
    assert_eq!(list(&mut bench, listed.clone()), [TOLD_AS_OPEN]);
    assert_eq!(list(&mut bench, listed), [""; 0], "once");
}

#[test]
fn reports_earlier_open_trades_of_this_token_and_account() {
    let over = TradeReport { close_time: Some(START - Millis::new(1)), ..foreign_trade(-90_000) };
    for (trade, is_told) in [
        (foreign_trade(-20_000), true),
        (TradeReport { is_opened_with_token: Some(false), ..foreign_trade(-20_000) }, false),
        (TradeReport { account: Some(Account::Real), ..foreign_trade(-20_000) }, false),
        (over, false),
    ] {
        let mut bench = begun();
        let told = list(&mut bench, vec![trade.clone()]);
        assert_eq!(told, [TOLD_AS_OPEN][..usize::from(is_told)], "{trade:?}");
        assert_eq!(list(&mut bench, vec![trade]), [""; 0], "once");
    }
}

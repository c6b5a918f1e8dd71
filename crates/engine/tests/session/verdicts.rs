//! Verdicts on the trades of bots.

use crate::event::{
    at, by_person, cancelled, candle, in_doubt, lost, not_opened, opened_paying, rejected, trade, won,
};
use crate::fold::{Fold, Journalled, journalled};
use crate::script::{Script, header_of, session_settings};
use crate::test_session::TestSession;
use candlewick_engine::{
    BotVerdict, EdgeVerdict, Event, EventKind, RiskSettings, Session, SessionSettings, StakeSettings,
    VerdictSettings, edge_sequence, judge,
};
use candlewick_sdk::Outcome;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::json;
use candlewick_statistics::{EdgeTest, EdgeTestPlan, TradeOutcome};

const LOSSES: i64 = 20;

fn quick(risk: &mut RiskSettings) {
    let errors = 0.3;
    risk.verdict = VerdictSettings { alpha: errors, beta: errors, delta: 0.5, ..VerdictSettings::default() };
    (risk.max_drawdown_percent, risk.daily_loss_limit) = (0.0, Decimal::ZERO);
}

fn always(name: &str) -> Script {
    Script::new(name).buys(&(1..=LOSSES).collect::<Vec<_>>())
}

fn losing(trades: i64) -> Vec<Event> {
    (1..=trades).flat_map(|minute| trade(minute, lost(minute.unsigned_abs(), 1_000))).collect()
}

fn accounts(verdict: &BotVerdict) -> (u64, f64, f64) {
    (verdict.edge_test().settled(), verdict.edge_test().edge_account(), verdict.edge_test().mirror_account())
}

fn the_verdict(session: &Session) -> BotVerdict {
    session.verdicts().next().unwrap().clone()
}

#[test]
fn verdict_is_recorded_once_after_its_settlement_and_enforced_if_set() {
    for is_enforced in [true, false] {
        let mut session = TestSession::new(&[always("a"), Script::new("b")], |risk| {
            quick(risk);
            risk.enforce_verdict = is_enforced;
        });
        let answers: Vec<String> = losing(LOSSES).iter().map(|event| session.handle(event)).collect();
        let fell: Vec<usize> =
            (0..answers.len()).filter(|place| answers[*place].starts_with("a Rejected after")).collect();
        let &[fell] = fell.as_slice() else { panic!("{answers:?}") };
        assert_eq!(answers[fell], format!("a Rejected after {}", fell / 3 + 1));
        let next = &answers[fell + 1];
        assert_eq!(next == "a EdgeRejected", is_enforced, "{next}");
        assert_eq!(session.session.bots_without_edge().collect::<Vec<_>>(), ["a"]);
        let edges: Vec<EdgeVerdict> = session.session.verdicts().map(BotVerdict::edge).collect();
        assert_eq!(edges, [EdgeVerdict::Rejected, EdgeVerdict::Open], "the other bot has no trade");
    }
}

#[test]
fn accounts_bet_at_the_decision_and_unopened_trades_return_the_bet() {
    let mut session = TestSession::new(&[Script::new("a").buys(&[1, 2, 3, 4, 5])], |_| {});
    let mut handle = |event: Event| {
        session.handle(&event);
        accounts(&the_verdict(&session.session))
    };
    let opened = |payout| {
        let mut test = EdgeTest::new(EdgeTestPlan::default());
        let stake = test.on_open(payout).unwrap();
        (test, stake)
    };
    let (unseen, _) = opened(0.92);
    let staked = (0, unseen.edge_account(), unseen.mirror_account());
    let near = |found: (u64, f64, f64), expected: (u64, f64, f64)| {
        let is_near = (found.1 - expected.1).abs() < 1e-12 && (found.2 - expected.2).abs() < 1e-12;
        assert!(found.0 == expected.0 && is_near, "{found:?}, not {expected:?}");
    };
    near(handle(candle(0, 1)), staked);
    near(handle(at(61, rejected(1))), (0, 1.0, 1.0));
    near(handle(candle(0, 2)), staked);
    near(handle(at(121, in_doubt(2))), staked);
    near(handle(at(170, not_opened(2, 175))), (0, 1.0, 1.0));
    near(handle(candle(0, 3)), staked);
    near(handle(at(181, opened_paying(3, 80))), staked);
    near(handle(at(235, cancelled(3))), (0, 1.0, 1.0));
    let (mut seen, stake) = opened(0.8);
    let staked = (0, seen.edge_account(), seen.mirror_account());
    near(handle(candle(0, 4)), staked);
    near(handle(at(241, opened_paying(4, 80))), staked);
    seen.settle(stake, TradeOutcome::Won, 0.8);
    near(handle(at(295, won(4, 800))), (1, seen.edge_account(), seen.mirror_account()));
}

#[test]
fn results_of_an_operator_count_as_money_but_not_as_evidence() {
    let after = |end: EventKind| {
        let mut session = TestSession::new(&[always("a")], quick);
        for event in losing(5) {
            session.handle(&event);
        }
        for event in trade(6, end).into_iter().chain([candle(0, 7)]) {
            session.handle(&event);
        }
        session
    };
    let (said, cancelled) = (after(by_person(6, Outcome::Won, 800)), after(cancelled(6)));
    assert_eq!(
        accounts(&the_verdict(&said.session)),
        accounts(&the_verdict(&cancelled.session)),
        "like that of a trade that was never opened"
    );
    let money = |session: &TestSession| session.session.ledger().free_balance().minor();
    assert_eq!(money(&said) - money(&cancelled), 800);
    let plan = the_verdict(&said.session).edge_test().plan();
    let test = EdgeTest::new(plan).with_weight(the_verdict(&said.session).edge_test().weight());
    let afterwards = judge(said.book.rows(), test);
    let found = (afterwards.settled(), afterwards.edge_account(), afterwards.mirror_account());
    assert_eq!(found, accounts(&the_verdict(&said.session)), "and so by its rows");
    assert_eq!(edge_sequence(said.book.rows()).settled(), 5);
}

fn settings() -> SessionSettings {
    let mut risk = RiskSettings::default();
    quick(&mut risk);
    session_settings(10_000, risk, vec![always("a").bot])
}

fn restarted(
    (first, version): (&SessionSettings, &str),
    (second, next_version): (&SessionSettings, &str),
    trades: i64,
) -> (BotVerdict, Session) {
    let script = always(&first.bots[0].name);
    let mut session = Session::new(first, vec![script.strategy()]).unwrap();
    session.begin_run(&header_of(first, version));
    let (mut actions, mut entries) = (Vec::new(), vec![Journalled::Run(header_of(first, version))]);
    for event in losing(trades) {
        session.handle(&event, &mut actions);
        entries.extend(journalled(&event, &actions));
        actions.clear();
    }
    let mut fold = Fold::new(Session::new(second, vec![script.strategy()]).unwrap());
    fold.take(&entries);
    let mut again = fold.session;
    again.begin_run(&header_of(second, next_version));
    (the_verdict(&session), again)
}

#[test]
fn restart_continues_the_verdict() {
    let settings = settings();
    for (trades, edge) in [(1, EdgeVerdict::Open), (LOSSES, EdgeVerdict::Rejected)] {
        let (before, session) = restarted((&settings, "1"), (&settings, "1"), trades);
        let after = the_verdict(&session);
        assert_eq!(
            (after.edge_test(), after.edge(), after.first_intent()),
            (before.edge_test(), edge, before.first_intent())
        );
        assert_eq!(session.bots_without_edge().count(), usize::from(edge == EdgeVerdict::Rejected));
    }
    let mut richer = settings.clone();
    richer.bots[0].stake = StakeSettings::Share { percent: 1.0 };
    let (before, session) = restarted((&settings, "1"), (&richer, "1"), 3);
    assert_eq!(the_verdict(&session).edge_test(), before.edge_test());
}

#[test]
fn other_parameters_version_or_plan_restart_the_verdict() {
    let first = settings();
    let changed = |change: &dyn Fn(&mut SessionSettings)| {
        let mut second = first.clone();
        change(&mut second);
        second
    };
    let others = [
        (changed(&|settings| settings.bots[0].params = json!({ "period": 3 })), "1"),
        (changed(&|settings| settings.bots[0].close_type = "05:00".parse().unwrap()), "1"),
        (changed(&|settings| settings.bots[0].strategy = "other".to_owned()), "1"),
        (changed(&|settings| settings.risk.verdict.delta = 0.1), "1"),
        (first.clone(), "2"),
    ];
    for (second, version) in &others {
        let (_, session) = restarted((&first, "1"), (second, version), LOSSES);
        let verdict = the_verdict(&session);
        assert_eq!((accounts(&verdict), verdict.edge()), ((0, 1.0, 1.0), EdgeVerdict::Open), "{second:?}");
        assert_eq!(
            (verdict.first_intent().number(), session.bots_without_edge().count()),
            (LOSSES.unsigned_abs() + 1, 0)
        );
    }
    let renamed = changed(&|settings| settings.bots[0].name = "z".to_owned());
    assert_eq!(accounts(&the_verdict(&restarted((&first, "1"), (&renamed, "1"), 3).1)), (0, 1.0, 1.0));
}

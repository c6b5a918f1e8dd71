//! Detection of the end of a shown edge.

use crate::event::{at, candle, lost, opened_paying, payout, rejected, settled, trade, won};
use crate::fold::{Fold, Journalled, journalled};
use crate::script::{Script, header_of, session_settings};
use crate::test_session::TestSession;
use candlewick_engine::{
    BotVerdict, EdgeVerdict, Event, EventKind, Judge, KellyBound, RiskSettings, Session, SessionSettings,
    StakeSettings, TradeSettlement, VerdictSettings,
};
use candlewick_sdk::Outcome;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::Value;

const WINS: i64 = 30;
const TRADES: i64 = 60;

fn quick(risk: &mut RiskSettings, watch_trades: u64) {
    risk.verdict = VerdictSettings { alpha: 0.3, delta: 0.5, watch_trades, ..VerdictSettings::default() };
    (risk.max_drawdown_percent, risk.daily_loss_limit) = (0.0, Decimal::ZERO);
}

fn always() -> Script {
    Script::new("a").buys(&(1..=TRADES).collect::<Vec<_>>())
}

fn trades() -> impl Iterator<Item = Event> {
    (1..=TRADES).flat_map(|minute| {
        let intent = minute.unsigned_abs();
        trade(minute, if minute <= WINS { won(intent, 800) } else { lost(intent, 1_000) })
    })
}

#[test]
fn ended_edge_is_reported_once_and_enforced_if_set() {
    for is_enforced in [true, false] {
        let mut session = TestSession::new(&[always()], |risk| {
            quick(risk, 100);
            risk.enforce_verdict = is_enforced;
        });
        let answers: Vec<String> = trades().map(|event| session.handle(&event)).collect();
        let place = |word: &str| {
            let found: Vec<usize> = (0..answers.len()).filter(|at| answers[*at].contains(word)).collect();
            let &[only] = found.as_slice() else { panic!("{word}: {answers:?}") };
            only
        };
        let (shown, ended) = (place("a Shown after"), place("a NoLongerHeld after"));
        assert!(shown < 3 * WINS as usize && ended > 3 * WINS as usize, "{shown} {ended}");
        assert_eq!(answers[ended + 1] == "a EdgeRejected", is_enforced, "{}", answers[ended + 1]);
        assert_eq!(session.session.bots_without_edge().collect::<Vec<_>>(), ["a"]);
        let verdict = session.session.verdicts().next().unwrap();
        let since = verdict.judge().no_longer_held_since().unwrap();
        let decided = |trade: i64| session.book.rows()[trade as usize - 1].approved.decision_time();
        assert!((decided(WINS)..=decided(WINS + 3)).contains(&since), "{since:?}");
        let plan = verdict.edge_test().plan();
        let after = BotVerdict::from_rows(session.book.rows(), plan);
        assert_eq!(
            (after.edge(), after.judge().no_longer_held_since()),
            (EdgeVerdict::NoLongerHeld, Some(since))
        );
        assert_eq!(
            Judge::from_rows(session.book.rows(), plan.with_watch_trades(0)).no_longer_held_since(),
            None
        );
    }
}

/// Returns the trade at which the mean of the change detector's three accounts reaches 100.
///
/// Trades 1 to `shown` are not watched. Trades do not overlap, so each one multiplies an account by
/// `1 + lambda (delta - r)` and adds 1.
fn alarm_after(shown: i64) -> i64 {
    let mut accounts = [0.04, 0.08, 0.16].map(|lambda| (lambda, 0.0));
    for trade in shown + 1.. {
        let unit_return = if trade <= WINS { 0.8 } else { -1.0 };
        for (lambda, account) in &mut accounts {
            *account = *account * (1.0 + *lambda * (0.5 - unit_return)) + 1.0;
        }
        if accounts.iter().map(|(_, account)| account).sum::<f64>() / 3.0 >= 100.0 {
            return trade;
        }
    }
    unreachable!()
}

#[test]
fn kelly_stakes_minimum_once_the_edge_is_no_longer_held() {
    let bound = KellyBound::ConfidenceSequence;
    let kelly = StakeSettings::Kelly { fraction: 0.5, kelly_floor_trades: 3, bound };
    let mut session = TestSession::new(&[always().staking(kelly)], |risk| quick(risk, 100));
    let (mut shown, mut ended) = (0, 0);
    for minute in 1..=TRADES {
        let intent = minute.unsigned_abs();
        session.handle(&candle(0, minute));
        let stake = session.book.rows()[intent as usize - 1].approved.stake().minor();
        session.handle(&at(minute * 60 + 1, opened_paying(intent, 80)));
        let (outcome, profit) =
            if minute <= WINS { (Outcome::Won, stake * 8 / 10) } else { (Outcome::Lost, -stake) };
        let end = TradeSettlement { payout: payout(80), ..settled(intent, outcome, profit) };
        let answer = session.handle(&at(minute * 60 + 50, EventKind::Settled(end)));
        shown = if answer.contains("a Shown after") { minute } else { shown };
        ended = if answer.contains("a NoLongerHeld after") { minute } else { ended };
    }
    assert!(0 < shown && shown < WINS, "{shown}");
    assert_eq!(ended, alarm_after(shown));
    let stakes: Vec<i64> = session.book.rows().iter().map(|row| row.approved.stake().minor()).collect();
    assert!(stakes[shown as usize..ended as usize].iter().any(|stake| *stake > 1_000), "{stakes:?}");
    assert!(ended < TRADES, "{ended}");
    assert!(stakes[ended as usize..].iter().all(|stake| *stake == 100), "{stakes:?}");
}

#[test]
fn unopened_intents_do_not_affect_the_edge_watch() {
    let minutes = WINS + 300;
    let script = Script::new("a").buys(&(1..=minutes).collect::<Vec<_>>());
    let mut session = TestSession::new(&[script], |risk| quick(risk, 100));
    for minute in 1..=minutes {
        let intent = minute.unsigned_abs();
        session.handle(&candle(0, minute));
        if minute <= WINS {
            session.handle(&at(minute * 60 + 1, opened_paying(intent, 80)));
            session.handle(&at(minute * 60 + 50, won(intent, 800)));
        } else {
            session.handle(&at(minute * 60 + 1, rejected(intent)));
        }
    }
    assert_eq!(session.book.rows().len() as i64, minutes, "all are approved");
    let verdict = session.session.verdicts().next().unwrap();
    assert_eq!((verdict.edge(), verdict.judge().no_longer_held_since()), (EdgeVerdict::Shown, None));
    let after = BotVerdict::from_rows(session.book.rows(), verdict.edge_test().plan());
    assert_eq!((after.edge(), after.judge().no_longer_held_since()), (EdgeVerdict::Shown, None));
}

#[test]
fn restart_continues_the_watch_and_journal_without_one_has_none() {
    let settings = |watch_trades| {
        let mut risk = RiskSettings::default();
        quick(&mut risk, watch_trades);
        session_settings(10_000, risk, vec![always().bot])
    };
    let header = |settings: &SessionSettings, has_watch: bool| {
        let mut header = header_of(settings, "1");
        if !has_watch {
            let plan = header.settings.pointer_mut("/session/risk/verdict").and_then(Value::as_object_mut);
            plan.unwrap().remove("watch_trades");
        }
        header
    };
    for (first_has_watch, later_has_watch) in [(true, true), (false, true), (false, false)] {
        let settings = settings(if later_has_watch { 100 } else { 0 });
        let mut session = Session::new(&settings, vec![always().strategy()]).unwrap();
        session.begin_run(&header(&settings, first_has_watch));
        let begun = header(&settings, first_has_watch);
        let mut fold = Fold::new(Session::new(&settings, vec![always().strategy()]).unwrap());
        fold.take(&[Journalled::Run(begun.clone())]);
        fold.session.begin_run(&begun);
        let mut actions = Vec::new();
        let events: Vec<Event> = trades().collect();
        let half = events.len() * 2 / 3;
        for event in &events[..half] {
            session.handle(event, &mut actions);
            fold.take(&journalled(event, &actions).collect::<Vec<_>>());
            actions.clear();
        }
        let mut again = fold.session;
        again.begin_run(&header(&settings, later_has_watch));
        session.begin_run(&header(&settings, later_has_watch));
        let state = |session: &Session| {
            let verdict = session.verdicts().next().unwrap();
            (verdict.edge(), verdict.judge().no_longer_held_since(), verdict.first_intent())
        };
        assert_eq!(state(&again), state(&session));
        for event in &events[half..] {
            session.handle(event, &mut actions);
            again.handle(event, &mut Vec::new());
        }
        let expected = if later_has_watch { EdgeVerdict::NoLongerHeld } else { EdgeVerdict::Shown };
        assert_eq!((state(&session).0, state(&session).2.number()), (expected, 1), "{first_has_watch}");
    }
}

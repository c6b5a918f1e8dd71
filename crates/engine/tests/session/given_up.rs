//! Ladders that continue with the next candle and are given up if that entry is refused.

use crate::event::{
    adopted, at, backfilled, candle, in_doubt, lost, not_opened, opened, price, rejected, second, won,
};
use crate::script::{Script, ladder};
use crate::test_session::{Row, TestSession};
use candlewick_engine::{
    Action, BotId, EventKind, IfRefused, IntentState, LadderEntry, RiskSettings, StakeSettings,
};
use candlewick_sdk::serde_json::from_str;

/// A ladder of 10, 20 and 40, each level after the first on the next candle.
fn gale(if_refused: IfRefused) -> StakeSettings {
    ladder(LadderEntry::NextCandle, if_refused)
}

fn check(
    scripts: &[Script],
    change: impl Fn(&mut RiskSettings),
    rows: &[Row<'_>],
    (last, given_up, waits): (candlewick_engine::Event, &str, &str),
) {
    for (if_refused, expected) in [(IfRefused::Reset, given_up), (IfRefused::Wait, waits)] {
        let scripts: Vec<Script> = scripts
            .iter()
            .enumerate()
            .map(|(place, script)| match place {
                0 => script.clone().staking(gale(if_refused)),
                _ => script.clone(),
            })
            .collect();
        let mut session = TestSession::new(&scripts, &change);
        session.check(rows);
        session.check(&[(last, expected)]);
    }
}

#[test]
fn level_rejected_by_trading_hours_is_not_staked_the_next_day() {
    let hours = |risk: &mut RiskSettings| {
        risk.hours = from_str(r#"[{"from":"00:00","to":"00:02"}]"#).unwrap();
    };
    check(
        &[Script::new("a").sells(&[1, 1_441])],
        hours,
        &[
            (candle(0, 1), "#1 a SELL 10.00 opened"),
            (candle(0, 2), ""),
            (at(126, lost(1, 1_000)), ""),
            (candle(0, 3), "a OutsideHours"),
        ],
        (candle(0, 1_441), "day 9990.00, #2 a SELL 10.00", "day 9990.00, #2 a SELL 20.00"),
    );
}

#[test]
fn level_blocked_by_an_open_trade_is_given_up() {
    check(
        &[Script::new("a").sells(&[1, 5]), Script::new("b").buys(&[2])],
        |_| {},
        &[
            (candle(0, 1), "#1 a SELL 10.00 opened"),
            (at(119, lost(1, 1_000)), ""),
            (price(0, 120), "#2 b BUY 10.00"),
            (at(120, opened(2)), ""),
            (candle(0, 2), "a OppositeOpen, b DuplicateOpen"),
            (at(179, won(2, 800)), ""),
        ],
        (candle(0, 5), "#3 a SELL 10.00", "#3 a SELL 20.00"),
    );
}

#[test]
fn missing_or_backfilled_candle_and_declined_trade_reset_the_ladder() {
    let first = [(candle(0, 1), "#1 a BUY 10.00 opened"), (at(119, lost(1, 1_000)), "")];
    let check = |rows: &[Row<'_>], given_up, waits| {
        let rows: Vec<Row<'_>> = first.iter().chain(rows).copied().collect();
        check(&[Script::new("a").buys(&[1, 5])], |_| {}, &rows, (candle(0, 5), given_up, waits));
    };
    check(&[(candle(0, 3), "")], "#2 a BUY 10.00", "#2 a BUY 20.00");
    check(&[(backfilled(0, 2), "a LateSignal"), (candle(0, 3), "")], "#2 a BUY 10.00", "#2 a BUY 20.00");
    let rejected = [(candle(0, 2), "#2 a BUY 20.00"), (at(122, rejected(2)), "")];
    check(&rejected, "#3 a BUY 10.00", "#3 a BUY 20.00");
    let doubt =
        [(candle(0, 2), "#2 a BUY 20.00"), (at(122, in_doubt(2)), ""), (at(150, not_opened(2, 180)), "")];
    check(&doubt, "#3 a BUY 10.00", "#3 a BUY 20.00");
}

/// Hand-computed: 10 is lost. The order of 20 is rejected or not found, but is a lost trade. Next: 40.
#[test]
fn order_that_is_a_trade_after_all_restores_its_ladder() {
    let rejection = [at(122, rejected(2))].to_vec();
    let doubt = [at(122, in_doubt(2)), at(150, not_opened(2, 180))].to_vec();
    for answers in [rejection, doubt] {
        let script = Script::new("a").buys(&[1, 5]).staking(gale(IfRefused::Reset));
        let mut session = TestSession::new(&[script], |_| {});
        session.check(&[(candle(0, 1), "#1 a BUY 10.00 opened"), (at(119, lost(1, 1_000)), "")]);
        let actions = session.actions(&candle(0, 2));
        let [Action::Open(order)] = &actions[..] else { panic!("{actions:?}") };
        for answer in answers {
            session.check(&[(answer, "")]);
        }
        if session.book.rows()[1].state == IntentState::Rejected {
            session.check(&[(at(155, EventKind::Reinstated(*order.terms())), "")]);
        }
        session.check(&[
            (at(160, adopted(2)), ""),
            (at(185, lost(2, 2_000)), ""),
            (candle(0, 4), "#3 a BUY 40.00"),
        ]);
    }
}

/// Hand-computed: the first trade is lost, and the level of 20 is entered on its candle.
/// Another trade of the strategy is declined, which also gives up the ladder while 20 is still at stake.
#[test]
fn declined_trade_of_the_strategy_also_resets_the_ladder() {
    check(
        &[Script::new("a").buys(&[1, 3, 6])],
        |risk| (risk.max_open_trades_per_symbol, risk.allow_duplicate) = (2, true),
        &[
            (candle(0, 1), "#1 a BUY 10.00 opened"),
            (at(119, lost(1, 1_000)), ""),
            (candle(0, 2), "#2 a BUY 20.00 opened"),
            (candle(0, 3), "#3 a BUY 20.00"),
            (at(182, rejected(3)), ""),
        ],
        (candle(0, 6), "#4 a BUY 10.00", "#4 a BUY 20.00"),
    );
}

#[test]
fn pending_reset_of_a_ladder_is_reported_until_its_first_level() {
    for (if_refused, expected) in [(IfRefused::Reset, true), (IfRefused::Wait, false)] {
        let script = Script::new("a").buys(&[1, 4]).staking(gale(if_refused));
        let mut session = TestSession::new(&[script], |risk: &mut RiskSettings| {
            risk.hours =
                from_str(r#"[{"from":"00:00","to":"00:02"},{"from":"00:04","to":"00:10"}]"#).unwrap();
        });
        session.check(&[(candle(0, 1), "#1 a BUY 10.00 opened")]);
        assert!(!session.session.gives_up_ladder(BotId::FIRST));
        session.check(&[(at(119, lost(1, 1_000)), ""), (candle(0, 2), "a OutsideHours")]);
        assert_eq!(session.session.gives_up_ladder(BotId::FIRST), expected);
        let next = if expected { "#2 a BUY 10.00" } else { "#2 a BUY 20.00" };
        session.check(&[(candle(0, 4), next)]);
        assert!(!session.session.gives_up_ladder(BotId::FIRST) || !expected);
    }
}

#[test]
fn ladder_level_is_reported_for_a_given_time() {
    let mut test = TestSession::new(&[Script::new("a").buys(&[1]).staking(gale(IfRefused::Reset))], |_| {});
    test.check(&[(candle(0, 1), "#1 a BUY 10.00 opened"), (at(119, lost(1, 1_000)), "")]);
    let level = |moment: i64| {
        let ladder = test.session.ladder_levels(second(moment))[0];
        (ladder.level, ladder.stake.minor())
    };
    assert_eq!((level(120), level(121)), ((2, 2_000), (1, 1_000)));
}

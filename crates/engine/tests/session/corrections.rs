//! A corrected result leaves the Session as if the correct result had arrived first.

use crate::event::{NO_SKEW, at, cancelled, candle, corrected, lost, opened_paying, won};
use crate::fold::{Fold, Journalled, journalled};
use crate::script::{Script, ladder};
use crate::snapshots::{recorded, settings};
use crate::test_session::TestSession;
use candlewick_engine::{
    Event, EventKind, IfRefused, IntentId, LadderEntry, PauseCause, PauseScope, PauseSettings, RiskSettings,
    Session, TradeBook, TradeSettlement, judge,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::serde_json::{Value, to_value};
use candlewick_sdk::{Money, Outcome};
use candlewick_statistics::EdgeTestPlan;
use proptest::prelude::*;

/// A ladder of 10, 20 and 40. The first trade is called CANCELLED, then LOST, then WON.
#[test]
fn correction_updates_ledger_ladder_and_streak() {
    let ladder = ladder(LadderEntry::NextSignal, IfRefused::Wait);
    let mut test = TestSession::new(&[Script::new("a").buys(&[1, 3, 5, 7]).staking(ladder)], |_| {});
    test.check_money(&[
        (candle(0, 1), "#1 a BUY 10.00 opened at 80", [999_000, 1_000]),
        (at(125, cancelled(1)), "", [1_000_000, 0]),
        (candle(0, 3), "#2 a BUY 10.00", [999_000, 1_000]),
        (at(190, corrected(1, Outcome::Lost, -1_000)), "", [998_000, 1_000]),
    ]);
    let ledger = test.session.ledger();
    assert_eq!((ledger.day_profit().minor(), ledger.loss_streak()), (-1_000, 1));
    test.check_money(&[
        (at(191, opened_paying(2, 80)), "", [998_000, 1_000]),
        (at(245, lost(2, 1_000)), "", [998_000, 0]),
        (candle(0, 5), "#3 a BUY 40.00", [994_000, 4_000]),
        (at(310, corrected(1, Outcome::Won, 800)), "", [995_800, 4_000]),
        (at(311, opened_paying(3, 80)), "", [995_800, 4_000]),
        (at(365, lost(3, 4_000)), "", [995_800, 0]),
        (candle(0, 7), "#4 a BUY 40.00", [991_800, 4_000]),
    ]);
    let ledger = test.session.ledger();
    assert_eq!((ledger.peak_equity().minor(), ledger.day_profit().minor()), (1_000_800, -4_200));
    let row = *test.book.row(IntentId::new(1)).unwrap();
    assert_eq!((row.outcome, row.profit.minor()), (Some(Outcome::Won), 800));
    let first = test.book.original_result(IntentId::new(1)).unwrap();
    assert_eq!((first.outcome, first.profit.minor()), (Outcome::Cancelled, 0));
}

#[test]
fn corrected_loss_counts_in_daily_limits_and_starts_a_pause() {
    let bot = || Script::new("a").buys(&[1, 3, 5]);
    let day = |risk: &mut RiskSettings| risk.daily_loss_limit = Decimal::from(15);
    let pause = |risk: &mut RiskSettings| {
        risk.pauses =
            vec![PauseSettings { after: 1, of: PauseCause::Losses, for_s: 600, scope: PauseScope::All }];
    };
    for (change, refusal) in [(&day as &dyn Fn(&mut RiskSettings), "a DailyLossLimit"), (&pause, "a Pause")] {
        let mut test = TestSession::new(&[bot()], change);
        test.check(&[
            (candle(0, 1), "#1 a BUY 10.00 opened at 80"),
            (at(125, cancelled(1)), ""),
            (at(126, corrected(1, Outcome::Lost, -1_000)), ""),
            (candle(0, 3), refusal),
            (at(190, corrected(1, Outcome::Won, 800)), ""),
            (candle(0, 5), "#2 a BUY 10.00"),
        ]);
    }
}

#[test]
fn settlement_can_be_corrected_for_more_than_a_day() {
    let free_after = |hours: i64| {
        let mut test = TestSession::new(&[Script::new("a").buys(&[1])], |_| {});
        test.check(&[(candle(0, 1), "#1 a BUY 10.00 opened at 80"), (at(125, won(1, 800)), "")]);
        for hour in 1..hours {
            test.handle(&at(hour * 3_600, NO_SKEW));
        }
        test.handle(&at(hours * 3_600, corrected(1, Outcome::Lost, -1_000)));
        let is_known = test.session.can_correct(IntentId::new(1));
        (test.session.ledger().free_balance().minor(), test.session.ledger().day_profit().minor(), is_known)
    };
    assert_eq!(free_after(1), (999_000, -1_000, true));
    assert_eq!(free_after(25), (999_000, 0, true));
    assert_eq!(free_after(49), (999_000, 0, true));
    assert_eq!(free_after(51), (1_000_800, 0, false));
}

#[test]
fn unknown_and_open_trades_are_not_corrected() {
    let mut test = TestSession::new(&[Script::new("a").buys(&[1])], |_| {});
    test.check_money(&[
        (candle(0, 1), "#1 a BUY 10.00", [999_000, 1_000]),
        (at(70, corrected(1, Outcome::Won, 800)), "", [999_000, 1_000]),
        (at(71, corrected(9, Outcome::Won, 800)), "", [999_000, 1_000]),
        (at(125, won(1, 800)), "", [1_000_800, 0]),
    ]);
    assert_eq!(test.book.original_result(IntentId::new(1)), None);
}

fn folded(entries: &[Journalled]) -> (Value, TradeBook) {
    let fold = Fold::from_entries(&settings(9), entries);
    (state(&fold.session), fold.book)
}

fn state(session: &Session) -> Value {
    let mut state = to_value(session.snapshot()).unwrap();
    for bot in state["bots"].as_array_mut().unwrap() {
        bot["last_close"] = Value::Null;
    }
    state
}

fn settlements(entries: &[Journalled], book: &TradeBook) -> Vec<(usize, IntentId)> {
    let mut known = std::collections::BTreeSet::new();
    let settled = entries.iter().enumerate().filter_map(|(place, entry)| {
        let Journalled::Event(event) = entry else { return None };
        match event.kind {
            EventKind::Settled(TradeSettlement { intent, .. })
            | EventKind::SettledByPerson { intent, .. } => Some((place, intent)),
            _ => None,
        }
    });
    let is_settled = |intent| book.row(intent).is_some_and(|row| row.settled_at.is_some());
    settled.filter(|(_, intent)| is_settled(*intent) && known.insert(*intent)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn corrected_session_equals_one_with_the_right_result_first(
        drawn in prop::collection::vec(any::<(u8, u8)>(), 40..700),
        picked in any::<prop::sample::Index>(),
        results in prop::collection::vec((0_usize..4, -100_i64..100), 1..4),
    ) {
        let (mut corrected_session, mut entries, world) = recorded(&drawn);
        let (_, book) = folded(&entries);
        let settled = settlements(&entries, &book);
        prop_assume!(!settled.is_empty());
        let (place, intent) = settled[picked.index(settled.len())];
        let mut right = entries.clone();
        for (outcome, profit) in results {
            let outcome = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled][outcome];
            let profit = Money::from_minor(profit);
            let kind = EventKind::Correction { intent, outcome, profit };
            let event = Event { at: world.now(), received: world.now(), kind };
            let mut actions = Vec::new();
            corrected_session.handle_recorded(&event, &mut actions);
            entries.extend(journalled(&event, &actions));
            let Journalled::Event(event) = &mut right[place] else { unreachable!() };
            event.kind = match event.kind {
                EventKind::Settled(settled) => EventKind::Settled(TradeSettlement { outcome, profit, ..settled }),
                _ => EventKind::Settled(TradeSettlement::from_operator(intent, outcome, profit)),
            };
        }
        let unknown = corrected(1_000_000, Outcome::Won, 0);
        right.push(Journalled::Event(Event { at: world.now(), received: world.now(), kind: unknown }));
        let (expected, right_book) = folded(&right);
        prop_assert_eq!(state(&corrected_session), expected);
        let (refolded, corrected_book) = folded(&entries);
        prop_assert_eq!(&refolded, &folded(&right).0);
        let by_rows = |book: &TradeBook| judge(book.rows(), EdgeTestPlan::default());
        let accounts = |book| {
            let test = by_rows(book);
            (test.settled(), test.edge_account(), test.mirror_account())
        };
        prop_assert_eq!(accounts(&corrected_book), accounts(&right_book));
    }
}

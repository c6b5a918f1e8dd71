//! Opens that are rejected, never sent, or whose outcome is unknown.

use crate::prelude::*;
use crate::script::{end, unknown};
use candlewick_broker::{RejectionReason, ReportedValue};
use candlewick_engine::{IntentId, Rejection};
use candlewick_runtime::control::Resolution;
use candlewick_sdk::Direction;

fn rejected(reason: RejectionReason) -> OpenOutcome {
    OpenOutcome::Rejected(candlewick_broker::Rejection { reason, text: "no".to_owned(), venue_time: None })
}

async fn in_doubt(closes: &[i64]) -> Stage {
    Stage::paused().await.bot(btc(), closes).failed_open(unknown())
}

fn adopt(id: &str) -> ControlOrder {
    let resolution = Resolution::Adopt(VenueId::new(id).unwrap());
    ControlOrder::Resolve { intent: IntentId::new(1), resolution, reason: "seen".to_owned() }
}

async fn check(outcome: OpenOutcome, state: IntentState, open_stakes: i64, refusal: Option<Rule>) {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]).failed_open(outcome.clone());
    let ran = stage.failed_open(rejected(RejectionReason::Other)).run_for(2 * MINUTE + 30_000).await;
    let finished = ran.finished();
    assert_eq!(ran.states()[0], state, "{outcome:?}");
    assert_eq!((finished.open_stakes.minor(), finished.free.minor()), (open_stakes, 100_000 - open_stakes));
    let refused: Vec<_> = refusal.map(|rule| (2 * MINUTE, rule)).into_iter().collect();
    assert_eq!(ran.refused(), refused, "{outcome:?}");
    assert_eq!(ran.asked_open(btc()).len(), 2 - refused.len(), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn failed_open_releases_its_stake_and_unknown_outcome_blocks_its_symbol() {
    check(rejected(RejectionReason::Other), IntentState::Rejected, 0, None).await;
    check(not_sent(), IntentState::NotSent, 0, None).await;
    check(unknown(), IntentState::InDoubt, 1_000, Some(Rule::InDoubt)).await;
}

#[tokio::test(start_paused = true)]
async fn broken_or_unanswered_open_is_in_doubt() {
    for trouble in [Trouble::Hang, Trouble::Panic] {
        let stage = Stage::paused().await.bot(btc(), &[MINUTE, 3 * MINUTE]);
        let stage = stage.failed_open(rejected(RejectionReason::Other));
        let stage = stage.trouble_during(Which::Opens(btc()), (0, 2 * MINUTE), trouble);
        let ran = stage.run_for(3 * MINUTE + 1_000).await;
        assert_eq!(ran.states()[0], IntentState::InDoubt);
        assert_eq!(ran.refused(), [(3 * MINUTE, Rule::InDoubt)]);
        assert_eq!(ran.asked_open(btc()), [MINUTE]);
    }
}

#[tokio::test(start_paused = true)]
async fn order_in_doubt_does_not_block_other_symbols() {
    let stage = in_doubt(&[MINUTE, 2 * MINUTE]).await.bot(eth(), &[2 * MINUTE]).won("eth-1", 2);
    let ran = stage.run_for(2 * MINUTE + 30_000).await;
    assert_eq!(ran.opens(), [(MINUTE, 0), (2 * MINUTE, 1)]);
    assert_eq!(ran.refused(), [(2 * MINUTE, Rule::InDoubt)]);
    assert_eq!(ran.settled(), [(3 * MINUTE + 4_999, 2, Outcome::Won, 800)]);
    assert_eq!(ran.ended, 3 * MINUTE + 4_999, "the end must not wait for an order in doubt");
}

#[tokio::test(start_paused = true)]
async fn missing_stake_is_not_attributed_to_an_intent_that_waits_for_the_journal() {
    let mut stage = in_doubt(&[MINUTE]).await.bot(eth(), &[6 * MINUTE]).failed_open(not_sent());
    (stage.settings.list_every_s, stage.record.delay) = (1, Duration::from_secs(4));
    let ran = stage.balances(&[(MINUTE, 990)]).run_for(7 * MINUTE).await;
    assert_eq!(ran.states()[0], IntentState::InDoubt, "{:?}", ran.warnings);
}

#[tokio::test(start_paused = true)]
async fn list_polls_do_not_multiply() {
    let stage = in_doubt(&[MINUTE]).await.with(|stage| stage.settings.list_every_s = 300);
    let asked = stage.run_for(6 * 60 * MINUTE).await.request_times(&Ask::Trades);
    let in_hour = |hour: i64| asked.iter().filter(|at| **at / (60 * MINUTE) == hour).count();
    let hours: Vec<usize> = (0..6).map(in_hour).collect();
    // One every three minutes while the trade may still appear; the check for foreign trades is among them.
    assert_eq!(hours[1..], [20; 5]);
}

#[tokio::test(start_paused = true)]
async fn unanswered_open_blocks_its_symbol() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE]).bot(btc(), &[MINUTE]);
    let ran = stage.failed_open(rejected(RejectionReason::NoPrice)).run_for(90_000).await;
    assert_eq!((ran.opens(), ran.refused()), (vec![(MINUTE, 0)], vec![(MINUTE, Rule::InFlight)]));
    let rejections = ran.picked(|kind| match kind {
        EventKind::Rejected { rejection, .. } => Some(*rejection),
        _ => None,
    });
    assert_eq!(rejections, [(MINUTE, MINUTE, Rejection::NoPrice)]);
}

#[tokio::test(start_paused = true)]
async fn escalates_a_doubt_even_if_the_list_is_unreadable() {
    let stage = in_doubt(&[MINUTE]).await;
    let stage = stage.trouble_during(Which::Trades, (0, 60 * MINUTE), Trouble::Fail(unavailable()));
    // Half a minute in flight, two minutes for the list, and as long again until the operator is asked.
    let ran = stage.bot(eth(), &[8 * MINUTE]).run_for(8 * MINUTE).await;
    let asked: Vec<_> = ran.warnings.iter().filter(|text| text.contains("stays in doubt")).collect();
    assert_eq!(asked.len(), 1, "{:?}", ran.warnings);
}

#[tokio::test(start_paused = true)]
async fn operator_adopts_only_an_existing_trade_with_the_requested_terms() {
    let mut stage = in_doubt(&[MINUTE]).await;
    let (open, close) = (stage.at(MINUTE + 999), stage.at(2 * MINUTE + 999));
    let mut ours = running("ours", open, close);
    end(&mut ours, Outcome::Won, 8);
    let mut other = running("other", open, close);
    other.direction = Some(ReportedValue::Known(Direction::Sell));
    let named = [("missing", None), ("other", Some(other)), ("ours", Some(ours))];
    stage.script.named = named.map(|(id, report)| (id.to_owned(), report)).into();
    let stage = stage.trouble_during(Which::Trades, (78_900, 79_400), Trouble::Fail(unavailable()));
    let mut stage = stage.order(79_000, adopt("ours"));
    for (ms, id) in [(80_000, "missing"), (81_000, "other"), (82_000, "ours"), (83_000, "ours")] {
        stage = stage.order(ms, adopt(id));
    }
    let ran = stage.run_for(3 * MINUTE).await;
    let handled = |answer: &ControlAnswer| match answer {
        ControlAnswer::Refused { problem } => problem.clone(),
        ControlAnswer::Done { state } => format!("in doubt: {}, open: {}", state.in_doubt.len(), state.open),
        ControlAnswer::VenueFailed { problem } => format!("the venue failed: {problem}"),
        other => panic!("{other:?}"),
    };
    let expected = [
        "the venue failed: ",
        "the venue has no trade missing. ",
        "trade other is trade other, SELL ",
        "in doubt: 0, open: 1",
    ];
    let handled: Vec<String> = ran.answers.iter().map(handled).collect();
    for (handled, expected) in handled.iter().zip(expected) {
        assert!(handled.starts_with(expected), "{handled}");
    }
    assert_eq!(handled[4], "trade #1 is not in doubt");
    assert_eq!(ran.settled(), [(2 * MINUTE + 4_999, 1, Outcome::Won, 800)]);
    assert_eq!(ran.request_times(&Ask::Trade("missing".to_owned())), [80_000], "no second request");
}

#[tokio::test(start_paused = true)]
async fn accepted_terms_of_an_unanswered_open_count_and_halt() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 8 * MINUTE]);
    let mut taken = running("taken", stage.at(MINUTE + 999), stage.at(2 * MINUTE + 999));
    taken.symbol = Some(btc().to_string());
    taken.direction = Some(ReportedValue::Known(Direction::Buy));
    taken.close_type = Some(ReportedValue::Known("01:00".parse().unwrap()));
    taken.amount = Some(50.into());
    taken.request_time = Some(stage.at(MINUTE + 500));
    let mut over = taken.clone();
    end(&mut over, Outcome::Won, 40);
    let (begun, ended) = (stage.at(0), stage.at(2 * MINUTE + 999));
    let said = vec![(begun, taken), (ended, over)];
    let stage = stage.open(OpenScript { answer: Err(unknown()), by_id: said.clone(), listed: said });
    let ran = stage.balances(&[(MINUTE, 950), (2 * MINUTE + 999, 1_040)]).run_for(9 * MINUTE).await;
    let finished = ran.finished();
    let row = finished.book.rows()[0];
    let stake = row.approved.stake().minor();
    assert_eq!((row.state, stake), (IntentState::Settled, 5_000), "{:?}", ran.warnings);
    assert_eq!((finished.book.venue_id(&row), finished.free.minor()), (VenueId::new("taken"), 104_000));
    let halted = finished.halt_reason.as_deref().unwrap_or_default();
    assert!(halted.contains("amount is 50, but 10 was ordered"), "{halted}");
    assert_eq!(ran.refused(), [(8 * MINUTE, Rule::Halted)]);
    assert_eq!(ran.asked_open(btc()), [MINUTE], "at most one request");
    assert_eq!(ran.picked(|kind| matches!(kind, EventKind::Deposit { .. }).then_some(())), []);
}

#[tokio::test(start_paused = true)]
async fn closed_trade_settles_after_its_adoption() {
    let mut stage = in_doubt(&[MINUTE]).await.bot(eth(), &[]);
    let mut ours = running("ours", stage.at(MINUTE + 999), stage.at(2 * MINUTE + 999));
    end(&mut ours, Outcome::Won, 8);
    stage.script.named = [("ours".to_owned(), Some(ours))].into();
    let stage = stage.lag(eth(), 3 * MINUTE, 700).order(3 * MINUTE + 100, adopt("ours"));
    let ran = stage.run_for(4 * MINUTE).await;
    let row = ran.finished().book.rows()[0];
    assert_eq!((row.state, ran.finished().book.venue_id(&row)), (IntentState::Settled, VenueId::new("ours")));
    assert_eq!(ran.settled(), [(3 * MINUTE + 101, 1, Outcome::Won, 800)]);
}

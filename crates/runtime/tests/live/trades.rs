//! A trade from its intent to its settlement.

use crate::prelude::*;
use candlewick_broker::TradeProgress;

const CLOSE: i64 = 2 * MINUTE + 999;
const FIRST_POLL: i64 = CLOSE + 4_000;
const ID: &str = "01JT0000000000000000000001";

async fn trade(script: impl FnOnce(&Stage) -> OpenScript) -> RunRecord {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE]);
    let script = script(&stage);
    stage.open(script).with(|stage| stage.settings.stop_patience_s = 300).run_for(FIRST_POLL + 90_000).await
}

fn accepted(stage: &Stage) -> OpenScript {
    OpenScript::accepted(ID, stage.at(MINUTE + 999), stage.at(CLOSE))
}

fn won(stage: &Stage) -> OpenScript {
    accepted(stage).ending(stage.at(CLOSE), Outcome::Won, 8)
}

fn by_id() -> Ask {
    Ask::Trade(ID.to_owned())
}

const WON: [(i64, u64, Outcome, i64); 1] = [(FIRST_POLL, 1, Outcome::Won, 800)];

#[tokio::test(start_paused = true)]
async fn opens_an_intent_once_and_requests_its_trade_after_the_close() {
    let ran = trade(won).await;
    assert_eq!((ran.asked_open(btc()), ran.request_times(&by_id())), (vec![MINUTE], vec![FIRST_POLL]));
    assert_eq!(ran.settled(), WON);
    let finished = ran.finished();
    assert_eq!((finished.free.minor(), finished.open_stakes.minor()), (100_800, 0));
    let row = finished.book.rows()[0];
    let prices = (row.open_price, row.close_price);
    assert_eq!((row.state, prices), (IntentState::Settled, (Some(100.0), Some(101.0))));
    assert_eq!(finished.book.venue_id(&row), VenueId::new(ID));
    let intent = ran.record.lines.iter().position(|line| line.contains("\"action\":\"open\"")).unwrap();
    assert!(ran.record.lines[intent - 1].contains("\"event\":\"candle\""), "an action follows its event");
    // One watcher received everything including the start; the one that never reads has room for one event.
    let given = 1 + ran.handled.len() + ran.warnings.len() + ran.stoppings.len() + ran.standings.len();
    assert_eq!(ran.finished().dropped_notices, given as u64 - 1);
}

async fn check_not_final(change: impl Fn(&mut TradeReport), end_after: i64, polls: &[i64]) {
    let ran = trade(|stage| {
        let script = accepted(stage).then(stage.at(CLOSE), &change);
        script.ending(stage.at(FIRST_POLL + end_after), Outcome::Lost, -10)
    })
    .await;
    let expected: Vec<i64> = polls.iter().map(|after| FIRST_POLL + after).collect();
    assert_eq!(ran.request_times(&by_id()), expected);
    assert_eq!(ran.request_times(&Ask::Trades), [0; 0], "the list is only for orders in doubt");
    assert_eq!(ran.settled(), [(*expected.last().unwrap(), 1, Outcome::Lost, -1_000)]);
}

#[tokio::test(start_paused = true)]
async fn polls_a_pending_result_with_growing_pauses() {
    check_not_final(|_| {}, 1, &[0, 1_000]).await;
    check_not_final(|_| {}, 12_000, &[0, 1_000, 4_000, 7_000, 12_000]).await;
    check_not_final(|_| {}, 23_000, &[0, 1_000, 4_000, 7_000, 12_000, 22_000, 52_000]).await;
    for progress in [TradeProgress::OverWithoutOutcome, TradeProgress::Unrecognised("REVERTED".to_owned())] {
        let change = |report: &mut TradeReport| {
            report.progress = progress.clone();
            report.profit = Some(8.into());
        };
        check_not_final(change, 3_000, &[0, 1_000, 4_000]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn retries_an_unanswered_trade_request() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE]).trade(ID, MINUTE + 999, CLOSE, Outcome::Draw, 0);
    let stage = stage.trouble_during(Which::Trades, (0, FIRST_POLL + 2_000), Trouble::Fail(unavailable()));
    let ran = stage.run_for(FIRST_POLL + 30_000).await;
    assert_eq!(ran.request_times(&by_id()), [FIRST_POLL, FIRST_POLL + 1_000, FIRST_POLL + 4_000]);
    assert_eq!(ran.settled(), [(FIRST_POLL + 4_000, 1, Outcome::Draw, 0)]);
}

fn opened(ran: &RunRecord) -> Vec<(i64, bool, bool)> {
    let handled = ran.picked(|kind| match kind {
        EventKind::Opened(opened) => Some((opened.open_price.is_some(), opened.close_time.is_some())),
        _ => None,
    });
    handled.into_iter().map(|(at, _, (price, close))| (at, price, close)).collect()
}

#[tokio::test(start_paused = true)]
async fn details_and_settlement_follow_an_acknowledgement() {
    let ran = trade(|stage| {
        let script = OpenScript::acknowledged(ID);
        let (open, close) = (stage.at(MINUTE + 999), stage.at(CLOSE));
        let script = script.then(stage.at(MINUTE + 3_000), |report| *report = running(ID, open, close));
        script.ending(stage.at(CLOSE + 100), Outcome::Won, 8)
    })
    .await;
    // Requested after a second, then with pauses until the times are known, then after the close.
    assert_eq!(ran.request_times(&by_id()), [MINUTE + 1_000, MINUTE + 2_000, MINUTE + 5_000, FIRST_POLL]);
    assert_eq!(opened(&ran), [(MINUTE, false, false), (MINUTE + 5_000, true, true)]);
    assert_eq!(ran.settled(), WON);
}

#[tokio::test(start_paused = true)]
async fn reports_details_once() {
    let ran = trade(|stage| {
        let mut script = accepted(stage);
        script.answer.as_mut().unwrap().open_price = None;
        script.by_id[0].1.open_price = None;
        script.ending(stage.at(FIRST_POLL + 20_000), Outcome::Lost, -10)
    })
    .await;
    assert_eq!(opened(&ran), [(MINUTE, false, true)]);
    assert_eq!(ran.settled().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn uses_the_venue_time_of_an_answer() {
    for arrival in [MINUTE + 1_500, MINUTE - 20] {
        let ran = trade(|stage| won(stage).arriving(stage.at(arrival))).await;
        assert_eq!(opened(&ran), [(arrival, true, true)]);
        assert_eq!(ran.settled(), WON);
    }
    let stage = Stage::paused().await.bot(btc(), &[MINUTE]).won(ID, 1);
    let ran = stage.slow(Which::Opens(btc()), (0, 2 * MINUTE), 50_000).run_for(3 * MINUTE).await;
    assert_eq!(opened(&ran), [(MINUTE + 50_000, true, true)]);
    assert_eq!(ran.settled(), WON);
}

async fn delayed(journal_ms: u64, stop: i64) -> RunRecord {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]).entering_after(20);
    stage.record.delay = std::time::Duration::from_millis(journal_ms);
    stage.trade(ID, MINUTE + 20_999, 2 * MINUTE + 20_999, Outcome::Won, 8).run_for(stop).await
}

#[tokio::test(start_paused = true)]
async fn sends_a_delayed_open_after_its_delay() {
    for journal_ms in [0, 4_000] {
        let ran = delayed(journal_ms, 4 * MINUTE).await;
        assert_eq!(ran.opens(), [(MINUTE, 0)], "decided at the close");
        assert_eq!(ran.asked_open(btc()), [MINUTE + 20_000], "{journal_ms} ms to write");
        assert_eq!(ran.states(), [IntentState::Settled]);
    }
    let ran = delayed(0, MINUTE + 10_000).await;
    assert_eq!(ran.asked_open(btc()), [0; 0]);
    assert_eq!(ran.states(), [IntentState::NotSent]);
    let noted = r#"{"intent":1,"not_sent":"the run was stopping"}"#.to_owned();
    assert!(ran.record.notes.contains(&noted), "{:?}", ran.record.notes);
}

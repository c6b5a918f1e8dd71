//! Times at which candles are requested and handled.

use crate::prelude::*;

#[tokio::test(start_paused = true)]
async fn requests_a_candle_once_at_its_close() {
    let ran = Stage::paused().await.bot(btc(), &[]).run_for(150_000).await;
    assert_eq!(ran.request_times(&Ask::Candles(btc())), [MINUTE, 2 * MINUTE]);
    assert_eq!(ran.candles(), [(0, MINUTE, MINUTE, Origin::Live), (0, 2 * MINUTE, 2 * MINUTE, Origin::Live)]);
}

/// The candle of minute 1 is available `lag` after its close; expected are the request times after the close.
async fn check_repeats(lag: i64, (first_ask, repeats): (u32, u32), asked: &[i64], handled: &[(i64, Origin)]) {
    let mut stage = Stage::paused().await.bot(btc(), &[]).lag(btc(), MINUTE, lag);
    (stage.settings.first_ask_ms, stage.settings.quick_repeats) = (first_ask, repeats);
    stage.keeps_journal = false;
    let ran = stage.run_for(150_000).await;
    let second = 2 * MINUTE + i64::from(first_ask);
    let expected: Vec<i64> = asked.iter().map(|after| MINUTE + after).chain([second]).collect();
    assert_eq!(ran.request_times(&Ask::Candles(btc())), expected, "lag {lag}");
    let first = ran.candles().into_iter().filter(|(_, close, ..)| *close == MINUTE);
    let first: Vec<_> = first.map(|(_, _, received, origin)| (received - MINUTE, origin)).collect();
    assert_eq!(first, handled, "lag {lag}");
}

#[tokio::test(start_paused = true)]
async fn polls_a_missing_candle_quickly_until_it_arrives() {
    let live = |after| [(after, Origin::Live)];
    check_repeats(0, (0, 10), &[0], &live(0)).await;
    check_repeats(0, (300, 10), &[300], &live(300)).await;
    check_repeats(1, (0, 10), &[0, 250], &live(250)).await;
    check_repeats(600, (0, 10), &[0, 250, 500, 1_000], &live(1_000)).await;
    check_repeats(600, (300, 10), &[300, 550, 800], &live(800)).await;
    check_repeats(600, (0, 2), &[0, 250, 500], &[(MINUTE, Origin::Backfill)]).await;
}

#[tokio::test(start_paused = true)]
async fn records_a_late_candle_and_rejects_its_signal() {
    let ran = Stage::paused().await.bot(btc(), &[MINUTE]).lag(btc(), MINUTE, 7_000).run_for(100_000).await;
    assert_eq!(ran.candles(), [(0, MINUTE, MINUTE + 8_000, Origin::Live)]);
    assert_eq!(ran.refused(), [(MINUTE, Rule::LateSignal)]);
}

fn candles_after_first(ran: &RunRecord) -> Vec<(i64, i64, Origin)> {
    ran.candles().into_iter().skip(1).map(|(_, close, at, origin)| (close, at, origin)).collect()
}

#[tokio::test(start_paused = true)]
async fn delivers_missed_candles_in_order_and_only_the_newest_can_open() {
    use Origin::{Backfill, Live};
    let stage = Stage::paused().await.bot(btc(), &[2, 3, 4, 5, 6].map(|minute| minute * MINUTE));
    let stage = stage.failed_open(not_sent()).with(|stage| stage.risk.max_trades_per_day = 0);
    let outage = (2 * MINUTE, 4 * MINUTE + 50_000);
    let stage = stage.trouble_during(Which::Candles(btc()), outage, Trouble::Fail(unavailable()));
    let ran = stage.run_for(5 * MINUTE + 30_000).await;
    let expected = [2, 3, 4, 5].map(|at| (at * MINUTE, 5 * MINUTE, if at == 5 { Live } else { Backfill }));
    assert_eq!(candles_after_first(&ran), expected);
    assert_eq!(ran.opens(), [(5 * MINUTE, 0)]);
    let stage = Stage::paused().await.bot(btc(), &[]);
    let stage = stage.hang(Which::Candles(btc()), (2 * MINUTE, 2 * MINUTE + 1));
    let ran = stage.run_for(4 * MINUTE + 30_000).await;
    let expected =
        [(2 * MINUTE, 3 * MINUTE, Backfill), (3 * MINUTE, 3 * MINUTE, Live), (4 * MINUTE, 4 * MINUTE, Live)];
    assert_eq!(candles_after_first(&ran), expected);
}

#[tokio::test(start_paused = true)]
async fn missing_candle_does_not_multiply_requests() {
    let mut stage = Stage::paused().await.bot(btc(), &[]);
    stage.settings.quick_repeats = 0;
    for minute in 1..=600 {
        stage = stage.lag(btc(), minute * MINUTE, 48 * 60 * MINUTE);
    }
    let ran = stage.run_for(602 * MINUTE + 1_000).await;
    let asked = ran.request_times(&Ask::Candles(btc()));
    assert_eq!(asked.len(), 602, "one page a close, however long the silence");
    assert_eq!(ran.candles().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn slow_answer_is_followed_by_the_next_request_at_once() {
    let stage = Stage::paused().await.bot(btc(), &[]).lag(btc(), MINUTE, 500);
    let stage = stage.slow(Which::Candles(btc()), (MINUTE + 1, 2 * MINUTE), 59_900);
    let ran = stage.run_for(3 * MINUTE + 30_000).await;
    // Requested at the close and a quarter of a second later, whose answer comes after the next close.
    let answered = 2 * MINUTE + 150;
    assert_eq!(ran.closes(), [(MINUTE, answered), (2 * MINUTE, answered), (3 * MINUTE, 3 * MINUTE)]);
}

#[tokio::test(start_paused = true)]
async fn counts_invalid_rows_and_treats_them_as_gaps() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]);
    stage.settings.quick_repeats = 1;
    stage.script.broken.push((btc(), stage.at(0)));
    let ran = stage.run_for(150_000).await;
    let closes: Vec<i64> = ran.closes().into_iter().map(|(close, _)| close).collect();
    assert_eq!((closes, ran.opens()), (vec![2 * MINUTE], vec![]));
    assert!(ran.finished().rejected_rows > 0);
}

//! Ends of a run.

use crate::prelude::*;
use candlewick_runtime::StopReason::{Interrupted, Terminated, TimeUp};

const CLOSE: i64 = 2 * MINUTE + 999;
const FIRST_POLL: i64 = CLOSE + 4_000;

async fn stage_with_trade(known: Option<i64>) -> Stage {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]);
    let mut script = OpenScript::accepted("trade-1", stage.at(MINUTE + 999), stage.at(CLOSE));
    if let Some(known) = known {
        script = script.ending(stage.at(known), Outcome::Won, 8);
    }
    stage.open(script)
}

fn check(ran: &RunRecord, stop: StopReason, ended: i64, settled: usize) {
    assert_eq!((ran.stop(), ran.ended, ran.settled().len()), (stop, ended, settled));
    let expected = if settled > 0 { (100_800, 0) } else { (99_000, 1_000) };
    assert_eq!((ran.finished().free.minor(), ran.finished().open_stakes.minor()), expected);
    let unfinished: Vec<_> = ran.finished().unfinished.iter().map(|one| one.stake.minor()).collect();
    assert_eq!(unfinished, vec![1_000; 1 - settled]);
}

#[tokio::test(start_paused = true)]
async fn stopping_run_opens_nothing_and_tracks_open_trades_to_settlement() {
    let ran = stage_with_trade(Some(CLOSE)).await.run_for(90_000).await;
    check(&ran, StopReason::TimeUp, FIRST_POLL, 1);
    assert_eq!(ran.refused(), [(2 * MINUTE, Rule::Halted)]);
    assert_eq!(ran.stoppings, [(StopReason::TimeUp, 1)]);
    let ran = Stage::paused().await.bot(btc(), &[]).run_for(90_000).await;
    assert_eq!((ran.stop(), ran.ended), (StopReason::TimeUp, 90_000));
}

async fn check_patience(known: Option<i64>, patience: u32, stops: &[StopReason], ended: i64, settled: usize) {
    let mut stage = stage_with_trade(known).await;
    stage.settings.interrupt_patience_s = patience;
    for (why, ms) in stops.iter().zip([90_000, 91_000]) {
        stage = stage.stop(ms, *why);
    }
    check(&stage.run().await, *stops.last().unwrap(), ended, settled);
}

#[tokio::test(start_paused = true)]
async fn patience_ends_30_s_after_the_close_90_s_after_an_interrupt_or_at_a_second_one() {
    check_patience(None, 90, &[TimeUp], CLOSE + 30_000, 0).await;
    check_patience(None, 90, &[Interrupted], CLOSE + 30_000, 0).await;
    check_patience(None, 5, &[Interrupted], 95_000, 0).await;
    check_patience(None, 5, &[Terminated], 95_000, 0).await;
    check_patience(Some(CLOSE), 90, &[Interrupted; 2], 91_000, 0).await;
    check_patience(Some(CLOSE), 90, &[Terminated; 2], 91_000, 0).await;
    check_patience(Some(CLOSE), 90, &[TimeUp, Interrupted], FIRST_POLL, 1).await;
    check_patience(None, 5, &[TimeUp, Interrupted], 96_000, 0).await;
}

#[tokio::test(start_paused = true)]
async fn waits_for_an_open_in_flight_beyond_patience_and_ends_with_it_in_doubt() {
    for (stops, ended) in [(vec![TimeUp], 2 * MINUTE), (vec![Interrupted; 2], MINUTE + 2_000)] {
        let mut stage = stage_with_trade(None).await.hang(Which::Opens(btc()), (0, 2 * MINUTE));
        for (why, ms) in stops.iter().zip([1_000, 2_000]) {
            stage = stage.stop(MINUTE + ms, *why);
        }
        let ran = stage.run().await;
        check(&ran, stops[0], ended, 0);
        assert_eq!(ran.states(), [IntentState::InDoubt]);
    }
}

#[tokio::test(start_paused = true)]
async fn tracks_an_open_answered_while_stopping_within_the_same_patience() {
    for (why, patience, ended, settled) in [
        (StopReason::TimeUp, 90, FIRST_POLL, 1),
        (StopReason::Interrupted, 90, FIRST_POLL, 1),
        (StopReason::Interrupted, 20, MINUTE + 20_500, 0),
    ] {
        let mut stage = stage_with_trade(Some(CLOSE)).await;
        stage.settings.interrupt_patience_s = patience;
        let stage = stage.slow(Which::Opens(btc()), (0, 2 * MINUTE), 3_000).stop(MINUTE + 500, why);
        check(&stage.run().await, why, ended, settled);
    }
}

#[tokio::test(start_paused = true)]
async fn tracks_an_acknowledged_trade_to_its_close() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE]);
    let (open, close) = (stage.at(MINUTE + 999), stage.at(CLOSE));
    let script = OpenScript::acknowledged("trade-1");
    let script = script.then(stage.at(MINUTE + 3_000), |report| *report = running("trade-1", open, close));
    let ran = stage.open(script.ending(close, Outcome::Won, 8)).run_for(MINUTE + 1_500).await;
    check(&ran, StopReason::TimeUp, FIRST_POLL, 1);
}

#[tokio::test(start_paused = true)]
async fn reports_a_queued_settlement_at_the_end() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE]).bot(eth(), &[]);
    let stage = stage.trade("trade-1", MINUTE + 999, 3 * MINUTE - 3_700, Outcome::Won, 8);
    let stage = stage.with(|stage| stage.settings.settle_after_ms = 3_900);
    let ran = stage.hang(Which::Candles(eth()), (3 * MINUTE, 4 * MINUTE)).run_for(2 * MINUTE).await;
    assert_eq!(ran.ended, 3 * MINUTE + 200);
    assert_eq!(ran.settled(), [(3 * MINUTE + 200, 1, Outcome::Won, 800)]);
}

#[tokio::test(start_paused = true)]
async fn run_includes_the_last_instant_of_the_data() {
    let stage = Stage::paused().await.bot(eth(), &[]).bot(btc(), &[3 * MINUTE]).until(3 * MINUTE);
    let end = stage.at(3 * MINUTE);
    let stage = stage.slow(Which::Candles(btc()), (3 * MINUTE, 4 * MINUTE), 700);
    let ran = stage.failed_open(not_sent()).run().await;
    let last: Vec<_> = ran.candles().into_iter().map(|(series, close, ..)| (series, close)).skip(4).collect();
    assert_eq!(last, [(0, 3 * MINUTE), (1, 3 * MINUTE)]);
    assert_eq!((ran.stop(), ran.ended), (StopReason::DataEnds(end), 3 * MINUTE + 700));
    assert_eq!(ran.opens(), [(3 * MINUTE, 1)], "the last candle may still open a trade");
    assert_eq!(ran.request_times(&Ask::Candles(btc())), [MINUTE, 2 * MINUTE, 3 * MINUTE]);
    // The last candle is delivered in its turn although another one never arrives.
    let stage = Stage::paused().await.bot(eth(), &[]).bot(btc(), &[3 * MINUTE]).until(3 * MINUTE);
    let ran = stage.failed_open(not_sent()).lag(eth(), 3 * MINUTE, 60 * MINUTE).run().await;
    assert_eq!((ran.opens(), ran.refused()), (vec![(3 * MINUTE, 1)], vec![]));
    assert_eq!(ran.ended, 3 * MINUTE + 1_000);
}

#[tokio::test(start_paused = true)]
async fn limit_that_needs_the_operator_ends_the_run_once_nothing_is_open() {
    let signals = [MINUTE, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE];
    let stage = Stage::paused().await.bot(btc(), &signals).bot(eth(), &[MINUTE]);
    let stage = stage.with(|stage| stage.risk.max_loss_streak = 1);
    // BTCUSDT loses early; ETHUSDT, open until minute 4, could still end the streak, but does not.
    let stage = stage.trade("btc-1", MINUTE + 999, 110_000, Outcome::Lost, -10);
    let ran = stage.trade("eth-1", MINUTE + 999, 200_000, Outcome::Lost, -10).run().await;
    assert_eq!(ran.refused(), [2, 3, 4].map(|minute| (minute * MINUTE, Rule::LossStreak)));
    assert_eq!((ran.stop(), ran.ended), (StopReason::Limit(Rule::LossStreak), 4 * MINUTE));
    assert_eq!(ran.stoppings, [(StopReason::Limit(Rule::LossStreak), 0)]);
}

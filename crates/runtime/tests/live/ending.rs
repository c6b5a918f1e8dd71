//! How a run ends.

use crate::script::{Ask, OpenScript, Trouble, Which, not_sent};
use crate::stage::{Ran, Stage, btc, eth};
use candlewick_engine::{IntentState, Rule};
use candlewick_runtime::Stop;
use candlewick_sdk::{Millis, Outcome};

const MINUTE: i64 = 60_000;
const CLOSE: i64 = 2 * MINUTE + 999;
const FIRST_POLL: i64 = CLOSE + 4_000;

/// A run with one trade, decided at the close of minute 1, whose outcome get-by-id has from `known` on.
async fn stage_with_trade(known: Option<i64>) -> Stage {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]);
    let mut script = OpenScript::accepted("trade-1", stage.at(MINUTE + 999), stage.at(CLOSE));
    if let Some(known) = known {
        script = script.ending(stage.at(known), Outcome::Won, 8);
    }
    stage.script.opens.push_back(script);
    stage
}

fn check(ran: &Ran, stop: Stop, ended: i64, settled: usize) {
    assert_eq!((ran.stop(), ran.ended, ran.settled().len()), (stop, ended, settled));
    let expected = if settled > 0 { (100_800, 0) } else { (99_000, 1_000) };
    assert_eq!((ran.finished().free.minor(), ran.finished().open_stakes.minor()), expected);
    // What has no known end is named.
    let unfinished: Vec<_> = ran.finished().unfinished.iter().map(|one| one.stake.minor()).collect();
    assert_eq!(unfinished, vec![1_000; 1 - settled]);
}

#[tokio::test(start_paused = true)]
async fn a_stopping_run_opens_no_more_and_tracks_what_is_open_to_its_settlement() {
    let ran = stage_with_trade(Some(CLOSE)).await.stop(90_000, Stop::TimeUp).run().await;
    check(&ran, Stop::TimeUp, FIRST_POLL, 1);
    assert_eq!(ran.refused(), [(2 * MINUTE, Rule::Halted)]);
    assert_eq!(ran.stoppings, [(Stop::TimeUp, 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_run_with_nothing_open_ends_at_once() {
    let ran = Stage::paused().await.bot(btc(), &[]).stop(90_000, Stop::TimeUp).run().await;
    assert_eq!((ran.stop(), ran.ended), (Stop::TimeUp, 90_000));
}

#[tokio::test(start_paused = true)]
async fn patience_ends_thirty_seconds_after_the_close_or_ninety_after_an_interrupt() {
    let ran = stage_with_trade(None).await.stop(90_000, Stop::TimeUp).run().await;
    check(&ran, Stop::TimeUp, CLOSE + 30_000, 0);
    let ran = stage_with_trade(None).await.stop(90_000, Stop::Interrupted).run().await;
    check(&ran, Stop::Interrupted, CLOSE + 30_000, 0);
    let mut stage = stage_with_trade(None).await;
    stage.settings.interrupt_patience_s = 5;
    let ran = stage.stop(90_000, Stop::Interrupted).run().await;
    check(&ran, Stop::Interrupted, 95_000, 0);
    let mut stage = stage_with_trade(None).await;
    stage.settings.interrupt_patience_s = 5;
    check(&stage.stop(90_000, Stop::Terminated).run().await, Stop::Terminated, 95_000, 0);
}

#[tokio::test(start_paused = true)]
async fn a_second_interrupt_ends_the_run_at_once() {
    let stage = stage_with_trade(Some(CLOSE)).await;
    let ran = stage.stop(90_000, Stop::Interrupted).stop(91_000, Stop::Interrupted).run().await;
    check(&ran, Stop::Interrupted, 91_000, 0);
    let stage = stage_with_trade(Some(CLOSE)).await;
    let ran = stage.stop(90_000, Stop::Terminated).stop(91_000, Stop::Terminated).run().await;
    check(&ran, Stop::Terminated, 91_000, 0);
    // The first one after another reason to stop shortens the patience, and no more.
    let stage = stage_with_trade(Some(CLOSE)).await;
    let ran = stage.stop(90_000, Stop::TimeUp).stop(91_000, Stop::Interrupted).run().await;
    check(&ran, Stop::Interrupted, FIRST_POLL, 1);
    let mut stage = stage_with_trade(None).await;
    stage.settings.interrupt_patience_s = 5;
    let ran = stage.stop(90_000, Stop::TimeUp).stop(91_000, Stop::Interrupted).run().await;
    check(&ran, Stop::Interrupted, 96_000, 0);
}

#[tokio::test(start_paused = true)]
async fn an_open_on_its_way_is_in_doubt_when_the_run_ends_at_once() {
    let stage = stage_with_trade(Some(CLOSE)).await;
    let stage = stage.spell(Which::Opens(btc()), (0, 2 * MINUTE), Trouble::Hang);
    let stage = stage.stop(MINUTE + 1_000, Stop::Interrupted).stop(MINUTE + 2_000, Stop::Interrupted);
    let ran = stage.run().await;
    check(&ran, Stop::Interrupted, MINUTE + 2_000, 0);
    assert_eq!(ran.finished().book.rows()[0].state, IntentState::InDoubt);
}

#[tokio::test(start_paused = true)]
async fn an_open_answered_while_stopping_is_tracked_within_the_same_patience() {
    for (why, patience, ended, settled) in [
        (Stop::TimeUp, 90, FIRST_POLL, 1),
        (Stop::Interrupted, 90, FIRST_POLL, 1),
        (Stop::Interrupted, 20, MINUTE + 20_500, 0),
    ] {
        let mut stage = stage_with_trade(Some(CLOSE)).await;
        stage.settings.interrupt_patience_s = patience;
        let slow = Trouble::Slow(Millis::new(3_000));
        let stage = stage.spell(Which::Opens(btc()), (0, 2 * MINUTE), slow).stop(MINUTE + 500, why);
        check(&stage.run().await, why, ended, settled);
    }
}

#[tokio::test(start_paused = true)]
async fn an_acknowledged_trade_is_tracked_to_its_close_once_that_is_known() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]);
    let (open, close) = (stage.at(MINUTE + 999), stage.at(CLOSE));
    let script = OpenScript::acknowledged("trade-1");
    let script = script
        .then(stage.at(MINUTE + 3_000), |report| *report = crate::script::running("trade-1", open, close));
    stage.script.opens.push_back(script.ending(close, Outcome::Won, 8));
    let ran = stage.stop(MINUTE + 1_500, Stop::TimeUp).run().await;
    check(&ran, Stop::TimeUp, FIRST_POLL, 1);
}

#[tokio::test(start_paused = true)]
async fn a_settlement_that_waits_for_its_turn_when_the_run_ends_is_told() {
    // The trade answers while a candle of the instant is awaited, and nothing else keeps the run.
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]).bot(eth(), &[]);
    let (open, close) = (stage.at(MINUTE + 999), stage.at(3 * MINUTE - 3_700));
    let script = OpenScript::accepted("trade-1", open, close).ending(close, Outcome::Won, 8);
    stage.script.opens.push_back(script);
    stage.settings.settle_after_ms = 3_900;
    let stage = stage.spell(Which::Candles(eth()), (3 * MINUTE, 4 * MINUTE), Trouble::Hang);
    let ran = stage.stop(2 * MINUTE, Stop::TimeUp).run().await;
    assert_eq!(ran.ended, 3 * MINUTE + 200);
    assert_eq!(ran.settled(), [(3 * MINUTE + 200, 1, Outcome::Won, 800)]);
}

#[tokio::test(start_paused = true)]
async fn the_last_instant_of_the_data_belongs_to_the_run() {
    let slow = Trouble::Slow(Millis::new(700));
    let stage = Stage::paused().await.bot(eth(), &[]).bot(btc(), &[3 * MINUTE]).until(3 * MINUTE);
    let mut stage = stage.spell(Which::Candles(btc()), (3 * MINUTE, 4 * MINUTE), slow);
    let end = stage.at(3 * MINUTE);
    stage.script.opens.push_back(OpenScript::failed(not_sent()));
    let ran = stage.run().await;
    let last: Vec<_> = ran.candles().into_iter().map(|(series, close, ..)| (series, close)).skip(4).collect();
    assert_eq!(last, [(0, 3 * MINUTE), (1, 3 * MINUTE)]);
    assert_eq!((ran.stop(), ran.ended), (Stop::DataEnds(end), 3 * MINUTE + 700));
    assert_eq!(ran.opens(), [(3 * MINUTE, 1)], "it may even open");
    assert_eq!(ran.asked(&Ask::Candles(btc())), [MINUTE, 2 * MINUTE, 3 * MINUTE]);
}

#[tokio::test(start_paused = true)]
async fn the_last_candle_is_told_in_its_turn_although_another_never_comes() {
    let mut stage = Stage::paused().await.bot(eth(), &[]).bot(btc(), &[3 * MINUTE]).until(3 * MINUTE);
    stage.script.opens.push_back(OpenScript::failed(not_sent()));
    let ran = stage.lag(eth(), 3 * MINUTE, 60 * MINUTE).run().await;
    assert_eq!((ran.opens(), ran.refused()), (vec![(3 * MINUTE, 1)], vec![]));
    assert_eq!(ran.ended, 3 * MINUTE + 1_000);
}

#[tokio::test(start_paused = true)]
async fn an_open_on_its_way_is_waited_for_beyond_patience() {
    let stage = stage_with_trade(None).await;
    let stage = stage.spell(Which::Opens(btc()), (0, 2 * MINUTE), Trouble::Hang);
    let ran = stage.stop(MINUTE + 1_000, Stop::TimeUp).run().await;
    check(&ran, Stop::TimeUp, 2 * MINUTE, 0);
    assert_eq!(ran.finished().book.rows()[0].state, IntentState::InDoubt);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_only_a_person_can_lift_ends_the_run_once_nothing_is_open() {
    let signals = [MINUTE, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE];
    let mut stage = Stage::paused().await.bot(btc(), &signals).bot(eth(), &[MINUTE]);
    stage.risk.max_loss_streak = 1;
    // BTCUSDT loses early; ETHUSDT, open until minute 4, could still end the streak, but does not.
    let (open, early, late) = (stage.at(MINUTE + 999), stage.at(110_000), stage.at(200_000));
    let lost = |id: &str, close| OpenScript::accepted(id, open, close).ending(close, Outcome::Lost, -10);
    stage.script.opens.extend([lost("btc-1", early), lost("eth-1", late)]);
    let ran = stage.run().await;
    assert_eq!(ran.refused(), [2, 3, 4].map(|minute| (minute * MINUTE, Rule::LossStreak)));
    assert_eq!((ran.stop(), ran.ended), (Stop::Limit(Rule::LossStreak), 4 * MINUTE));
    assert_eq!(ran.stoppings, [(Stop::Limit(Rule::LossStreak), 0)]);
}

//! Failures that a run survives, and failures that end it.

use crate::journal::Failing;
use crate::prelude::*;
use crate::stage::symbol;
use candlewick_engine::IntentState::{NotSent, Settled};

async fn run_of_closes(stage: Stage, ms: i64, last: i64) -> crate::stage::RunRecord {
    let ran = stage.run_for(ms).await;
    let closes: Vec<i64> = ran.closes().iter().map(|(close, _)| close / MINUTE).collect();
    assert_eq!(closes, (1..=last).collect::<Vec<_>>());
    ran
}

#[tokio::test(start_paused = true)]
async fn failing_journal_ends_the_run_and_opens_nothing_more() {
    // Entries are header, balance and day, then the candle of minute 1, its intent, the other candle, the answer.
    for (entries, opens) in [(0, 0), (3, 0), (4, 0), (5, 0), (6, 1)] {
        let stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]).bot(eth(), &[2 * MINUTE]);
        let stage = stage.with(|stage| stage.record.failing = Failing::AfterEntries(entries));
        let ran = stage.won("trade-1", 1).run_for(3 * MINUTE).await;
        assert!(matches!(ran.result, Err(RuntimeError::Journal(_))), "{entries}");
        assert_eq!(ran.asked_open(btc()).len() + ran.asked_open(eth()).len(), opens, "{entries}");
    }
}

#[tokio::test(start_paused = true)]
async fn full_disk_suspends_opens_and_the_run_continues() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]);
    let ran = stage.with(|stage| stage.record.failing = Failing::Durability).run_for(3 * MINUTE).await;
    assert_eq!(ran.stop(), StopReason::TimeUp);
    assert_eq!(ran.asked_open(btc()), [0; 0], "requests must wait for durable intents");
    let refused = ran.finished().book.refusal_counts();
    assert_eq!(refused.get("Halted"), Some(&2), "{refused:?}");
    assert!(matches!(ran.finished().journal_error, Some(RuntimeError::Journal(_))), "the end must report it");
    assert!(ran.warned("trading is suspended"), "{:?}", ran.warnings);
}

#[tokio::test(start_paused = true)]
async fn endless_snapshot_does_not_block_opens() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 3 * MINUTE]).won("trade-1", 1).won("trade-2", 3);
    let ran = stage.with(|stage| stage.record.failing = Failing::Snapshots).run_for(6 * MINUTE).await;
    assert_eq!((ran.stop(), ran.asked_open(btc()).len()), (StopReason::TimeUp, 2));
    assert!(ran.finished().book.refusal_counts().is_empty(), "{:?}", ran.finished().book.refusal_counts());
    assert!(ran.states().iter().all(|state| *state == Settled));
}

#[tokio::test(start_paused = true)]
async fn stalled_journal_stops_neither_candles_nor_shutdown() {
    let mut stage = Stage::paused().await;
    stage.record.failing = Failing::SilenceAfterEntries(0);
    for name in ["A", "B", "C", "D", "E"] {
        stage = stage.bot(symbol(name), &[2 * MINUTE]);
    }
    let ran = stage.run_for(4 * MINUTE + 30_000).await;
    assert!(ran.closes().iter().all(|(close, at)| at - close < 1_000), "{:?}", ran.closes());
    let handled: Vec<_> = ran.candles().iter().map(|(series, close, ..)| (close / MINUTE, *series)).collect();
    let expected: Vec<_> = (1..=4).flat_map(|minute| [0, 1, 2, 3, 4].map(|index| (minute, index))).collect();
    assert_eq!(handled, expected, "in order, although the hold was over when they arrived");
    assert_eq!(ran.stop(), StopReason::TimeUp);
    assert!(ran.ended < 4 * MINUTE + 70_000, "{}", ran.ended);
    assert!(ran.finished().journal_error.is_some());
    assert!(ran.opens().is_empty());
}

#[tokio::test(start_paused = true)]
async fn tracks_a_trade_on_time_with_a_stalled_journal() {
    for late in 0..15 {
        let close = 2 * MINUTE + 999 + late * 1_000;
        let stage = Stage::paused().await.bot(btc(), &[MINUTE]);
        let stage = stage.trade("trade-1", MINUTE + 999, close, Outcome::Won, 8);
        let stage = stage.with(|stage| stage.record.failing = Failing::SilenceAfterEntries(5));
        let asked_at = close + i64::from(stage.settings.settle_after_ms);
        let ran = stage.run_for(4 * MINUTE).await;
        assert_eq!(ran.opens(), [(MINUTE, 0)]);
        assert_eq!(ran.request_times(&Ask::Trade("trade-1".to_owned())), [asked_at]);
        assert_eq!(ran.settled().iter().map(|(at, ..)| *at).collect::<Vec<_>>(), [asked_at]);
    }
}

#[tokio::test(start_paused = true)]
async fn does_not_send_an_open_delayed_too_long_by_the_journal() {
    let late = r#"{"intent":1,"not_sent":"the intent was saved 1 ms too late for the signal"}"#.to_owned();
    for (slow_ms, stop, expected, is_late) in [
        (3_000, MINUTE + 2_000, NotSent, false),
        (2_000, MINUTE + 3_000, Settled, false),
        (4_000, 4 * MINUTE, Settled, false),
        (5_001, 4 * MINUTE, NotSent, true),
    ] {
        let stage = Stage::paused().await.bot(btc(), &[MINUTE]).won("trade-1", 1);
        let ran = stage.with(|stage| stage.record.delay = Duration::from_millis(slow_ms)).run_for(stop).await;
        assert_eq!(ran.asked_open(btc()).len(), usize::from(expected == Settled), "{slow_ms} ms to write");
        assert_eq!(ran.states(), [expected]);
        assert_eq!(ran.record.notes.contains(&late), is_late, "{:?}", ran.record.notes);
    }
}

#[tokio::test(start_paused = true)]
async fn temporarily_refused_credentials_do_not_end_the_run() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 6 * MINUTE]);
    (stage.settings.wallet_every_s, stage.settings.watch_prices) = (60, true);
    let error = BrokerError::Credentials { text: "Invalid token".to_owned() };
    let stage = stage.trouble_during(Which::All, (MINUTE + 1, 4 * MINUTE + 30_000), Trouble::Fail(error));
    let ran = run_of_closes(stage.won("trade-1", 1).won("trade-2", 6), 7 * MINUTE + 30_000, 7).await;
    assert_eq!(ran.opens(), [(MINUTE, 0), (6 * MINUTE, 0)]);
    let outcomes: Vec<_> = ran.settled().iter().map(|(_, intent, outcome, _)| (*intent, *outcome)).collect();
    assert_eq!(outcomes, [(1, Outcome::Won), (2, Outcome::Won)]);
    assert!(ran.warned("Invalid token"));
}

#[tokio::test(start_paused = true)]
async fn retries_a_broken_request() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]).won("trade-1", 1);
    (stage.settings.wallet_every_s, stage.settings.watch_prices) = (60, true);
    let stage = stage.balances(&[(0, 1_000), (MINUTE + 999, 990), (2 * MINUTE + 999, 1_008)]);
    let stage = stage.trouble_during(Which::All, (MINUTE + 1, 2 * MINUTE + 20_000), Trouble::Panic);
    let ran = run_of_closes(stage, 4 * MINUTE + 30_000, 4).await;
    assert_eq!(ran.settled().len(), 1);
    assert!(ran.request_times(&Ask::Balances).ends_with(&[4 * MINUTE, 4 * MINUTE + 30_000]));
    assert_eq!(ran.request_times(&Ask::Price(btc())).last(), Some(&(4 * MINUTE + 30_000)));
}

#[tokio::test(start_paused = true)]
async fn unanswered_start_fails_or_is_interrupted_without_hanging() {
    let stage = async || Stage::paused().await.bot(btc(), &[]).hang(Which::All, (0, 1));
    let ran = stage().await.run().await;
    assert!(matches!(ran.result, Err(RuntimeError::Venue { .. })));
    assert_eq!(ran.ended, MINUTE);
    let ran = stage().await.stop(2_000, StopReason::Interrupted).run().await;
    assert_eq!((ran.stop(), ran.ended), (StopReason::Interrupted, 2_000));
}

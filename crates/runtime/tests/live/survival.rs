//! What a run survives, and what it does not.

use crate::journal::Failing;
use crate::prelude::*;
use crate::stage::symbol;
use candlewick_engine::IntentState::{NotSent, Settled};

async fn run_of_closes(stage: Stage, ms: i64, last: i64) -> crate::stage::Ran {
    let ran = stage.run_for(ms).await;
    let closes: Vec<i64> = ran.closes().iter().map(|(close, _)| close / MINUTE).collect();
    assert_eq!(closes, (1..=last).collect::<Vec<_>>());
    ran
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_fails_ends_the_run_and_nothing_is_opened_after() {
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
async fn a_journal_without_room_suspends_opens_and_the_run_goes_on() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]);
    let ran = stage.with(|stage| stage.record.failing = Failing::Durability).run_for(3 * MINUTE).await;
    assert_eq!(ran.stop(), Stop::TimeUp);
    assert_eq!(ran.asked_open(btc()), [0; 0], "nothing leaves that is not durable");
    let refused = ran.finished().book.refused();
    assert_eq!(refused.get("Halted"), Some(&2), "{refused:?}");
    assert!(matches!(ran.finished().not_durable, Some(RuntimeError::Journal(_))), "the end says so");
    assert!(ran.warned("opens are suspended"), "{:?}", ran.warnings);
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_without_end_keeps_no_trade_from_being_opened() {
    let stage = Stage::paused().await.bot(btc(), &[MINUTE, 3 * MINUTE]).won("trade-1", 1).won("trade-2", 3);
    let ran = stage.with(|stage| stage.record.failing = Failing::Snapshots).run_for(6 * MINUTE).await;
    assert_eq!((ran.stop(), ran.asked_open(btc()).len()), (Stop::TimeUp, 2));
    assert!(ran.finished().book.refused().is_empty(), "{:?}", ran.finished().book.refused());
    assert!(ran.states().iter().all(|state| *state == Settled));
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_does_not_answer_neither_stops_the_candles_nor_the_end() {
    let mut stage = Stage::paused().await;
    stage.record.failing = Failing::SilenceAfterEntries(0);
    for name in ["A", "B", "C", "D", "E"] {
        stage = stage.bot(symbol(name), &[2 * MINUTE]);
    }
    let ran = stage.run_for(4 * MINUTE + 30_000).await;
    assert!(ran.closes().iter().all(|(close, at)| at - close < 1_000), "{:?}", ran.closes());
    let handled: Vec<_> = ran.candles().iter().map(|(series, close, ..)| (close / MINUTE, *series)).collect();
    let expected: Vec<_> =
        (1..=4).flat_map(|minute| [0, 1, 2, 3, 4].map(|series| (minute, series))).collect();
    assert_eq!(handled, expected, "in order, although the hold was over when they came");
    assert_eq!(ran.stop(), Stop::TimeUp);
    assert!(ran.ended < 4 * MINUTE + 70_000, "{}", ran.ended);
    assert!(ran.finished().not_durable.is_some());
    assert!(ran.opens().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_trade_is_tracked_on_time_while_the_journal_does_not_answer() {
    for late in 0..15 {
        let close = 2 * MINUTE + 999 + late * 1_000;
        let stage = Stage::paused().await.bot(btc(), &[MINUTE]);
        let stage = stage.trade("trade-1", MINUTE + 999, close, Outcome::Won, 8);
        let stage = stage.with(|stage| stage.record.failing = Failing::SilenceAfterEntries(5));
        let asked_at = close + i64::from(stage.settings.settle_after_ms);
        let ran = stage.run_for(4 * MINUTE).await;
        assert_eq!(ran.opens(), [(MINUTE, 0)]);
        assert_eq!(ran.asked(&Ask::Trade("trade-1".to_owned())), [asked_at]);
        let settled: Vec<_> = ran.settled().iter().map(|(at, ..)| *at).collect();
        assert_eq!(settled, [asked_at]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_that_waits_for_the_journal_until_the_end_or_too_long_for_its_signal_is_not_sent() {
    let late = r#"{"intent":1,"not_sent":"its intent was durable 1 ms too late for its signal"}"#.to_owned();
    for (slow_ms, stop, expected, is_late) in [
        (3_000, MINUTE + 2_000, NotSent, false),
        (2_000, MINUTE + 3_000, Settled, false),
        (4_000, 4 * MINUTE, Settled, false),
        (5_001, 4 * MINUTE, NotSent, true),
    ] {
        let stage = Stage::paused().await.bot(btc(), &[MINUTE]).won("trade-1", 1);
        let stage = stage.with(|stage| stage.record.delay = Duration::from_millis(slow_ms));
        let ran = stage.run_for(stop).await;
        assert_eq!(ran.asked_open(btc()).len(), usize::from(expected == Settled), "{slow_ms} ms to write");
        assert_eq!(ran.states(), [expected]);
        assert_eq!(ran.record.notes.contains(&late), is_late, "{:?}", ran.record.notes);
    }
}

#[tokio::test(start_paused = true)]
async fn a_venue_that_does_not_accept_the_credentials_for_a_while_does_not_end_the_run() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 6 * MINUTE]);
    (stage.settings.wallet_every_s, stage.settings.watch_prices) = (60, true);
    let error = BrokerError::Credentials { text: "Invalid token".to_owned() };
    let stage = stage.spell(Which::All, (MINUTE + 1, 4 * MINUTE + 30_000), Trouble::Fail(error));
    let stage = stage.won("trade-1", 1).won("trade-2", 6);
    let ran = run_of_closes(stage, 7 * MINUTE + 30_000, 7).await;
    assert_eq!(ran.opens(), [(MINUTE, 0), (6 * MINUTE, 0)]);
    let outcomes: Vec<_> = ran.settled().iter().map(|(_, intent, outcome, _)| (*intent, *outcome)).collect();
    assert_eq!(outcomes, [(1, Outcome::Won), (2, Outcome::Won)]);
    assert!(ran.warned("Invalid token"));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_breaks_is_asked_again() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]).won("trade-1", 1);
    (stage.settings.wallet_every_s, stage.settings.watch_prices) = (60, true);
    let stage = stage.balances(&[(0, 1_000), (MINUTE + 999, 990), (2 * MINUTE + 999, 1_008)]);
    let stage = stage.spell(Which::All, (MINUTE + 1, 2 * MINUTE + 20_000), Trouble::Panic);
    let ran = run_of_closes(stage, 4 * MINUTE + 30_000, 4).await;
    assert_eq!(ran.settled().len(), 1);
    assert!(ran.asked(&Ask::Balances).ends_with(&[4 * MINUTE, 4 * MINUTE + 30_000]));
    assert_eq!(ran.asked(&Ask::Price(btc())).last(), Some(&(4 * MINUTE + 30_000)));
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_not_answered_fails_or_is_interrupted_and_does_not_hang() {
    let stage = async || Stage::paused().await.bot(btc(), &[]).hang(Which::All, (0, 1));
    let ran = stage().await.run().await;
    assert!(matches!(ran.result, Err(RuntimeError::Venue { .. })));
    assert_eq!(ran.ended, MINUTE);
    let ran = stage().await.stop(2_000, Stop::Interrupted).run().await;
    assert_eq!((ran.stop(), ran.ended), (Stop::Interrupted, 2_000));
}

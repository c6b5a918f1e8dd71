//! What a run survives, and what it does not.

use crate::journal::Failing;
use crate::script::{Ask, OpenScript, Trouble, Which};
use crate::stage::{Stage, btc, eth};
use candlewick_broker::BrokerError;
use candlewick_engine::IntentState;
use candlewick_runtime::{RuntimeError, Stop};
use candlewick_sdk::Outcome;

const MINUTE: i64 = 60_000;

fn accepted(stage: &Stage, id: &str, minute: i64) -> OpenScript {
    let (open, close) = (stage.at(minute * MINUTE + 999), stage.at((minute + 1) * MINUTE + 999));
    OpenScript::accepted(id, open, close).ending(close, Outcome::Won, 8)
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_fails_ends_the_run_and_nothing_is_opened_after() {
    // Entries are header, balance and day, then the candle of minute 1, its intent, the other candle, the answer.
    for (failing, opens) in [
        (Failing::AfterEntries(0), 0),
        (Failing::AfterEntries(3), 0),
        (Failing::AfterEntries(4), 0),
        (Failing::AfterEntries(5), 0),
        (Failing::AfterEntries(6), 1),
    ] {
        let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]).bot(eth(), &[2 * MINUTE]);
        let script = accepted(&stage, "trade-1", 1);
        stage.script.opens.push_back(script);
        stage.failing = failing;
        let ran = stage.stop(3 * MINUTE, Stop::TimeUp).run().await;
        assert!(matches!(ran.result, Err(RuntimeError::Journal(_))), "{failing:?}");
        let asked = ran.asked(&Ask::Open(btc())).len() + ran.asked(&Ask::Open(eth())).len();
        assert_eq!(asked, opens, "{failing:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_journal_without_room_suspends_opens_and_the_run_goes_on() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 2 * MINUTE]);
    stage.failing = Failing::Durability;
    let ran = stage.stop(3 * MINUTE, Stop::TimeUp).run().await;
    assert_eq!(ran.stop(), Stop::TimeUp);
    assert_eq!(ran.asked(&Ask::Open(btc())), Vec::<i64>::new(), "nothing leaves that is not durable");
    let refused = ran.finished().book.refused();
    assert_eq!(refused.get("Halted"), Some(&2), "{refused:?}");
    assert!(matches!(ran.finished().not_durable, Some(RuntimeError::Journal(_))), "the end says so");
    assert!(
        ran.warnings.iter().any(|text| text.contains("nothing is opened until it can")),
        "{:?}",
        ran.warnings
    );
}

/// Every open of this run finds the journal at a snapshot that has no end.
#[tokio::test(start_paused = true)]
async fn a_snapshot_without_end_keeps_no_trade_from_being_opened() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 3 * MINUTE]);
    for (id, minute) in [("trade-1", 1), ("trade-2", 3)] {
        let script = accepted(&stage, id, minute);
        stage.script.opens.push_back(script);
    }
    stage.failing = Failing::Snapshots;
    let ran = stage.stop(6 * MINUTE, Stop::TimeUp).run().await;
    assert_eq!((ran.stop(), ran.asked(&Ask::Open(btc())).len()), (Stop::TimeUp, 2));
    assert!(ran.finished().book.refused().is_empty(), "{:?}", ran.finished().book.refused());
    assert!(ran.finished().book.rows().iter().all(|row| row.state == IntentState::Settled));
}

#[tokio::test(start_paused = true)]
async fn a_journal_that_does_not_answer_neither_stops_the_candles_nor_the_end() {
    let series = ["A", "B", "C", "D", "E"].map(crate::stage::symbol);
    let mut stage = Stage::paused().await;
    for symbol in series {
        stage = stage.bot(symbol, &[2 * MINUTE]);
    }
    stage.failing = Failing::Silence;
    let ran = stage.stop(4 * MINUTE + 30_000, Stop::TimeUp).run().await;
    let late: Vec<_> = ran.candles().into_iter().filter(|(_, close, at, _)| at - close >= 1_000).collect();
    assert_eq!(late, []);
    let handled: Vec<_> =
        ran.candles().into_iter().map(|(series, close, ..)| (close / MINUTE, series)).collect();
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
    // From the answer on, at every second of the journal's rhythm of ten seconds' waiting and five of peace.
    for late in 0..15 {
        let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]);
        let (open, close) = (stage.at(MINUTE + 999), stage.at(2 * MINUTE + 999 + late * 1_000));
        let script = OpenScript::accepted("trade-1", open, close).ending(close, Outcome::Won, 8);
        stage.script.opens.push_back(script);
        stage.failing = Failing::SilenceAfterEntries(5);
        let asked_at = 2 * MINUTE + 999 + late * 1_000 + i64::from(stage.settings.settle_after_ms);
        let ran = stage.stop(4 * MINUTE, Stop::TimeUp).run().await;
        assert_eq!(ran.opens(), [(MINUTE, 0)]);
        assert_eq!(ran.asked(&Ask::Trade("trade-1".to_owned())), [asked_at]);
        let settled: Vec<_> = ran.settled().iter().map(|(at, ..)| *at).collect();
        assert_eq!(settled, [asked_at]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_that_waits_for_the_journal_when_the_run_is_to_end_is_not_sent() {
    for (slow_ms, stop_ms, sent) in [(3_000, 2_000, 0), (2_000, 3_000, 1)] {
        let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]);
        let script = accepted(&stage, "trade-1", 1);
        stage.script.opens.push_back(script);
        stage.journal_delay = std::time::Duration::from_millis(slow_ms);
        let ran = stage.stop(MINUTE + stop_ms, Stop::TimeUp).run().await;
        assert_eq!(
            ran.asked(&Ask::Open(btc())).len(),
            sent,
            "{slow_ms} ms to write, stopped after {stop_ms} ms"
        );
        let states: Vec<_> = ran.finished().book.rows().iter().map(|row| row.state).collect();
        let expected = if sent == 0 { IntentState::NotSent } else { IntentState::Settled };
        assert_eq!(states, [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_open_whose_signal_is_late_once_the_journal_is_kept_is_not_sent() {
    for (slow_ms, expected) in [(4_000, IntentState::Settled), (5_001, IntentState::NotSent)] {
        let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]);
        let script = accepted(&stage, "trade-1", 1);
        stage.script.opens.push_back(script);
        stage.journal_delay = std::time::Duration::from_millis(slow_ms);
        let ran = stage.stop(4 * MINUTE, Stop::TimeUp).run().await;
        let is_sent = expected == IntentState::Settled;
        assert_eq!(ran.asked(&Ask::Open(btc())).len(), usize::from(is_sent), "{slow_ms} ms to write");
        let states: Vec<_> = ran.finished().book.rows().iter().map(|row| row.state).collect();
        assert_eq!(states, [expected]);
        let reason = "its intent was durable 1 ms too late for its signal";
        let noted = format!(r#"{{"intent":1,"not_sent":"{reason}"}}"#);
        assert_eq!(ran.notes.contains(&noted), !is_sent, "{:?}", ran.notes);
    }
}

#[tokio::test(start_paused = true)]
async fn a_venue_that_does_not_accept_the_credentials_for_a_while_does_not_end_the_run() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE, 6 * MINUTE]);
    stage.settings.wallet_every_s = 60;
    stage.settings.watch_prices = true;
    let scripts = [accepted(&stage, "trade-1", 1), accepted(&stage, "trade-2", 6)];
    stage.script.opens.extend(scripts);
    let error = BrokerError::Credentials { text: "Invalid token".to_owned() };
    let stage = stage.spell(Which::All, (MINUTE + 1, 4 * MINUTE + 30_000), Trouble::Fail(error));
    let ran = stage.stop(7 * MINUTE + 30_000, Stop::TimeUp).run().await;
    assert_eq!(ran.opens(), [(MINUTE, 0), (6 * MINUTE, 0)]);
    let outcomes: Vec<_> = ran.settled().iter().map(|(_, intent, outcome, _)| (*intent, *outcome)).collect();
    assert_eq!(outcomes, [(1, Outcome::Won), (2, Outcome::Won)]);
    let closes: Vec<i64> = ran.candles().iter().map(|(_, close, ..)| close / MINUTE).collect();
    assert_eq!(closes, [1, 2, 3, 4, 5, 6, 7]);
    assert!(ran.warnings.iter().any(|text| text.contains("Invalid token")));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_breaks_is_asked_again() {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]);
    stage.settings.wallet_every_s = 60;
    stage.settings.watch_prices = true;
    let script = accepted(&stage, "trade-1", 1);
    stage.script.opens.push_back(script);
    let balances = [(0, 1_000), (MINUTE + 999, 990), (2 * MINUTE + 999, 1_008)];
    stage.script.balances = balances.map(|(at, minor)| (stage.at(at), minor)).to_vec();
    let stage = stage.spell(Which::All, (MINUTE + 1, 2 * MINUTE + 20_000), Trouble::Panic);
    let ran = stage.stop(4 * MINUTE + 30_000, Stop::TimeUp).run().await;
    let closes: Vec<i64> = ran.candles().iter().map(|(_, close, ..)| close / MINUTE).collect();
    assert_eq!(closes, [1, 2, 3, 4]);
    assert_eq!(ran.settled().len(), 1);
    assert!(ran.asked(&Ask::Balances).ends_with(&[4 * MINUTE, 4 * MINUTE + 30_000]));
    assert_eq!(ran.asked(&Ask::Price(btc())).last(), Some(&(4 * MINUTE + 30_000)));
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_not_answered_fails_and_does_not_hang() {
    let stage = Stage::paused().await.bot(btc(), &[]);
    let ran = stage.spell(Which::All, (0, 1), Trouble::Hang).run().await;
    assert!(matches!(ran.result, Err(RuntimeError::Venue { .. })));
    assert_eq!(ran.ended, MINUTE);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_a_start_that_is_not_answered() {
    let stage = Stage::paused().await.bot(btc(), &[]).spell(Which::All, (0, 1), Trouble::Hang);
    let ran = stage.stop(2_000, Stop::Interrupted).run().await;
    assert_eq!((ran.stop(), ran.ended), (Stop::Interrupted, 2_000));
}

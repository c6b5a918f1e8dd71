//! Lock-step: venue time stops while anything is unanswered, and facts are handled at exactly their moments.

use crate::prelude::*;
use candlewick_broker::{Rejection, RejectionReason};
use candlewick_engine::IntentId;

fn slow_everywhere(stage: Stage) -> Stage {
    let always = (0, 99 * MINUTE);
    let stage = stage.slow(Which::Candles(btc()), always, 1_500).slow(Which::Opens(btc()), always, 900);
    stage.slow(Which::Trades, always, 2_500)
}

fn minutes(last: i64) -> Vec<i64> {
    (1..=last).map(|minute| minute * MINUTE).collect()
}

#[tokio::test(start_paused = true)]
async fn delivers_answers_at_venue_time_and_settlements_when_known() {
    for is_slow in [false, true] {
        let stage = Stage::lock_step().bot(btc(), &[MINUTE, 2 * MINUTE]).bot(eth(), &[MINUTE]);
        let (arrival, open, close) = (stage.at(62_000), stage.at(62_999), stage.at(122_999));
        let ending = |id: &str| OpenScript::accepted(id, open, close).ending(close, Outcome::Won, 8);
        let stage = stage.open(ending("btc-1").arriving(arrival)).open(ending("eth-1").arriving(arrival));
        let stage = if is_slow { slow_everywhere(stage) } else { stage };
        let ran = stage.until(4 * MINUTE).run().await;
        let is_opened = |kind: &EventKind| matches!(kind, EventKind::Opened(_)).then(|| kind.intent());
        assert_eq!(ran.picked(is_opened), [1, 2].map(|intent| (62_000, 62_000, Some(IntentId::new(intent)))));
        let known = 122_999 + 4_000;
        assert_eq!(ran.settled(), [(known, 1, Outcome::Won, 800), (known, 2, Outcome::Won, 800)]);
        assert_eq!(ran.refused(), [(2 * MINUTE, Rule::MaxOpenTradesPerSymbol)]);
        let candles: Vec<_> = ran.candles().iter().map(|(id, close, at, _)| (*id, *close, *at)).collect();
        let expected: Vec<_> = minutes(4).into_iter().flat_map(|at| [0, 1].map(|id| (id, at, at))).collect();
        assert_eq!(candles, expected);
        assert_eq!(ran.ended, 4 * MINUTE);
    }
}

#[tokio::test(start_paused = true)]
async fn rejection_takes_effect_at_the_arrival_of_the_request() {
    let stage = Stage::lock_step().bot(btc(), &[MINUTE, 2 * MINUTE]);
    let venue_time = Some(stage.at(62_000));
    let rejection = Rejection { reason: RejectionReason::NoPrice, text: "No price".to_owned(), venue_time };
    let rejected = OpenOutcome::Rejected(rejection);
    let ran = stage.failed_open(rejected.clone()).failed_open(rejected).until(3 * MINUTE).run().await;
    let rejected = ran.picked(|kind| matches!(kind, EventKind::Rejected { .. }).then_some(()));
    assert_eq!(rejected, [(62_000, 62_000, ()), (62_000, 120_000, ())]);
}

#[tokio::test(start_paused = true)]
async fn simultaneous_settlement_and_candle_keep_the_documented_order() {
    let mut stage = Stage::lock_step().bot(btc(), &[MINUTE, 3 * MINUTE]);
    stage.wants_prices = true;
    let stage = stage.trade("btc-1", 62_999, 3 * MINUTE - 4_000, Outcome::Won, 8).failed_open(not_sent());
    let ran = stage.slow(Which::Trades, (0, 9 * MINUTE), 5_000).until(3 * MINUTE).run().await;
    let facts = ran.picked(|kind| match kind {
        EventKind::Settled(_) => Some("settled"),
        EventKind::Candle { .. } => Some("candle"),
        EventKind::Price { .. } => Some("price"),
        _ => None,
    });
    let order: Vec<_> = facts.iter().filter(|(at, ..)| *at == 3 * MINUTE).map(|(.., kind)| *kind).collect();
    assert_eq!(order, ["settled", "candle", "price"]);
    assert_eq!(ran.opens(), [(MINUTE, 0), (3 * MINUTE, 0)]);
}

#[tokio::test(start_paused = true)]
async fn tracks_an_open_trade_beyond_the_end_of_the_data() {
    let stage = Stage::lock_step().bot(btc(), &[2 * MINUTE]);
    let end = stage.at(2 * MINUTE);
    let (open, close) = (stage.at(122_999), stage.at(182_999));
    let script = OpenScript::accepted("btc-1", open, close).arriving(stage.at(122_000));
    let ran = stage.open(script.ending(close, Outcome::Lost, -10)).until(2 * MINUTE).run().await;
    assert_eq!((ran.stop(), ran.ended), (StopReason::DataEnds(end), 186_999));
    assert_eq!(ran.settled(), [(186_999, 1, Outcome::Lost, -1_000)]);
}

#[tokio::test(start_paused = true)]
async fn stop_order_keeps_the_clock_in_lock_step() {
    let stage = Stage::lock_step().bot(btc(), &[MINUTE, 2 * MINUTE]);
    let ran = slow_everywhere(stage.trade("btc-1", 60_999, 180_999, Outcome::Won, 8)).run_for(90_000).await;
    assert_eq!(ran.refused(), [(2 * MINUTE, Rule::Halted)]);
    assert_eq!((ran.ended, ran.settled().len()), (184_999, 1));
}

#[tokio::test(start_paused = true)]
async fn requests_each_moment_once_on_a_shared_clock() {
    // The journal renews its lease every five seconds of real time; meanwhile the other participant releases the clock.
    let mut stage = Stage::lock_step().bot(btc(), &[]).until(1_440 * MINUTE);
    stage.record.delay = Duration::from_millis(100);
    let (clock, start) = (Arc::clone(&stage.clock), stage.at(30_000));
    let other = tokio::spawn(async move {
        for step in 0..4 {
            let held = clock.sleep_until(start + Millis::MINUTE * 7 * step).await;
            tokio::time::sleep(Duration::from_millis(5_050)).await;
            drop(held);
        }
    });
    let ran = stage.run().await;
    assert!(other.is_finished());
    assert_eq!(ran.request_times(&Ask::Candles(btc())), minutes(1_440));
}

//! An open of a bot with an entry delay: it leaves when that is over, or not at all.

use crate::script::{Ask, OpenScript};
use crate::stage::{Ran, Stage, btc};
use candlewick_engine::IntentState;
use candlewick_runtime::Stop;
use candlewick_sdk::Outcome;

const MINUTE: i64 = 60_000;

/// A bot that buys at the close of minute 1 and has its trade asked for 20 seconds later.
async fn run(journal_ms: u64, stop: i64) -> Ran {
    let mut stage = Stage::paused().await.bot(btc(), &[MINUTE]).entering_after(20);
    let (open, close) = (stage.at(MINUTE + 20_999), stage.at(2 * MINUTE + 20_999));
    stage.script.opens.push_back(OpenScript::accepted("trade-1", open, close).ending(close, Outcome::Won, 8));
    stage.journal_delay = std::time::Duration::from_millis(journal_ms);
    stage.stop(stop, Stop::TimeUp).run().await
}

fn states(ran: &Ran) -> Vec<IntentState> {
    ran.finished().book.rows().iter().map(|row| row.state).collect()
}

#[tokio::test(start_paused = true)]
async fn an_open_with_an_entry_delay_leaves_when_that_is_over() {
    for journal_ms in [0, 4_000] {
        let ran = run(journal_ms, 4 * MINUTE).await;
        assert_eq!(ran.opens(), [(MINUTE, 0)], "decided at the close");
        assert_eq!(ran.asked(&Ask::Open(btc())), [MINUTE + 20_000], "{journal_ms} ms to write");
        assert_eq!(states(&ran), [IntentState::Settled]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_stops_before_the_delay_is_over_does_not_send_the_open() {
    let ran = run(0, MINUTE + 10_000).await;
    assert_eq!(ran.asked(&Ask::Open(btc())), [0; 0]);
    assert_eq!(states(&ran), [IntentState::NotSent]);
    let noted = r#"{"intent":1,"not_sent":"the run was about to end"}"#.to_owned();
    assert!(ran.notes.contains(&noted), "{:?}", ran.notes);
}

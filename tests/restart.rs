//! A second run on a journal.
#![cfg(unix)]

use crate::resolve::{crashed, crashed_demo};
use crate::two_runs;
use serde_json::json;

#[test]
fn restart_after_a_clean_end_trades_on_and_parity_replays_both_runs() {
    two_runs::check("run.db", &[], |_| ());
}

/// Trades of a venue in another process outlive the bot.
#[test]
fn open_trades_of_an_embedded_venue_are_lost_with_it() {
    for (folder, journal, lost) in
        [(crashed(), "crashed.db", json!([2, 3])), (crashed_demo(), "demo.db", json!([]))]
    {
        let status = folder.run(&["status", "--journal", journal, "--json"]).json();
        assert_eq!((&status["in_flight"], &status["open"]), (&json!([3]), &json!([2])));
        assert_eq!(status["lost_with_venue"], lost);
        let again = folder.run(&["live", "--sandbox", "--journal", journal]);
        again.fails(2, &[journal, "--journal"]);
    }
}

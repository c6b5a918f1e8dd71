//! A run that ends and begins again on its journal.
#![cfg(unix)]

use crate::resolve::{crashed, crashed_demo};
use crate::two_runs;
use serde_json::json;

#[test]
fn a_run_after_a_clean_end_trades_on_and_both_are_replayed() {
    two_runs::check("run.db", &[], |_| ());
}

/// A venue of its own outlives the bot: of its trades nothing is said to be lost.
#[test]
fn what_an_embedded_venue_took_with_it_is_said_to_be_lost() {
    let (sandbox, demo) = (crashed(), crashed_demo());
    for (folder, journal, lost) in [(&sandbox, "crashed.db", json!([2, 3])), (&demo, "demo.db", json!([]))] {
        let is_lost = lost != json!([]);
        let status = folder.run(&["status", "--journal", journal, "--json"]).json();
        assert_eq!((&status["in_flight"], &status["open"]), (&json!([3]), &json!([2])));
        assert_eq!(status["lost_with_venue"], lost);
        let text = folder.run(&["status", "--journal", journal]).stdout;
        let said = "the embedded venue ended with its process, and with it trades 2, 3";
        assert_eq!(text.contains(said), is_lost, "{text}");
        let again = folder.run(&["live", "--sandbox", "--journal", journal]);
        again.fails(2, &["has runs already", "name another journal with --journal"]);
        let said = "the 2 trades that were open when it ended are lost with it (20";
        assert_eq!(again.stderr.contains(said), is_lost, "{}", again.stderr);
    }
}

//! Audits of a live session: each looks at something while the venue keeps its word, and tells when it does not.

use crate::recording::{folder, record};
use serde_json::Value;

/// Audits that look at something in every session with trades and polled prices.
const AT_WORK: [&str; 6] = ["terms", "settlement", "wallet", "price", "revision", "payout"];

/// Everything is asked for, also what no strategy of the recorded bots wants.
const WATCHFUL: &str = "[runtime]\nwatch_prices = true\nprice_every_ms = 1000\nwallet_every_s = 10\n";

fn audits(faults: Option<&str>) -> (Value, Value) {
    let folder = folder().with("watchful.toml", WATCHFUL);
    let mut arguments = vec!["--speed", "60", "--for", "12s", "--config", "watchful.toml"];
    arguments.extend(faults.into_iter().flat_map(|profile| ["--faults", profile]));
    let live = record(&folder, &arguments);
    assert_eq!(live.code, 0, "{}", live.stderr);
    let report = folder.run(&["report", "--journal", "run.db", "--json"]).json();
    (live.json(), report)
}

#[test]
fn a_venue_that_keeps_its_word_is_looked_at_by_every_audit_and_found_right() {
    let (live, report) = audits(None);
    for audit in AT_WORK {
        let tally = &live["audits"][audit];
        assert!(tally["checked"].as_u64().unwrap_or(0) > 0, "{audit}: {live}");
        assert_eq!(tally["findings"], 0, "{audit}: {live}");
    }
    assert_eq!(report["audit_findings"], Value::Null, "{report}");
}

#[test]
fn what_the_venue_sends_beside_its_contract_is_counted_live_and_in_the_report() {
    let (live, report) = audits(Some("unknown-values:1"));
    let found = live["audits"]["schema"]["findings"].as_u64().unwrap_or(0);
    assert!(found > 0, "{live}");
    assert_eq!(report["audit_findings"]["schema"], found, "{report}");
}

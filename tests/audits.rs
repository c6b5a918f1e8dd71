//! Audits of a live session, with an honest venue and with undocumented fields.

use crate::candlewick::last_document;
use crate::recording::{folder, record};
use serde_json::Value;

const AUDITS: [&str; 6] = ["terms", "settlement", "wallet", "price", "revision", "payout"];
const WATCHING: &str = "[runtime]\nwatch_prices = true\nprice_every_ms = 1000\nwallet_every_s = 10\n";

/// Durations of a session; on a busy machine with nothing to audit it is repeated for longer.
const DURATIONS: [&str; 3] = ["12s", "40s", "120s"];

fn audits(span: &str, more: &str, faults: &[&str], code: i32) -> (Value, Value) {
    let folder = folder().with("watchful.toml", &format!("{WATCHING}{more}"));
    let arguments = [&["--speed", "60", "--for", span, "--config", "watchful.toml"], faults].concat();
    let live = record(&folder, &arguments);
    assert_eq!(live.code, code, "{}", live.stderr);
    let report = folder.run(&["report", "--journal", "run.db", "--json"]).json();
    let live = serde_json::from_str(last_document(&live.stdout)).expect("every exit code needs one document");
    (live, report)
}

#[test]
fn honest_venue_passes_every_audit() {
    let is_checked = |live: &Value, audit: &str| live["audits"][audit]["checked"].as_u64() > Some(0);
    let mut sessions = DURATIONS.iter().map(|span| audits(span, "", &[], 0));
    let (live, report) = sessions
        .find(|(live, _)| AUDITS.iter().all(|audit| is_checked(live, audit)))
        .expect("every audit checks something");
    for audit in AUDITS {
        assert_eq!(live["audits"][audit]["findings"], 0, "{audit}: {live}");
    }
    let settlements = live["audits"]["settlement"]["checked"].as_u64();
    assert!(settlements > live["trades"].as_u64(), "prices are compared with their records as well: {live}");
    assert_eq!(report["audit_findings"], Value::Null, "{report}");
}

#[test]
fn counts_undocumented_venue_fields_live_and_in_the_report() {
    // The venue reports no trade as ended, and nothing waits for that.
    let (live, report) = audits(DURATIONS[0], "stop_patience_s = 1\n", &["--faults", "unknown-values:1"], 4);
    let found = live["audits"]["schema"]["findings"].as_u64().unwrap_or(0);
    assert!(found > 0, "{live}");
    assert_eq!(report["audit_findings"]["schema"], found, "{report}");
}

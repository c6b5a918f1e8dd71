//! A trade that the venue accepted and lost: the operator settles it once the venue's list is reliable.
#![cfg(unix)]

use crate::believed::{end_in_time, folder_at};
use crate::candlewick::{Folder, Run};
use crate::lying_venue::{LyingVenue, Place, Tell};
use candlewick_broker::clock::{Clock as _, SystemClock};
use candlewick_sdk::Millis;
use serde_json::{Value, json};
use std::time::Duration;

const LOSES: Tell = |place, _, record| match place {
    Place::ById(_) if record["result"] == "WON" => *record = Value::Null,
    Place::Listed if record["result"] == "WON" => *record = json!([]),
    _ => {}
};

const KEEPS: Tell = |place, _, record| {
    if matches!(place, Place::ById(_) | Place::Listed) {
        (record["status"], record["result"], record["pnl"]) = (json!("OPEN"), json!("PENDING"), json!(0));
    }
};

fn left_open(tell: Tell) -> (Folder, LyingVenue) {
    let venue = LyingVenue::start(tell);
    let folder = folder_at(&venue.url, 1);
    let patient = folder.read("bot.toml").replace("missing_trade_s = 1\n", "missing_trade_s = 600\n");
    let folder = folder.with("patient.toml", &patient);
    for span in ["4s", "20s", "60s"] {
        let arguments = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--for", span];
        end_in_time(folder.command(&arguments), "loses a trade");
        if venue.opens() > 0 {
            break;
        }
    }
    assert_eq!(venue.opens(), 1);
    (folder, venue)
}

fn resolve(folder: &Folder, config: &str, more: &[&str]) -> Run {
    folder.run(&[&["resolve", "1", "--json", "--journal", "run.db", "--config", config], more].concat())
}

fn query_json(folder: &Folder, command: &str) -> Value {
    folder.run(&[command, "--config", "bot.toml", "--journal", "run.db", "--json"]).json()
}

fn check_too_soon(folder: &Folder) {
    let refused = resolve(folder, "patient.toml", &["--settled", "lost"]);
    let close = query_json(folder, "trades")[0]["close_time"].as_i64().unwrap();
    refused.fails(2, &["trade-1", &candlewick_records::format_utc(Millis::new(close + 500 + 600_000))]);
    while SystemClock::new().now().get() <= close + 500 + 1_000 {
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn operator_settles_a_trade_lost_by_the_venue() {
    let (folder, _venue) = left_open(LOSES);
    let settle = |outcome: &str| resolve(&folder, "bot.toml", &["--settled", outcome]);
    settle("maybe").fails(2, &["maybe"]);
    resolve(&folder, "bot.toml", &["--not-opened"]).fails(2, &["trade #1"]);
    check_too_soon(&folder);
    assert_eq!(settle("lost").json(), json!({"resolved": 1, "bot_runs": false, "state": null}));
    settle("won").fails(2, &["trade #1"]);
    let trade = &query_json(&folder, "trades")[0];
    assert_eq!((&trade["state"], &trade["result"]), (&json!("settled"), &json!("LOST")));
    assert_eq!((&trade["pnl"], &trade["settled_by_person"]), (&json!(-10.0), &json!(true)));
    let status = query_json(&folder, "status");
    assert_eq!((&status["settled_by_person"], &status["open_stakes"]), (&json!([1]), &json!(0.0)));
    let verdict = &status["verdicts"][0];
    assert_eq!((&verdict["settled_by_person"], &verdict["trades"]), (&json!(1), &json!(0)), "{verdict}");
    assert_eq!(query_json(&folder, "parity")["ok"], true);
}

#[test]
fn operator_cannot_settle_a_trade_the_venue_still_has() {
    let (folder, _venue) = left_open(KEEPS);
    check_too_soon(&folder);
    resolve(&folder, "bot.toml", &["--settled", "lost"]).fails(2, &["trade-1"]);
    assert_eq!(query_json(&folder, "trades")[0]["state"], "open");
}

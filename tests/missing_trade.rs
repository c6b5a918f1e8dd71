//! A trade that the venue accepted and no longer has: a person says how it ended, with a bot that runs and without one.
#![cfg(unix)]

use crate::believed::{BOT, end_in_time};
use crate::candlewick::Folder;
use crate::lying_venue::{LyingVenue, Place, Tell};
use serde_json::{Value, json};

/// Once a trade has ended, the venue knows it no more.
const LOSES: Tell = |place, _, record| match place {
    Place::ById(_) if record["result"] == "WON" => *record = Value::Null,
    Place::Listed if record["result"] == "WON" => *record = json!([]),
    _ => {}
};

/// It never says how a trade ended, and has it all the same.
const KEEPS: Tell = |place, _, record| {
    if matches!(place, Place::ById(_) | Place::Listed) {
        (record["status"], record["result"], record["pnl"]) = (json!("OPEN"), json!("PENDING"), json!(0));
    }
};

/// The journal of a run whose one trade was open when it ended, and its venue.
fn left_open(tell: Tell) -> (Folder, LyingVenue) {
    let venue = LyingVenue::start(tell);
    let folder = Folder::new()
        .with("bot.toml", &BOT.replace("OPENS", "1"))
        .with_variable("CANDLEWICK_BROKER__BASE_URL", &venue.url)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", &venue.url)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", "token-1")
        .with_variable("CANDLEWICK_BROKER__API_KEY", "key-1");
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

const COMMON: [&str; 6] = ["resolve", "1", "--config", "bot.toml", "--journal", "run.db"];

#[test]
fn a_person_settles_without_a_bot_what_the_venue_has_lost_and_is_named_for_it() {
    let (folder, _venue) = left_open(LOSES);
    let settle = |outcome: &str| folder.run(&[&COMMON[..], &["--settled", outcome, "--json"]].concat());
    settle("maybe").fails(2, &["won, lost, draw or cancelled"]);
    folder
        .run(&[&COMMON[..], &["--not-opened"]].concat())
        .fails(2, &["trade #1 is not in doubt: it is open"]);
    check_too_soon(&folder);
    assert_eq!(settle("lost").json(), json!({"resolved": 1, "bot_runs": false, "state": null}));
    settle("won").fails(2, &["trade #1 is not an open trade: it is settled"]);
    let of_journal = |command: &str, more: &[&str]| {
        folder.run(&[&[command, "--config", "bot.toml", "--journal", "run.db"], more].concat())
    };
    let trade = of_journal("trades", &["--json"]).json()[0].clone();
    let said = (&trade["state"], &trade["result"], &trade["pnl"], &trade["settled_by_person"]);
    assert_eq!(said, (&json!("settled"), &json!("LOST"), &json!(-10.0), &json!(true)), "{trade}");
    assert!(of_journal("trades", &[]).stdout.contains("LOST, a person said"));
    let explained = folder.run(&["explain", "1", "--config", "bot.toml", "--journal", "run.db"]).stdout;
    assert!(explained.contains("State: settled, LOST, a person said -10.00"), "{explained}");
    let verdict = folder.run(&["edge", "verdict", "--config", "bot.toml", "--journal", "run.db"]);
    assert!(verdict.stdout.contains("a person said are left out"), "{}", verdict.stdout);
    let status = of_journal("status", &["--json"]).json();
    assert_eq!(
        (&status["settled_by_person"], &status["open_stakes"]),
        (&json!([1]), &json!(0.0)),
        "{status}"
    );
    assert!(of_journal("status", &[]).stdout.contains("1, as a person said: 1"));
    let parity = of_journal("parity", &["--json"]).json();
    assert_eq!(parity["ok"], true, "{parity}");
}

/// Before its list can be believed, the venue's silence is no proof, and it is said when it is; then it is waited for.
fn check_too_soon(folder: &Folder) {
    let patient = BOT.replace("OPENS", "1").replace("missing_trade_s = 1\n", "missing_trade_s = 600\n");
    std::fs::write(folder.path("patient.toml"), patient).unwrap();
    let settle = ["resolve", "1", "--config", "patient.toml", "--journal", "run.db", "--settled", "lost"];
    let refused = folder.run(&settle);
    let trade = folder.run(&["trades", "--config", "bot.toml", "--journal", "run.db", "--json"]).json();
    let close = trade[0]["close_time"].as_i64().unwrap();
    let at = |ms: i64| candlewick_records::utc(candlewick_sdk::Millis::new(ms));
    let said = format!("trade trade-1 closed at {}", at(close));
    refused.fails(2, &[&said, &format!("try again after {}", at(close + 500 + 600_000))]);
    let soon = close + 500 + 1_000;
    let clock = candlewick_broker::clock::SystemClock::new();
    while candlewick_broker::clock::Clock::now(&clock).get() <= soon {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn what_the_venue_has_is_not_for_a_person_to_settle() {
    let (folder, _venue) = left_open(KEEPS);
    check_too_soon(&folder);
    let settle = folder.run(&[&COMMON[..], &["--settled", "lost"]].concat());
    settle.fails(2, &["the venue has trade trade-1"]);
    let trades = folder.run(&["trades", "--config", "bot.toml", "--journal", "run.db", "--json"]).json();
    assert_eq!(trades[0]["state"], "open");
}

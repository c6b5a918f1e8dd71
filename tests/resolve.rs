//! `resolve` without a running bot: the answer is journaled, and every reader uses it.

use crate::candlewick::{Folder, Run};
#[cfg(unix)]
use crate::lying_venue::{LyingVenue, Place};
use crate::recording::{folder, lines, record_in_lock_step, write};
#[cfg(unix)]
use crate::serving::Served;
use candlewick_journal::{Line, LineKind};
use serde_json::{Value, json};
use std::path::Path;

const VENUE_ID: &str = "01KE5ZTX2224ERMQE51J8Q9BC0";

fn read_lines(path: &Path) -> Vec<Line> {
    lines(path).into_iter().map(|stored| stored.line).collect()
}

fn crashed() -> Folder {
    let folder = folder();
    record_in_lock_step(&folder);
    let mut recorded = read_lines(&folder.path("run.db"));
    let open = "\"action\":\"open\",\"intent\":3,";
    let end = recorded.iter().position(|line| line.body.contains(open)).unwrap();
    recorded.truncate(end + 1);
    write(&folder.path("crashed.db"), recorded);
    folder
}

fn write_with(folder: &Folder, journal: &str, intent: u64, bodies: &[Value]) {
    let mut recorded = read_lines(&folder.path("crashed.db"));
    let last = recorded.last().unwrap().clone();
    recorded.extend(bodies.iter().map(|body| {
        let (mut body, is_event) = (body.clone(), body.get("event").is_some());
        if is_event {
            (body["at"], body["received"], body["intent"]) = (json!(last.at), json!(last.at), json!(intent));
        }
        let kind = if is_event { LineKind::Event } else { LineKind::Note };
        Line { kind, intent: is_event.then_some(intent), body: body.to_string(), ..last.clone() }
    }));
    write(&folder.path(journal), recorded);
}

fn find_trade(folder: &Folder, journal: &str, intent: usize) -> Value {
    folder.query("trades", journal)[intent - 1].clone()
}

fn resolve(folder: &Folder, journal: &str, arguments: &[&str]) -> Run {
    folder.run(&[&["resolve", "--journal", journal, "--json"], arguments].concat())
}

#[test]
fn resolves_an_order_of_unknown_status_and_parity_still_holds() {
    for (arguments, state, venue_id) in [
        (&["3", "--not-opened", "--reason", "not in the list"][..], "not_opened", Value::Null),
        (&["3", "--adopt", VENUE_ID], "open", json!(VENUE_ID)),
    ] {
        let folder = crashed();
        assert_eq!(folder.query("status", "crashed.db")["in_flight"], json!([3]));
        assert_eq!(find_trade(&folder, "crashed.db", 3)["state"], "in_doubt");
        let resolved = resolve(&folder, "crashed.db", arguments).json();
        assert_eq!(resolved, json!({"resolved": 3, "bot_runs": false, "state": null}));
        let trade = find_trade(&folder, "crashed.db", 3);
        assert_eq!((&trade["state"], &trade["venue_id"]), (&json!(state), &venue_id));
        let status = folder.query("status", "crashed.db");
        assert_eq!((&status["in_flight"], &status["holder"]), (&json!([]), &Value::Null));
        assert_eq!(folder.query("parity", "crashed.db")["ok"], true);
        let explained = folder.query("explain 3", "crashed.db");
        let steps = explained["timeline"].as_array().unwrap();
        assert!(steps.iter().any(|step| step["what"] == "note"), "{explained}");
        if state == "open" {
            resolve(&folder, "crashed.db", arguments).fails(2, &["trade #3", "but is open"]);
        }
    }
}

#[test]
fn released_stake_stays_reserved_until_its_trade_would_have_closed() {
    let folder = crashed();
    let close = match find_trade(&folder, "crashed.db", 3)["close_type"].as_str() {
        Some("01:00") => 60_000,
        Some("02:00") => 120_000,
        other => panic!("{other:?}"),
    };
    resolve(&folder, "crashed.db", &["3", "--not-opened"]).json();
    let last = read_lines(&folder.path("crashed.db")).pop().unwrap();
    let last: Value = serde_json::from_str(&last.body).unwrap();
    // Half a minute to arrive, the next candle at the latest, and the maximum lag of the list (two minutes).
    let reserved_ms = last["reserved_until"].as_i64().unwrap() - last["at"].as_i64().unwrap();
    assert_eq!(reserved_ms, 30_000 + 2 * close + 120_000, "{last}");
}

#[test]
fn why_shows_the_outcome_of_an_order_and_a_refused_order_can_be_adopted() {
    let folder = crashed();
    let trade = find_trade(&folder, "crashed.db", 3);
    let decided = trade["decision_time"].to_string();
    let rejected = json!({"event": "rejected", "rejection": "insufficient_balance"});
    for (journal, events, state) in [
        ("sent.db", vec![], "in_doubt"),
        ("doubtful.db", vec![json!({"event": "in_doubt"})], "in_doubt"),
        ("unsent.db", vec![json!({"event": "not_sent"})], "not_sent"),
        ("rejected.db", vec![rejected], "rejected"),
    ] {
        write_with(&folder, journal, 3, &events);
        let why = folder.query(&format!("why {decided}"), journal);
        let why = why["bots"].as_array().unwrap().iter().find(|why| why["bot"] == trade["bot"]).unwrap();
        assert_eq!((&why["answer"], &why["intent"]), (&json!(state), &json!(3)), "{why}");
        if state == "in_doubt" {
            continue;
        }
        resolve(&folder, journal, &["3", "--not-opened"])
            .fails(2, &["trade #3 must be of unknown status, but is"]);
        let before = folder.query("status", journal);
        resolve(&folder, journal, &["3", "--adopt", VENUE_ID, "--reason", "the statement has it"]).json();
        let adopted = find_trade(&folder, journal, 3);
        assert_eq!((&adopted["state"], &adopted["venue_id"]), (&json!("open"), &json!(VENUE_ID)));
        let after = folder.query("status", journal);
        let balance = |status: &Value| status["balance"].as_f64().unwrap();
        assert_eq!(balance(&before) - balance(&after), adopted["amount"].as_f64().unwrap(), "{after}");
    }
}

#[test]
fn refuses_unresolvable_orders_and_changes_nothing() {
    let folder = crashed();
    // Second trades of intent 1: one is settled and booked, the other had closed before it was first seen.
    let late = "01KE5ZTX2224ERMQE51J8Q9BC1";
    let second_trades = [
        json!({"event": "second_trade", "venue_id": VENUE_ID, "stake": 1_000}),
        json!({"event": "second_trade_settled", "venue_id": VENUE_ID, "profit": 800}),
        json!({"unexplained": late, "symbol": "BTCUSDT", "second_of": 1}),
    ];
    write_with(&folder, "second.db", 1, &second_trades);
    let entries = lines(&folder.path("second.db")).len();
    let taken = find_trade(&folder, "second.db", 1)["venue_id"].as_str().unwrap().to_owned();
    for (arguments, named) in [
        (&["4", "--not-opened"][..], ["no", "trade #4"]),
        (&["1", "--not-opened"], ["must be of unknown status", "trade #1"]),
        (&["3", "--adopt", &taken], [&taken, "trade #1"]),
        (&["3", "--adopt", VENUE_ID], [VENUE_ID, "trade #1"]),
        (&["3", "--adopt", late], [late, "trade #1"]),
    ] {
        resolve(&folder, "second.db", arguments).fails(2, &named);
    }
    assert_eq!(lines(&folder.path("second.db")).len(), entries);
    for arguments in [&["3"][..], &["3", "--not-opened", "--adopt", "x"], &["3", "--adopt", ""]] {
        assert_eq!(resolve(&folder, "crashed.db", arguments).code, 2, "{arguments:?}");
    }
}

#[cfg(unix)]
fn crashed_demo() -> Folder {
    let folder = crashed();
    let mut recorded = read_lines(&folder.path("crashed.db"));
    for line in &mut recorded {
        line.body = line.body.replace("\"trading\":\"sandbox\"", "\"trading\":\"demo\"");
    }
    write(&folder.path("demo.db"), recorded);
    folder
}

#[cfg(unix)]
fn order_body(trade: &Value, direction: &Value) -> Value {
    json!({
        "isDemo": true, "symbol": trade["symbol"], "direction": direction, "amount": trade["amount"],
        "closeType": trade["close_type"], "expirationType": trade["expiration_type"],
    })
}

#[cfg(unix)]
#[test]
fn adoption_discards_impossible_time_and_payout_and_halts_the_next_start() {
    let folder = crashed_demo();
    let venue = LyingVenue::start(|place, _, record| {
        if matches!(place, Place::ById(_) | Place::Listed) {
            (record["closeTime"], record["payout"]) = (json!(4_000_000_000_000_i64), json!(900));
        }
    });
    let trade = find_trade(&folder, "demo.db", 3);
    venue.take(&order_body(&trade, &trade["direction"]));
    let folder = folder
        .with_variable("CANDLEWICK_BROKER__BASE_URL", &venue.url)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", "token-1");
    resolve(&folder, "demo.db", &["3", "--adopt", "trade-1"]).json();
    let adopted = find_trade(&folder, "demo.db", 3);
    let found = (&adopted["state"], &adopted["close_time"], &adopted["payout"]);
    assert_eq!(found, (&json!("open"), &Value::Null, &Value::Null), "{adopted}");
    assert_eq!(folder.query("status", "demo.db")["halted"], true);
}

#[cfg(unix)]
#[test]
fn refuses_to_adopt_a_missing_trade_and_halts_after_one_with_other_terms() {
    let folder = crashed_demo();
    let journal = folder.path("demo.db");
    let entries = lines(&journal).len();
    let trade = find_trade(&folder, "demo.db", 3);
    let served = Served::start(&["--speed", "60", "--start", &trade["decision_time"].to_string()]);
    let opposite = if trade["direction"] == "BUY" { json!("SELL") } else { json!("BUY") };
    let [ours, other] =
        [&trade["direction"], &opposite].map(|direction| served.open(&order_body(&trade, direction)));
    resolve(&folder, "demo.db", &["3", "--adopt", &ours]).fails(4, &["CANDLEWICK_BROKER__API_TOKEN"]);
    let folder = folder
        .with_variable("CANDLEWICK_BROKER__BASE_URL", served.text("base_url"))
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", served.text("token"));
    // The venue may have accepted terms other than those requested.
    std::fs::copy(&journal, folder.path("other.db")).unwrap();
    resolve(&folder, "other.db", &["3", "--adopt", &other]).json();
    let adopted = find_trade(&folder, "other.db", 3);
    let found = (&adopted["state"], &adopted["direction"], &adopted["ordered_direction"]);
    assert_eq!(found, (&json!("open"), &opposite, &trade["direction"]), "{adopted}");
    assert_eq!(folder.query("status", "other.db")["halted"], true);
    let csv = folder.run(&["trades", "--journal", "other.db", "--csv"]).stdout;
    let row = csv.lines().nth(3).unwrap();
    assert!(row.contains("BUY") && row.contains("SELL"), "{csv}");
    resolve(&folder, "demo.db", &["3", "--adopt", VENUE_ID]).fails(2, &[VENUE_ID]);
    assert_eq!(lines(&journal).len(), entries, "nothing has changed");
    assert_eq!(resolve(&folder, "demo.db", &["3", "--adopt", &ours]).json()["resolved"], 3);
    let adopted = find_trade(&folder, "demo.db", 3);
    assert_eq!((&adopted["state"], &adopted["venue_id"]), (&json!("open"), &json!(ours)));
    assert!(adopted["close_time"].is_i64(), "{adopted}");
}

/// Trades of a venue in another process outlive the bot.
#[cfg(unix)]
#[test]
fn open_trades_of_an_embedded_venue_are_lost_with_it() {
    for (folder, journal, lost) in
        [(crashed(), "crashed.db", json!([2, 3])), (crashed_demo(), "demo.db", json!([]))]
    {
        let status = folder.query("status", journal);
        assert_eq!((&status["in_flight"], &status["open"]), (&json!([3]), &json!([2])));
        assert_eq!(status["lost_with_venue"], lost);
        folder.run(&["live", "--sandbox", "--journal", journal]).fails(2, &[journal, "--journal"]);
    }
}

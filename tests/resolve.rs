//! `resolve` where no bot runs: it is written to the journal, and what reads it goes on with it.

use crate::candlewick::Folder;
#[cfg(unix)]
use crate::lying_venue::{LyingVenue, Place};
use crate::recording::{folder, lines, record_in_lock_step, write};
#[cfg(unix)]
use crate::serving::Served;
use candlewick_journal::{Line, LineKind};
use serde_json::{Value, json};

/// A journal that ends where a process died: right after intent 3 was durable.
pub(crate) fn crashed() -> Folder {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    let end =
        recorded.iter().position(|stored| stored.line.body.contains("\"action\":\"open\",\"intent\":3,"));
    let kept = recorded[..=end.unwrap()].iter().map(|stored| stored.line.clone());
    write(&folder.path("crashed.db"), kept);
    folder
}

fn state_of(folder: &Folder, intent: usize) -> Value {
    folder.run(&["trades", "--journal", "crashed.db", "--json"]).json()[intent - 1].clone()
}

#[test]
fn a_doubt_is_ended_in_the_journal_and_parity_stays_whole() {
    for (arguments, state, venue_id) in [
        (&["--not-opened", "--reason", "not in the list"][..], "not_opened", Value::Null),
        (&["--adopt", "01KE5ZTX2224ERMQE51J8Q9BC0"][..], "open", json!("01KE5ZTX2224ERMQE51J8Q9BC0")),
    ] {
        let folder = crashed();
        let before = folder.run(&["status", "--journal", "crashed.db", "--json"]).json();
        assert_eq!(before["in_flight"], json!([3]));
        assert_eq!(state_of(&folder, 3)["state"], "in_doubt");
        let common = ["resolve", "3", "--journal", "crashed.db", "--json"];
        let resolved = folder.run(&[&common, arguments].concat()).json();
        assert_eq!(resolved, json!({"resolved": 3, "bot_runs": false, "state": null}));
        let trade = state_of(&folder, 3);
        assert_eq!((&trade["state"], &trade["venue_id"]), (&json!(state), &venue_id));
        let status = folder.run(&["status", "--journal", "crashed.db", "--json"]).json();
        assert_eq!((&status["in_flight"], &status["holder"]), (&json!([]), &Value::Null));
        let parity = folder.run(&["parity", "--journal", "crashed.db", "--json"]).json();
        assert_eq!(parity["ok"], true, "{parity}");
        let printed = folder.run(&["explain", "3", "--journal", "crashed.db"]).stdout;
        assert!(printed.contains("note"), "{printed}");
        if state == "open" {
            folder.run(&[&common, arguments].concat()).fails(2, &["trade #3 is not in doubt: it is open"]);
        }
    }
}

#[test]
fn a_stake_that_a_person_frees_stays_reserved_until_its_trade_would_have_closed() {
    let folder = crashed();
    let close = match state_of(&folder, 3)["close_type"].as_str().unwrap() {
        "01:00" => 60_000,
        other => {
            if other == "02:00" {
                120_000
            } else {
                panic!("{other}")
            }
        }
    };
    folder.run(&["resolve", "3", "--not-opened", "--journal", "crashed.db", "--json"]).json();
    let last: Value =
        serde_json::from_str(&lines(&folder.path("crashed.db")).last().unwrap().line.body).unwrap();
    // Half a minute to arrive, the next candle at the latest, and as long as a list may lag (two minutes).
    let reserved_ms = last["reserved_until"].as_i64().unwrap() - last["at"].as_i64().unwrap();
    assert_eq!(reserved_ms, 30_000 + 2 * close + 120_000, "{last}");
}

#[test]
fn why_shows_of_an_intent_what_has_become_of_it() {
    let folder = crashed();
    let recorded: Vec<_> = lines(&folder.path("crashed.db")).into_iter().map(|stored| stored.line).collect();
    let last = recorded.last().unwrap().clone();
    let (decided, bot) =
        (state_of(&folder, 3)["decision_time"].to_string(), state_of(&folder, 3)["bot"].clone());
    for (number, (event, state, words)) in [
        (None, "in_doubt", "whose request has no answer yet"),
        (Some(r#""event":"not_sent""#), "not_sent", "whose request never left"),
        (
            Some(r#""event":"rejected","rejection":"insufficient_balance""#),
            "rejected",
            "which the venue rejected (the wallet does not cover the stake)",
        ),
        (Some(r#""event":"in_doubt""#), "in_doubt", "of which nobody knows yet"),
    ]
    .into_iter()
    .enumerate()
    {
        let (at, intent) = (last.at.get(), Some(3));
        let body = event.map(|event| format!(r#"{{"at":{at},"received":{at},{event},"intent":3}}"#));
        let line = body.map(|body| Line { kind: LineKind::Event, intent, body, ..last.clone() });
        let journal = format!("doubt{number}.db");
        write(&folder.path(&journal), recorded.iter().cloned().chain(line));
        let printed = folder.run(&["why", &decided, "--journal", &journal, "--json"]).json();
        let printed =
            printed["bots"].as_array().unwrap().iter().find(|printed| printed["bot"] == bot).unwrap().clone();
        assert_eq!((&printed["answer"], &printed["intent"]), (&json!(state), &json!(3)), "{printed}");
        let text = folder.run(&["why", &decided, "--journal", &journal]).stdout;
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_refused_order_is_in_doubt_again_when_the_operator_names_its_trade() {
    let folder = crashed();
    let recorded: Vec<_> = lines(&folder.path("crashed.db")).into_iter().map(|stored| stored.line).collect();
    let last = recorded.last().unwrap().clone();
    for refusal in [r#""event":"not_sent""#, r#""event":"rejected","rejection":"insufficient_balance""#] {
        let (at, intent) = (last.at.get(), Some(3));
        let body = format!(r#"{{"at":{at},"received":{at},{refusal},"intent":3}}"#);
        let line = Line { kind: LineKind::Event, intent, body, ..last.clone() };
        let journal = folder.path("refused.db");
        let _ = std::fs::remove_file(&journal);
        write(&journal, recorded.iter().cloned().chain([line]));
        let resolve = |arguments: &[&str]| {
            folder.run(&[&["resolve", "3", "--journal", "refused.db"], arguments].concat())
        };
        resolve(&["--not-opened"]).fails(2, &["trade #3 is not in doubt: it is"]);
        let before = folder.run(&["status", "--journal", "refused.db", "--json"]).json();
        let venue_id = "01KE5ZTX2224ERMQE51J8Q9BC0";
        let resolved = resolve(&["--adopt", venue_id, "--reason", "the statement has it"]);
        assert_eq!(resolved.code, 0, "{}", resolved.stderr);
        let adopted = folder.run(&["trades", "--journal", "refused.db", "--json"]).json()[2].clone();
        assert_eq!((&adopted["state"], &adopted["venue_id"]), (&json!("open"), &json!(venue_id)));
        // Its stake is at risk again.
        let after = folder.run(&["status", "--journal", "refused.db", "--json"]).json();
        let balance = |status: &Value| status["balance"].as_f64().unwrap();
        assert_eq!(balance(&before) - balance(&after), adopted["amount"].as_f64().unwrap(), "{after}");
    }
}

/// The journal goes on: the venue had second trades of intent 1. One is over and booked, the other was over when it was first
/// seen.
fn add_second_trades(folder: &Folder, venue_id: &str, seen_late: &str) {
    let journal = folder.path("crashed.db");
    let recorded: Vec<_> = lines(&journal).into_iter().map(|stored| stored.line).collect();
    let last = recorded.last().unwrap().clone();
    let at = last.at;
    let events =
        [("second_trade", json!({"stake": 1_000})), ("second_trade_settled", json!({"profit": 800}))];
    let line = |(event, money): (&str, Value)| {
        let mut body = json!({"at": at, "received": at, "event": event, "intent": 1, "venue_id": venue_id});
        body.as_object_mut().unwrap().extend(money.as_object().unwrap().clone());
        Line { kind: LineKind::Event, intent: Some(1), body: body.to_string(), ..last.clone() }
    };
    let body = json!({"unexplained": seen_late, "symbol": "BTCUSDT", "second_of": 1}).to_string();
    let note = Line { kind: LineKind::Note, intent: None, body, ..last.clone() };
    std::fs::remove_file(&journal).unwrap();
    write(&journal, recorded.iter().cloned().chain(events.map(line)).chain([note]));
}

#[test]
fn what_cannot_be_resolved_is_refused_and_changes_nothing() {
    let folder = crashed();
    let second = "01KE5ZTX2224ERMQE51J8Q9BC0";
    let late = "01KE5ZTX2224ERMQE51J8Q9BC1";
    add_second_trades(&folder, second, late);
    let entries = lines(&folder.path("crashed.db")).len();
    let taken = state_of(&folder, 1)["venue_id"].as_str().unwrap().to_owned();
    for (arguments, part) in [
        (vec!["4", "--not-opened"], "the journal has no trade #4".to_owned()),
        (vec!["1", "--not-opened"], "trade #1 is not in doubt".to_owned()),
        (vec!["3", "--adopt", &taken], format!("trade {taken} is trade #1")),
        (vec!["3", "--adopt", second], format!("trade {second} is a second one of trade #1")),
        (vec!["3", "--adopt", late], format!("trade {late} is a second one of trade #1")),
    ] {
        folder.run(&[&["resolve", "--journal", "crashed.db"], &arguments[..]].concat()).fails(2, &[&part]);
    }
    assert_eq!(lines(&folder.path("crashed.db")).len(), entries);
    for arguments in [&["3"][..], &["3", "--not-opened", "--adopt", "x"], &["3", "--adopt", ""]] {
        assert_eq!(folder.run(&[&["resolve"], arguments].concat()).code, 2, "{arguments:?}");
    }
}

/// As if it had been recorded at a venue that is still there.
#[cfg(unix)]
pub(crate) fn crashed_demo() -> Folder {
    let folder = crashed();
    let of_demo = lines(&folder.path("crashed.db")).into_iter().map(|stored| {
        let body = stored.line.body.replace("\"trading\":\"sandbox\"", "\"trading\":\"demo\"");
        Line { body, ..stored.line }
    });
    write(&folder.path("demo.db"), of_demo);
    folder
}

#[cfg(unix)]
#[test]
fn a_time_or_a_payout_that_no_trade_has_is_not_adopted_and_halts_the_next_start() {
    let folder = crashed_demo();
    let venue = LyingVenue::start(|place, _, record| {
        if matches!(place, Place::ById(_) | Place::Listed) {
            (record["closeTime"], record["payout"]) = (json!(4_000_000_000_000_i64), json!(900));
        }
    });
    let trade = folder.run(&["trades", "--journal", "demo.db", "--json"]).json()[2].clone();
    let order = json!({
        "isDemo": true, "symbol": trade["symbol"], "direction": trade["direction"], "amount": trade["amount"],
        "closeType": trade["close_type"], "expirationType": trade["expiration_type"],
    });
    venue.take(&order);
    let folder = folder
        .with_variable("CANDLEWICK_BROKER__BASE_URL", &venue.url)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", "token-1");
    let resolved = folder.run(&["resolve", "3", "--adopt", "trade-1", "--journal", "demo.db"]);
    assert_eq!(resolved.code, 0, "{}", resolved.stderr);
    for part in [
        "trade trade-1 cannot have the time 2096-10-02 07:06:40 UTC, which is not believed",
        "trade #3 (trade-1) is to pay 900 %, more than 200 %",
    ] {
        assert!(resolved.stdout.contains(part), "{}", resolved.stdout);
    }
    let adopted = folder.run(&["trades", "--journal", "demo.db", "--json"]).json()[2].clone();
    let found = (&adopted["state"], &adopted["close_time"], &adopted["payout"]);
    assert_eq!(found, (&json!("open"), &Value::Null, &Value::Null), "{adopted}");
    let status = folder.run(&["status", "--journal", "demo.db", "--json"]).json();
    assert_eq!(status["halted"], true, "{status}");
}

#[cfg(unix)]
#[test]
fn a_trade_that_the_venue_does_not_have_or_that_is_another_is_not_adopted() {
    let folder = crashed_demo();
    let journal = folder.path("demo.db");
    let entries = lines(&journal).len();
    let trade = folder.run(&["trades", "--journal", "demo.db", "--json"]).json()[2].clone();
    let start = trade["decision_time"].to_string();
    let served = Served::start(&["--speed", "60", "--start", &start]);
    let order = |direction: &Value| {
        json!({
            "isDemo": true, "symbol": trade["symbol"], "direction": direction, "amount": trade["amount"],
            "closeType": trade["close_type"], "expirationType": trade["expiration_type"],
        })
    };
    let opposite = if trade["direction"] == "BUY" { json!("SELL") } else { json!("BUY") };
    let (ours, other) = (served.open(&order(&trade["direction"])), served.open(&order(&opposite)));
    let adopt = |id: &str| folder.run(&["resolve", "3", "--adopt", id, "--journal", "demo.db", "--json"]);
    // There is no token to ask with.
    adopt(&ours).fails(4, &["what is trade", "CANDLEWICK_BROKER__API_TOKEN"]);
    let folder = folder
        .with_variable("CANDLEWICK_BROKER__BASE_URL", served.text("base_url"))
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", served.text("token"));
    let adopt = |id: &str| folder.run(&["resolve", "3", "--adopt", id, "--journal", "demo.db", "--json"]);
    check_other_money(&folder, (&trade, &opposite), &other);
    adopt("01KE5ZTX2224ERMQE51J8Q9BC0")
        .fails(2, &["the venue has no trade 01KE5ZTX2224ERMQE51J8Q9BC0: look for"]);
    assert_eq!(lines(&journal).len(), entries, "nothing has changed");
    assert_eq!(adopt(&ours).json()["resolved"], 3);
    let adopted = folder.run(&["trades", "--journal", "demo.db", "--json"]).json()[2].clone();
    assert_eq!((&adopted["state"], &adopted["venue_id"]), (&json!("open"), &json!(ours)));
    assert!(adopted["close_time"].is_i64(), "{adopted}");
}

/// What the venue took of the request instead is adopted as that, and the next start is halted, as a bot that runs would be.
#[cfg(unix)]
fn check_other_money(folder: &Folder, (asked, direction): (&Value, &Value), other: &str) {
    std::fs::copy(folder.path("demo.db"), folder.path("other.db")).unwrap();
    let resolved = folder.run(&["resolve", "3", "--adopt", other, "--journal", "other.db"]);
    assert_eq!(resolved.code, 0, "{}", resolved.stderr);
    let part = format!("goes on with it, halted: trade #3 is {}", direction.as_str().unwrap());
    assert!(resolved.stdout.contains(&part), "{}", resolved.stdout);
    let trade = folder.run(&["trades", "--journal", "other.db", "--json"]).json()[2].clone();
    let said = (&trade["state"], &trade["direction"], &trade["ordered_direction"]);
    assert_eq!(said, (&json!("open"), direction, &asked["direction"]), "{trade}");
    let status = folder.run(&["status", "--journal", "other.db", "--json"]).json();
    assert_eq!(status["halted"], true, "{status}");
}

//! `explain`: reasons of unsent requests, lists that resolved unknown orders, and audits.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, HOUR, MONDAY, shipped};
use crate::recording::{folder, forge, lines, record, record_in_lock_step, write};
use candlewick_journal::{Line, LineKind};
use serde_json::{Value, json};

/// Replies to opens are lost, and some opens never reach the venue.
const LOSSES: &str = "drop-after:0.3,drop-before:0.3,shuffle";
const CHECKED: usize = 3;

#[test]
fn explains_a_request_that_was_not_sent() {
    let folder = folder();
    record_in_lock_step(&folder);
    let reason = "the journal was kept 40 ms too late for its signal";
    // As a run writes it: a note with the reason, and an event without one.
    let mut changed: Vec<Line> = Vec::new();
    for stored in lines(&folder.path("run.db")) {
        let line = stored.line;
        let is_event = line.intent == Some(9) && line.kind == LineKind::Event;
        if is_event && line.body.contains("\"event\":\"opened\"") {
            let at = line.at.get();
            let note = json!({"intent": 9, "not_sent": reason}).to_string();
            let event = format!(r#"{{"at":{at},"received":{at},"event":"not_sent","intent":9}}"#);
            changed.push(Line { kind: LineKind::Note, body: note, ..line.clone() });
            changed.push(Line { body: event, ..line });
        } else if !is_event {
            changed.push(line);
        }
    }
    write(&folder.path("unsent.db"), changed);
    let unsent = folder.query("explain 9", "unsent.db");
    let found = (&unsent["trade"]["state"], &unsent["not_sent_reason"], &unsent["audit"]);
    assert_eq!(found, (&json!("not_sent"), &json!(reason), &json!([])));
    assert_eq!(folder.query("explain 8", "unsent.db")["not_sent_reason"], Value::Null);
}

fn steps<'a>(explained: &'a Value, what: &str) -> Vec<(i64, &'a str)> {
    let found = explained["timeline"].as_array().unwrap().iter().filter(|step| step["what"] == what);
    found.map(|step| (step["time"].as_i64().unwrap(), step["detail"].as_str().unwrap_or_default())).collect()
}

fn lists(explained: &Value) -> Vec<(i64, Vec<Value>)> {
    let mut lists: Vec<(i64, Vec<Value>)> = Vec::new();
    let (requests, replies) = (steps(explained, "list request"), steps(explained, "list reply"));
    assert_eq!(requests.len(), replies.len(), "{explained}");
    // Within one millisecond all requests come before all replies, each in its own order.
    for ((at, request), (_, reply)) in requests.into_iter().zip(replies) {
        if request.starts_with("GET /token/trades?page=1&") {
            lists.push((at, Vec::new()));
        }
        let page: Value = serde_json::from_str(reply.strip_prefix("200 ").unwrap()).unwrap();
        lists.last_mut().unwrap().1.extend(page["data"].as_array().unwrap().iter().cloned());
    }
    lists
}

#[test]
fn explains_unopened_orders_by_trade_lists_without_them() {
    let hour = |name: &str| shipped(name, MONDAY + DAY, MONDAY + DAY + HOUR);
    let folder = ["BTCUSDT_1m.csv", "GBPUSD_1m.csv"]
        .into_iter()
        .fold(folder(), |folder, name| folder.with(name, &hour(name)));
    let mut absent = 0;
    // The number of losses depends on the seed and on the machine, and so does the number of runs.
    for seed in 1..=20 {
        std::fs::write(folder.path("seed.toml"), format!("[sandbox]\nseed = {seed}\n")).unwrap();
        let how = ["--speed", "max", "--until-end", "--faults", LOSSES, "--config", "seed.toml"];
        if record(&folder, &how).code == 0 {
            let trades = folder.trades("run.db");
            let lost = trades.iter().filter(|trade| trade["state"] == "not_opened");
            for trade in lost.take(CHECKED - absent) {
                let explained = folder.query(&format!("explain {}", trade["intent_id"]), "run.db");
                check_absent(trade, &trades, &explained);
                absent += 1;
            }
        }
        if absent == CHECKED {
            return;
        }
        drop(std::fs::remove_file(folder.path("run.db")));
    }
    panic!("only {absent} orders were not opened");
}

fn check_absent(trade: &Value, trades: &[Value], explained: &Value) {
    let lists = lists(explained);
    assert_eq!(lists.len(), 2, "{explained}");
    let is_claimed = |row: &Value| trades.iter().any(|other| other["venue_id"] == row["id"]);
    assert!(lists.iter().all(|(_, rows)| rows.iter().all(is_claimed)), "{explained}");
    let (first, last) = (lists[0].0, lists[1].0);
    // No request arrives later than half a minute after it was sent.
    let request = trade["request_time"].as_i64().unwrap();
    assert!(request + 30_000 <= first && first + 10_000 <= last, "{explained}");
    let wallets = steps(explained, "wallet reply");
    assert!(wallets.len() == 1 && wallets[0].1.contains("\"balance\":"), "{explained}");
    assert!(last <= wallets[0].0 && wallets[0].0 <= steps(explained, "not_opened")[0].0, "{explained}");
}

fn audited(folder: &Folder, intent: u64, journal: &str) -> [String; 2] {
    let explained = folder.query(&format!("explain {intent}"), journal);
    let checks = explained["audit"].as_array().unwrap();
    [true, false].map(|agrees| {
        let found = checks.iter().filter(|check| check["agrees"] == agrees);
        let name = |row: &Value| [&row["by"], &row["what"]].map(|part| part.as_str().unwrap()).join(".");
        found.map(name).collect::<Vec<_>>().join(" ")
    })
}

const BY_TERMS: &str = "terms.profit terms.result terms.span";
const BY_VENUE: &str = "venue.symbol venue.direction venue.amount venue.closeType venue.expirationType venue.isDemo \
                        venue.closeTime venue.result venue.pnl venue.openPrice venue.closePrice";

#[test]
fn audits_settlements_by_their_terms_and_the_recorded_venue_record() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trades = folder.trades("run.db");
    let first = |result: &str| trades.iter().find(|trade| trade["result"] == result).unwrap();
    let [won, lost] = ["WON", "LOST"].map(|result| first(result)["intent_id"].as_u64().unwrap());
    for intent in [won, lost] {
        assert_eq!(audited(&folder, intent, "run.db"), [format!("{BY_TERMS} {BY_VENUE}"), String::new()]);
    }
    let recorded = lines(&folder.path("run.db"));
    write(&folder.path("bare.db"), recorded.into_iter().map(|stored| stored.line));
    assert_eq!(audited(&folder, won, "bare.db"), [BY_TERMS, ""]);
    let is_buy = first("WON")["direction"] == "BUY";
    let [direction, other] = if is_buy { ["BUY", "SELL"] } else { ["SELL", "BUY"] }
        .map(|name| format!("\"direction\":\"{name}\""));
    for (place, (intent, from, to, expected)) in (0..).zip([
        (lost, "\"profit\":-1000", "\"profit\":-900", "terms.profit venue.pnl"),
        (lost, "\"outcome\":\"LOST\"", "\"outcome\":\"DRAW\"", "terms.profit terms.result venue.result"),
        (won, direction.as_str(), other.as_str(), "terms.result venue.direction"),
        (won, "\"stake\":1000", "\"stake\":2000", "terms.profit venue.amount"),
        (won, "\"trading\":\"sandbox\"", "\"trading\":\"real\"", "venue.isDemo"),
    ]) {
        let journal = format!("edited-{place}.db");
        std::fs::copy(folder.path("run.db"), folder.path(&journal)).unwrap();
        let of =
            if from.contains("trading") { "kind = 'run'".to_owned() } else { format!("intent = {intent}") };
        let sql = format!(
            "UPDATE entries SET body = replace(body, '{from}', '{to}') WHERE {of} AND body LIKE '%{from}%'"
        );
        // The text lives as long as the process of the test.
        forge(&folder.path(&journal), sql.leak());
        let [right, wrong] = audited(&folder, intent, &journal);
        assert_eq!(wrong, expected, "{from}");
        assert_eq!(right.split(' ').count() + wrong.split(' ').count(), 14, "{right}");
    }
}

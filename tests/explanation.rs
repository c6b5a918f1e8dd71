//! `explain` beyond a trade that went well: why a request never left, which lists ended a doubt, and what of a settlement
//! is right by what the journal holds.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, HOUR, MONDAY, shipped};
use crate::recording::{folder, forge, lines, record, record_in_lock_step, write};
use candlewick_journal::{Line, LineKind};
use serde_json::{Value, json};

/// Replies to opens are lost, and some opens never reach the venue.
const LOSSES: &str = "drop-after:0.3,drop-before:0.3,shuffle";
/// How many doubts of each kind are looked at.
const LOOKED_AT: usize = 3;

fn explain(folder: &Folder, intent: u64, journal: &str) -> (Value, String) {
    let intent = intent.to_string();
    let arguments = ["explain", &intent, "--journal", journal];
    (folder.run(&[&arguments[..], &["--json"]].concat()).json(), folder.run(&arguments).stdout)
}

fn trades(folder: &Folder) -> Vec<Value> {
    folder.run(&["trades", "--journal", "run.db", "--json"]).json().as_array().unwrap().clone()
}

#[test]
fn a_request_that_never_left_has_its_reason() {
    let folder = folder();
    record_in_lock_step(&folder);
    let recorded = lines(&folder.path("run.db"));
    // As a run writes it whose intent waited too long: a note, and an event that has no reason.
    let mut changed: Vec<Line> = Vec::new();
    for stored in recorded {
        let line = stored.line;
        let (is_ninth, is_event) = (line.intent == Some(9), line.kind == LineKind::Event);
        if is_ninth && is_event && line.body.contains("\"event\":\"opened\"") {
            let at = line.at.get();
            let reason = "the journal was kept 40 ms too late for its signal";
            let note = json!({"intent": 9, "not_sent": reason}).to_string();
            let event = format!(r#"{{"at":{at},"received":{at},"event":"not_sent","intent":9}}"#);
            changed.push(Line { kind: LineKind::Note, body: note, ..line.clone() });
            changed.push(Line { body: event, ..line });
        } else if !(is_ninth && is_event) {
            changed.push(line);
        }
    }
    write(&folder.path("unsent.db"), changed);
    let (printed, text) = explain(&folder, 9, "unsent.db");
    assert_eq!(printed["trade"]["state"], "not_sent");
    assert_eq!(printed["not_sent_reason"], "the journal was kept 40 ms too late for its signal");
    assert_eq!(printed["audit"], json!([]));
    let state = "\nState: not_sent: the journal was kept 40 ms too late for its signal\n";
    assert!(text.contains(state) && !text.contains("Audit"), "{text}");
    let (printed, _) = explain(&folder, 8, "unsent.db");
    assert_eq!(printed["not_sent_reason"], Value::Null);
}

/// Steps of this name, each with its time and what was sent or came.
fn steps<'a>(printed: &'a Value, what: &str) -> Vec<(i64, &'a str)> {
    let timeline = printed["timeline"].as_array().unwrap().iter().filter(|step| step["what"] == what);
    timeline.map(|step| (step["time"].as_i64().unwrap(), step["detail"].as_str().unwrap())).collect()
}

/// The trades of a page.
fn page(reply: &str) -> Vec<Value> {
    let page: Value = serde_json::from_str(reply.strip_prefix("200 ").unwrap()).unwrap();
    page["data"].as_array().unwrap().clone()
}

/// Of each list its pages' trades together, with the time at which it was asked for first.
fn lists(printed: &Value) -> Vec<(i64, Vec<Value>)> {
    let mut lists: Vec<(i64, Vec<Value>)> = Vec::new();
    let (requests, replies) = (steps(printed, "list request"), steps(printed, "list reply"));
    assert_eq!(requests.len(), replies.len(), "{printed}");
    // Of one millisecond, all requests come before all replies; each in its own order.
    for ((at, request), (_, reply)) in requests.into_iter().zip(replies) {
        if request.starts_with("GET /token/trades?page=1&") {
            lists.push((at, Vec::new()));
        }
        lists.last_mut().unwrap().1.extend(page(reply));
    }
    lists
}

fn ended(printed: &Value, event: &str) -> i64 {
    let timeline = printed["timeline"].as_array().unwrap();
    timeline.iter().find(|step| step["what"] == event).unwrap()["time"].as_i64().unwrap()
}

#[test]
fn a_doubt_that_lists_ended_shows_those_lists() {
    let hour = |name: &str| shipped(name, MONDAY + DAY, MONDAY + DAY + HOUR);
    let folder = ["BTCUSDT_1m.csv", "GBPUSD_1m.csv"]
        .into_iter()
        .fold(folder(), |folder, name| folder.with(name, &hour(name)));
    let (mut adopted, mut absent) = (0, 0);
    // What is lost follows from the seed and from what else the machine does: as many runs as it takes to see enough.
    for seed in 1..=20 {
        if adopted == LOOKED_AT && absent == LOOKED_AT {
            break;
        }
        std::fs::write(folder.path("seed.toml"), format!("[sandbox]\nseed = {seed}\n")).unwrap();
        let how = ["--speed", "max", "--until-end", "--faults", LOSSES, "--config", "seed.toml"];
        if record(&folder, &how).code == 0 {
            let trades = trades(&folder);
            for trade in &trades {
                let is_absent = trade["state"] == "not_opened";
                if is_absent && absent < LOOKED_AT {
                    absent += 1;
                    check_absent(trade, &trades, &explain(&folder, number(trade), "run.db"));
                } else if !is_absent && adopted < LOOKED_AT {
                    adopted +=
                        usize::from(check_if_adopted(trade, &explain(&folder, number(trade), "run.db")));
                }
            }
        }
        drop(std::fs::remove_file(folder.path("run.db")));
    }
    assert_eq!((adopted, absent), (LOOKED_AT, LOOKED_AT), "doubts of each kind in twenty runs");
}

fn number(trade: &Value) -> u64 {
    trade["intent_id"].as_u64().unwrap()
}

/// Whether it was adopted; what was never in doubt has no lists.
fn check_if_adopted(trade: &Value, (printed, text): &(Value, String)) -> bool {
    let timeline = printed["timeline"].as_array().unwrap();
    let is_adopted = timeline.iter().any(|step| step["what"] == "adopted");
    if is_adopted {
        check_adopted(trade, printed, text);
    } else {
        assert_eq!(lists(printed), [], "it was never in doubt: {printed}");
    }
    is_adopted
}

/// It stood in two lists, five seconds apart.
fn check_adopted(trade: &Value, printed: &Value, text: &str) {
    let lists = lists(printed);
    assert_eq!(lists.len(), 2, "{printed}");
    for (_, rows) in &lists {
        assert!(rows.iter().any(|row| row["id"] == trade["venue_id"]), "{printed}");
    }
    let (before, last) = (lists[0].0, lists[1].0);
    assert!(ended(printed, "in_doubt") <= before && before + 5_000 <= last, "{printed}");
    assert!(last <= ended(printed, "adopted"), "{printed}");
    assert!(text.contains(" of ") && text.contains("this one: "), "{text}");
    // What the lists held is the venue's record, too.
    let audited = printed["audit"].as_array().unwrap();
    let names: Vec<&str> = audited.iter().map(|check| check["what"].as_str().unwrap()).collect();
    assert!(trade["state"] != "settled" || names.contains(&"isDemo"), "{printed}");
}

/// No trade of its own stood in two lists, ten seconds apart, and the wallet was asked after that.
fn check_absent(trade: &Value, trades: &[Value], (printed, text): &(Value, String)) {
    let lists = lists(printed);
    assert_eq!(lists.len(), 2, "{printed}");
    let is_claimed = |row: &Value| trades.iter().any(|other| other["venue_id"] == row["id"]);
    for (_, rows) in &lists {
        assert!(rows.iter().all(is_claimed), "{printed}");
    }
    let (before, last) = (lists[0].0, lists[1].0);
    // Nothing arrives later than half a minute after the request.
    let request = trade["request_time"].as_i64().unwrap();
    assert!(request + 30_000 <= before && before + 10_000 <= last, "{printed}");
    let wallets = steps(printed, "wallet reply");
    assert_eq!(wallets.len(), 1, "{printed}");
    assert!(last <= wallets[0].0 && wallets[0].0 <= ended(printed, "not_opened"), "{printed}");
    assert!(wallets[0].1.contains("\"balance\":"), "{printed}");
    let symbol = trade["symbol"].as_str().unwrap();
    assert!(text.contains(&format!("opened on {symbol} since the request: none")), "{text}");
}

/// What of an intent is checked, by what, and whether it is right.
fn audited(folder: &Folder, intent: u64, journal: &str) -> (Vec<String>, Vec<String>, String) {
    let (printed, text) = explain(folder, intent, journal);
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for check in printed["audit"].as_array().unwrap() {
        let name = format!("{}.{}", check["by"].as_str().unwrap(), check["what"].as_str().unwrap());
        if check["agrees"] == true { right.push(name) } else { wrong.push(name) }
    }
    let audit = text.lines().filter(|line| line.starts_with("Audit: ")).collect::<Vec<_>>().join("\n");
    (right, wrong, audit)
}

const BY_TERMS: [&str; 3] = ["terms.profit", "terms.result", "terms.span"];
const BY_VENUE: [&str; 11] = [
    "venue.symbol",
    "venue.direction",
    "venue.amount",
    "venue.closeType",
    "venue.expirationType",
    "venue.isDemo",
    "venue.closeTime",
    "venue.result",
    "venue.pnl",
    "venue.openPrice",
    "venue.closePrice",
];

#[test]
fn what_is_right_about_a_settlement_is_reported_and_only_what_the_journal_can_show() {
    let folder = folder();
    record_in_lock_step(&folder);
    let trades = trades(&folder);
    let first = |result: &str| {
        let first = trades.iter().find(|trade| trade["result"] == result).unwrap();
        first["intent_id"].as_u64().unwrap()
    };
    let (won, lost) = (first("WON"), first("LOST"));
    let all = [&BY_TERMS[..], &BY_VENUE].concat();
    for intent in [won, lost] {
        let (right, wrong, text) = audited(&folder, intent, "run.db");
        assert_eq!((right, wrong.len()), (all.iter().map(|&name| name.to_owned()).collect(), 0), "{text}");
        assert!(text.contains("right: profit, result, span; the same in the venue's own record: symbol,"));
    }
    // Without what went over the wire, nothing is said of the venue's record.
    let recorded = lines(&folder.path("run.db"));
    write(&folder.path("bare.db"), recorded.iter().map(|stored| stored.line.clone()));
    let (right, wrong, text) = audited(&folder, won, "bare.db");
    assert_eq!((right.as_slice(), wrong.len()), (BY_TERMS.map(str::to_owned).as_slice(), 0));
    assert!(!text.contains("venue"), "{text}");
    // What is booked otherwise than the venue said, and than its terms make it, is reported.
    let opposite = |intent: u64| {
        let is_buy = trades[usize::try_from(intent).unwrap() - 1]["direction"] == "BUY";
        if is_buy { ["BUY", "SELL"] } else { ["SELL", "BUY"] }.map(|name| format!("\"direction\":\"{name}\""))
    };
    let [direction, other] = opposite(won);
    let edits: [(u64, &str, &str, &[&str]); 5] = [
        (lost, "\"profit\":-1000", "\"profit\":-900", &["terms.profit", "venue.pnl"]),
        (
            lost,
            "\"outcome\":\"LOST\"",
            "\"outcome\":\"DRAW\"",
            &["terms.profit", "terms.result", "venue.result"],
        ),
        (won, &direction, &other, &["terms.result", "venue.direction"]),
        (won, "\"stake\":1000", "\"stake\":2000", &["terms.profit", "venue.amount"]),
        (won, "\"trading\":\"sandbox\"", "\"trading\":\"real\"", &["venue.isDemo"]),
    ];
    for (place, (intent, from, to, expected)) in edits.into_iter().enumerate() {
        let journal = format!("edited-{place}.db");
        std::fs::copy(folder.path("run.db"), folder.path(&journal)).unwrap();
        let of =
            if from.contains("trading") { "kind = 'run'".to_owned() } else { format!("intent = {intent}") };
        let like = format!("{of} AND body LIKE '%{from}%'");
        let sql = format!("UPDATE entries SET body = replace(body, '{from}', '{to}') WHERE {like}");
        // It lives as long as the test's process.
        forge(&folder.path(&journal), sql.leak());
        let (right, wrong, text) = audited(&folder, intent, &journal);
        assert_eq!(wrong, expected, "{text}");
        assert_eq!(right.len() + wrong.len(), all.len(), "{right:?}");
        assert!(text.contains("pnl DIFFERS: -10.0; the journal has -9") || place > 0, "{text}");
    }
}

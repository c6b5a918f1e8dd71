//! Runs against a lying venue over sockets, one for each row of `docs/api/believed.md`.
#![cfg(unix)]

use crate::candlewick::{Folder, Run, last_document, repository};
use crate::lying_venue::Place::{self, Answer, ById, Ended, Listed, Taken, User, Wallets};
use crate::lying_venue::{LyingVenue, Tell};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

/// Durations of a run; on a busy machine with too few events it is repeated for longer.
const DURATIONS: [&str; 3] = ["7s", "20s", "60s"];
const PATIENCE: Duration = Duration::from_mins(3);
const RUNS_AT_ONCE: usize = 10;

pub(crate) const BOT: &str = r#"
[broker]
requests_per_second = 0
timeout_ms = 20000
read_deadline_ms = 60000
[risk]
max_open_trades = 0
max_open_trades_per_symbol = 0
max_trades_per_day = OPENS
daily_loss_limit = 0
max_drawdown_percent = 0
allow_opposite = true
allow_duplicate = true
max_signal_delay_ms = 30000
[runtime]
settle_after_ms = 100
wallet_every_s = 1
list_every_s = 1
list_lag_ms = 500
missing_trade_s = 1
watch_prices = false
stop_patience_s = 2
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "1s"
strategy = "rsi-reversal"
params = { period = 2, oversold = 45.0, overbought = 55.0 }
close_type = "00:01"
stake = { kind = "fixed", amount = 10.0 }
"#;

const YEARS: i64 = 5 * 365 * 86_400_000;

const LIES: &[(&str, Tell)] = &[
    ("nothing: it keeps to the contract", |_, _, _| {}),
    ("takes 50 where 10 were ordered", |place, _, trade| set(place, Taken, trade, "amount", 50)),
    ("takes another pair", |place, _, trade| set(place, Taken, trade, "symbol", "ETHUSDT")),
    ("takes the other direction", |place, _, trade| {
        let other = if trade["direction"] == "BUY" { "SELL" } else { "BUY" };
        set(place, Taken, trade, "direction", other);
    }),
    ("takes real money", |place, _, trade| set(place, Taken, trade, "isDemo", false)),
    ("charges a fee", |place, _, trade| set(place, Taken, trade, "tenantFeeAmount", 0.5)),
    ("takes another duration", |place, _, trade| set(place, Taken, trade, "closeType", "00:05")),
    ("answers 50, and has taken 10", |place, _, trade| set(place, Answer, trade, "amount", 50)),
    ("refuses an order (404), and has taken it", |place, _, trade| {
        if place == Answer {
            *trade = Value::Null;
        }
    }),
    ("answers with times of 40 minutes ago", |place, _, trade| {
        for name in ["requestTime", "openTime", "closeTime", "createdAt"] {
            if place == Answer {
                change_time(trade, name, |it| it - 40 * 60_000);
            }
        }
    }),
    ("answers with the id of another intent's trade", |place, number, trade| {
        if number > 1 {
            set(place, Answer, trade, "id", "trade-1");
        }
    }),
    ("answers with the id of no trade", |place, _, trade| set(place, Answer, trade, "id", "trade-0")),
    ("takes two trades for one request", |place, number, trade| {
        if place == Taken {
            let mut second = trade.clone();
            second["id"] = json!(format!("trade-{}", number + 1));
            *trade = json!([trade.clone(), second]);
        }
    }),
    ("closes at a time in microseconds", |place, _, trade| shift(place, trade, "closeTime", |it| it * 1_000)),
    ("closes years ahead", |place, _, trade| shift(place, trade, "closeTime", |it| it + YEARS)),
    ("closes at 9223372036854775807", |place, _, trade| shift(place, trade, "closeTime", |_| i64::MAX)),
    ("opens at 9223372036854775807", |place, _, trade| shift(place, trade, "openTime", |_| i64::MAX)),
    ("closes before all time", |place, _, trade| shift(place, trade, "closeTime", |_| -5)),
    ("took the request years ahead", |place, _, trade| shift(place, trade, "requestTime", |it| it + YEARS)),
    ("pays 0 %", |place, _, trade| set(place, Taken, trade, "payout", 0)),
    ("pays 1000000 %", |place, _, trade| set(place, Taken, trade, "payout", 1_000_000)),
    ("pays -80 %", |place, _, trade| set(place, Taken, trade, "payout", -80)),
    ("pays 900 %", |place, _, trade| set(place, Taken, trade, "payout", 900)),
    ("ends a win with 1000000.00", |place, _, trade| end(place, Ended, trade, ("WON", 1_000_000.0))),
    ("ends a win with -5.00", |place, _, trade| end(place, Ended, trade, ("WON", -5.0))),
    ("ends a loss with 5.00", |place, _, trade| end(place, Ended, trade, ("LOST", 5.0))),
    ("ends a loss with -50.00", |place, _, trade| end(place, Ended, trade, ("LOST", -50.0))),
    ("ends a draw with 5.00", |place, _, trade| end(place, Ended, trade, ("DRAW", 5.0))),
    ("ends with a payout of 60 %", |place, _, trade| {
        set(place, Ended, trade, "payout", 60);
        set(place, Ended, trade, "pnl", 6);
    }),
    ("pays a cent less than its payout", |place, _, trade| end(place, Ended, trade, ("WON", 7.99))),
    ("calls a loss a win", |place, _, trade| {
        let price = if trade["direction"] == "BUY" { 99.0 } else { 101.0 };
        set(place, Ended, trade, "closePrice", price);
    }),
    ("gives the record of another id, twice", |place, _, trade| {
        if let ById(0 | 1) = place {
            trade["id"] = json!("trade-7");
        }
    }),
    ("gives the record of another pair, twice", |place, _, trade| {
        if let ById(0 | 1) = place {
            (trade["symbol"], trade["pnl"]) = (json!("ETHUSDT"), json!(5_000));
        }
    }),
    ("does not find a trade by its id", |place, _, trade| {
        if let ById(_) = place {
            *trade = Value::Null;
        }
    }),
    ("loses a trade that has ended, by its id and in the list", |place, _, trade| match place {
        ById(_) if trade["result"] == "WON" => *trade = Value::Null,
        Listed if trade["result"] == "WON" => *trade = json!([]),
        _ => {}
    }),
    ("loses a trade that has ended by its id, and has an unreadable row in the list", |place, _, trade| {
        match place {
            ById(_) if trade["result"] == "WON" => *trade = Value::Null,
            Listed if trade["result"] == "WON" => *trade = json!(["a trade"]),
            _ => {}
        }
    }),
    ("ends a trade with an unknown word", |place, _, trade| {
        set(place, Ended, trade, "status", "AUDITED");
        set(place, Ended, trade, "result", "REVERTED");
    }),
    ("says WON by id and LOST in the list", |place, _, trade| list(place, trade, "COMPLETED", "LOST", -10)),
    ("says WON by id and CANCELLED in the list", |place, _, trade| {
        list(place, trade, "CANCELLED", "CANCELLED", 0);
    }),
    ("lists a trade that has settled as one that runs", |place, _, trade| {
        list(place, trade, "OPEN", "PENDING", 0);
    }),
    ("lists a trade twice, won and lost", |place, _, trade| {
        if place == Listed && trade["result"] == "WON" {
            let mut second = trade.clone();
            end(place, Listed, &mut second, ("LOST", -10.0));
            *trade = json!([trade.clone(), second]);
        }
    }),
    ("says WON once, then LOST by id and in the list", |place, _, trade| {
        end(place, Ended, trade, ("LOST", -10.0));
        if trade["result"] == "LOST" {
            end(place, ById(0), trade, ("WON", 8.0));
        }
    }),
    ("writes balances with the noise of floats", |place, _, wallets| {
        if let Wallets(_) = place {
            wallets[0]["balance"] = json!(wallets[0]["balance"].as_f64().unwrap() + 2e-12);
        }
    }),
    ("bans the user", |place, _, user| set(place, User, user, "banned", true)),
    ("loses the wallet", |place, _, wallets| {
        if let Wallets(1..) = place {
            *wallets = json!([wallets[1].clone()]);
        }
    }),
    ("shows the wallet of another user", |place, _, wallets| {
        if let Wallets(1..) = place {
            (wallets[0]["id"], wallets[0]["userId"]) = (json!("w-9"), json!("user-9"));
        }
    }),
    ("has a wallet below zero, for a while", |place, _, wallets| {
        if let Wallets(reading @ 1..=6) = place {
            wallets[0]["balance"] = json!(-i64::try_from(reading).unwrap());
        }
    }),
    ("has a wallet below zero", |place, _, wallets| {
        if let Wallets(1..) = place {
            wallets[0]["balance"] = json!(-5);
        }
    }),
    ("reports a win, and does not pay it", |place, _, trade| match place {
        Ended => end(place, Ended, trade, ("LOST", -10.0)),
        ById(_) | Listed if trade["result"] == "LOST" => end(place, place, trade, ("WON", 8.0)),
        _ => {}
    }),
];

fn set(place: Place, lying: Place, record: &mut Value, name: &str, value: impl Into<Value>) {
    if place == lying {
        record[name] = value.into();
    }
}

fn end(place: Place, lying: Place, record: &mut Value, (result, pnl): (&str, f64)) {
    set(place, lying, record, "result", result);
    set(place, lying, record, "pnl", pnl);
}

fn list(place: Place, record: &mut Value, status: &str, result: &str, pnl: i32) {
    if place == Listed && record["result"] == "WON" {
        (record["status"], record["result"], record["pnl"]) = (json!(status), json!(result), json!(pnl));
    }
}

fn change_time(record: &mut Value, name: &str, change: fn(i64) -> i64) {
    record[name] = json!(change(record[name].as_i64().unwrap()));
}

fn shift(place: Place, record: &mut Value, name: &str, change: fn(i64) -> i64) {
    if matches!(place, Answer | ById(_) | Listed) {
        change_time(record, name, change);
    }
}

fn opens(text: &str) -> usize {
    match text {
        "answers with the id of another intent's trade" => 2,
        "bans the user" => 0,
        _ => 1,
    }
}

pub(crate) fn folder_at(url: &str, opens: usize) -> Folder {
    Folder::new()
        .with("bot.toml", &BOT.replace("OPENS", &opens.to_string()))
        .with_variable("CANDLEWICK_BROKER__BASE_URL", url)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", url)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", "token-1")
        .with_variable("CANDLEWICK_BROKER__API_KEY", "key-1")
}

fn run(text: &str, tell: Tell, message: &str) -> Run {
    let mut last = None;
    for span in DURATIONS {
        let venue = LyingVenue::start(tell);
        let folder = folder_at(&venue.url, opens(text));
        let arguments = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--for", span];
        let run = end_in_time(folder.command(&arguments), text);
        if venue.opens() >= opens(text) && run.stderr.contains(message) {
            return run;
        }
        last = Some(run);
    }
    last.unwrap()
}

pub(crate) fn end_in_time(mut command: Command, text: &str) -> Run {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").args(["-s", "KILL", &id]).status();
        panic!("the run does not end if the venue {text}");
    };
    Run::from_output(&output)
}

fn cells(line: &str) -> Option<[&str; 4]> {
    let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
    row.split(" | ").collect::<Vec<_>>().try_into().ok()
}

fn outcome(run: &Run, message: &str) -> [String; 3] {
    let report: Value = serde_json::from_str(last_document(&run.stdout)).unwrap_or_default();
    let halted = if run.stderr.contains("ERROR halted: ") { "halts" } else { "continues" };
    let booked = match report["trades"].as_u64() {
        None => "nothing reported".to_owned(),
        Some(0) => "books nothing".to_owned(),
        Some(_) => format!("books {:.2}", report["pnl"].as_f64().unwrap()),
    };
    let at_stake = report["unsettled_stakes"].as_f64().filter(|stakes| *stakes > 0.0);
    let open = at_stake.map_or(String::new(), |stakes| format!(", {stakes:.2} still at stake"));
    let is_said = run.stderr.contains(message.trim_matches('`'));
    let message = if is_said { message } else { "not said" };
    [format!("{halted}, {booked}{open}"), message.to_owned(), run.code.to_string()]
}

#[test]
fn program_handles_each_lie_as_documented() {
    let page = std::fs::read_to_string(repository().join("docs/api/believed.md")).unwrap();
    let rows: Vec<[&str; 4]> = page.lines().filter_map(cells).skip(1).collect();
    let texts: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(texts, LIES.iter().map(|(text, _)| *text).collect::<Vec<_>>());
    let queue = Mutex::new(rows.iter().zip(LIES).collect::<Vec<_>>());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..RUNS_AT_ONCE {
            scope.spawn(|| {
                while let Some((row, (text, tell))) = { queue.lock().unwrap().pop() } {
                    let run = run(text, *tell, row[2].trim_matches('`'));
                    let found = outcome(&run, row[2]);
                    if found != row[1..] {
                        wrong.lock().unwrap().push(format!("{text}: {found:?}\n{}", run.stderr));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "different from the page:\n{}", wrong.join("\n"));
}

//! What is believed of a venue that lies, tried on the program over sockets: each lie with what the bot does, what it says
//! and how it ends, held against `docs/api/believed.md`.
#![cfg(unix)]

use crate::candlewick::{Folder, Run, last_document, repository};
use crate::lying_venue::{LyingVenue, Place, Tell};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

/// How long a run lasts; on a busy machine, in which too little happens, again for longer.
const SPANS: [&str; 3] = ["7s", "20s", "60s"];
/// How long a process may take in all.
const PATIENCE: Duration = Duration::from_mins(3);
/// Runs at once: they wait more than they work.
const AT_ONCE: usize = 10;

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

/// A lie.
struct Lie {
    /// What the venue does, as the page has it.
    text: &'static str,
    /// What is said of it.
    says: &'static str,
    /// How many trades the bot may open.
    opens: usize,
    tell: Tell,
}

const fn lie(text: &'static str, says: &'static str, tell: Tell) -> Lie {
    Lie { text, says, opens: 1, tell }
}

/// The end of a trade as another result and profit.
fn end(record: &mut Value, result: &str, pnl: f64) {
    (record["result"], record["pnl"]) = (json!(result), json!(pnl));
}

/// [`end`] at one place only.
fn end_at(wanted: Place, place: Place, record: &mut Value, (result, pnl): (&str, f64)) {
    if place == wanted {
        end(record, result, pnl);
    }
}

/// The moments of a trade, in every record of it.
fn at(record: &mut Value, name: &str, change: fn(i64) -> i64) {
    record[name] = json!(change(record[name].as_i64().unwrap()));
}

const fn is_shown(place: Place) -> bool {
    matches!(place, Place::Answer | Place::ById(_) | Place::Listed)
}

const YEARS: i64 = 5 * 365 * 86_400_000;

fn lies() -> Vec<Lie> {
    let groups = [
        of_orders(),
        of_answers(),
        of_times(),
        of_payouts(),
        of_impossible_ends(),
        of_ends(),
        of_records(),
        of_lists(),
        of_wallets(),
        of_wallet_differences(),
    ];
    groups.into_iter().flatten().collect()
}

/// The venue takes something else than was ordered.
fn of_orders() -> Vec<Lie> {
    use Place::Taken;
    vec![
        lie("nothing: it keeps to the contract", "", |_, _, _| {}),
        lie("takes 50 where 10 were ordered", "amount is 50, asked for was 10", |place, _, record| {
            if place == Taken {
                record["amount"] = json!(50);
            }
        }),
        lie("takes another pair", "symbol is ETHUSDT, asked for was BTCUSDT", |place, _, record| {
            if place == Taken {
                record["symbol"] = json!("ETHUSDT");
            }
        }),
        lie("takes the other direction", "direction is ", |place, _, record| {
            if place == Taken {
                record["direction"] = json!(if record["direction"] == "BUY" { "SELL" } else { "BUY" });
            }
        }),
        lie("takes real money", "REAL MONEY: 10.00 was staked on the real account", |place, _, record| {
            if place == Taken {
                record["isDemo"] = json!(false);
            }
        }),
        lie(
            "charges a fee",
            "trade #1 has a fee of 0.50, and it is unknown whether its profit contains that",
            |place, _, record| {
                if place == Taken {
                    record["tenantFeeAmount"] = json!(0.5);
                }
            },
        ),
        lie("takes another duration", "close type is 00:05, asked for was 00:01", |place, _, record| {
            if place == Taken {
                record["closeType"] = json!("00:05");
            }
        }),
    ]
}

/// The answer to the open, and what the venue has beside it.
fn of_answers() -> Vec<Lie> {
    use Place::{Answer, Taken};
    vec![
        lie("answers 50, and has taken 10", "amount is 50, asked for was 10", |place, _, record| {
            if place == Answer {
                record["amount"] = json!(50);
            }
        }),
        lie(
            "refuses an order (404), and has taken it",
            "with the terms and the second of trade #1, which the venue had rejected: it counts again",
            |place, _, record| {
                if place == Answer {
                    *record = Value::Null;
                }
            },
        ),
        lie(
            "answers with times of 40 minutes ago",
            "before the request, which is not believed",
            |place, _, record| {
                if place == Answer {
                    for name in ["requestTime", "openTime", "closeTime", "createdAt"] {
                        at(record, name, |right| right - 40 * 60_000);
                    }
                }
            },
        ),
        Lie {
            opens: 2,
            ..lie(
                "answers with the id of another intent's trade",
                "which is another order's",
                |place, number, record| {
                    if place == Answer && number > 1 {
                        record["id"] = json!("trade-1");
                    }
                },
            )
        },
        lie(
            "answers with the id of no trade",
            "trade #1 was ordered once, and the venue has a second one, trade-1",
            |place, _, record| {
                if place == Answer {
                    record["id"] = json!("trade-0");
                }
            },
        ),
        lie(
            "takes two trades for one request",
            "trade #1 was ordered once, and the venue has a second one, trade-2",
            |place, number, record| {
                if place == Taken {
                    let mut second = record.clone();
                    second["id"] = json!(format!("trade-{}", number + 1));
                    *record = json!([record.clone(), second]);
                }
            },
        ),
    ]
}

/// What is said of a close time that cannot be.
const ODD_CLOSE: &str = "Trade.closeTime is not a time from 2000 to 2100";

/// The times in every record of the trade.
fn of_times() -> Vec<Lie> {
    vec![
        lie("closes at a time in microseconds", ODD_CLOSE, |place, _, record| {
            if is_shown(place) {
                at(record, "closeTime", |right| right * 1_000);
            }
        }),
        lie("closes years ahead", "which is not believed", |place, _, record| {
            if is_shown(place) {
                at(record, "closeTime", |right| right + YEARS);
            }
        }),
        lie("closes at 9223372036854775807", ODD_CLOSE, |place, _, record| {
            if is_shown(place) {
                record["closeTime"] = json!(i64::MAX);
            }
        }),
        lie(
            "opens at 9223372036854775807",
            "Trade.openTime is not a time from 2000 to 2100",
            |place, _, record| {
                if is_shown(place) {
                    record["openTime"] = json!(i64::MAX);
                }
            },
        ),
        lie("closes before all time", ODD_CLOSE, |place, _, record| {
            if is_shown(place) {
                record["closeTime"] = json!(-5);
            }
        }),
        lie("took the request years ahead", "which is not believed", |place, _, record| {
            if is_shown(place) {
                at(record, "requestTime", |right| right + YEARS);
            }
        }),
    ]
}

/// What the trade is to pay.
fn of_payouts() -> Vec<Lie> {
    use Place::Taken;
    vec![
        lie("pays 0 %", "is to pay 0 %, which no trade does", |place, _, record| {
            if place == Taken {
                record["payout"] = json!(0);
            }
        }),
        lie("pays 1000000 %", "is to pay 1000000 %, which no trade does", |place, _, record| {
            if place == Taken {
                record["payout"] = json!(1_000_000);
            }
        }),
        lie("pays -80 %", "is to pay -80 %, which no trade does", |place, _, record| {
            if place == Taken {
                record["payout"] = json!(-80);
            }
        }),
        lie("pays 900 %", "is to pay 900 %, more than 200 %", |place, _, record| {
            if place == Taken {
                record["payout"] = json!(900);
            }
        }),
    ]
}

/// How the trade ends: a profit that no outcome has.
fn of_impossible_ends() -> Vec<Lie> {
    vec![
        lie(
            "ends a win with 1000000.00",
            "trade #1 was WON: profit 1000000.00; stake 10.00 and payout 80 % give 8.00",
            |place, _, record| end_at(Place::Ended, place, record, ("WON", 1_000_000.0)),
        ),
        lie(
            "ends a win with -5.00",
            "trade #1 was WON: profit -5.00; stake 10.00 and payout 80 % give 8.00",
            |place, _, record| end_at(Place::Ended, place, record, ("WON", -5.0)),
        ),
        lie(
            "ends a loss with 5.00",
            "trade #1 was LOST with +5.00, but a lost trade earns nothing",
            |place, _, record| end_at(Place::Ended, place, record, ("LOST", 5.0)),
        ),
        lie(
            "ends a loss with -50.00",
            "trade #1 was LOST: profit -50.00; stake and payout give -10.00",
            |place, _, record| end_at(Place::Ended, place, record, ("LOST", -50.0)),
        ),
        lie(
            "ends a draw with 5.00",
            "trade #1 was DRAW with +5.00, but a drawn trade returns its stake",
            |place, _, record| end_at(Place::Ended, place, record, ("DRAW", 5.0)),
        ),
    ]
}

/// How the trade ends: another profit or outcome than follows from its terms.
fn of_ends() -> Vec<Lie> {
    use Place::Ended;
    vec![
        lie(
            "ends with a payout of 60 %",
            "the venue now pays 60 %, agreed at the open were 80 %",
            |place, _, record| {
                if place == Ended {
                    (record["payout"], record["pnl"]) = (json!(60), json!(6));
                }
            },
        ),
        lie(
            "pays a cent less than its payout",
            "trade #1 was WON: profit 7.99; stake 10.00 and payout 80 % give 8.00",
            |place, _, record| {
                if place == Ended {
                    end(record, "WON", 7.99);
                }
            },
        ),
        lie("calls a loss a win", "trade #1 was reported WON, but a ", |place, _, record| {
            if place == Ended {
                record["closePrice"] = json!(if record["direction"] == "BUY" { 99.0 } else { 101.0 });
            }
        }),
    ]
}

/// Its record by its id.
fn of_records() -> Vec<Lie> {
    use Place::{ById, Ended, Listed};
    vec![
        lie("gives the record of another id, twice", "it is named trade-7", |place, _, record| {
            if matches!(place, ById(0 | 1)) {
                record["id"] = json!("trade-7");
            }
        }),
        lie("gives the record of another pair, twice", "its symbol is ETHUSDT", |place, _, record| {
            if matches!(place, ById(0 | 1)) {
                (record["symbol"], record["pnl"]) = (json!("ETHUSDT"), json!(5_000));
            }
        }),
        lie("does not find a trade by its id", "", |place, _, record| {
            if matches!(place, ById(_)) {
                *record = Value::Null;
            }
        }),
        lie(
            "loses a trade that has ended, by its id and in the list",
            "the venue has had no trade #1 (trade-1) for",
            |place, _, record| match place {
                ById(_) if record["result"] == "WON" => *record = Value::Null,
                Listed if record["result"] == "WON" => *record = json!([]),
                _ => {}
            },
        ),
        lie(
            "loses a trade that has ended by its id, and has a row in the list that nobody can read",
            "not by its id, and its list could not be read as a whole",
            |place, _, record| match place {
                ById(_) if record["result"] == "WON" => *record = Value::Null,
                Listed if record["result"] == "WON" => *record = json!(["a trade"]),
                _ => {}
            },
        ),
        lie("ends a trade with a word that nobody knows", "REVERTED", |place, _, record| {
            if place == Ended {
                (record["status"], record["result"]) = (json!("AUDITED"), json!("REVERTED"));
            }
        }),
    ]
}

/// The list beside that record.
fn of_lists() -> Vec<Lie> {
    use Place::{ById, Ended, Listed};
    vec![
        lie(
            "says WON by id and LOST in the list",
            "now says LOST with -10.00, but the trade's own record says WON with +8.00",
            |place, _, record| {
                if place == Listed && record["result"] == "WON" {
                    end(record, "LOST", -10.0);
                }
            },
        ),
        lie(
            "says WON by id and CANCELLED in the list",
            "now says CANCELLED with 0.00, but the trade's own record says WON with +8.00",
            |place, _, record| {
                if place == Listed && record["result"] == "WON" {
                    (record["status"], record["result"], record["pnl"]) =
                        (json!("CANCELLED"), json!("CANCELLED"), json!(0));
                }
            },
        ),
        lie(
            "lists a trade that has settled as one that runs",
            "now says that it is open, but the trade's own record says WON with +8.00",
            |place, _, record| {
                if place == Listed && record["result"] == "WON" {
                    (record["status"], record["result"], record["pnl"]) =
                        (json!("OPEN"), json!("PENDING"), json!(0));
                }
            },
        ),
        lie(
            "lists a trade twice, won and lost",
            "now says LOST with -10.00, but the trade's own record says WON with +8.00",
            |place, _, record| {
                if place == Listed && record["result"] == "WON" {
                    let mut second = record.clone();
                    end(&mut second, "LOST", -10.0);
                    *record = json!([record.clone(), second]);
                }
            },
        ),
        lie(
            "says WON once, then LOST by id and in the list",
            "trade #1 is corrected from WON with +8.00 to LOST with -10.00",
            |place, _, record| match place {
                Ended => end(record, "LOST", -10.0),
                ById(0) if record["result"] == "LOST" => end(record, "WON", 8.0),
                _ => {}
            },
        ),
    ]
}

/// The wallets.
fn of_wallets() -> Vec<Lie> {
    use Place::Wallets;
    vec![
        lie("writes balances with the noise of floats", "", |place, _, wallets| {
            if let Wallets(_) = place {
                wallets[0]["balance"] = json!(wallets[0]["balance"].as_f64().unwrap() + 2e-12);
            }
        }),
        Lie {
            opens: 0,
            ..lie("bans the user", "the account is banned", |place, _, user| {
                if place == Place::User {
                    user["banned"] = json!(true);
                }
            })
        },
        lie("loses the wallet", "the venue shows no demo wallet", |place, _, wallets| {
            if matches!(place, Wallets(3..)) {
                *wallets = json!([wallets[1].clone()]);
            }
        }),
    ]
}

/// Wallets that differ from the ledger.
fn of_wallet_differences() -> Vec<Lie> {
    use Place::{ById, Ended, Listed, Wallets};
    vec![
        lie(
            "shows the wallet of another user",
            "the venue shows other demo wallets: w-9 of user user-9",
            |place, _, wallets| {
                if matches!(place, Wallets(3..)) {
                    wallets[0]["id"] = json!("w-9");
                    wallets[0]["userId"] = json!("user-9");
                }
            },
        ),
        lie("has a wallet below zero, for a while", "off what the trades explain", |place, _, wallets| {
            if let Wallets(reading @ 3..=8) = place {
                wallets[0]["balance"] = json!(-i64::try_from(reading).unwrap());
            }
        }),
        lie(
            "has a wallet below zero",
            "that is more than 20 % of the equity (runtime.max_unexplained_percent)",
            |place, _, wallets| {
                if matches!(place, Wallets(3..)) {
                    wallets[0]["balance"] = json!(-5);
                }
            },
        ),
        lie(
            "reports a win, and does not pay it",
            "the demo wallet holds 18.00 less than the trades explain: 1 win was not paid",
            |place, _, record| match place {
                Ended => end(record, "LOST", -10.0),
                ById(_) | Listed if record["result"] == "LOST" => end(record, "WON", 8.0),
                _ => {}
            },
        ),
    ]
}

/// A run against the venue that lies so; again for longer while it has not opened enough.
fn run(lie: &Lie) -> Run {
    let mut last = None;
    for span in SPANS {
        let venue = LyingVenue::start(lie.tell);
        let folder = Folder::new()
            .with("bot.toml", &BOT.replace("OPENS", &lie.opens.to_string()))
            .with_variable("CANDLEWICK_BROKER__BASE_URL", &venue.url)
            .with_variable("CANDLEWICK_BROKER__PRICE_URL", &venue.url)
            .with_variable("CANDLEWICK_BROKER__API_TOKEN", "token-1")
            .with_variable("CANDLEWICK_BROKER__API_KEY", "key-1");
        let arguments = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--for", span];
        let run = end_in_time(folder.command(&arguments), lie.text);
        let has_seen_enough = venue.opens() >= lie.opens && run.stderr.contains(lie.says);
        if has_seen_enough {
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
        panic!("where the venue {text}, the run does not end");
    };
    Run::of(&output)
}

/// The row of a run as the page has it.
fn row(lie: &Lie, run: &Run) -> String {
    let report: Value = serde_json::from_str(last_document(&run.stdout)).unwrap_or_default();
    let halted = if run.stderr.contains("ERROR halted: ") { "halts" } else { "goes on" };
    let booked = match report["trades"].as_u64() {
        None => "nothing reported".to_owned(),
        Some(0) => "books nothing".to_owned(),
        Some(_) => format!("books {:.2}", report["pnl"].as_f64().unwrap()),
    };
    let at_stake = report["unsettled_stakes"].as_f64().filter(|stakes| *stakes > 0.0);
    let open = at_stake.map_or(String::new(), |stakes| format!(", {stakes:.2} still at stake"));
    let says = if lie.says.is_empty() { String::new() } else { format!("`{}`", lie.says) };
    let is_said = if run.stderr.contains(lie.says) { "" } else { " (not said)" };
    format!("| {} | {halted}, {booked}{open} | {says}{is_said} | {} |", lie.text, run.code)
}

#[test]
fn what_the_page_says_is_what_the_program_does() {
    let (lies, page) = (lies(), std::fs::read_to_string(repository().join("docs/api/believed.md")).unwrap());
    let queue = Mutex::new((0..lies.len()).collect::<Vec<_>>());
    let rows = Mutex::new(vec![String::new(); lies.len()]);
    let logs = Mutex::new(vec![String::new(); lies.len()]);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(place) = { queue.lock().unwrap().pop() } {
                    let run = run(&lies[place]);
                    rows.lock().unwrap()[place] = row(&lies[place], &run);
                    logs.lock().unwrap()[place] = run.stderr;
                }
            });
        }
    });
    let (rows, logs) = (rows.into_inner().unwrap(), logs.into_inner().unwrap());
    let mut wrong = String::new();
    for (row, log) in rows.iter().zip(&logs).filter(|(row, _)| !page.lines().any(|line| line == *row)) {
        let _ = writeln!(wrong, "{row}\n{log}");
    }
    assert!(wrong.is_empty(), "not on the page:\n{wrong}\nall rows:\n{}", rows.join("\n"));
    let listed = page.lines().filter(|line| line.starts_with("| ") && line.ends_with(" |")).count();
    assert_eq!(listed, rows.len() + 1, "rows on the page, with the heading");
}

//! Blackouts: a calendar blocks the same spans as a CSV file, in a backtest, live, in a replay and after a reload.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, NO_LIMITS, candles};
use crate::control::{Live, venue_and_folder};
use crate::excerpt::{MINUTE, MONDAY};
use serde_json::Value;

const CSV: &str = "from,to\n2026-01-05 01:10,2026-01-05 02:40\n2026-01-05 03:00,2026-01-05 03:30\n";
/// The same spans in New York winter time and by duration, plus a cancelled event over all, and a reminder.
const CALENDAR: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:jobs\r\nDTSTART;TZID=America/New_York:20260104T201000\r\n\
                        DTEND;TZID=America/New_York:20260104T214000\r\nBEGIN:VALARM\r\nTRIGGER:-P1D\r\nDURATION:P1D\r\nEND:VALARM\r\n\
                        END:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART:20260105T030000Z\r\nDURATION:PT30M\r\nEND:VEVENT\r\n\
                        BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20260105\r\nSTATUS:CANCELLED\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
const SPANS: [(i64, i64); 2] = [(70, 160), (180, 210)];

fn settings(blackouts: &str) -> String {
    let bot = BOT.replace("period = 2", "period = 2, oversold = 45.0, overbought = 55.0");
    format!("{NO_LIMITS}{blackouts}\n{bot}")
}

fn run(folder: &Folder, blackouts: &str, command: &[&str]) -> (Vec<String>, Option<u64>) {
    std::fs::write(folder.path("bot.toml"), settings(blackouts)).unwrap();
    let common =
        ["--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet", "--trades", "trades.csv"];
    let report: Value = folder.run(&[command, &common].concat()).json();
    let trades = folder.read("trades.csv").lines().map(str::to_owned).collect();
    (trades, report["refused"]["Blackout"].as_u64())
}

#[test]
fn calendar_blocks_the_same_signals_in_backtest_live_and_replay() {
    let folder =
        Folder::new().with("BTCUSDT_1m.csv", &candles(300)).with("news.csv", CSV).with("news.ics", CALENDAR);
    let (all, none) = run(&folder, "", &["backtest"]);
    let rows = run(&folder, "blackouts = \"news.csv\"", &["backtest"]);
    let calendar = run(&folder, "blackouts = \"news.ics\"", &["backtest"]);
    assert_eq!((none, &calendar), (None, &rows));
    assert!(rows.0.len() > 20 && all.len() > rows.0.len() + 20, "{} of {}", rows.0.len(), all.len());
    let column = all[0].split(',').position(|name| name == "decision_time").unwrap();
    let is_refused = |line: &&String| {
        let decided: i64 = line.split(',').nth(column).unwrap().parse().unwrap();
        SPANS.iter().any(|(from, to)| (*from..*to).contains(&((decided - MONDAY) / MINUTE)))
    };
    let refused = all[1..].iter().filter(is_refused).count();
    assert_eq!(calendar.1, Some(refused as u64), "exactly the signals of the spans are blocked");
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--journal", "run.db"];
    assert_eq!(run(&folder, "blackouts = \"news.ics\"", &live), calendar);
    // The journal holds the content of the file: a replay needs none.
    std::fs::remove_file(folder.path("news.ics")).unwrap();
    let parity = folder.run(&["parity", "--journal", "run.db"]);
    assert_eq!(parity.code, 0, "{}{}", parity.stdout, parity.stderr);
}

#[test]
fn reload_accepts_a_complete_calendar_and_refuses_a_partly_readable_one() {
    let (_served, folder) = venue_and_folder();
    let bot = Live::start(&folder);
    let repeats = CALENDAR.replacen("DURATION:PT30M", "DURATION:PT30M\r\nRRULE:FREQ=DAILY", 1);
    let folder = folder
        .with("news.ics", &repeats)
        .with("bot.toml", &format!("[risk]\nblackouts = \"news.ics\"\n{BOT}"));
    let parts = ["risk.blackouts", "news.ics", "line 15: RRULE"];
    folder.run(&["config", "check", "--config", "bot.toml"]).fails(3, &parts);
    let refused = folder.run(&["reload", "--config", "bot.toml"]);
    refused.fails(refused.code.max(1), &parts);
    std::fs::write(folder.path("news.ics"), CALENDAR).unwrap();
    let answer = folder.run(&["reload", "--json", "--config", "bot.toml"]).json();
    let changes = answer["reloaded"]["changes"].to_string();
    assert!(changes.contains("risk.blackouts") && changes.contains("news.ics"), "{changes}");
    assert_eq!(bot.end(), Some(130));
}

#[test]
fn refuses_blackouts_of_untraded_symbols_and_notes_past_ones() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(30));
    let blackouts = |rows: &str| {
        std::fs::write(folder.path("news.csv"), format!("from,to,symbols\n{rows}\n")).unwrap();
        std::fs::write(folder.path("bot.toml"), settings("blackouts = \"news.csv\"")).unwrap();
    };
    let data = ["--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];
    let check = || folder.run(&["config", "check", "--config", "bot.toml"]);
    let backtest = || folder.run(&[&["backtest"], &data[..]].concat());
    let live = || folder.run(&[&["live", "--sandbox", "--speed", "max", "--until-end"], &data[..]].concat());
    blackouts("2026-01-05T01:10:00Z,2026-01-05T02:40:00Z,BTCUDST");
    for run in [check(), backtest(), live()] {
        run.fails(3, &["risk.blackouts = \"news.csv\" (bot.toml)", "2026-01-05T01:10:00Z", "BTCUSDT?"]);
    }
    // The span is past for a check, but not for a venue whose clock follows its candles.
    let over = "news.csv has no current or future time span";
    blackouts("2026-01-05T01:10:00Z,2026-01-05T02:40:00Z,BTCUSDT");
    let (checked, ran) = (check(), live());
    assert!(checked.code == 0 && checked.stdout.contains(over), "{}{}", checked.stdout, checked.stderr);
    assert!(ran.code == 0 && !ran.stderr.contains(over), "{}", ran.stderr);
    blackouts("2025-01-05,2025-01-06,");
    let ran = live();
    assert!(ran.stderr.contains(over), "{}", ran.stderr);
}

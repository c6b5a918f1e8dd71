//! One set of bots, in a backtest and live in lock-step over HTTP: the same trades, to the byte.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, HOUR, MINUTE, MONDAY, shipped, thinned};
use crate::recording::{lines, write};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const FIGURES: &str =
    "candles trades won lost draw cancelled unsettled refused pnl final_balance max_drawdown";

type Bot = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const TEN: &str = "{ kind = \"fixed\", amount = 10 }";
const PARAMS: &str = "params = { period = 3, oversold = 45.0, overbought = 55.0 }";

fn bots(rows: &[Bot]) -> String {
    rows.iter().map(bot).collect()
}

fn bot((name, symbol, interval, close_type, expiration_type, stake): &Bot) -> String {
    let asset_type = if symbol.starts_with("BTC") { "crypto" } else { "forex" };
    format!(
        "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"{interval}\"\n\
         asset_type = \"{asset_type}\"\nstrategy = \"rsi-reversal\"\nclose_type = \"{close_type}\"\n\
         {PARAMS}\nexpiration_type = \"{expiration_type}\"\nstake = {stake}\n"
    )
}

fn risk(rules: &str) -> String {
    format!(
        "[risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 2\nmax_trades_per_day = 0\n\
         daily_loss_limit = 0\nmax_drawdown_percent = 0\nmax_ruin_probability = 0\n{rules}\n"
    )
}

fn folder(files: &[&str], from: i64, to: i64) -> Folder {
    files.iter().fold(Folder::new(), |folder, file| folder.with(file, &shipped(file, from, to)))
}

type Row = BTreeMap<String, String>;

struct Trades {
    rows: Vec<Row>,
    report: Value,
}

impl Trades {
    #[track_caller]
    fn assert_refused(&self, rules: &str) {
        let refused = &self.report["refused"];
        assert!(rules.split(' ').all(|rule| refused[rule].as_u64() > Some(0)), "{rules}: {refused}");
    }

    fn count(&self, is_meant: impl Fn(&Row) -> bool) -> usize {
        self.rows.iter().filter(|row| is_meant(row)).count()
    }
}

fn time(row: &Row, name: &str) -> i64 {
    row[name].parse().unwrap()
}

fn check(folder: &Folder, settings: &str, data: &[&str]) -> Trades {
    check_with(folder, settings, data, &[])
}

fn check_and_prove(folder: &Folder, settings: &str, data: &[&str]) -> Trades {
    let trades = check_with(folder, settings, data, &["--journal", "run.db"]);
    let proven = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    assert_eq!((&proven["ok"], &proven["unexplained"]), (&Value::from(true), &Value::from(0)), "{proven}");
    trades
}

fn check_with(folder: &Folder, settings: &str, data: &[&str], more: &[&str]) -> Trades {
    std::fs::write(folder.path("bots.toml"), settings).unwrap();
    let data: Vec<&str> = data.iter().flat_map(|file| ["--data", file]).collect();
    let run = |command: &[&str], trades: &str| {
        let common = ["--config", "bots.toml", "--json", "--quiet", "--trades", trades];
        folder.run(&[command, &common, &data].concat()).json()
    };
    let stored = run(&["backtest"], "stored.csv");
    let live = run(&[&["live", "--sandbox", "--speed", "max", "--until-end"], more].concat(), "live.csv");
    let (stored_trades, live_trades) = (folder.read("stored.csv"), folder.read("live.csv"));
    assert_eq!(stored_trades, live_trades, "{settings}");
    for key in FIGURES.split(' ') {
        assert_eq!(stored[key], live[key], "{key}: {settings}");
    }
    assert_eq!(live["in_doubt"], 0);
    let mut reader = csv::Reader::from_reader(stored_trades.as_bytes());
    Trades { rows: reader.deserialize().map(Result::unwrap).collect(), report: stored }
}

fn check_longer(symbol: &'static str, from: i64, hours: i64, trend_seconds: u32, share: &str) -> String {
    let file = format!("{symbol}_1m.csv");
    let candles = thinned(&shipped(&file, from, from + hours * HOUR), 47);
    let params = format!(
        "params = {{ trend_seconds = {trend_seconds}, trend_period = 2, period = 2, distance = 5.0 }}"
    );
    let bot = bot(&("a", symbol, "1m", "01:00", "TIME_FIXED", TEN));
    let bot = bot.replace("rsi-reversal", "trend-filter").replace(PARAMS, &params);
    let settings = risk("allow_opposite = true") + share + &bot;
    let trades = check_and_prove(&Folder::new().with(&file, &candles), &settings, &[&file]);
    assert!(trades.rows.len() > 15, "{}", trades.rows.len());
    trades.report["notices"].to_string()
}

#[test]
fn bot_with_longer_candles_trades_identically_over_gaps() {
    let notices = check_longer("BTCUSDT", MONDAY, 8, 300, "");
    assert!(!notices.contains("longer candles not built"), "{notices}");
    let notices = check_longer("BTCUSDT", MONDAY, 8, 300, "[data]\nlonger_share_percent = 100\n");
    assert!(notices.contains("10 longer candles not built"), "{notices}");
    check_longer("EURUSD", MONDAY + 4 * DAY + 8 * HOUR, 72, 3_600, "");
}

#[test]
fn bots_of_two_intervals_on_one_symbol_trade_identically_at_any_latency() {
    let (data, from) = (["BTCUSDT_1m.csv", "BTCUSDT_5s.csv"], MONDAY + 11 * DAY);
    let folder = folder(&data, from, from + 20 * MINUTE);
    for latency_ms in [0, 1_500, 2_000, 61_000] {
        for expiration in ["CANDLE_CLOSE", "NEXT_CANDLE"] {
            let simulation = format!("[simulation]\nlatency_ms = {latency_ms}\nopen_rounding = \"none\"\n");
            let bots = bots(&[
                ("slow", "BTCUSDT", "1m", "01:00", expiration, TEN),
                ("fast", "BTCUSDT", "5s", "00:05", expiration, TEN),
            ]);
            let trades = check(&folder, &(simulation + &risk("cooldown_after_loss_s = 10") + &bots), &data);
            assert!(trades.rows.len() >= 10, "{} trades at {latency_ms} ms", trades.rows.len());
        }
    }
}

#[test]
fn per_bot_limits_and_blackouts_refuse_the_same_signals_live() {
    let (data, from) = (["EURUSD_5s.csv", "BTCUSDT_5s.csv", "GBPUSD_5s.csv"], MONDAY + 11 * DAY);
    let span = |begin: i64, end: i64, symbols: &str| {
        format!("{},{},{symbols},news\n", from + begin * MINUTE, from + end * MINUTE)
    };
    let news = format!("from,to,symbols,reason\n{}{}", span(3, 5, ""), span(10, 14, "BTCUSDT GBPUSD"));
    let folder = folder(&data, from, from + 20 * MINUTE).with("news.csv", &news);
    let limits = "allow_duplicate = true\nallow_opposite = true\nblackouts = \"news.csv\"\n\
                  [risk.bots.slow]\nmax_trades_per_day = 3\n\
                  [risk.bots.fast]\nmax_open_trades = 1\ndaily_loss_limit = 65\n\
                  [risk.bots.other]\nmax_loss_streak = 3\n";
    let bots = bots(&[
        ("slow", "EURUSD", "5s", "00:15", "TIME_FIXED", TEN),
        ("fast", "BTCUSDT", "5s", "00:15", "TIME_FIXED", TEN),
        ("other", "GBPUSD", "5s", "00:05", "TIME_FIXED", TEN),
    ]);
    let trades = check(&folder, &(risk(limits) + &bots), &data);
    assert!(trades.rows.len() > 20, "{}", trades.rows.len());
    let mut minutes = trades.rows.iter().map(|row| (time(row, "decision_time") - from) / MINUTE);
    assert!(!minutes.any(|minute| (3..5).contains(&minute)), "{:?}", trades.rows);
    assert_eq!(trades.count(|row| row["bot"] == "slow"), 3);
    trades.assert_refused("Blackout BotMaxTradesPerDay BotMaxOpenTrades BotDailyLossLimit BotLossStreak");
}

#[test]
fn daily_and_session_stops_and_pauses_apply_identically_live() {
    let data = ["BTCUSDT_1m.csv", "EURUSD_1m.csv"];
    let folder = folder(&data, MONDAY, MONDAY + 30 * HOUR);
    let rules = "daily_loss_limit_percent = 0.9\n\
        hours = [{ from = \"00:30\", to = \"05:00\" }, { from = \"05:30\", to = \"00:00\" }]\n\
        pauses = [{ after = 2, of = \"losses\", for_s = 600, scope = \"bot\" }, \
        { after = 7, of = \"trades\", for_s = 300, scope = \"symbol\" }]\n\
        min_payout_percent_by_symbol = { EURUSD = 70.0 }\n\
        [risk.session]\nof = \"hours\"\nloss_limit_percent = 0.6\nprofit_target = 40.0";
    let gale = "{ kind = \"martingale\", amount = 1, factor = 2, levels = 3 }";
    let bots = bots(&[
        ("a", "BTCUSDT", "1m", "01:00", "TIME_FIXED", TEN),
        ("b", "EURUSD", "1m", "02:00", "CANDLE_CLOSE", gale),
    ]);
    let trades = check(&folder, &(risk(rules) + &bots), &data);
    assert!(trades.rows.len() > 100, "{}", trades.rows.len());
    trades.assert_refused("DailyLossLimit SessionLossLimit Pause OutsideHours");
}

#[test]
fn ladders_on_the_next_candle_and_per_bot_session_stops_apply_identically_live() {
    let (data, to) = (["BTCUSDT_1m.csv", "EURUSD_1m.csv", "GBPUSD_1m.csv"], MONDAY + 20 * HOUR);
    let folder = folder(&data, MONDAY, to).with(data[0], &thinned(&shipped(data[0], MONDAY, to), 31));
    let again = "{ kind = \"martingale\", amount = 1, factor = 2, levels = 4, entry = \"next_candle\" }";
    let given_up = "{ kind = \"martingale\", amount = 1, factor = 2, levels = 4, entry = \"next_candle\", if_refused = \"reset\" }";
    let rules = "hours = [{ from = \"00:30\", to = \"05:00\" }, { from = \"05:30\", to = \"00:00\" }]\n\
        session = { of = \"hours\" }\n\
        [risk.bots.b]\nsession_loss_limit = 25\nsession_profit_target_percent = 0.3";
    let bots = bots(&[
        ("a", "BTCUSDT", "1m", "01:00", "TIME_FIXED", again),
        ("b", "EURUSD", "1m", "01:00", "CANDLE_CLOSE", given_up),
        ("c", "GBPUSD", "1m", "01:00", "TIME_FIXED", TEN),
    ]);
    let trades = check_and_prove(&folder, &(risk(rules) + &bots), &data);
    assert!(trades.rows.len() > 150, "{}", trades.rows.len());
    trades.assert_refused("BotSessionLossLimit");
    let reason = "ladder: again with the next candle";
    assert!(trades.count(|row| row["reason"].contains(reason)) > 20);
    for (written, instead) in [(reason, "ladder: once more"), ("BotSessionLossLimit", "SessionLossLimit")] {
        let mut lines: Vec<_> = lines(&folder.path("run.db")).into_iter().map(|stored| stored.line).collect();
        let first = lines.iter_mut().find(|line| line.body.contains(written)).unwrap();
        first.body = first.body.replacen(written, instead, 1);
        let changed = format!("{instead}.db");
        write(&folder.path(&changed), lines);
        let replayed = folder.run(&["parity", "--journal", &changed]);
        assert!(replayed.code == 5 && replayed.stderr.contains(instead), "{}", replayed.stderr);
    }
}

#[test]
fn selects_the_same_best_paying_symbol_live() {
    let names = ["BTCUSDT", "EURUSD", "GBPUSD"];
    let data = ["BTCUSDT_1m.csv", "EURUSD_1m.csv", "GBPUSD_1m.csv"];
    let folder = folder(&data, MONDAY, MONDAY + 8 * HOUR);
    let simulation = "[simulation]\npayout_percent = 82.0\n\
                      payout_percent_by_symbol = { EURUSD = 90.5, GBPUSD = 90.5 }\n";
    let rules = "best_payout_of = [\"BTCUSDT\", \"EURUSD\", \"GBPUSD\"]\npayout_max_age_s = 1800";
    let listed: Vec<_> = names.iter().map(|name| (*name, *name, "1m", "01:00", "TIME_FIXED", TEN)).collect();
    let trades = check_and_prove(&folder, &(simulation.to_owned() + &risk(rules) + &bots(&listed)), &data);
    assert!(trades.rows.len() > 50, "{}", trades.rows.len());
    let has_stake = |row: &Row, stake: f64| row["amount"].parse::<f64>() == Ok(stake);
    let staked = |bot: &str, stake: f64| trades.count(|row| row["bot"] == bot && has_stake(row, stake));
    // Only the first trade and one of each further half hour.
    let probes = staked("BTCUSDT", 1.0);
    assert!((8..=16).contains(&probes) && staked("BTCUSDT", 10.0) == 0, "{probes}");
    assert!(staked("EURUSD", 10.0) > 10 && staked("GBPUSD", 10.0) > 10, "{:?}", trades.rows);
    let chosen = trades.rows.iter().filter(|row| has_stake(row, 10.0)).map(|row| &row["decision_time"]);
    let chosen: Vec<&String> = chosen.collect();
    assert!(chosen.windows(2).all(|pair| pair[0] != pair[1]), "two at one moment: {chosen:?}");
}

#[test]
fn trades_with_an_entry_delay_open_identically_live() {
    let again = "{ kind = \"martingale\", amount = 1, factor = 2, levels = 3, entry = \"next_candle\" }";
    let minutes = [
        ("d20", "BTCUSDT", "1m", "01:00", "CANDLE_CLOSE", TEN),
        ("d0", "GBPUSD", "1m", "02:00", "TIME_FIXED", TEN),
        ("d7", "EURUSD", "1m", "01:00", "TIME_FIXED", again),
    ];
    for latency_ms in [0, 2_000, 40_000] {
        check_delays((MONDAY, 5 * HOUR), latency_ms, &minutes);
    }
    let seconds = [
        ("d3", "BTCUSDT", "5s", "00:05", "TIME_FIXED", TEN),
        ("d0", "GBPUSD", "5s", "00:05", "TIME_FIXED", TEN),
        ("d4", "EURUSD", "5s", "00:10", "CANDLE_CLOSE", TEN),
    ];
    for latency_ms in [0, 1_000, 2_000] {
        check_delays((MONDAY + 11 * DAY, 20 * MINUTE), latency_ms, &seconds);
    }
}

fn check_delays((from, span): (i64, i64), latency_ms: i64, listed: &[Bot]) {
    let data: Vec<String> = listed.iter().map(|bot| format!("{}_{}.csv", bot.1, bot.2)).collect();
    let part = |file: &String| thinned(&shipped(file, from, from + span), 41);
    let folder = data.iter().fold(Folder::new(), |folder, file| folder.with(file, &part(file)));
    let delay_of = |bot: &str| bot[1..].parse::<i64>().unwrap();
    let delayed = |row: &Bot| format!("{}entry_delay_s = {}\n", bot(row), delay_of(row.0));
    let simulation = format!("[simulation]\nlatency_ms = {latency_ms}\nopen_rounding = \"none\"\n");
    let bots: String = listed.iter().map(delayed).collect();
    let settings = simulation + &risk("allow_opposite = true\nallow_duplicate = true") + &bots;
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    let trades = check_and_prove(&folder, &settings, &data);
    for row in &trades.rows {
        let after = time(row, "open_time") - time(row, "decision_time");
        assert_eq!(after, delay_of(&row["bot"]) * 1_000 + latency_ms, "{row:?}");
    }
    for bot in listed {
        assert!(trades.count(|row| row["bot"] == bot.0) > 10, "{} at {latency_ms} ms", bot.0);
    }
}

fn silent(bots: &str) -> String {
    bots.replace("rsi-reversal", "none").replace(PARAMS, "")
}

/// Without latency, an open sent at a candle's close is answered before that candle; one decided at it, after it.
#[test]
fn open_sent_at_a_candle_close_gets_the_same_candle_live() {
    for (second, delay) in [(59, 1), (0, 0)] {
        let moments = (0..60).map(|number| MONDAY + HOUR + number * 3 * MINUTE + second * 1_000);
        let list: String = moments.map(|at| format!("{at},listed,BUY")).collect::<Vec<_>>().join("\n");
        let folder = folder(&["BTCUSDT_1m.csv"], MONDAY, MONDAY + 5 * HOUR)
            .with("list.csv", &("time,bot,direction\n".to_owned() + &list));
        let listed = silent(&bot(&("listed", "BTCUSDT", "1m", "05:00", "TIME_FIXED", TEN)));
        let each = "[[bots]]\nname = \"each\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rules\"\n\
                    params = { buy = \"close > 0\" }\nclose_type = \"01:00\"\n";
        let rules = risk("allow_opposite = true\nallow_duplicate = true")
            .replace("max_open_trades_per_symbol = 2", "max_open_trades_per_symbol = 0");
        let settings = format!(
            "[signals]\nlist = \"list.csv\"\n[simulation]\nlatency_ms = 0\n{rules}{listed}entry_delay_s = {delay}\n{each}"
        );
        let trades = check_and_prove(&folder, &settings, &["BTCUSDT_1m.csv"]);
        assert!(trades.rows.len() > 250, "{}", trades.rows.len());
        // At the close itself the other bot's open is in flight.
        let of_list = trades.count(|row| row["bot"] == "listed");
        assert_eq!(of_list, if delay == 1 { 60 } else { 0 });
    }
}

/// Answers, settlements and candles coincide, candles have holes, the wallet runs empty, stakes depend on results.
#[test]
fn four_bots_trade_identically_when_all_events_coincide() {
    let from = MONDAY + 11 * DAY;
    let part = |file: &str, every: usize| thinned(&shipped(file, from, from + 20 * MINUTE), every);
    let folder = Folder::new()
        .with("b1.csv", &part("BTCUSDT_1m.csv", 5))
        .with("b5.csv", &part("BTCUSDT_5s.csv", 7))
        .with("e1.csv", &part("EURUSD_1m.csv", 6))
        .with("g5.csv", &part("GBPUSD_5s.csv", 4));
    let data = ["BTCUSDT@1m=b1.csv", "BTCUSDT@5s=b5.csv", "EURUSD@1m=e1.csv", "GBPUSD@5s=g5.csv"];
    let share = "{ kind = \"share\", percent = 7 }";
    let gale = "{ kind = \"martingale\", amount = 1, factor = 2, levels = 3 }";
    let soros = "{ kind = \"soros\", amount = 2, wins = 3 }";
    let bots = bots(&[
        ("a", "BTCUSDT", "1m", "00:30", "TIME_FIXED", gale),
        ("b", "BTCUSDT", "5s", "00:10", "CANDLE_CLOSE", TEN),
        ("c", "EURUSD", "1m", "01:00", "NEXT_CANDLE", share),
        ("d", "GBPUSD", "5s", "00:05", "TIME_FIXED", soros),
    ]);
    for (latency_ms, delay_ms, rounding, gaps, balance, rules) in [
        (0, 0, "none", 0, "10000", "allow_opposite = true\nallow_duplicate = true"),
        (5_000, 5_000, "none", 1, "10000", "cooldown_after_loss_s = 10"),
        (60_000, 5_000, "second_end", 0, "10000", "allow_duplicate = true"),
        (300, 4_700, "none", 1, "35.5", "allow_opposite = true"),
        (10_000, 60_000, "second_end", 0, "60", "cooldown_after_loss_s = 60"),
    ] {
        let simulation = format!(
            "[account]\ninitial_balance = {balance}\n[simulation]\nlatency_ms = {latency_ms}\n\
             settle_delay_ms = {delay_ms}\nopen_rounding = \"{rounding}\"\nmax_gap_intervals = {gaps}\n"
        );
        let trades = check(&folder, &(simulation + &risk(rules) + &bots), &data);
        assert!(trades.rows.len() >= 10, "{} trades at {latency_ms} ms", trades.rows.len());
    }
}

fn list_of_signals() -> String {
    let mut text = "time,bot,direction,close_type,days,zone\n".to_owned();
    for number in 0..90 {
        let minute = 5 + number * 4;
        let (bot, direction) = (["a", "b"][number % 2], ["BUY", "SELL"][number % 3 % 2]);
        let second = ["", ":17"][number % 5 / 4];
        writeln!(text, "{:02}:{:02}{second},{bot},{direction},,mon-fri,UTC", minute / 60, minute % 60)
            .unwrap();
    }
    for number in 0..20 {
        let at = MONDAY + HOUR + number * 11 * MINUTE + 30_500;
        writeln!(text, "{at},b,SELL,05:00,,\n{at},a,BUY,,,").unwrap();
    }
    text
}

#[test]
fn signal_list_trades_identically_with_and_without_strategies() {
    let data = ["BTCUSDT_1m.csv", "EURUSD_1m.csv"];
    let folder = folder(&data, MONDAY, MONDAY + 7 * HOUR).with("list.csv", &list_of_signals());
    let both = bots(&[
        ("a", "BTCUSDT", "1m", "01:00", "TIME_FIXED", TEN),
        ("b", "EURUSD", "1m", "01:00", "CANDLE_CLOSE", TEN),
    ]);
    let settings = "[signals]\nlist = \"list.csv\"\n".to_owned() + &risk("allow_opposite = true");
    let with_strategies = check(&folder, &(settings.clone() + &both), &data).rows.len();
    let alone = check(&folder, &(settings + &silent(&both)), &data);
    let count = alone.rows.len();
    assert!(count > 80 && with_strategies > count, "{count} alone, {with_strategies} with strategies");
    assert_eq!(alone.count(|row| row["reason"].contains("signal from list")), count);
}

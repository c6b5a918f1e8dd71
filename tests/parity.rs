//! One set of bots, once as a backtest and once live in lock-step over HTTP: the same trades, to the byte.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, HOUR, MINUTE, MONDAY, shipped, thinned};
use crate::recording::{lines, write};
use candlewick_journal::Line;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The figures of both reports that must be equal beside the trades.
const FIGURES: [&str; 11] = [
    "candles",
    "trades",
    "won",
    "lost",
    "draw",
    "cancelled",
    "unsettled",
    "refused",
    "pnl",
    "final_balance",
    "max_drawdown",
];

/// A bot that trades often: name, symbol, interval, close type, expiration type, stake.
type Bot = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const TEN: &str = "{ kind = \"fixed\", amount = 10 }";

fn bots(rows: &[Bot]) -> String {
    rows.iter().map(bot).collect()
}

fn bot((name, symbol, interval, close_type, expiration_type, stake): &Bot) -> String {
    let asset_type = if symbol.starts_with("BTC") { "crypto" } else { "forex" };
    format!(
        "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"{interval}\"\n\
         asset_type = \"{asset_type}\"\nstrategy = \"rsi-reversal\"\nclose_type = \"{close_type}\"\n\
         params = {{ period = 3, oversold = 45.0, overbought = 55.0 }}\n\
         expiration_type = \"{expiration_type}\"\nstake = {stake}\n"
    )
}

/// Limits that let much through, and some of which are met.
fn risk(rules: &str) -> String {
    format!(
        "[risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 2\nmax_trades_per_day = 0\n\
         daily_loss_limit = 0\nmax_drawdown_percent = 0\nmax_ruin_probability = 0\n{rules}\n"
    )
}

/// Runs both and compares every line; answers how many trades there were.
fn check(folder: &Folder, settings: &str, data: &[&str]) -> usize {
    check_with(folder, settings, data, &[])
}

/// The same with a journal, which explains every trade of it.
fn check_and_prove(folder: &Folder, settings: &str, data: &[&str], journal: &str) -> usize {
    let trades = check_with(folder, settings, data, &["--journal", journal]);
    let proven = folder.run(&["parity", "--journal", journal, "--json"]).json();
    assert_eq!(proven["decisions"]["difference"], Value::Null, "{proven}");
    assert_eq!((&proven["ok"], &proven["unexplained"]), (&Value::from(true), &Value::from(0)), "{proven}");
    trades
}

fn check_with(folder: &Folder, settings: &str, data: &[&str], more: &[&str]) -> usize {
    std::fs::write(folder.path("bots.toml"), settings).unwrap();
    let data: Vec<&str> = data.iter().flat_map(|file| ["--data", file]).collect();
    let run = |command: &[&str], trades: &str| {
        let common = ["--config", "bots.toml", "--json", "--quiet", "--trades", trades];
        folder.run(&[command, &common, &data].concat()).json()
    };
    let stored = run(&["backtest"], "stored.csv");
    let live = run(&[&["live", "--sandbox", "--speed", "max", "--until-end"], more].concat(), "live.csv");
    let (stored_trades, live_trades) = (folder.read("stored.csv"), folder.read("live.csv"));
    for (stored, live) in stored_trades.lines().zip(live_trades.lines()) {
        assert_eq!(stored, live, "{settings}");
    }
    assert_eq!(stored_trades, live_trades, "{settings}");
    for key in FIGURES {
        assert_eq!(stored[key], live[key], "{key}: {settings}");
    }
    assert_eq!(live["in_doubt"], 0);
    stored_trades.lines().count() - 1
}

#[test]
fn two_bots_on_two_symbols_trade_alike_over_a_weekend() {
    let from = MONDAY + 4 * DAY + 20 * HOUR;
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", from, from + 6 * HOUR))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", from, from + 50 * HOUR + 20 * MINUTE));
    let bots = bots(&[
        ("a", "BTCUSDT", "1m", "01:00", "TIME_FIXED", TEN),
        ("b", "EURUSD", "1m", "05:00", "CANDLE_CLOSE", TEN),
    ]);
    let settings = risk("allow_opposite = true") + &bots;
    let trades = check(&folder, &settings, &["BTCUSDT_1m.csv", "EURUSD_1m.csv"]);
    assert!(trades > 150, "{trades}");
}

#[test]
fn a_bot_that_also_sees_longer_candles_trades_alike_over_gaps() {
    // Holes of one candle each, inside five-minute candles.
    let candles = thinned(&shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 8 * HOUR), 47);
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles);
    let params = "params = { trend_seconds = 300, trend_period = 2, period = 2, distance = 5.0 }";
    let bot = bots(&[("a", "BTCUSDT", "1m", "01:00", "TIME_FIXED", TEN)]);
    let bot = bot.replace("rsi-reversal", "trend-filter");
    let bot = bot.replace("params = { period = 3, oversold = 45.0, overbought = 55.0 }", params);
    for (share, journal, not_built) in [
        ("", "half.db", None),
        ("[data]\nlonger_share_percent = 100\n", "all.db", Some("10 longer candles not built")),
    ] {
        let settings = risk("allow_opposite = true") + share + &bot;
        let trades = check_and_prove(&folder, &settings, &["BTCUSDT_1m.csv"], journal);
        assert!(trades > 50, "{trades}");
        let printed = folder.run(&["backtest", "--config", "bots.toml", "--data", "BTCUSDT_1m.csv"]);
        let printed = printed.stdout + &printed.stderr;
        let expected = not_built.unwrap_or("longer candles not built");
        assert_eq!(printed.contains(expected), not_built.is_some(), "{printed}");
    }
}

#[test]
fn a_bot_that_sees_hours_of_a_currency_trades_alike_over_a_weekend_of_missing_minutes() {
    let from = MONDAY + 4 * DAY + 8 * HOUR;
    let candles = thinned(&shipped("EURUSD_1m.csv", from, from + 72 * HOUR), 23);
    let folder = Folder::new().with("EURUSD_1m.csv", &candles);
    let params = "params = { trend_seconds = 3600, trend_period = 2, period = 2, distance = 5.0 }";
    let bot = bots(&[("a", "EURUSD", "1m", "01:00", "TIME_FIXED", TEN)]);
    let bot = bot.replace("rsi-reversal", "trend-filter");
    let bot = bot.replace("params = { period = 3, oversold = 45.0, overbought = 55.0 }", params);
    let settings = risk("allow_opposite = true") + &bot;
    let trades = check_and_prove(&folder, &settings, &["EURUSD_1m.csv"], "run.db");
    assert!(trades > 15, "{trades}");
}

#[test]
fn bots_of_two_intervals_on_one_symbol_trade_alike_whatever_the_latency() {
    let (from, to) = (MONDAY + 11 * DAY, MONDAY + 11 * DAY + 20 * MINUTE);
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", from, to))
        .with("BTCUSDT_5s.csv", &shipped("BTCUSDT_5s.csv", from, to));
    for latency_ms in [0, 1_500, 2_000, 61_000] {
        for expiration in ["CANDLE_CLOSE", "NEXT_CANDLE"] {
            let simulation = format!("[simulation]\nlatency_ms = {latency_ms}\nopen_rounding = \"none\"\n");
            let bots = bots(&[
                ("slow", "BTCUSDT", "1m", "01:00", expiration, TEN),
                ("fast", "BTCUSDT", "5s", "00:05", expiration, TEN),
            ]);
            let settings = simulation + &risk("cooldown_after_loss_s = 10") + &bots;
            let trades = check(&folder, &settings, &["BTCUSDT_1m.csv", "BTCUSDT_5s.csv"]);
            assert!(trades >= 10, "{trades} trades at {latency_ms} ms");
        }
    }
}

#[test]
fn limits_of_single_bots_and_blackouts_refuse_the_same_signals() {
    let (from, to) = (MONDAY + 11 * DAY, MONDAY + 11 * DAY + 20 * MINUTE);
    let span = |begin: i64, end: i64, symbols: &str| {
        format!("{},{},{symbols},news\n", from + begin * MINUTE, from + end * MINUTE)
    };
    let news = format!("from,to,symbols,reason\n{}{}", span(3, 5, ""), span(10, 14, "BTCUSDT GBPUSD"));
    let folder = Folder::new()
        .with("news.csv", &news)
        .with("EURUSD_5s.csv", &shipped("EURUSD_5s.csv", from, to))
        .with("BTCUSDT_5s.csv", &shipped("BTCUSDT_5s.csv", from, to))
        .with("GBPUSD_5s.csv", &shipped("GBPUSD_5s.csv", from, to));
    let limits = "allow_duplicate = true\nallow_opposite = true\nblackouts = \"news.csv\"\n\
                  [risk.bots.slow]\nmax_trades_per_day = 3\n\
                  [risk.bots.fast]\nmax_open_trades = 1\ndaily_loss_limit = 65\n\
                  [risk.bots.other]\nmax_loss_streak = 3\n";
    let bots = bots(&[
        ("slow", "EURUSD", "5s", "00:15", "TIME_FIXED", TEN),
        ("fast", "BTCUSDT", "5s", "00:15", "TIME_FIXED", TEN),
        ("other", "GBPUSD", "5s", "00:05", "TIME_FIXED", TEN),
    ]);
    let data = ["EURUSD_5s.csv", "BTCUSDT_5s.csv", "GBPUSD_5s.csv"];
    let trades = check(&folder, &(risk(limits) + &bots), &data);
    assert!(trades > 20, "{trades}");
    let rows = folder.read("stored.csv");
    let mut lines = rows.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (bot, decided, result) = (place("bot"), place("decision_time"), place("result"));
    let (mut of_slow, mut ended) = (0, Vec::new());
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let at: i64 = cells[decided].parse().unwrap();
        let minute = (at - from) as f64 / MINUTE as f64;
        let is_named = cells[bot] != "slow";
        assert!(!(3.0..5.0).contains(&minute), "{line}");
        assert!(!(is_named && (10.0..14.0).contains(&minute)), "{line}");
        of_slow += i32::from(cells[bot] == "slow");
        if cells[bot] == "other" {
            // Those whose end is known by then, the last ones first.
            ended.sort_unstable();
            let known = ended.iter().rev().filter(|(known, _)| *known <= at);
            assert!(known.take_while(|(_, is_lost)| *is_lost).count() < 3, "{line}");
            ended.push((cells[place("result_known")].parse::<i64>().unwrap(), cells[result] == "LOST"));
        }
    }
    assert_eq!(of_slow, 3);
    let common = [
        "--config",
        "bots.toml",
        "--json",
        "--quiet",
        "--data",
        "EURUSD_5s.csv",
        "--data",
        "BTCUSDT_5s.csv",
        "--data",
        "GBPUSD_5s.csv",
    ];
    let refused = folder.run(&[&["backtest"], &common[..]].concat()).json()["refused"].clone();
    for rule in ["Blackout", "BotMaxTradesPerDay", "BotMaxOpenTrades", "BotDailyLossLimit", "BotLossStreak"] {
        assert!(refused[rule].as_u64() > Some(0), "{rule}: {refused}");
    }
}

/// Stops in percent, of the day and of sessions of two windows, pauses, and a symbol that has to pay more than others.
#[test]
fn stops_of_day_and_session_and_pauses_hold_alike_live() {
    let (from, to) = (MONDAY, MONDAY + 30 * HOUR);
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", from, to))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", from, to));
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
    let data = ["BTCUSDT_1m.csv", "EURUSD_1m.csv"];
    let trades = check(&folder, &(risk(rules) + &bots), &data);
    assert!(trades > 100, "{trades}");
    let data = data.iter().flat_map(|file| ["--data", file]);
    let backtest: Vec<&str> =
        ["backtest", "--config", "bots.toml", "--json", "--quiet"].into_iter().chain(data).collect();
    let refused = folder.run(&backtest).json()["refused"].clone();
    for rule in ["DailyLossLimit", "SessionLossLimit", "Pause", "OutsideHours"] {
        assert!(refused[rule].as_u64() > Some(0), "{rule}: {refused}");
    }
}

/// Two ladders that go on with the next candle, one of which stops for the session on its own and is given up where it is refused, and a
/// third bot that trades on.
#[test]
fn a_ladder_that_goes_on_with_the_next_candle_and_a_bot_s_session_stops_hold_alike_live() {
    let (from, to) = (MONDAY, MONDAY + 20 * HOUR);
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &thinned(&shipped("BTCUSDT_1m.csv", from, to), 31))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", from, to))
        .with("GBPUSD_1m.csv", &shipped("GBPUSD_1m.csv", from, to));
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
    let data = ["BTCUSDT_1m.csv", "EURUSD_1m.csv", "GBPUSD_1m.csv"];
    let trades = check_and_prove(&folder, &(risk(rules) + &bots), &data, "run.db");
    assert!(trades > 150, "{trades}");
    let data: Vec<&str> = data.iter().flat_map(|file| ["--data", file]).collect();
    let backtest = [&["backtest", "--config", "bots.toml", "--json", "--quiet"], &data[..]].concat();
    let refused = folder.run(&backtest).json()["refused"].clone();
    assert!(refused["BotSessionLossLimit"].as_u64() > Some(0), "{refused}");
    let entered = folder.read("stored.csv").matches("ladder: again with the next candle").count();
    assert!(entered > 20, "{entered} of {trades}");
    for (written, instead) in [
        ("ladder: again with the next candle", "ladder: once more"),
        ("BotSessionLossLimit", "SessionLossLimit"),
    ] {
        let changed = change_first(&folder, written, instead);
        let replayed = folder.run(&["parity", "--journal", &changed]);
        let said = &replayed.stderr;
        assert!(
            replayed.code == 5 && said.contains("the decision differs") && said.contains(instead),
            "{said}"
        );
    }
}

/// A copy of the run's journal in which the first decision that has these words has others.
fn change_first(folder: &Folder, words: &str, others: &str) -> String {
    let name = format!("{others}.db");
    let mut lines: Vec<Line> = lines(&folder.path("run.db")).into_iter().map(|stored| stored.line).collect();
    let first = lines.iter_mut().find(|line| line.body.contains(words));
    let line = first.expect("a decision has these words");
    line.body = line.body.replacen(words, others, 1);
    write(&folder.path(&name), lines);
    name
}

/// Three symbols that pay differently, two of them the same, of which the best is traded; what they pay is found out anew each half hour.
#[test]
fn the_symbol_that_pays_best_is_chosen_alike_live() {
    let (from, to) = (MONDAY, MONDAY + 8 * HOUR);
    let names = ["BTCUSDT", "EURUSD", "GBPUSD"];
    let data = names.map(|name| format!("{name}_1m.csv"));
    let folder = data.iter().fold(Folder::new(), |folder, name| folder.with(name, &shipped(name, from, to)));
    let simulation = "[simulation]\npayout_percent = 82.0\n\
                      payout_percent_by_symbol = { EURUSD = 90.5, GBPUSD = 90.5 }\n";
    let rules = "best_payout_of = [\"BTCUSDT\", \"EURUSD\", \"GBPUSD\"]\npayout_max_age_s = 1800";
    let listed: Vec<Bot> =
        names.iter().map(|name| (*name, *name, "1m", "01:00", "TIME_FIXED", TEN)).collect();
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    let settings = simulation.to_owned() + &risk(rules) + &bots(&listed);
    let trades = check_and_prove(&folder, &settings, &data, "run.db");
    assert!(trades > 50, "{trades}");
    let table = folder.read("stored.csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let staked = |bot: &str, stake: f64| {
        let is_it =
            |row: &&BTreeMap<String, String>| row["bot"] == bot && row["amount"].parse::<f64>() == Ok(stake);
        rows.iter().filter(is_it).count()
    };
    // The first trade and one of each further half hour; no other.
    let found_out = staked("BTCUSDT", 1.0);
    assert!((8..=16).contains(&found_out) && staked("BTCUSDT", 10.0) == 0, "{found_out}");
    assert!(staked("EURUSD", 10.0) > 10 && staked("GBPUSD", 10.0) > 10, "{table}");
    let mut chosen: Vec<&str> =
        rows.iter().filter(|row| row["amount"].starts_with("10")).map(|row| &*row["decision_time"]).collect();
    let count = chosen.len();
    chosen.dedup();
    assert_eq!(chosen.len(), count, "two at one moment");
}

/// Bots whose trades are asked for later beside some whose are not; answers that come at the close of the next candle, and a ladder
/// that goes on with the next candle.
#[test]
fn trades_with_an_entry_delay_open_alike_live() {
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

/// The names of the bots say how many seconds after their decisions their trades are asked for.
fn check_delays((from, span): (i64, i64), latency_ms: i64, rows: &[Bot]) {
    let interval = rows[0].2;
    let data = ["BTCUSDT", "EURUSD", "GBPUSD"].map(|symbol| format!("{symbol}_{interval}.csv"));
    let part = |file: &String| thinned(&shipped(file, from, from + span), 41);
    let folder = data.iter().fold(Folder::new(), |folder, file| folder.with(file, &part(file)));
    let delay_of = |bot: &str| bot[1..].parse::<i64>().unwrap();
    let delayed = |row: &Bot| format!("{}entry_delay_s = {}\n", bot(row), delay_of(row.0));
    let simulation = format!("[simulation]\nlatency_ms = {latency_ms}\nopen_rounding = \"none\"\n");
    let bots: String = rows.iter().map(delayed).collect();
    let settings = simulation + &risk("allow_opposite = true\nallow_duplicate = true") + &bots;
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    check_and_prove(&folder, &settings, &data, "run.db");
    let table = folder.read("live.csv");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let mut trades: BTreeMap<String, usize> = BTreeMap::new();
    for row in reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap) {
        let time = |name: &str| row[name].parse::<i64>().unwrap();
        let after = time("open_time") - time("decision_time");
        assert_eq!(after, delay_of(&row["bot"]) * 1_000 + latency_ms, "{row:?}");
        *trades.entry(row["bot"].clone()).or_default() += 1;
    }
    assert!(trades.len() == 3 && trades.values().all(|count| *count > 10), "{trades:?} at {latency_ms} ms");
}

/// With no latency, an open that leaves at a candle's close is answered before that candle; one that is decided at it, after it.
#[test]
fn an_open_that_leaves_at_a_close_meets_its_candle_alike_live() {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 5 * HOUR);
    for (second, delay) in [(59, 1), (0, 0)] {
        let moments = (0..60).map(|number| MONDAY + HOUR + number * 3 * MINUTE + second * 1_000);
        let list: String = moments.map(|at| format!("{at},listed,BUY")).collect::<Vec<_>>().join("\n");
        let folder = Folder::new()
            .with("BTCUSDT_1m.csv", &candles)
            .with("list.csv", &("time,bot,direction\n".to_owned() + &list));
        let row = ("listed", "BTCUSDT", "1m", "05:00", "TIME_FIXED", TEN);
        let listed = bot(&row).replace("rsi-reversal", "coin");
        let listed = listed.replace(
            "params = { period = 3, oversold = 45.0, overbought = 55.0 }",
            "params = { share = 0.0 }",
        );
        let each = "[[bots]]\nname = \"each\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rules\"\n\
                    params = { buy = \"close > 0\" }\nclose_type = \"01:00\"\n";
        let rules = risk("allow_opposite = true\nallow_duplicate = true")
            .replace("max_open_trades_per_symbol = 2", "max_open_trades_per_symbol = 0");
        let settings = format!(
            "[signals]\nlist = \"list.csv\"\n[simulation]\nlatency_ms = 0\n{rules}{listed}entry_delay_s = {delay}\n{each}"
        );
        let trades = check_and_prove(&folder, &settings, &["BTCUSDT_1m.csv"], "run.db");
        let of_list = folder.read("stored.csv").lines().filter(|line| line.starts_with("listed,")).count();
        // At the close itself the other bot's open is on its way.
        assert_eq!((of_list, trades > 250), (if delay == 1 { 60 } else { 0 }, true), "{trades}");
    }
}

/// Latencies and delays that let answers, settlements and candles fall on one instant, candles with holes, a wallet
/// that runs dry, and stakes that depend on what happened before.
#[test]
fn four_bots_trade_alike_when_everything_meets_at_one_instant() {
    let (from, to) = (MONDAY + 11 * DAY, MONDAY + 11 * DAY + 20 * MINUTE);
    let part = |file: &str, every: usize| thinned(&shipped(file, from, to), every);
    let folder = Folder::new()
        .with("b1.csv", &part("BTCUSDT_1m.csv", 5))
        .with("b5.csv", &part("BTCUSDT_5s.csv", 7))
        .with("e1.csv", &part("EURUSD_1m.csv", 6))
        .with("g5.csv", &part("GBPUSD_5s.csv", 4));
    let data = ["BTCUSDT@1m=b1.csv", "BTCUSDT@5s=b5.csv", "EURUSD@1m=e1.csv", "GBPUSD@5s=g5.csv"];
    let share = "{ kind = \"share\", percent = 7 }";
    let gale = "{ kind = \"martingale\", amount = 1, factor = 2, levels = 3 }";
    let soros = "{ kind = \"soros\", amount = 2, wins = 3 }";
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
        let bots = bots(&[
            ("a", "BTCUSDT", "1m", "00:30", "TIME_FIXED", gale),
            ("b", "BTCUSDT", "5s", "00:10", "CANDLE_CLOSE", TEN),
            ("c", "EURUSD", "1m", "01:00", "NEXT_CANDLE", share),
            ("d", "GBPUSD", "5s", "00:05", "TIME_FIXED", soros),
        ]);
        let trades = check(&folder, &(simulation + &risk(rules) + &bots), &data);
        assert!(trades >= 10, "{trades} trades at {latency_ms} ms");
    }
}

/// Moments of a list: times of day that come again, single moments on and off the candles' grid, and two bots at one moment.
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
fn a_list_of_signals_is_traded_alike_beside_strategies_and_alone() {
    let (from, to) = (MONDAY, MONDAY + 7 * HOUR);
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", from, to))
        .with("EURUSD_1m.csv", &shipped("EURUSD_1m.csv", from, to))
        .with("list.csv", &list_of_signals());
    let both = bots(&[
        ("a", "BTCUSDT", "1m", "01:00", "TIME_FIXED", TEN),
        ("b", "EURUSD", "1m", "01:00", "CANDLE_CLOSE", TEN),
    ]);
    let settings = "[signals]\nlist = \"list.csv\"\n".to_owned() + &risk("allow_opposite = true");
    let data = ["BTCUSDT_1m.csv", "EURUSD_1m.csv"];
    let beside = check(&folder, &(settings.clone() + &both), &data);
    let silent = both.replace("rsi-reversal", "coin");
    let silent = silent
        .replace("params = { period = 3, oversold = 45.0, overbought = 55.0 }", "params = { share = 0.0 }");
    let alone = check(&folder, &(settings + &silent), &data);
    assert!(alone > 80 && beside > alone, "{alone} alone, {beside} beside");
    let listed = folder.read("stored.csv").lines().filter(|line| line.contains("signal from list")).count();
    assert_eq!(listed, alone);
}

//! Rules in files and in bots through the whole program: backtests, searches, live runs and parity.

use crate::candlewick::{Folder, Run, bot_with};
use crate::excerpt::folder_of_days;
use crate::recording::{lines, write};
use candlewick_journal::Line;
use serde_json::Value;
use std::collections::BTreeMap;

const RULE: &str = "buy = \"rsi(period) < oversold\"\nsell = \"rsi(period) > 100 - oversold\"\n[parameters]\n\
                    period = { default = 5, min = 2, max = 20 }\noversold = { default = 30.0, min = 5.0, max = 45.0 }\n";
const LIVE: [&str; 6] = ["live", "--sandbox", "--speed", "max", "--until-end", "--config"];

fn combination(rule: &str) -> String {
    format!("first_of = [{{ name = \"dip\", strategy = \"rules\", params = {{ {rule} }} }}]")
}

fn folder() -> Folder {
    folder_of_days(2).with("my.toml", RULE)
}

fn run(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run(&[arguments, &["--data", "BTCUSDT_1m.csv", "--json", "--quiet"]].concat())
}

fn trades(folder: &Folder, name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.path(name)).unwrap();
    let mut rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    for row in &mut rows {
        row.remove("reason");
        row.remove("bot");
    }
    rows
}

#[test]
fn rule_trades_like_its_rust_strategy_from_flag_configuration_and_live() {
    let folder = folder()
        .with("rust.toml", &bot_with("rsi-reversal", "period = 5"))
        .with("rule.toml", &bot_with("rules", "file = \"my.toml\""));
    let flag = ["backtest", "--config", "rust.toml", "--rules", "my.toml"];
    let live = [&LIVE[..], &["rule.toml", "--journal", "run.db"]].concat();
    for (command, name) in [
        (&["backtest", "--config", "rust.toml"][..], "rust.csv"),
        (&flag, "flag.csv"),
        (&["backtest", "--config", "rule.toml"], "configured.csv"),
        (&live, "live.csv"),
    ] {
        run(&folder, &[command, &["--trades", name]].concat()).json();
        assert_eq!(trades(&folder, name), trades(&folder, "rust.csv"), "{name}");
    }
    let swept = |more: &[&str], out: &str| {
        let sweep = ["sweep", "--config", "rust.toml", "--param", "period=2..9", "--min-trades", "10"];
        run(&folder, &[&sweep[..], &["--out", out], more].concat()).json();
        folder.read(&format!("{out}/results.csv"))
    };
    assert_eq!(swept(&["--rules", "my.toml"], "flag"), swept(&[], "rust"));
    let parity = folder.query("parity", "run.db");
    let traded = trades(&folder, "live.csv").len();
    assert!(traded > 100, "{traded}");
    assert_eq!(parity["unexplained"], 0, "{parity}");
    assert_eq!(parity["decisions"]["opened"], traded, "{parity}");
    let explained = folder.query("explain 1", "run.db").to_string();
    assert!(explained.contains("rsi(5)"), "{explained}");
}

#[test]
fn parity_names_the_file_of_a_changed_rule_but_none_for_a_changed_part() {
    let folder = folder()
        .with("rule.toml", &bot_with("rules", "file = \"my.toml\""))
        .with("part.toml", &bot_with("combine", &combination("file = \"my.toml\"")))
        .with("plain.toml", &bot_with("combine", "first_of = [{ strategy = \"rsi-reversal\" }]"));
    for name in ["rule", "part", "plain"] {
        let (config, journal) = (format!("{name}.toml"), format!("{name}.db"));
        run(&folder, &[&LIVE[..], &[config.as_str(), "--journal", &journal]].concat()).json();
    }
    let parity = |journal: &str| {
        let run = folder.run(&["parity", "--journal", journal]);
        assert_eq!(run.code, 5, "{journal}: {}", run.stderr);
        run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    std::fs::write(folder.path("my.toml"), RULE.replace("100 - oversold", "101 - oversold")).unwrap();
    for journal in ["rule.db", "part.db"] {
        let output = parity(journal);
        assert!(output.contains("my.toml"), "{output}");
        assert_eq!(output.contains("version of one of"), journal == "part.db", "{output}");
    }
    // A part of another version, as in a later program.
    let entries = lines(&folder.path("plain.db"));
    let (_, version) = entries[0].line.body.rsplit_once("\"combine\",\"").unwrap();
    let (version, _) = version.split_once('"').unwrap();
    let earlier = format!("{}+0123456789ab", version.split_once('+').unwrap().0);
    let changed = |line: &Line| Line { body: line.body.replacen(version, &earlier, 1), ..line.clone() };
    write(&folder.path("earlier.db"), entries.iter().map(|stored| changed(&stored.line)));
    let output = parity("earlier.db");
    assert!(output.contains(&earlier) && !output.contains("file"), "{output}");
    std::fs::remove_file(folder.path("my.toml")).unwrap();
    let explained = folder.query("explain 1", "rule.db");
    assert!(explained["indicators_missing"].is_string(), "{explained}");
}

#[test]
fn refuses_a_rule_expiry_shorter_than_the_candles_before_any_run() {
    let rule = |expiry: &str| {
        format!(
            "buy = \"rsi(period) < 30\", expiry = \"{expiry}\", parameters = {{ period = {{ default = 5, min = 2, max = 9 }} }}"
        )
    };
    let nested = |expiry: &str| {
        let inner = combination(&rule(expiry));
        bot_with("combine", &format!("first_of = [{{ strategy = \"combine\", params = {{ {inner} }} }}]"))
    };
    let tried = |command: &str, config: &str, parameter: &str, more: &[&str]| {
        let folder = folder()
            .with("any.toml", &bot_with("rules", &rule("")))
            .with("coarse.toml", &bot_with("rules", &rule("00:02")))
            .with("exact.toml", &bot_with("rules", &rule("01:00")))
            .with("short.toml", &nested("00:02"))
            .with("long.toml", &nested("02:00"));
        let searched = ["--param", parameter, "--min-trades", "5"];
        let searched = if parameter.is_empty() { &[][..] } else { &searched };
        run(&folder, &[&[command, "--config", config], searched, more].concat())
    };
    let (searches, period) = (["sweep", "walk-forward", "tune"], "combine.dip.period=4..6");
    for (commands, config, parameter, named) in [
        (&["backtest"][..], "coarse.toml", "", "1m"),
        (&["sweep", "walk-forward"], "coarse.toml", "period=4..6", "1m"),
        (&["tune"], "short.toml", "", "1m"),
        (&searches, "short.toml", period, "1m"),
        (&searches, "any.toml", "expiry=01:00,00:02", "--param expiry=00:02"),
        (&searches, "long.toml", "combine.dip.expiry=01:00,00:02", "--param combine.dip.expiry=00:02"),
        (&searches, "short.toml", "expiry=01:00,00:02", "--param expiry=00:02"),
    ] {
        for command in commands {
            let refused = tried(command, config, parameter, &[]);
            refused.fails(2, &[named, "00:02", "1m candles of BTCUSDT", "--allow-coarse"]);
        }
    }
    for (command, config, parameter, more) in [
        ("backtest", "exact.toml", "", &[][..]),
        ("sweep", "long.toml", period, &[]),
        ("sweep", "any.toml", "expiry=01:00,03:00", &[]),
        ("sweep", "long.toml", "combine.dip.expiry=01:00,03:00", &[]),
        ("sweep", "short.toml", "expiry=01:00,03:00", &[]),
        ("backtest", "coarse.toml", "", &["--allow-coarse"]),
        ("sweep", "short.toml", period, &["--allow-coarse"]),
    ] {
        let allowed = tried(command, config, parameter, more).json().to_string();
        assert!(more.is_empty() || allowed.contains("proves nothing"), "{allowed}");
    }
}

fn check_sets(config: &str, axes: &[&str], sets: usize, own: impl Fn(&Value) -> String) {
    let folder = folder().with("bot.toml", config).with("other.toml", OTHER);
    let axes = axes.iter().flat_map(|axis| ["--param", *axis]);
    let sweep = ["sweep", "--config", "bot.toml", "--min-trades", "5"].into_iter().chain(axes);
    let found = run(&folder, &sweep.collect::<Vec<_>>()).json();
    let rows = found["best"].as_array().unwrap();
    assert_eq!(rows.len(), sets, "{found:#}");
    for row in rows {
        let own = own(&row["parameters"]);
        std::fs::write(folder.path("one.toml"), bot_with("rules", &own)).unwrap();
        let single = run(&folder, &["backtest", "--config", "one.toml"]).json();
        assert!(single["trades"].as_u64() > Some(20), "{own}: {single}");
        for key in ["trades", "won", "pnl"] {
            assert_eq!(row["figures"][key], single[key], "{config}: {own}: {key}");
        }
    }
}

#[test]
fn search_over_rule_texts_matches_backtests() {
    let config = bot_with("rules", "buy = \"rsi(5) < 30\", sell = \"rsi(5) > 70\"");
    check_sets(&config, &["expiry=01:00,03:00", "sell=rsi(5) > 70,close > open"], 4, |set| {
        format!("buy = \"rsi(5) < 30\", sell = {}, expiry = {}", set["sell"], set["expiry"])
    });
    // The file of the best set has the expiry of its trades, unlike the duration of the bot.
    let folder = folder().with("bot.toml", &config);
    let sweep = ["sweep", "--config", "bot.toml", "--param", "expiry=02:00,03:00", "--min-trades", "5"];
    let found = run(&folder, &sweep).json();
    let expiry = found["best"][0]["parameters"]["expiry"].as_str().unwrap();
    let best = folder.read("sweep/best.toml");
    assert!(best.contains(&format!("# Trades last {expiry}")), "{best}");
}

const OTHER: &str = "buy = \"falling(close, period) and volume > least\"\nexpiry = \"02:00\"\n[parameters]\n\
                     period = { default = 2, min = 1, max = 20 }\nleast = { default = 0.0 }\n";

#[test]
fn search_over_rule_files_matches_backtests() {
    let file = "file = \"my.toml\"";
    for (config, prefix) in [(bot_with("rules", file), ""), (bot_with("combine", &combination(file)), "dip.")]
    {
        let own = |set: &Value| {
            let value = |key: &str| &set[format!("{prefix}{key}")];
            let period = value("period").as_u64().map(|period| format!(", period = {period}"));
            format!("file = {}{}", value("file"), period.unwrap_or_default())
        };
        let (files, periods) = (format!("{prefix}file=my.toml,other.toml"), format!("{prefix}period=2,3"));
        check_sets(&config, &[&files], 2, own);
        check_sets(&config, &[&files, &periods], 4, own);
    }
}

#[test]
fn tuning_a_rule_without_signals_suggests_another_condition() {
    let folder = folder().with("never.toml", "buy = \"rsi(5) < 30 and rsi(5) > 70\"\n");
    let report = run(&folder, &["tune", "never.toml"]).json();
    assert_eq!(report["conclusion"], "not_enough_trades", "{report}");
    let next = report["next"].to_string();
    assert!(next.contains("that was never true") && !next.contains("more candles"), "{next}");
}

#[test]
fn unknown_strategy_named_like_an_indicator_suggests_a_rule() {
    for (name, parts) in [
        ("supertrendx", ["supertrend", "strategy = \"rules\""]),
        ("parabolic-sar", ["parabolic_sar", "strategy = \"rules\""]),
        ("rsy", ["rsi", "strategy = \"rules\""]),
        ("donchian", ["did you mean", "\"donchian-breakout\""]),
    ] {
        let folder = Folder::new().with("bot.toml", &bot_with(name, ""));
        folder.run(&["config", "check", "bot.toml"]).fails(2, &parts);
    }
}

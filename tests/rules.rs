//! A rule in a file through the whole program: backtest, sweep, live, parity and explanation, beside the same strategy in Rust.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};
use crate::recording::{lines, write};
use candlewick_journal::Line;
use candlewick_sdk::Interval;
use serde_json::Value;
use std::collections::BTreeMap;

const RULE: &str = "buy = \"rsi(period) < oversold\"\nsell = \"rsi(period) > 100 - oversold\"\n[parameters]\n\
                    period = { default = 5, min = 2, max = 20 }\noversold = { default = 30.0, min = 5.0, max = 45.0 }\n";

fn bot(strategy: &str, params: &str) -> String {
    format!(
        "[[bots]]\nname = \"rules\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"{strategy}\"\nclose_type = \"01:00\"\n\
         params = {{ {params} }}\n"
    )
}

fn folder(days: i64) -> Folder {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + days * DAY);
    let rust = bot("rsi-reversal", "period = 5");
    let rule = bot("rules", "file = \"my.toml\"");
    Folder::new()
        .with("BTCUSDT_1m.csv", &candles)
        .with("my.toml", RULE)
        .with("rust.toml", &rust)
        .with("rule.toml", &rule)
}

/// The lines of a file of trades without the reasons, which name the rule in one and the index in the other.
fn trades(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(folder.path(name)).unwrap();
    let reason = reader.headers().unwrap().iter().position(|header| header == "reason").unwrap();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        row.iter()
            .enumerate()
            .filter(|(place, _)| *place != reason)
            .map(|(_, cell)| cell.to_owned())
            .collect()
    });
    rows.collect()
}

/// The same trades, or the first that differs.
fn assert_same(one: &[Vec<String>], other: &[Vec<String>], name: &str) {
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one, other, "{name}");
    }
    assert_eq!(one.len(), other.len(), "{name}");
}

/// `shipped` candles of three days without one minute in 97.
fn with_gaps() -> String {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 3 * DAY);
    let kept = candles.lines().enumerate().filter(|(line, _)| line % 97 != 13);
    kept.flat_map(|(_, line)| [line, "\n"]).collect()
}

#[test]
fn a_rule_with_averages_of_longer_candles_is_sound_where_minutes_are_missing() {
    let rule =
        "buy = \"close > sma(20)@15m and rsi(5) < 40\"\nsell = \"close < sma(20)@15m and rsi(5) > 60\"\n";
    let folder = folder(1).with("gaps_1m.csv", &with_gaps()).with("longer.toml", rule);
    let subject = ["strategy", "check", "rules", "--param", "file=longer.toml", "--data", "gaps_1m.csv"];
    let checked = folder.run(&[&subject[..], &["--unseen", "2000", "--json", "--quiet"]].concat()).json();
    assert!(!checked.to_string().contains("\"failed\""), "{checked}");
    assert_eq!(checked["warmup"]["declared"].as_u64(), Some(15 * 21), "{checked}");
}

#[test]
fn a_rule_trades_as_the_strategy_in_rust_does_from_a_flag_a_configuration_and_live() {
    let folder = folder(2);
    let run = |more: &[&str], name: &str| {
        let common = ["--data", "BTCUSDT_1m.csv", "--json", "--quiet", "--trades", name];
        folder.run(&[more, &common].concat()).json()
    };
    let rust = run(&["backtest", "--config", "rust.toml"], "rust.csv");
    assert!(rust["trades"].as_u64().unwrap() > 100, "{rust}");
    run(&["backtest", "--config", "rust.toml", "--rules", "my.toml"], "flag.csv");
    run(&["backtest", "--config", "rule.toml"], "configured.csv");
    let live = [
        "live",
        "--sandbox",
        "--speed",
        "max",
        "--until-end",
        "--config",
        "rule.toml",
        "--journal",
        "run.db",
    ];
    run(&live, "live.csv");
    for name in ["flag.csv", "configured.csv", "live.csv"] {
        assert_same(&trades(&folder, name), &trades(&folder, "rust.csv"), name);
    }
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!(parity["unexplained"], Value::from(0), "{parity}");
    let (decisions, traded) = (&parity["decisions"], trades(&folder, "live.csv").len());
    assert_eq!(decisions["opened"].as_u64(), Some(traded as u64), "{decisions}");
    let explained = folder.run(&["explain", "1", "--journal", "run.db", "--json"]).json().to_string();
    assert!(explained.contains("rsi(5)"), "{explained}");
    // Another rule under the same name is not the one that was traded.
    std::fs::write(folder.path("my.toml"), RULE.replace("100 - oversold", "101 - oversold")).unwrap();
    let other = folder.run(&["parity", "--journal", "run.db"]);
    assert_eq!(other.code, 5, "{}", other.stderr);
    assert!(other.stderr.contains("of strategy \"rules\", this program has version"), "{}", other.stderr);
    let said = other.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("my.toml is another one since the run began"), "{said}");
    assert!(
        said.contains("put the file back as it was") && !said.contains("the program that wrote it"),
        "{said}"
    );
}

#[test]
fn of_a_combination_parity_blames_no_file_where_a_part_may_be_another_one() {
    let combine = |part: &str| bot("combine", &format!("first_of = [{{ {part} }}]"));
    let file = "strategy = \"rules\", params = { file = \"my.toml\" }";
    let folder = folder(1)
        .with("my.toml", RULE)
        .with("file.toml", &combine(file))
        .with("plain.toml", &combine("strategy = \"rsi-reversal\""));
    let recorded = |config: &str, journal: &str| {
        let data = ["--data", "BTCUSDT_1m.csv", "--journal", journal, "--json", "--quiet"];
        let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--config", config];
        folder.run(&[&live[..], &data].concat()).json();
    };
    let parity = |journal: &str| {
        let run = folder.run(&["parity", "--journal", journal]);
        assert_eq!(run.code, 5, "{}", run.stderr);
        run.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    recorded("file.toml", "file.db");
    std::fs::write(folder.path("my.toml"), RULE.replace("100 - oversold", "101 - oversold")).unwrap();
    let said = parity("file.db");
    let either =
        "the file my.toml is another one since the run began, or this program has another version of a part";
    assert!(said.contains(either) && said.contains("put the files back as they were"), "{said}");
    assert!(said.contains("if they are, read the journal with the program that wrote it"), "{said}");
    // A part of another version, as a later program has it: no file is named, so none is blamed.
    recorded("plain.toml", "plain.db");
    let entries = lines(&folder.path("plain.db"));
    let (_, version) = entries[0].line.body.rsplit_once("\"combine\",\"").unwrap();
    let (version, _) = version.split_once('"').unwrap();
    let earlier = format!("{}+0123456789ab", version.split_once('+').unwrap().0);
    let changed = |line: &Line| Line { body: line.body.replacen(version, &earlier, 1), ..line.clone() };
    write(&folder.path("earlier.db"), entries.iter().map(|stored| changed(&stored.line)));
    let said = parity("earlier.db");
    assert!(said.contains("this program has another version of a part of it: the run had version"), "{said}");
    assert!(said.contains("read it with the program that wrote it") && !said.contains("file"), "{said}");
}

#[test]
fn the_parameters_of_a_rule_are_searched_and_come_to_what_those_in_rust_do() {
    let folder = folder(3);
    let results = |config: &[&str], out: &str| {
        let common = [
            "--data",
            "BTCUSDT_1m.csv",
            "--json",
            "--quiet",
            "--min-trades",
            "10",
            "--param",
            "period=2..9",
            "--out",
            out,
        ];
        let document = folder.run(&[&["sweep"], config, &common].concat()).json();
        (document["best"].clone(), folder.read(&format!("{out}/results.csv")))
    };
    // A level of 30 is 70 on the other side in both.
    let (rust_best, rust) = results(&["--config", "rust.toml"], "rust");
    let (rule_best, rule) = results(&["--config", "rust.toml", "--rules", "my.toml"], "rule");
    assert_eq!((rule_best, rule), (rust_best, rust));
}

#[test]
fn a_mistake_in_a_rule_is_shown_with_its_place() {
    let folder = Folder::new().with("my.toml", "# Dips\nbuy = \"rsi(14) < 30 and clsoe > 3\"\n");
    let run = folder.run(&["backtest", "--rules", "my.toml", "--quiet"]);
    let place = "my.toml, line 2: column 25: buy: there is no `clsoe`: did you mean `close`?";
    run.fails(3, &[place, "\n  rsi(14) < 30 and clsoe > 3", "\n                   ^^^^^"]);
}

#[test]
fn a_rule_whose_own_expiry_is_shorter_than_the_candles_is_refused_as_a_bots_is() {
    let folder = folder(2).with("my.toml", &format!("expiry = \"00:02\"\n{RULE}"));
    let common = ["--config", "rule.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let searched = ["--param", "period=4..6", "--min-trades", "5"];
    let run = |first: &[&str], more: &[&str]| folder.run(&[first, &common, more].concat());
    let why = ["an expiry of its own", "00:02", "1m candles of BTCUSDT", "--allow-coarse"];
    run(&["backtest"], &[]).fails(2, &why);
    run(&["sweep"], &searched).fails(2, &why);
    run(&["walk-forward"], &searched).fails(2, &why);
    let allowed = run(&["backtest"], &["--allow-coarse"]).json();
    assert!(allowed["notices"].to_string().contains("proves nothing"), "{allowed}");
    run(&["sweep"], &[&searched[..], &["--allow-coarse"]].concat()).json();
    // As long as a candle is long enough.
    let folder = folder.with("my.toml", &format!("expiry = \"01:00\"\n{RULE}"));
    folder.run(&[&["backtest"], &common[..]].concat()).json();
}

#[test]
fn every_expiry_that_a_search_may_try_is_held_to_the_candles_before_it_runs() {
    let rule = |expiry: &str| {
        format!(
            "buy = \"rsi(period) < 30\", expiry = \"{expiry}\", parameters = {{ period = {{ default = 5, min = 2, max = 9 }} }}"
        )
    };
    let part = |expiry: &str| {
        let rule = rule(expiry);
        format!(
            "first_of = [{{ strategy = \"combine\", params = {{ first_of = [{{ name = \"dip\", strategy = \"rules\", params = {{ {rule} }} }}] }} }}]"
        )
    };
    let folder = folder(2)
        .with("rule.toml", &bot("rules", &rule("")))
        .with("short.toml", &bot("combine", &part("00:02")))
        .with("long.toml", &bot("combine", &part("02:00")));
    let runs = std::cell::Cell::new(0);
    let run = |command: &str, config: &str, more: &[&str]| {
        runs.set(runs.get() + 1);
        let out = format!("out-{}", runs.get());
        let common =
            [command, "--config", config, "--data", "BTCUSDT_1m.csv", "--json", "--quiet", "--out", &out];
        folder.run(&[&common, more].concat())
    };
    let why = ["an expiry of its own", "00:02", "1m candles of BTCUSDT", "--allow-coarse"];
    let period = ["--param", "combine.dip.period=4..6", "--min-trades", "5"];
    for command in ["sweep", "walk-forward", "tune"] {
        run(command, "short.toml", &period).fails(2, &why);
    }
    run("tune", "short.toml", &[]).fails(2, &why);
    let allowed = run("sweep", "short.toml", &[&period[..], &["--allow-coarse"]].concat()).json();
    assert!(allowed.to_string().contains("proves nothing"), "{allowed}");
    run("sweep", "long.toml", &period).json();
    // What one value of an axis asks for.
    let texts = |name: &str| [format!("{name}=01:00,00:02"), format!("{name}=01:00,03:00")];
    for (config, name) in
        [("rule.toml", "expiry"), ("long.toml", "combine.dip.expiry"), ("short.toml", "expiry")]
    {
        let [short, long] = texts(name);
        let named = format!("--param {name}=00:02");
        for command in ["sweep", "walk-forward", "tune"] {
            run(command, config, &["--param", &short, "--min-trades", "5"])
                .fails(2, &[&[&*named][..], &why].concat());
        }
        run("sweep", config, &["--param", &long, "--min-trades", "5"]).json();
    }
}

#[test]
fn texts_of_a_rule_are_searched_as_they_are_backtested() {
    let params = "buy = \"rsi(5) < 30\", sell = \"rsi(5) > 70\"";
    let folder = folder(2).with("inline.toml", &bot("rules", params));
    let common = ["--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let searched =
        ["--param", "expiry=01:00,03:00", "--param", "sell=rsi(5) > 70,close > open", "--min-trades", "5"];
    let found = folder.run(&[&["sweep", "--config", "inline.toml"], &common[..], &searched].concat()).json();
    // The file of the best set says how long its trades last, which the bot's duration does not.
    let own = ["--param", "expiry=02:00,03:00", "--min-trades", "5", "--out", "own"];
    let own = folder.run(&[&["sweep", "--config", "inline.toml"], &common[..], &own].concat()).json();
    let expiry = own["best"][0]["parameters"]["expiry"].as_str().unwrap();
    let best = folder.read("own/best.toml");
    assert!(best.contains(&format!("# Trades last {expiry}: the strategy names that itself")), "{best}");
    let rows = found["best"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{found:#}");
    for row in rows {
        let text = |key: &str| row["parameters"][key].as_str().unwrap().to_owned();
        let own =
            format!("buy = \"rsi(5) < 30\", sell = \"{}\", expiry = \"{}\"", text("sell"), text("expiry"));
        std::fs::write(folder.path("one.toml"), bot("rules", &own)).unwrap();
        let single = folder.run(&[&["backtest", "--config", "one.toml"], &common[..]].concat()).json();
        for key in ["trades", "won", "pnl"] {
            assert_eq!(row["figures"][key], single[key], "{own}: {key}");
        }
    }
}

#[test]
fn files_of_rules_are_searched_as_they_are_backtested() {
    // Both have a period, each with a default of its own; a number of the one alone is the default of that one.
    let other = "buy = \"falling(close, period) and volume > least\"\nexpiry = \"02:00\"\n[parameters]\n\
                 period = { default = 2, min = 1, max = 20 }\nleast = { default = 0.0 }\n";
    let params = |file: &str, more: &str| match more {
        "" => format!("file = \"{file}\""),
        more => format!("file = \"{file}\", {more}"),
    };
    let part = |rule: &str| {
        format!("first_of = [{{ name = \"dip\", strategy = \"rules\", params = {{ {rule} }} }}]")
    };
    let folder =
        folder(2).with("other.toml", other).with("part.toml", &bot("combine", &part("file = \"my.toml\"")));
    let common = ["--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let backtest = |own: &str| {
        std::fs::write(folder.path("one.toml"), own).unwrap();
        folder.run(&[&["backtest", "--config", "one.toml"], &common[..]].concat()).json()
    };
    for (config, prefix, periods) in [
        ("rule.toml", "", ""),
        ("rule.toml", "", "2,3"),
        ("part.toml", "dip.", ""),
        ("part.toml", "dip.", "3,2"),
    ] {
        let (files, period) =
            (format!("{prefix}file=my.toml,other.toml"), format!("{prefix}period={periods}"));
        let out = format!("out-{prefix}{periods}");
        let mut searched = vec!["--param", &files, "--min-trades", "5", "--out", &out];
        if !periods.is_empty() {
            searched.extend(["--param", &period]);
        }
        let found = folder.run(&[&["sweep", "--config", config], &common[..], &searched].concat()).json();
        let rows = found["best"].as_array().unwrap();
        assert_eq!(rows.len(), if periods.is_empty() { 2 } else { 4 }, "{found:#}");
        for row in rows {
            let value = |key: &str| &row["parameters"][format!("{prefix}{key}")];
            let more =
                value("period").as_u64().map(|period| format!("period = {period}")).unwrap_or_default();
            let own = params(value("file").as_str().unwrap(), &more);
            let single = backtest(&bot("rules", &own));
            assert!(single["trades"].as_u64().unwrap() > 20, "{own}: {single}");
            for key in ["trades", "won", "pnl"] {
                assert_eq!(row["figures"][key], single[key], "{config}: {own}: {key}");
            }
        }
    }
}

/// The lines of a report's table of conditions: what, held on, of candles.
fn conditions(report: &Value) -> Vec<(String, u64, u64)> {
    let line = |line: &Value| {
        let text = format!("{} {} {}", line["side"].as_str()?, line["depth"], line["condition"].as_str()?);
        Some((text, line["held"].as_u64()?, line["candles"].as_u64()?))
    };
    report["conditions"].as_array().unwrap().iter().map(|one| line(one).unwrap()).collect()
}

#[test]
fn how_often_each_condition_held_is_told_and_what_kept_a_rule_from_signalling() {
    let never = "buy = \"close > open and rsi(5) < 30 and rsi(5) > 70\"\nsell = \"close > open * 3\"\n";
    let folder = folder(2).with("never.toml", never);
    let run = |more: &[&str]| folder.run(&[more, &["--data", "BTCUSDT_1m.csv", "--quiet"]].concat());
    // Of a rule that signals, the wholes are its signals: none is refused or left out where no limit holds.
    let report = run(&["backtest", "--config", "rule.toml", "--json"]).json();
    let told = conditions(&report);
    assert_eq!(told.len(), 2, "{told:?}");
    let refused: u64 = report["refused"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    let signals = report["trades"].as_u64().unwrap() + report["unsettled"].as_u64().unwrap() + refused;
    assert_eq!(told.iter().map(|(_, held, _)| held).sum::<u64>(), signals, "{report}");
    // Of one that never does, each part alone.
    let report = run(&["backtest", "--rules", "never.toml", "--json"]).json();
    let told = conditions(&report);
    let texts: Vec<&str> = told.iter().map(|(text, ..)| text.as_str()).collect();
    let expected = [
        "buy 0 close > open and rsi(5) < 30 and rsi(5) > 70",
        "buy 1 close > open",
        "buy 1 rsi(5) < 30",
        "buy 1 rsi(5) > 70",
        "sell 0 close > open * 3",
    ];
    assert_eq!(texts, expected);
    let held: Vec<bool> = told.iter().map(|(_, held, _)| *held > 0).collect();
    assert_eq!(held, [false, true, true, true, false], "{told:?}");
    let whole = told[0].2;
    assert!(whole > 2_700 && told.iter().all(|(_, _, candles)| *candles == whole), "{told:?}");
    let notices = report["notices"].to_string();
    for part in [
        "never all at one candle: `close > open` on ",
        &format!("sell did not hold on any of {whole} candles: `close > open * 3` never did"),
    ] {
        assert!(notices.contains(part), "{notices}");
    }
    let text = run(&["backtest", "--rules", "never.toml", "--html", "never.html"]).stdout;
    for text in [text, folder.read("never.html")] {
        assert!(text.contains("How often each condition held"), "{text}");
    }
    // A strategy in Rust has none.
    assert_eq!(run(&["backtest", "--config", "rust.toml", "--json"]).json().get("conditions"), None);
}

#[test]
fn tune_of_a_rule_that_never_signals_asks_for_another_condition_and_not_for_more_candles() {
    let folder = folder(3).with("never.toml", "buy = \"rsi(5) < 30 and rsi(5) > 70\"\n");
    let run = ["tune", "never.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let report = folder.run(&run).json();
    assert_eq!(report["conclusion"], "not_enough_trades", "{report}");
    let next = report["next"].to_string();
    assert!(next.contains("change what never held") && !next.contains("bring more candles"), "{next}");
    let told = conditions(&report);
    let backtest = ["backtest", "--rules", "never.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let whole = conditions(&folder.run(&backtest).json());
    // The candles of the hold-out, a fifth of all, are not looked at.
    let candles = |told: &[(String, u64, u64)]| told[0].2;
    assert!(candles(&told) * 100 < candles(&whole) * 82, "{told:?} of {whole:?}");
    let text = folder.run(&["tune", "never.toml", "--data", "BTCUSDT_1m.csv", "--quiet"]).stdout;
    assert!(text.contains("before the hold-out, with the bot's own numbers"), "{text}");
}

#[test]
fn an_indicator_that_is_named_as_a_strategy_is_told_where_it_goes() {
    for (name, indicator) in
        [("supertrendx", "supertrend"), ("parabolic-sar", "parabolic_sar"), ("rsy", "rsi")]
    {
        let config = bot("rules", "buy = \"close > open\"").replace("\"rules\"", &format!("\"{name}\""));
        let run = Folder::new().with("bot.toml", &config).run(&["config", "check", "bot.toml"]);
        run.fails(2, &[&format!("{indicator} is an indicator, which a rule may name: strategy = \"rules\"")]);
    }
    // A strategy whose name is near goes before.
    let config = bot("rules", "buy = \"close > open\"").replace("\"rules\"", "\"donchian\"");
    let run = Folder::new().with("bot.toml", &config).run(&["config", "check", "bot.toml"]);
    run.fails(2, &["did you mean \"donchian-breakout\"?"]);
    // Each that is known there is one of the language: a call without its numbers says how it is written.
    for name in candlewick_app::bots::INDICATORS {
        let rule = candlewick_rules::Rule::parse(Some(&format!("{name}(\"x\") > 0")), None);
        let problem = match rule {
            Ok(rule) => {
                rule.build(&BTreeMap::new(), Interval::MINUTE, None).err().map(|(_, error)| error.to_string())
            }
            Err((_, error)) => Some(error.to_string()),
        };
        assert!(problem.is_some_and(|problem| !problem.contains("there is no")), "{name}");
    }
}

#[test]
fn a_rule_that_looks_at_volumes_which_are_all_the_same_is_told_so() {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY);
    let flat = candles.lines().map(|line| match line.rsplit_once(',') {
        Some((rest, volume)) if volume.parse::<f64>().is_ok() => format!("{rest},0\n"),
        _ => format!("{line}\n"),
    });
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &candles)
        .with("flat.csv", &flat.collect::<String>())
        .with("volume.toml", "buy = \"close > open and volume > sma(20, volume)\"\n")
        .with("price.toml", "buy = \"close > open\"\n");
    for (rule, data, expected) in [
        ("volume.toml", "BTCUSDT@1m=flat.csv", true),
        ("volume.toml", "BTCUSDT_1m.csv", false),
        ("price.toml", "BTCUSDT@1m=flat.csv", false),
    ] {
        let run = folder.run(&["backtest", "--rules", rule, "--data", data, "--json", "--quiet"]).json();
        let told = run["notices"].to_string().contains("the volume is 0 on all candles of BTCUSDT@1m");
        assert_eq!(told, expected, "{rule} on {data}: {}", run["notices"]);
    }
}

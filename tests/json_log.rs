//! The log as JSON: each line of stderr is an object, and each decision of a run has one.

use crate::candlewick::{BOT, Folder, candles};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A bot whose trades the venue takes, and one whose stakes it rejects; replies are lost now and then.
fn settings() -> String {
    let second = BOT.replace("\"btc\"", "\"small\"").replace("BTCUSDT", "EURUSD")
        + "stake = { kind = \"fixed\", amount = 5 }\n";
    let first = BOT.to_owned() + "stake = { kind = \"fixed\", amount = 20 }\n";
    format!(
        "[log]\nformat = \"json\"\n[sandbox]\nmin_amount = 10\nfaults = \"drop-after:0.1\"\n[risk]\nmax_open_trades = 0\n\
         max_open_trades_per_symbol = 1\nmax_drawdown_percent = 0\ndaily_loss_limit = 0\nallow_opposite = true\n{first}{second}"
    )
    .replace("period = 2", "period = 2, oversold = 45.0, overbought = 55.0")
}

fn objects(text: &str) -> Vec<Value> {
    let object = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(line) if line.is_object() => line,
        _ => panic!("no object: {line}"),
    };
    text.lines().map(object).collect()
}

/// The numbers of the intents of these events.
fn intents(lines: &[Value], event: &str) -> BTreeSet<u64> {
    lines.iter().filter(|line| line["event"] == event).map(|line| line["intent"].as_u64().unwrap()).collect()
}

#[test]
fn each_decision_of_a_run_is_a_line_with_its_bot_its_rule_and_its_outcome() {
    let folder = Folder::new().with("bot.toml", &settings()).with("BTCUSDT_1m.csv", &candles(240));
    let folder = folder.with("EURUSD_1m.csv", &candles(240));
    let run =
        ["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--until-end", "--journal", "run.db"];
    let run =
        folder.run(&[&run[..], &["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv", "--json"]].concat());
    let report = run.json();
    let lines = objects(&run.stderr);
    for line in &lines {
        let named = ["timestamp", "level", "target", "message"].iter().all(|name| line[name].is_string());
        assert!(named, "{line}");
    }
    // What the journal says of the same run.
    let rows = folder.run(&["journal", "export", "exported", "--format", "ndjson", "--journal", "run.db"]);
    assert_eq!(rows.code, 0, "{}", rows.stderr);
    let rows = objects(&folder.read("exported/intents.ndjson"));
    let of = |is_meant: &dyn Fn(&Value) -> bool| -> BTreeSet<u64> {
        rows.iter().filter(|row| is_meant(row)).map(|row| row["intent_id"].as_u64().unwrap()).collect()
    };
    assert_eq!(intents(&lines, "signal"), of(&|_| true));
    assert_eq!(intents(&lines, "settled"), of(&|row| row["state"] == "settled"));
    assert_eq!(intents(&lines, "opened"), of(&|row| row["state"] == "settled" || row["state"] == "open"));
    assert_eq!(intents(&lines, "rejected"), of(&|row| row["state"] == "rejected"));
    let doubts = intents(&lines, "in_doubt");
    assert!(!doubts.is_empty() && doubts == intents(&lines, "resolved"), "{doubts:?}");
    assert!(intents(&lines, "rejected").len() > 3 && intents(&lines, "settled").len() > 10);
    let whose = |line: &Value| line["message"].as_str().unwrap().contains(" of bot small was rejected: ");
    assert!(lines.iter().any(whose), "{}", run.stderr);
    let mut refused = BTreeMap::<String, u64>::new();
    for line in lines.iter().filter(|line| line["event"] == "refused") {
        *refused.entry(line["rule"].as_str().unwrap().to_owned()).or_default() += 1;
        assert!(
            ["btc", "small"].contains(&line["bot"].as_str().unwrap()) && line["level"] == "INFO",
            "{line}"
        );
    }
    assert!(!refused.is_empty());
    // The report counts what the venue rejected there as well.
    refused.insert("Rejected".to_owned(), intents(&lines, "rejected").len() as u64);
    assert_eq!(serde_json::to_value(&refused).unwrap(), report["refused"]);
    assert!(!lines.iter().any(|line| line["event"] == "candle"), "the market is no decision");
    let ended = lines.iter().find(|line| line["event"] == "ended").unwrap();
    assert_eq!(ended["trades"], report["trades"]);
    assert!(!run.stderr.contains("sandbox-token") && !run.stderr.contains("sandbox-key"));
}

#[test]
fn what_keeps_a_run_from_beginning_is_a_line_and_text_stays_text() {
    let folder = Folder::new().with("bot.toml", "[log]\nformat = \"xml\"\n");
    let run = ["live", "--sandbox", "--config", "bot.toml"];
    folder.run(&run).fails(2, &["log.format", "xml", "json"]);
    let folder =
        folder.with_variable("CANDLEWICK_LOG__FORMAT", "json").with("bot.toml", "[risk]\nmax_open = 1\n");
    let refused = folder.run(&run);
    let [line] = &objects(&refused.stderr)[..] else { panic!("{}", refused.stderr) };
    let message = line["message"].as_str().unwrap();
    assert_eq!((refused.code, &line["level"]), (2, &Value::from("ERROR")));
    assert!(message.contains("risk.max_open") && message.contains("bot.toml"), "{message}");
    let folder = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles(60));
    let run = [
        "live",
        "--sandbox",
        "--config",
        "bot.toml",
        "--speed",
        "max",
        "--until-end",
        "--data",
        "BTCUSDT_1m.csv",
    ];
    let text = folder.run(&run);
    assert!(
        text.code == 0 && !text.stderr.contains('{') && text.stdout.contains("opened"),
        "{}",
        text.stderr
    );
}

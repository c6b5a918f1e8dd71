//! Valid input: the configuration with its sources, and JSON documents.

use crate::candlewick::{BOT, Folder, candlewick, repository};
use serde_json::json;

#[test]
fn later_sources_override_earlier_ones_and_are_reported() {
    let one = "[account]\ninitial_balance = 1\nmoney_scale = 1\n[risk]\nmax_open_trades = 5\n";
    let two = "[account]\ninitial_balance = 2.5\n";
    let folder = Folder::new()
        .with("one.toml", &format!("{one}{BOT}"))
        .with("two.toml", &format!("{two}{}", BOT.replace("btc", "other")))
        .with_variable("CANDLEWICK_RISK__MAX_OPEN_TRADES", "7");
    let shown =
        folder.run(&["config", "show", "--json", "--config", "one.toml", "--config", "two.toml"]).json();
    for (pointer, key, value, origin) in [
        ("/account/initial_balance", "account.initial_balance", json!(2.5), "two.toml"),
        ("/account/money_scale", "account.money_scale", json!(1), "one.toml"),
        ("/account/mode", "account.mode", json!("demo"), "default"),
        ("/risk/max_open_trades", "risk.max_open_trades", json!(7), "environment"),
        ("/bots/0/name", "bots[0].name", json!("other"), "two.toml"),
    ] {
        let found = (shown["configuration"].pointer(pointer), shown["origins"][key].as_str());
        assert_eq!(found, (Some(&value), Some(origin)), "{key}");
    }
    assert_eq!(shown["configuration"]["bots"].as_array().map(Vec::len), Some(1));
    let run = folder.with_variable("CANDLEWICK_RISK__MAX_OPN_TRADES", "7").run(&["config", "show"]);
    run.fails(2, &["risk.max_opn_trades (environment)", "\"max_open_trades\""]);
}

#[test]
fn output_of_config_show_is_an_equivalent_configuration() {
    let config =
        "[broker.headers]\nx-partner = \"a \\\"b\\\"\"\n[simulation.ticks]\n\"EURUSD.OTC\" = 0.00001\n";
    let folder = Folder::new().with("bot.toml", &(config.to_owned() + BOT));
    let first = folder.run(&["config", "show", "--config", "bot.toml"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let folder = folder.with("shown.toml", &first.stdout);
    let configuration =
        |file| folder.run(&["config", "show", "--json", "--config", file]).json()["configuration"].clone();
    assert_eq!(configuration("bot.toml"), configuration("shown.toml"));
}

#[test]
fn configurations_of_the_repository_are_valid() {
    for (command, name) in [("show", "default"), ("check", "sandbox"), ("check", "demo")] {
        let path = repository().join(format!("config/{name}.toml"));
        let run = candlewick(&["config", command, "--config", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
    }
}

#[test]
fn json_output_is_one_document_without_colors() {
    for command in ["strategy list", "config show", "config check", "backtest"] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let run = candlewick(&[&arguments[..], &["--json"]].concat());
        assert!(!run.json().is_null() && !(run.stdout + &run.stderr).contains('\u{1b}'), "{command}");
        let plain = candlewick(&arguments);
        assert!(plain.code == 0 && !plain.stdout.contains('\u{1b}'), "{command}: {}", plain.stderr);
    }
}

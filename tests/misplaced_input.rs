//! Files, keys and values in the wrong place: the error says where they belong.

use crate::candlewick::{BOT, Folder, candles};

fn folder() -> Folder {
    Folder::new()
        .with("BTCUSDT_1m.csv", &candles(50))
        .with("rule.toml", "buy = \"close > open\"\n")
        .with("bot.toml", BOT)
}

const CHECK: [&str; 3] = ["config", "check", "bot.toml"];

#[test]
fn refuses_a_rule_file_as_configuration_and_a_configuration_as_rule() {
    let folder = folder();
    for (command, code, advice) in [
        (&["config", "check", "rule.toml"][..], 2, "--rules rule.toml"),
        (&["config", "check", "--config", "rule.toml"], 2, "--rules rule.toml"),
        (&["backtest", "--config", "rule.toml"], 2, "--rules rule.toml"),
        (&["strategy", "check", "rule.toml"], 2, "--rules rule.toml"),
        (&["strategy", "show", "rule.toml"], 2, "--rules rule.toml"),
        (&["strategy", "check", "my.toml"], 2, "rules --param file=my.toml"),
        (&["strategy", "check", "rsi-reversl"], 2, "\"rsi-reversal\""),
        (&["strategy", "check", "rsi-reversal", "--param", "period=0"], 2, "period = 0"),
        (&["strategy", "check", "signal-list"], 2, "file"),
        (&["strategy", "check", "rsi-reversal", "--data", "BTCUSDT_1m.csv"], 3, "690"),
        (&["strategy", "check", "bot.toml"], 2, "--config bot.toml"),
        (&["backtest", "--rules", "bot.toml"], 3, "--config"),
        (&["tune", "bot.toml", "--data", "BTCUSDT_1m.csv"], 3, "--config"),
    ] {
        folder.run(command).fails(code, &[advice]);
    }
}

#[test]
fn names_wrong_keys_and_values_of_a_bot() {
    let rule = "strategy = \"rules\"\nparams = { file = \"rule.toml\", gate = { after_virtual_losses = 2 } }";
    for (key, line, part) in [
        ("strategy", rule, "first_of = [{ strategy = \"rules\""),
        ("strategy", "strategy = \"rule.toml\"", "strategy = \"rules\", params = { file = \"rule.toml\" }"),
        ("stake", "[signals]\nlisten = \"7921\"", "127.0.0.1:7790"),
        ("params", "params = [7]", "[7]"),
        ("params", "params = { period = \"seven\" }", "period = \"seven\""),
        ("params", "params = { period = 7.5 }", "period = 7.5"),
        ("params", "params = { oversold = true }", "oversold = true"),
        ("params", "params = { oversold = nan }", "bots[0].params.oversold = nan (bot.toml)"),
        ("params", "params = { period = [{ weight = 1e300 }] }", "bots[0].params.period[0].weight = 1e300"),
        ("close_type", "close_type = 3", "00:03"),
        ("close_type", "close_type = \"120\"", "2:00:00"),
        ("interval", "interval = \"M1\"", "1m"),
        ("stake", "stake = { kind = \"percent\", percent = 5 }", "kind = \"share\""),
        ("stake", "stake = { kind = \"gale\", amount = 10, levels = 3 }", "factor = 2.25"),
        ("stake", "stake = { kind = \"fixed\", amount = 1.000,00 }", "1000.50"),
        ("stake", "[risk]\nhours = \"08:00-17:00\"", "hours = [{ from = \"08:00\", to = \"17:00\""),
        ("stake", "[risk]\nhours=[{ from = \"08:00\", to = \"10:00\", days = [\"mon-frei\"] }]", "mon-frei"),
        ("stake", "mode = \"real\"", "bots[0].mode (bot.toml)"),
        ("stake", "[simulation]\npayout_percent = 0.85", "85?"),
        ("stake", "[risk]\nmin_payout_percent = 0.85", "85?"),
        ("stake", "[risk.min_payout_percent_by_symbol]\nBTCUSDT = 0.7", "70?"),
    ] {
        let is_kept = |other: &&str| {
            let is_replaced = other.starts_with(&format!("{key} ="));
            let is_of_strategy = key == "strategy" && other.starts_with("params");
            !is_replaced && !is_of_strategy
        };
        let bot = BOT.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
        folder().with("bot.toml", &format!("{bot}\n{line}\n")).run(&CHECK).fails(2, &[part]);
    }
    let single = folder().with("bot.toml", &BOT.replace("[[bots]]", "[bots]"));
    single.run(&CHECK).fails(2, &["[[bots]]"]);
    let folder = folder().with_variable("CANDLEWICK_RISK_MAX_OPEN_TRADES", "5");
    folder.run(&CHECK).fails(2, &["CANDLEWICK_RISK__MAX_OPEN_TRADES"]);
}

#[test]
fn backtest_accepts_only_lists_of_past_signals() {
    let folder = folder().with("list.csv", "time,symbol,direction\n2026-01-05 00:30,BTCUSDT,BUY\n");
    let backtest = ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--quiet"];
    let run = |more: &[&str]| folder.run(&[&backtest, more].concat());
    run(&["--signals", "-"]).fails(2, &["--signals"]);
    run(&["--signals", "gone.csv"]).fails(3, &["gone.csv"]);
    let report = run(&["--signals", "list.csv", "--json"]).json();
    assert!(report["notices"].to_string().contains("signal list"), "{report}");
    folder.run(&["live", "--rules", "rule.toml"]).fails(2, &["--sandbox"]);
}

#[test]
fn bot_printed_by_strategy_show_is_valid() {
    for strategy in ["rsi-reversal", "none"] {
        let shown = Folder::new().run(&["strategy", "show", strategy]).stdout;
        let (_, bot) = shown.split_once("[[bots]]").unwrap();
        let checked = Folder::new().with("bot.toml", &format!("[[bots]]{bot}")).run(&CHECK);
        assert_eq!(checked.code, 0, "{shown}{}", checked.stderr);
    }
}

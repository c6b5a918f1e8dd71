//! What is given at the wrong place is recognised, and the answer says where it goes.

use crate::candlewick::{BOT, Folder, candles};

const RULE: &str = "buy = \"close > open\"\n";

fn folder() -> Folder {
    Folder::new().with("BTCUSDT_1m.csv", &candles(50)).with("rule.toml", RULE).with("bot.toml", BOT)
}

#[test]
fn the_file_of_a_rule_is_no_configuration_and_a_configuration_no_rule() {
    let folder = folder();
    let of_rule = ["rule.toml is a rule", "strategy check rules --param file=rule.toml", "--rules rule.toml"];
    for command in [
        &["config", "check", "rule.toml"][..],
        &["config", "check", "--config", "rule.toml"],
        &["backtest", "--config", "rule.toml"],
        &["strategy", "check", "rule.toml"],
        &["strategy", "show", "rule.toml"],
    ] {
        folder.run(command).fails(2, &of_rule);
    }
    folder
        .run(&["strategy", "check", "bot.toml"])
        .fails(2, &["bot.toml is a configuration", "config check --config bot.toml"]);
    for command in
        [&["backtest", "--rules", "bot.toml"][..], &["tune", "bot.toml", "--data", "BTCUSDT_1m.csv"]]
    {
        folder.run(command).fails(3, &["bot.toml: this is a configuration, not a rule", "--config"]);
    }
    let sound = folder.run(&["config", "check", "bot.toml", "--json"]).json();
    assert_eq!((&sound["sound"], &sound["bots"]), (&true.into(), &1.into()), "{sound}");
}

#[test]
fn a_gate_beside_a_strategy_that_is_no_combination_is_told_where_it_goes() {
    let gate = "gate = { after_virtual_losses = 2 }";
    let rule = BOT.replace("rsi-reversal", "rules");
    let way = [".gate", "it belongs to a combination", "first_of = [{ strategy = \"rules\""];
    for text in [
        rule.replace("period = 2", &format!("file = \"rule.toml\", {gate}")),
        rule.replace("period = 2", &format!("buy = \"close > open\", {gate}")),
        rule.replace("period = 2", gate),
        format!("{}{gate}\n", rule.replace("period = 2", "file = \"rule.toml\"")),
    ] {
        let folder = folder().with("bot.toml", &text);
        folder.run(&["config", "check", "bot.toml"]).fails(2, &way);
        folder.run(&["backtest", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"]).fails(2, &way);
    }
    // As it is answered, it stands.
    let combined = rule.replace("\"rules\"", "\"combine\"").replace(
        "period = 2",
        &format!("first_of = [{{ strategy = \"rules\", params = {{ file = \"rule.toml\" }} }}], {gate}"),
    );
    let folder = folder().with("bot.toml", &combined);
    folder.run(&["config", "check", "bot.toml", "--json"]).json();
}

#[test]
fn a_list_is_named_to_a_backtest_and_a_rule_to_a_live_run() {
    let folder = folder().with("list.csv", "time,symbol,direction\n2026-01-05 00:30,BTCUSDT,BUY\n");
    let backtest = ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--quiet"];
    let run = |more: &[&str]| folder.run(&[&backtest, more].concat());
    run(&["--signals"]).fails(2, &["--signals <FILE>"]);
    run(&["--signals", "-"]).fails(2, &["have no time among past candles"]);
    run(&["--signals", "gone.csv"]).fails(3, &["gone.csv"]);
    let report = run(&["--signals", "list.csv", "--json"]).json();
    assert!(report["notices"].to_string().contains("the list of signals (1 entry) has 1"), "{report}");
    folder.run(&["live", "--rules", "rule.toml"]).fails(2, &["--sandbox"]);
    let rules = ["--rules", "rule.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let tested = folder.run(&[&["backtest"], &rules[..]].concat()).json();
    let live = ["live", "--sandbox", "--speed", "max", "--until-end"];
    let traded = folder.run(&[&live[..], &rules].concat()).json();
    assert!(tested["trades"].as_u64() > Some(10), "{tested}");
    assert_eq!(traded["trades"], tested["trades"], "{traded}");
}

/// A stake of 10.00 wins 6.00 or 9.00.
#[test]
fn a_payout_is_said_beside_a_rule_without_a_configuration() {
    let folder = folder();
    let arguments = ["backtest", "--rules", "rule.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let run = |payout: &str| folder.run(&[&arguments[..], &["--payout", payout]].concat());
    let [low, high] = ["60", "90"].map(|payout| run(payout).json());
    let won = low["won"].as_f64().unwrap();
    assert!(won > 10.0 && low["won"] == high["won"] && low["lost"] == high["lost"], "{low}");
    let earned = high["pnl"].as_f64().unwrap() - low["pnl"].as_f64().unwrap();
    assert!((earned - won * 3.0).abs() < 1e-6, "{earned} of {won}");
    run("0.85").fails(2, &["payouts are in percent; did you mean 85?"]);
}

#[test]
fn a_bracket_or_an_underscore_too_few_is_told_how_it_is_written() {
    let one = folder().with("bot.toml", &BOT.replace("[[bots]]", "[bots]"));
    one.run(&["config", "check", "bot.toml"]).fails(2, &["write [[bots]] in place of [bots]"]);
    let folder = folder().with_variable("CANDLEWICK_RISK_MAX_OPEN_TRADES", "5");
    folder.run(&["config", "check", "bot.toml"]).fails(2, &["CANDLEWICK_RISK__MAX_OPEN_TRADES"]);
}

#[test]
fn parameters_are_a_table_and_one_of_another_kind_is_named() {
    for (params, words) in [
        ("[7]", "[7] is no table of parameters"),
        ("{ period = \"seven\" }", "period = \"seven\": use a whole number from 2"),
        ("{ period = 7.5 }", "period = 7.5: use a whole number from 2"),
        ("{ oversold = true }", "oversold = true: use a number from"),
    ] {
        let bot = BOT.lines().map(|line| {
            if line.starts_with("params") { format!("params = {params}") } else { line.to_owned() }
        });
        let folder = folder().with("bot.toml", &bot.collect::<Vec<_>>().join("\n"));
        folder.run(&["config", "check", "bot.toml"]).fails(2, &[words]);
    }
}

#[test]
fn a_key_of_a_section_that_stands_at_the_top_is_told_where_it_goes() {
    for (line, way) in [
        ("mode = \"real\"", "there is no such key; mode belongs in [account]: move it below that line"),
        ("max_open_trades = 2", "max_open_trades belongs in [risk]"),
        ("listen = \"127.0.0.1:0\"", "listen belongs in [metrics] or [sandbox] or [signals]"),
        ("nothing_alike = 2", "there is no such key; known are: account, "),
    ] {
        let folder = folder().with("bot.toml", &format!("{line}\n{BOT}"));
        folder.run(&["config", "check", "bot.toml"]).fails(2, &[way, "bot.toml"]);
    }
    // As it is answered, it stands.
    let folder = folder().with("bot.toml", &format!("{BOT}[account]\nmode = \"demo\"\n"));
    folder.run(&["config", "check", "bot.toml", "--json"]).json();
}

#[test]
fn all_that_is_wrong_with_a_bot_is_told_at_once() {
    let bot = "[[bots]]\nname = \"a\"\nsymbol = \"BTCUSDT\"\ninterval = \"1min\"\nstrategy = \"rsi-reversal\"\n\
               close_type = \"5min\"\nstake = { kind = \"fix\", amount = 1.0 }\n";
    let ways = [
        "bots[0].interval (bot.toml): \"1min\" is not an interval",
        "bots[0].close_type (bot.toml): \"5min\" is not a closeType code",
        "did you mean \"fixed\"?",
    ];
    Folder::new().with("bot.toml", bot).run(&["config", "check", "bot.toml"]).fails(2, &ways);
    let bare = bot.replace("\"BTCUSDT\"", "BTCUSDT");
    Folder::new()
        .with("bot.toml", &bare)
        .run(&["config", "check", "bot.toml"])
        .fails(2, &["line 3", "a text stands in quotes, as in symbol = \"EURUSD\""]);
}

#[test]
fn the_bot_that_strategy_show_prints_is_a_whole_one() {
    for strategy in ["rsi-reversal", "none"] {
        let shown = Folder::new().run(&["strategy", "show", strategy]).stdout;
        let (_, bot) = shown.split_once("[[bots]]").unwrap();
        let folder = Folder::new().with("bot.toml", &format!("[[bots]]{bot}"));
        let checked = folder.run(&["config", "check", "bot.toml"]);
        assert_eq!(checked.code, 0, "{shown}{}", checked.stderr);
    }
}

/// What a trader writes, in place of a line of the bot.
#[test]
fn what_other_programs_write_is_answered_with_what_stands_here() {
    for (key, line, words) in [
        ("stake", "stake = { kind = \"percent\", percent = 5 }", "kind = \"share\", percent = 0.5"),
        (
            "stake",
            "stake = { kind = \"soros\", amount = 10, levels = 3 }",
            "error: bots[0].stake.levels (bot.toml): there is no such key; did you mean wins = 2, for 3 stakes in a row with the first?\n",
        ),
        (
            "stake",
            "stake = { kind = \"gale\", amount = 10, levels = 3 }",
            "this key is missing; such as factor = 2.25, which wins back all losses at a payout of 80 %",
        ),
        ("close_type", "close_type = 3", "use a text in quotes: 00:03 for 3 seconds, or 03:00 for 3 minutes"),
        ("close_type", "close_type = \"3:00\"", "did you mean 03:00?"),
        (
            "close_type",
            "close_type = \"120\"",
            "did you mean 02:00 for 120 seconds, or 2:00:00 for 120 minutes? Codes are mm:ss",
        ),
        (
            "stake",
            "stake = 10",
            "use { kind = \"fixed\", amount = 10 }, or { kind = \"share\", percent = 10 } for a",
        ),
        ("stake", "stake = \"2%\"", "use { kind = \"share\", percent = 2 }\n"),
        (
            "stake",
            "stake = { kind = \"fixed\", amount = 1.000,00 }",
            "a number has a decimal point and nothing between thousands, as in 1000.50",
        ),
        (
            "stake",
            "[risk]\nhours = [{ from = \"13:00\", to = \"17:00\" }]\ntimezone = \"America/New_York\"",
            "risk.timezone (bot.toml): there is no such key; did you mean day_timezone, or timezone in an entry of hours?",
        ),
        ("interval", "interval = \"M1\"", "did you mean 1m?"),
        (
            "stake",
            "mode = \"real\"",
            "bots[0].mode (bot.toml): there is no such key; mode belongs in [account]",
        ),
        (
            "stake",
            "[risk]\ngate = 3",
            "risk.gate (bot.toml): there is no such key; it belongs to a combination",
        ),
        (
            "stake",
            "[risk]\nxyz = 3",
            "risk.xyz (bot.toml): there is no such key; `candlewick config show` lists the keys",
        ),
        (
            "stake",
            "[risk]\nhours = [{ from = \"08:00\", to = \"10:00\", days = [\"mon-frei\"] }]",
            "\"mon-frei\" is no day: use mon, tue",
        ),
        (
            "params",
            "params = { period = 2, oversold = nan, overbought = 1e300 }",
            "bots[0].params.oversold = nan (bot.toml): use a number",
        ),
        (
            "params",
            "params = { period = [{ weight = 1e300 }] }",
            "bots[0].params.period[0].weight = 1e300 (bot.toml): use a number up to 1000000000000000",
        ),
        ("stake", "enabled = true", "there is no such key; leave it out: comment a bot out"),
        ("stake", "[risk]\nhours = \"08:00-17:00\"", "use hours = [{ from = \"08:00\", to = \"17:00\""),
    ] {
        let others = BOT.lines().filter(|other| !other.starts_with(&format!("{key} =")));
        let text = others.collect::<Vec<_>>().join("\n");
        let folder = folder().with("bot.toml", &format!("{text}\n{line}\n"));
        folder.run(&["config", "check", "bot.toml"]).fails(2, &[words]);
    }
}

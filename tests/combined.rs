//! Strategies made of others through the whole program: backtest, sweep, live, parity and explanation.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

fn bot(strategy: &str, params: &str) -> String {
    format!(
        "[[bots]]\nname = \"one\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"{strategy}\"\nclose_type = \"01:00\"\n\
         params = {{ {params} }}\n"
    )
}

const VOTE: &str = "vote = [{ strategy = \"rsi-reversal\", params = { period = 5 }, weight = 2.0 }, { strategy = \"bollinger-reversal\" }], \
                    within = 3, filters = [{ volatility = { min = 0.00001 } }], invert = true";

fn folder(days: i64) -> Folder {
    let one = "first_of = [{ strategy = \"rsi-reversal\", params = { period = 5 } }]";
    let turned = format!(
        "invert = true, first_of = [{{ strategy = \"combine\", params = {{ invert = true, {one} }} }}]"
    );
    Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + days * DAY))
        .with("alone.toml", &bot("rsi-reversal", "period = 5"))
        .with("one.toml", &bot("combine", one))
        .with("turned.toml", &bot("combine", &turned))
        .with("vote.toml", &bot("combine", VOTE))
}

fn backtest(folder: &Folder, config: &str) -> String {
    let trades = format!("{config}.csv");
    let arguments = [
        "backtest",
        "--config",
        config,
        "--data",
        "BTCUSDT_1m.csv",
        "--json",
        "--quiet",
        "--trades",
        &trades,
    ];
    folder.run(&arguments).json();
    folder.read(&trades)
}

#[test]
fn one_part_and_a_strategy_turned_round_twice_trade_as_the_strategy_alone() {
    let folder = folder(2);
    let alone = backtest(&folder, "alone.toml");
    assert!(alone.lines().count() > 100, "{alone}");
    for config in ["one.toml", "turned.toml"] {
        assert_eq!(backtest(&folder, config), alone, "{config}");
    }
}

#[test]
fn a_vote_with_filters_trades_live_as_in_a_backtest_and_is_explained() {
    let folder = folder(2);
    let tested = backtest(&folder, "vote.toml");
    assert!(tested.lines().count() > 20, "{tested}");
    let live =
        ["live", "--sandbox", "--speed", "max", "--until-end", "--config", "vote.toml", "--json", "--quiet"];
    let more = ["--data", "BTCUSDT_1m.csv", "--journal", "run.db", "--trades", "live.csv"];
    folder.run(&[&live[..], &more[..]].concat()).json();
    assert_eq!(folder.read("live.csv"), tested);
    // What it is made of, in the header of the run and in the report of a backtest.
    let made_of = "one: trades where 3 of 3 votes agree: rsi-reversal (weight 2) and bollinger-reversal, each for 3 candles from its signal; only while the filter \
                   volatility lets it pass; turned round: \
                   every trade goes in the other direction";
    let headed = folder.run(&[
        "live",
        "--sandbox",
        "--speed",
        "max",
        "--until-end",
        "--config",
        "vote.toml",
        "--data",
        "BTCUSDT_1m.csv",
    ]);
    let joined = headed.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let joined = joined + &headed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&format!("combined {made_of}")), "{joined}");
    let arguments = ["backtest", "--config", "vote.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let notices = folder.run(&arguments).json()["notices"].to_string();
    assert!(notices.contains(made_of), "{notices}");
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!(parity["unexplained"], Value::from(0), "{parity}");
    let explained = folder.run(&["explain", "1", "--journal", "run.db", "--json"]).json();
    let vote = &explained["conditions"][0];
    assert_eq!((&vote["side"], &vote["holds"]), (&"vote".into(), &true.into()), "{vote}");
    // The parts said the opposite of the trade.
    let traded = explained["trade"]["direction"].as_str().unwrap();
    let said = if traded == "BUY" { "BUY 0, SELL 3" } else { "BUY 3, SELL 0" };
    assert_eq!(vote["note"], format!("{said}, turned round to {traded}"));
    let at = explained["trade"]["decision_time"].to_string();
    // So says the reason, wherever it stands.
    let reason = "turned round: 3 of 3: ";
    let shown = folder.run(&["explain", "1", "--journal", "run.db"]).stdout;
    assert!(shown.contains(&format!("Z: {reason}")), "{shown}");
    assert!(tested.contains(reason), "{tested}");
    let why = folder.run(&["why", &at, "--journal", "run.db"]).stdout;
    assert!(why.contains(&format!(", opened as trade #1: {reason}")), "{why}");
    assert!(why.contains("\n  vote: a direction has the quorum, 3 of 3: true (BUY "), "{why}");
    assert!(why.contains("\n  filter volatility: lets the signal pass: true\n    atr(period) / close >= lowest: true (atr(14) / close = "), "{why}");
    let explained = explained.to_string();
    assert!(explained.contains("rsi-reversal.view"), "{explained}");
    assert!(explained.contains("volatility.atr(14) / close"), "{explained}");
}

#[test]
fn parameters_of_a_part_are_searched_and_come_to_what_they_do_alone() {
    let folder = folder(3);
    let results = |config: &str, parameter: &str| {
        let out = format!("{config}-out");
        let values = format!("{parameter}=2..9");
        let arguments = [
            "sweep",
            "--config",
            config,
            "--data",
            "BTCUSDT_1m.csv",
            "--json",
            "--quiet",
            "--min-trades",
            "10",
        ];
        folder.run(&[&arguments[..], &["--param", &values, "--out", &out]].concat()).json();
        folder.read(&format!("{out}/results.csv")).replace(parameter, "period")
    };
    assert_eq!(results("one.toml", "rsi-reversal.period"), results("alone.toml", "period"));
}

#[test]
fn a_combination_is_checked_as_any_strategy() {
    let folder = folder(1);
    let parts = "vote=[{\"strategy\":\"rsi-reversal\"},{\"strategy\":\"bollinger-reversal\"}]";
    let arguments = ["strategy", "check", "combine", "--param", parts, "--param", "within=5", "--seed", "3"];
    let checked = folder.run(&[&arguments[..], &["--unseen", "2000", "--json", "--quiet"]].concat()).json();
    assert!(!checked.to_string().contains("\"failed\""), "{checked}");
}

#[test]
fn the_header_of_a_run_names_the_durations_of_parts_and_of_lists() {
    let rule = |expiry: &str| {
        format!("{{ strategy = \"rules\", params = {{ buy = \"close > open\", expiry = \"{expiry}\" }} }}")
    };
    let (five, bots, filter) = (rule("05:00"), rule(""), rule("03:00"));
    let of = |name: &str, strategy: &str, params: &str| {
        bot(strategy, params).replace("\"one\"", &format!("\"{name}\""))
    };
    let list = |rows: &str| format!("time,symbol,direction,close_type\n{rows}");
    let folder = folder(1)
        .with("mixed.csv", &list("1767571260000,BTCUSDT,BUY,\n1767571320000,BTCUSDT,BUY,15:00\n1767571380000,BTCUSDT,BUY,15:00\n"))
        .with("plain.csv", &list("1767571260000,BTCUSDT,BUY,\n"));
    let config = [
        of("part", "combine", &format!("first_of = [{five}]")),
        of("filter", "combine", &format!("first_of = [{bots}], filters = [{filter}]")),
        of("parts", "combine", &format!("vote = [{five}, {bots}], invert = true")),
        of(
            "inner",
            "combine",
            &format!("first_of = [{{ strategy = \"combine\", params = {{ first_of = [{five}] }} }}]"),
        ),
        of("whole", "combine", &format!("vote = [{five}, {bots}], expiry = \"10:00\"")),
        of("mixed", "signal-list", "file = \"mixed.csv\""),
        of("plain", "signal-list", "file = \"plain.csv\""),
    ];
    let folder = folder.with("bots.toml", &config.concat());
    let live = [
        "live",
        "--sandbox",
        "--speed",
        "max",
        "--until-end",
        "--config",
        "bots.toml",
        "--data",
        "BTCUSDT_1m.csv",
    ];
    let said = folder.run(&live).stdout;
    for (name, strategy, duration) in [
        ("part", "combine", "05:00 (the strategy's own)"),
        ("filter", "combine", "01:00"),
        ("parts", "combine", "05:00 or 01:00 (the strategy's own)"),
        ("inner", "combine", "05:00 (the strategy's own)"),
        ("whole", "combine", "10:00 (the strategy's own)"),
        ("mixed", "signal-list", "01:00 or 15:00 (the strategy's own)"),
        ("plain", "signal-list", "01:00"),
    ] {
        let line = format!("{name}: {strategy} on BTCUSDT 1m, {duration}, stake");
        let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(&line), "{line}\n{said}");
    }
}

#[test]
fn conditions_of_the_rules_inside_a_combination_are_told_by_part() {
    let rule = "buy = \"close < open and rsi(5) < 50\"";
    let params = format!(
        "first_of = [{{ name = \"dip\", strategy = \"rules\", params = {{ {rule} }} }}], filters = [{{ when = \"close > open * 3\" }}]"
    );
    let folder =
        folder(2).with("parts.toml", &bot("combine", &params)).with("rule.toml", &bot("rules", rule));
    let common = ["--data", "BTCUSDT_1m.csv", "--json", "--quiet"];
    let conditions = |report: &Value| report["conditions"].as_array().unwrap().clone();
    let report = folder.run(&[&["backtest", "--config", "parts.toml"], &common[..]].concat()).json();
    let alone = folder.run(&[&["backtest", "--config", "rule.toml"], &common[..]].concat()).json();
    let told = conditions(&report);
    let named =
        |one: &Value| format!("{} {} {}", one["part"].as_str().unwrap_or("-"), one["side"], one["condition"]);
    let expected = [
        "- \"first_of\" \"a part signals\"",
        "dip \"part\" \"signals\"",
        "dip \"buy\" \"close < open and rsi(5) < 50\"",
        "dip \"buy\" \"close < open\"",
        "dip \"buy\" \"rsi(5) < 50\"",
        "when \"filter\" \"lets the signal pass\"",
        "when \"filter\" \"close > open * 3\"",
    ];
    assert_eq!(told.iter().map(named).collect::<Vec<_>>(), expected);
    // The rule alone is warm as early as the combination, so that its counts are the same.
    for (inside, alone) in told[2..].iter().zip(conditions(&alone)) {
        assert_eq!((&inside["held"], &inside["candles"]), (&alone["held"], &alone["candles"]));
        assert!(inside["held"].as_u64().unwrap() > 100 && alone.get("part").is_none(), "{inside} {alone}");
    }
    // It signals where its rule holds, and the filter stops every signal.
    let stopped = told[2]["held"].as_u64().unwrap();
    assert_eq!((&told[0]["held"], &told[1]["held"]), (&stopped.into(), &stopped.into()));
    assert_eq!(
        (&told[5]["candles"], &told[5]["held"], &told[5]["stopped"]),
        (&stopped.into(), &0.into(), &stopped.into())
    );
    let why = format!("one: the filter when stopped all {stopped} signals: `close > open * 3` never did");
    assert!(report["notices"].to_string().contains(&why), "{}", report["notices"]);
    let tuned = ["tune", "--config", "parts.toml", "--out", "tuned"];
    let tuned = folder.run(&[&tuned[..], &common[..]].concat()).json();
    assert_eq!(conditions(&tuned).iter().map(named).collect::<Vec<_>>(), expected, "{tuned}");
    assert!(
        tuned["next"].to_string().contains("change what never held: one: the filter when stopped all "),
        "{}",
        tuned["next"]
    );
}

/// The report of a run follows signals by candles; the command follows the trades that a bot without a gate made of the same signals, where a
/// trade costs no time and every signal is traded.
#[test]
fn what_a_gate_was_worth_in_a_report_is_what_it_would_have_been_worth_on_all_trades() {
    let coin = "first_of = [{ strategy = \"coin\", params = { share = 0.4 } }]";
    let gate = "gate = { after_virtual_losses = 2, close_after_losses = 2 }";
    let at_once = "[simulation]\nlatency_ms = 0\nsettle_delay_ms = 0\nopen_rounding = \"none\"\n\
                   [risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 0\nmax_trades_per_day = 0\nallow_opposite = true\n\
                   allow_duplicate = true\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n";
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 2 * DAY))
        .with("all.toml", &(at_once.to_owned() + &bot("combine", coin)))
        .with("gated.toml", &(at_once.to_owned() + &bot("combine", &format!("{coin}, {gate}"))));
    backtest(&folder, "all.toml");
    let edge = ["edge", "gate", "--trades", "all.toml.csv", "--after-virtual-losses", "2", "--json"];
    let edge = folder.run(&[&edge[..], &["--close-after-losses", "2"]].concat()).json();
    let run = ["backtest", "--config", "gated.toml", "--data", "BTCUSDT_1m.csv", "--quiet"];
    let report = folder.run(&[&run[..], &["--json"]].concat()).json();
    let [line] = report["gates"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert!(line["real"].as_u64() > Some(100), "{line}");
    for (key, expected) in edge["bots"][0].as_object().unwrap() {
        assert_eq!(line[key], *expected, "{key}: {line}");
    }
    assert_eq!((&line["gate"], &line["draws"]), (&edge["gate"], &edge["draws"]));
    // The terminal and the page have it, and a bot without a gate none of it.
    folder.run(&[&run[..], &["--html", "gated.html"]].concat());
    let words =
        "opens after 2 virtual losses in a row, closes after 2 losses in a row of signals it let pass";
    for text in [folder.run(&run).stdout, folder.read("gated.html")] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words) && text.to_lowercase().contains("nothing beyond chance"), "{text}");
    }
    let page = folder.read("gated.html");
    let section = page.split("<section id=\"gates\">").nth(1).unwrap().split("</section>").next().unwrap();
    let percent = |key: &str| format!("{:+.2} %", line[key].as_f64().unwrap() * 100.0);
    for key in ["mean_of_all", "mean_of_real", "gain"] {
        assert!(section.contains(&percent(key)), "{key}: {section}");
    }
    for part in [
        &line["trades"].to_string(),
        &line["real"].to_string(),
        &format!("{:.4}", line["p_shuffled"].as_f64().unwrap()),
        "data-chart=\"gate-0\"",
        "no gate gains anything",
    ] {
        assert!(section.contains(part), "{part}: {section}");
    }
    assert!(page.contains("<a href=\"#gates\">Gate</a>"));
    let without =
        folder.run(&["backtest", "--config", "all.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"]);
    assert_eq!(without.json().get("gates"), None);
    folder.run(&[
        "backtest",
        "--config",
        "all.toml",
        "--data",
        "BTCUSDT_1m.csv",
        "--quiet",
        "--html",
        "all.html",
    ]);
    assert!(!folder.read("all.html").contains("#gates"));
}

/// London's hours and days, once a day: the same in a backtest and live, and told before, while and after it trades.
#[test]
fn a_gate_of_a_day_and_hours_of_a_zone_trade_live_as_in_a_backtest_and_say_how_they_stand() {
    let hours = "filters = [{ hours = [\"08:00\", \"17:00\"], timezone = \"Europe/London\" }]";
    let gate = "gate = { after_virtual_losses = 1, resets = \"day\", day_timezone = \"Europe/London\" }";
    let params = |more: &str| {
        format!("first_of = [{{ strategy = \"rsi-reversal\", params = {{ period = 5 }} }}], {gate}{more}")
    };
    let folder = folder(3)
        .with("gated.toml", &bot("combine", &params(&format!(", {hours}"))))
        .with(
            "hours.toml",
            "[risk]\nhours = [{ from = \"08:00\", to = \"17:00\", timezone = \"Europe/London\" }]\n",
        )
        .with("plain.toml", &bot("combine", &params("")));
    let tested = backtest(&folder, "gated.toml");
    assert!(tested.lines().count() > 20, "{tested}");
    let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--config", "gated.toml"];
    let more = ["--data", "BTCUSDT_1m.csv", "--journal", "run.db", "--trades", "live.csv"];
    let said = folder.run(&[&live[..], &more[..]].concat()).stdout;
    assert_eq!(folder.read("live.csv"), tested);
    let parity = folder.run(&["parity", "--journal", "run.db", "--json"]).json();
    assert_eq!(parity["unexplained"], Value::from(0), "{parity}");
    let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        // 25 hours are 1,500 minutes.
        "gates one: opens after 1 virtual loss, closes with the day; it learns how it stands from the 1500 candles before its first",
        "ruin bot \"one\": its stake of 10.00 is ruined within 1000 trades with a probability below 0.01 % if it wins",
    ] {
        assert!(joined.contains(part), "no {part} in\n{said}");
    }
    let checked = folder.run(&["config", "check", "gated.toml", "--json"]).json();
    let gate = "gate of one: opens after 1 virtual loss, closes with the day";
    assert!(checked["notices"].to_string().contains(gate), "{checked}");
    let explained = folder.run(&["explain", "1", "--journal", "run.db"]).stdout;
    assert!(
        explained
            .contains("Gate before it: open: until the day ends\nGate after it: open: until the day ends"),
        "{explained}"
    );
    // A virtual loss has opened it, and nothing else can.
    let moved = explained.lines().find(|line| line.starts_with("Gate opened at 2026-01-")).unwrap();
    assert!(moved.contains("Z, when the ") && moved.ends_with("Z lost"), "{moved}");
    let explained = folder.run(&["explain", "1", "--journal", "run.db", "--json"]).json();
    assert_eq!(explained["gate"]["before"], "open: until the day ends", "{explained}");
    assert_eq!(explained["indicators"]["gate.open"], 1.0, "{explained}");
    let checked = folder.run(&["config", "check", "--config", "plain.toml", "--config", "hours.toml"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let excluded = "; not reckoned, as they only leave trades out: trading hours";
    assert!(checked.stdout.contains(excluded), "{}", checked.stdout);
}

#[test]
fn a_ladder_that_goes_on_through_a_closed_gate_is_told() {
    let gated = bot(
        "combine",
        "first_of = [{ strategy = \"rsi-reversal\" }], gate = { after_virtual_losses = 2, close_after_trades = 1 }",
    );
    let alone = bot("rsi-reversal", "period = 5");
    for (bot, entry, expected) in
        [(&gated, "next_candle", true), (&gated, "next_signal", false), (&alone, "next_candle", false)]
    {
        let ladder = format!(
            "stake = {{ kind = \"martingale\", amount = 1.0, factor = 2.0, levels = 3, entry = \"{entry}\" }}\n"
        );
        let folder = Folder::new()
            .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY / 4))
            .with("my.toml", &format!("{bot}{ladder}"));
        let said = |arguments: &[&str]| {
            let said = folder.run(&[arguments, &["--config", "my.toml"]].concat()).stdout;
            said.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let checked = said(&["config", "check"]);
        let told = checked.contains("continues while the gate is closed, with money");
        assert_eq!(told, expected, "{entry}: {checked}");
        let live = ["live", "--sandbox", "--speed", "max", "--until-end", "--data", "BTCUSDT_1m.csv"];
        let live = said(&[&live[..], &["--journal", "run.db"]].concat());
        let told = live.contains("closes after 1 signal it let pass; its ladder goes on while it is closed");
        assert_eq!(told, expected, "{entry}: {live}");
    }
}

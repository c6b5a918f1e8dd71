//! What a newcomer does before the first run: a configuration from a few answers, completions, and mistakes that are found
//! before anybody waits for a trade.

use crate::candlewick::{Folder, candlewick};
use std::process::Command;

#[test]
fn a_configuration_is_written_and_runs_at_once() {
    let folder = Folder::new();
    let told = folder
        .run(&["config", "init", "my.toml", "--symbol", "EURUSD", "--expiry", "05:00", "--payout", "85"]);
    assert!(told.stdout.contains("candlewick backtest --config my.toml"), "{}", told.stdout);
    let taken = "taken by default: --interval 1m --strategy rsi-reversal --stake 1.0\n";
    assert!(told.stdout.contains(taken), "{}", told.stdout);
    folder.run(&["config", "check", "--config", "my.toml"]);
    let report = folder.run(&["backtest", "--config", "my.toml", "--json"]).json();
    assert!(report["trades"].as_u64() > Some(0), "{report}");
    let text = folder.read("my.toml");
    assert!(
        text.contains("payout_percent = 85 ") && text.contains("name = \"eurusd-rsi-reversal\""),
        "{text}"
    );
    folder.run(&["config", "init", "my.toml"]).fails(2, &["my.toml exists already"]);
    assert_eq!(folder.read("my.toml"), text);
}

#[test]
fn a_configuration_of_a_rule_is_written_with_its_file_or_with_an_example() {
    let rule = "buy = \"close > open\"\n";
    let folder = Folder::new().with("my.rule.toml", rule);
    let told = folder.run(&["config", "init", "a.toml", "--strategy", "rules", "--stake", "5 %"]);
    assert!(told.stdout.contains("a.rule.toml is written"), "{}{}", told.stdout, told.stderr);
    let text = folder.read("a.toml");
    assert!(
        text.contains("file = \"a.rule.toml\"") && text.contains("kind = \"share\", percent = 5.0"),
        "{text}"
    );
    folder.run(&["config", "init", "b.toml", "--rules", "my.rule.toml"]);
    assert!(folder.read("b.toml").contains("file = \"my.rule.toml\""), "{}", folder.read("b.toml"));
    for file in ["a.toml", "b.toml"] {
        assert_eq!(folder.run(&["config", "check", "--config", file]).code, 0, "{file}");
        let report = folder.run(&["backtest", "--config", file, "--json"]).json();
        assert!(report["trades"].as_u64() > Some(0), "{file}: {report}");
    }
    assert_eq!(folder.read("my.rule.toml"), rule);
    folder
        .run(&["config", "init", "c.toml", "--rules", "none.toml"])
        .fails(2, &["--rules none.toml: there is no such file"]);
    folder
        .run(&["config", "init", "c.toml", "--strategy", "ema-cross", "--rules", "my.rule.toml"])
        .fails(2, &["--rules goes with the strategy \"rules\""]);
}

#[test]
fn a_run_says_how_it_is_looked_at_later_and_status_finds_its_journal() {
    let folder = Folder::new();
    let run = ["live", "--sandbox", "--speed", "300", "--for", "1s"];
    let told = folder.run(&run).stderr;
    assert!(told.contains("no journal was kept; with --journal run.db, `candlewick status"), "{told}");
    folder
        .run(&["status"])
        .fails(2, &["there is no journal at", "`candlewick live --sandbox --journal run.db`"]);
    let told = folder.run(&[&run[..], &["--journal", "run.db"]].concat()).stderr;
    let commands = "candlewick status --journal run.db | candlewick trades --journal run.db | candlewick dashboard --journal run.db";
    assert!(told.contains(commands), "{told}");
    folder.run(&["status"]).fails(2, &["there is no journal at", "in this folder: --journal run.db"]);
    assert!(folder.run(&["status", "--journal", "run.db"]).code == 0);
}

#[test]
fn a_wrong_answer_is_named_and_nothing_is_written() {
    let folder = Folder::new();
    for (arguments, part) in [
        (["--strategy", "rsi-reversl"], "rsi-reversal"),
        (["--expiry", "soon"], "close_type"),
        (["--stake", "much"], "the stake \"much\" is no number"),
        (["--payout", "0.85"], "did you mean 85?"),
    ] {
        folder.run(&[&["config", "init"][..], &arguments].concat()).fails(2, &[part]);
        assert!(!folder.path("candlewick.toml").exists(), "{arguments:?}");
    }
    // Under the name that the file was to have, and not that of the draft, which is gone.
    folder
        .run(&["config", "init", "--strategy", "rsi-reversl"])
        .fails(2, &["bots[0].strategy = \"rsi-reversl\" (candlewick.toml): there is no such strategy"]);
}

#[test]
fn a_stake_that_no_trade_could_have_is_found_before_the_first_one() {
    let folder = Folder::new();
    folder.run(&["config", "init", "--stake", "10"]);
    let text = folder.read("candlewick.toml");
    let changed = text.replace("[[bots]]", "max_stake = 5.0\n\n[[bots]]");
    let folder = folder.with("candlewick.toml", &changed);
    for command in [&["config", "check"][..], &["backtest"]] {
        folder.run(&[command, &["--config", "candlewick.toml"]].concat()).fails(
            2,
            &[
                "the stake of bot \"btcusdt-rsi-reversal\" is 10.00",
                "risk.max_stake, is 5.00",
                "no trade could ever be opened",
            ],
        );
    }
    // What another balance would mend is no error, and not sound either.
    let changed = text.replace("[[bots]]", "max_stake_percent = 0.05\n\n[[bots]]");
    let folder = folder.with("candlewick.toml", &changed);
    let checked = folder.run(&["config", "check", "--config", "candlewick.toml"]);
    let replayed = folder.run(&["backtest", "--config", "candlewick.toml"]);
    assert!(
        replayed.code == 0 && replayed.stdout.contains("no trade could be opened"),
        "{}",
        replayed.stdout
    );
    assert!(checked.code == 0 && !checked.stdout.contains("sound"), "{}{}", checked.stdout, checked.stderr);
    let checked_json = folder.run(&["config", "check", "--config", "candlewick.toml", "--json"]).json();
    assert_eq!((&checked_json["sound"], &checked_json["idle_bots"]), (&false.into(), &1.into()));
    for part in
        ["no trade could be opened", "1 of 1 bot could open no trade", "raise account.initial_balance"]
    {
        assert!(checked.stdout.contains(part), "no {part:?} in {}", checked.stdout);
    }
}

#[test]
fn a_stake_that_outgrows_max_stake_is_named_and_a_setting_lets_it_go_on() {
    let with = |stake: &str, risk: &str| {
        let folder = Folder::new();
        folder.run(&["config", "init", "--stake", "10"]);
        let text = folder.read("candlewick.toml").replace("{ kind = \"fixed\", amount = 10.0 }", stake);
        let text = text.replace("[[bots]]", &format!("max_stake = 20.0\n{risk}\n[[bots]]"));
        let folder = folder.with("candlewick.toml", &text);
        folder.run(&["config", "check", "--config", "candlewick.toml", "--json"]).json()
    };
    // At payout 80: 10.00, 18.00, 32.40.
    let soros = "{ kind = \"soros\", amount = 10.0, wins = 2 }";
    let checked = with(soros, "");
    assert_eq!((&checked["sound"], &checked["stopping_bots"]), (&false.into(), &1.into()));
    let notices = checked["notices"].to_string();
    for part in ["its stake 32.40 is above risk.max_stake 20.00", "held to", "stakes of at most 20.00"] {
        assert!(notices.contains(part), "no {part:?} in {notices}");
    }
    let reset = "{ kind = \"soros\", amount = 10.0, wins = 2, if_refused = \"reset\" }";
    for checked in [with(soros, "cap_stakes = true"), with(reset, "")] {
        assert_eq!((&checked["sound"], &checked["stopping_bots"]), (&true.into(), &0.into()), "{checked}");
    }
}

#[test]
fn a_live_run_with_a_stake_that_never_fits_does_not_start() {
    let folder = Folder::new();
    folder.run(&["config", "init", "--stake", "10"]);
    let text = folder.read("candlewick.toml").replace("[[bots]]", "max_stake = 5.0\n\n[[bots]]");
    let folder = folder.with("candlewick.toml", &text);
    folder
        .run(&["live", "--sandbox", "--for", "1s", "--config", "candlewick.toml"])
        .fails(2, &["risk.max_stake, is 5.00", "no trade could ever be opened"]);
}

#[test]
fn a_pair_is_written_as_venues_do_and_one_of_another_asset_type_is_not_a_venue_that_is_down() {
    let folder = Folder::new();
    let written = folder.run(&["config", "init", "--symbol", "EUR/USD"]);
    assert!(
        written.code == 0 && written.stdout.contains("written EURUSD"),
        "{}{}",
        written.stdout,
        written.stderr
    );
    let text = folder.read("candlewick.toml");
    for part in ["name = \"eurusd-rsi-reversal\"", "symbol = \"EURUSD\"", "asset_type = \"forex\""] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let folder = folder.with("candlewick.toml", &text.replace("\"forex\"", "\"crypto\""));
    let checked = folder.run(&["config", "check", "--config", "candlewick.toml"]);
    assert!(checked.stdout.contains("asset_type = \"crypto\" for EURUSD"), "{}", checked.stdout);
    let parts = ["the venue has no candles of EURUSD", "symbol or its asset type", "asset_type"];
    let ran = folder.run(&["live", "--sandbox", "--quiet", "--for", "1s", "--config", "candlewick.toml"]);
    ran.fails(2, &parts);
    assert!(!ran.stderr.contains("did not answer"), "{}", ran.stderr);
}

#[test]
fn payouts_as_shares_of_the_stake_are_asked_about() {
    let folder = Folder::new().with("a.toml", "[simulation]\npayout_percent = 0.85\n");
    folder.run(&["backtest", "--config", "a.toml"]).fails(2, &["did you mean 85?"]);
    let folder = Folder::new().with("b.toml", "[risk]\nmin_payout_percent = 0.85\n");
    for command in ["backtest", "config check"] {
        let command: Vec<&str> = command.split(' ').chain(["--config", "b.toml"]).collect();
        folder.run(&command).fails(2, &["risk.min_payout_percent", "did you mean 85?"]);
    }
    let folder = Folder::new()
        .with("c.toml", "[risk]\nmin_payout_percent_by_symbol = { BTCUSDT = 0.7, EURUSD = 85.0 }\n");
    folder
        .run(&["config", "check", "--config", "c.toml"])
        .fails(2, &["risk.min_payout_percent_by_symbol.BTCUSDT", "payouts are in percent; did you mean 70?"]);
    candlewick(&["edge", "break-even", "0.92"]).fails(2, &["did you mean 92?"]);
}

#[test]
fn the_version_is_the_programs() {
    let version = candlewick(&["--version"]).stdout;
    // Tests have the view on the whole terminal.
    assert_eq!(version, format!("candlewick {}\nfeatures: tui\n", env!("CARGO_PKG_VERSION")));
    let short = candlewick(&["-V"]).stdout;
    assert_eq!(short, format!("candlewick {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn bash_completes_commands_and_options() {
    let script = candlewick(&["completions", "bash"]).stdout;
    // As bash does it: the words typed so far, then what the function answers.
    let ask = |typed: &str| {
        let words = typed.split(' ').map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let last = typed.split(' ').count() - 1;
        let text = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={last}; _candlewick candlewick \"${{COMP_WORDS[{last}]}}\" \
             \"${{COMP_WORDS[{}]}}\"; printf '%s ' \"${{COMPREPLY[@]}}\"",
            last - 1
        );
        // From a file: the script is longer than an argument may be.
        let folder = Folder::new().with("asked.sh", &text);
        let mut bash = Command::new("bash");
        let output = bash.arg("--norc").arg(folder.path("asked.sh")).output().expect("bash is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(ask("candlewick walk").trim(), "walk-forward");
    assert_eq!(ask("candlewick backtest --sens").trim(), "--sensitivity");
    assert!(ask("candlewick config ").contains("init show check schema"), "{}", ask("candlewick config "));
}

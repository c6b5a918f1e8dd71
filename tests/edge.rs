//! `edge`: errors, the day boundary of a gate, and stakes with a high risk of ruin.

use crate::candlewick::{BACKTEST, BOT, Folder, folder_with_bot};

#[test]
fn errors_name_the_option_or_the_line() {
    let folder = Folder::new()
        .with("bare.csv", "result,payout\nLOST,80\nWON,80\n")
        .with("bad.csv", "result,payout\nWON,85\nWIN,85\n");
    for (arguments, code, part) in [
        ("plan --points 0", 2, "--points 0"),
        ("gate --trades bare.csv", 2, "--after-virtual-losses"),
        ("gate --trades bare.csv --virtual-win-rate 60", 2, "--over"),
        ("gate --trades bare.csv --after-virtual-losses 2 --openings 1", 2, "--resets"),
        ("gate --trades bare.csv --after-virtual-losses 2 --day-start 08:00", 2, "--resets"),
        ("gate --trades bare.csv --after-virtual-losses 2 --resets day --day-timezone Mars", 2, "Mars"),
        ("gate --trades bare.csv --after-virtual-losses 2 --resets day", 3, "decision_time"),
        ("verdict", 2, "candlewick.db"),
        ("verdict --won 5", 2, "--lost"),
        ("verdict --won 5 --lost 5 --trades bare.csv", 2, "--trades"),
        ("verdict --trades bad.csv", 3, "bad.csv, line 3"),
        ("verdict --trades none.csv", 3, "none.csv"),
        ("ruin", 2, "--martingale"),
        ("ruin --stake 1 --soros 1", 2, "--soros"),
        ("ruin --stake=-1", 2, "--stake"),
        ("ruin --martingale 2 --min-stake 5 --balance 1000", 2, "5.00"),
        ("ruin --martingale 1 --levels 65", 2, "65"),
    ] {
        let arguments: Vec<&str> = std::iter::once("edge").chain(arguments.split(' ')).collect();
        folder.run(&arguments).fails(code, &[part]);
    }
}

/// Ten trades, one hour apart, from 20:00 UTC on. A day that starts there has them all: v v r and no more.
#[test]
fn daily_gate_counts_from_the_start_of_the_day() {
    let results = ["LOST", "LOST", "WON", "LOST", "LOST", "WON", "LOST", "LOST", "LOST", "WON"];
    let row = |(hour, result): (i64, &str)| {
        let at = 1_767_556_800_000 + hour * 3_600_000;
        format!("{at},{},80,{result}\n", at + 60_000)
    };
    let rows: String = (0..).zip(results).map(row).collect();
    let folder = Folder::new().with("t.csv", &format!("decision_time,close_time,payout,result\n{rows}"));
    let gate =
        "edge gate --trades t.csv --after-virtual-losses 2 --resets day --openings 1 --close-after-trades 1";
    let real = |day: &str| {
        let arguments: Vec<&str> = gate.split(' ').chain(day.split_whitespace()).chain(["--json"]).collect();
        folder.run(&arguments).json()["bots"][0]["real"].clone()
    };
    assert_eq!(real("--day-start 21:00 --day-timezone Africa/Lagos"), 1);
    assert_eq!(real(""), 2, "v v r v before midnight, v v v v r v after it");
}

#[test]
fn bot_below_the_minimum_stake_leaves_the_figures_of_others_visible() {
    let share = BOT.to_owned() + "stake = { kind = \"share\", percent = 0.1 }\n";
    let fixed = BOT.replace("\"btc\"", "\"eth\"") + "stake = { kind = \"fixed\", amount = 10.0 }\n";
    let settings = format!("[account]\ninitial_balance = 1000\n[risk]\nmin_stake = 5\n{share}{fixed}");
    let folder = Folder::new().with("bots.toml", &settings);
    let run = folder.run(&["edge", "ruin", "--config", "bots.toml", "--json"]);
    let stakes = run.json()["stakes"].as_array().unwrap().clone();
    assert!(stakes.len() == 1 && stakes[0]["bot"] == "eth", "{stakes:?}");
    assert!(run.stderr.contains("\"btc\"") && run.stderr.contains("1.00"), "{}", run.stderr);
}

#[test]
fn ladder_with_high_risk_of_ruin_never_trades_live_and_is_noted_in_backtests() {
    let ladder = "stake = { kind = \"martingale\", amount = 10, factor = 2, levels = 3 }\nparams";
    let limits = "[account]\ninitial_balance = 80\n[risk]\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n\
                  ruin_horizon_trades = 60\n[[bots]]";
    let folder = folder_with_bot("params", ladder);
    let config = folder.read("bot.toml").replace("[[bots]]", limits);
    let folder = folder.with("bot.toml", &config);
    let refusal = ["risk.max_ruin_probability", "\"btc\"", "60 trades"];
    let live = folder.run(&["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--until-end"]);
    assert!(live.code == 2 && refusal.iter().all(|part| live.stderr.contains(part)), "{}", live.stderr);
    folder.run(&["config", "check", "--config", "bot.toml"]).fails(2, &refusal);
    let notices = folder.run(&[BACKTEST.as_slice(), &["--json"]].concat()).json()["notices"].to_string();
    assert!(notices.contains("70.00"), "{notices}");
    let ruin = folder.run(&["edge", "ruin", "--config", "bot.toml", "--json"]).json();
    assert!(ruin["stakes"][0]["bot"] == "btc" && ruin["ladders"].as_f64() > Some(0.05), "{ruin}");
    let sound = folder.with("bot.toml", &config.replace("initial_balance = 80", "initial_balance = 8000"));
    assert_eq!(sound.run(&["config", "check", "--config", "bot.toml"]).code, 0);
}

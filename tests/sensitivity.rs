//! `sensitivity` and `monte-carlo`: points and the observed run match backtests.

use crate::sweep::folder;

const COMMON: [&str; 5] = ["--json", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv"];

#[test]
fn points_match_runs_with_their_settings() {
    let folder = folder(1).with("payout.toml", "[simulation]\npayout_percent = 72.0\n");
    let found = folder.run(&[&["sensitivity", "--threads", "1"], &COMMON[..]].concat()).json();
    let backtest = folder.run(&[&["backtest", "--sensitivity"], &COMMON[..]].concat()).json();
    let curves = found["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 4, "{found}");
    for key in ["curves", "break_even_payout_percent"] {
        assert_eq!(found[key], backtest["sensitivity"][key]);
    }
    let single = folder.run(&[&["backtest", "--config", "payout.toml"], &COMMON[..]].concat()).json();
    let payouts = curves.iter().find(|curve| curve["setting"] == "payout_percent").unwrap();
    let point = payouts["points"].as_array().unwrap().iter().find(|point| point["value"] == 72.0).unwrap();
    assert_eq!((&point["pnl"], &point["trades"]), (&single["pnl"], &single["trades"]));
}

#[test]
fn observed_run_matches_the_backtest_and_wrong_arguments_are_refused() {
    let folder = folder(1);
    let run = |command: &str, more: &[&str]| folder.run(&[&[command], &COMMON[..], more].concat());
    let found = run("monte-carlo", &["--resample", "trades", "--paths", "20"]).json();
    assert_eq!(found["observed"]["final_balance"], run("backtest", &[]).json()["final_balance"]);
    run("monte-carlo", &["--block", "0.5"]).fails(2, &["--block"]);
    run("monte-carlo", &["--resample", "dice"]).fails(2, &["dice"]);
    folder.run(&["monte-carlo", "run", "--shard", "1"]).fails(2, &["monte-carlo plan"]);
}

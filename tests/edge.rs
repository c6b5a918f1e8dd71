//! `edge`: the statistics of an edge, as a person and a machine read them.

use crate::candlewick::{BACKTEST, BOT, Folder, candlewick, folder_with_bot};
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let run = candlewick(&[&["edge"], arguments, &["--json"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn assert_near(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
}

#[test]
fn break_even_is_reported_for_payouts_stakes_and_win_rates() {
    let answer = json(&["break-even", "80", "85", "90"]);
    for (place, expected) in [0.555_556, 0.540_541, 0.526_316].into_iter().enumerate() {
        assert_near(&answer["payouts"][place]["break_even"], expected, 1e-6);
    }
    assert_near(&answer["payouts"][1]["coin_return"], -0.075, 1e-12);
    // 10 and 30 staked return 18 and 57 when all win.
    assert_near(&json(&["break-even", "80:10", "90:30"])["mixed_break_even"], 40.0 / 75.0, 1e-12);
    assert_near(&json(&["break-even", "--win-rate", "50"])["payout_needed"], 1.0, 1e-12);
    let table = candlewick(&["edge", "break-even", "85"]);
    assert!(table.stdout.contains("54.0541 %") && table.stdout.contains("-7.50"), "{}", table.stdout);
    candlewick(&["edge", "break-even", "0"]).fails(2, &["use a payout in percent, such as 85"]);
    candlewick(&["edge", "break-even", "80:10", "90"]).fails(2, &["some payouts have a stake", "help:"]);
}

#[test]
fn a_plan_shows_the_known_numbers_of_trades_and_the_same_simulation_for_the_same_seed() {
    let plan = ["plan", "--payout", "85", "--points", "2,5", "--paths", "100", "--most-trades", "1500"];
    let answer = json(&plan);
    for (place, by_normal, exact) in [(0, 3_828, 3_918), (1, 609, 641)] {
        let edge = &answer["edges"][place];
        assert_eq!(
            (edge["by_normal"].as_u64(), edge["by_exact_binomial"].as_u64()),
            (Some(by_normal), Some(exact))
        );
    }
    let verdict = &answer["edges"][1]["by_verdict"];
    // Measured on 5,000 paths elsewhere: half of the runs show five points by 647 trades, 80 % by 1,077.
    assert!((500..800).contains(&verdict["half"].as_u64().unwrap()), "{verdict}");
    assert!((800..1_500).contains(&verdict["trades"].as_u64().unwrap()), "{verdict}");
    assert!(answer["edges"][0]["by_verdict"]["trades"].is_null(), "two points take more than 1,500 trades");
    assert_eq!(json(&plan), answer);
    candlewick(&["edge", "plan", "--points", "0"]).fails(2, &["--points 0", "name points above 0"]);
    candlewick(&["edge", "plan", "--points", "60"]).fails(2, &["win rate"]);
}

#[test]
fn a_gate_is_told_apart_from_chance_and_the_same_seed_gives_the_same_figures() {
    let csv = |results: &[&str]| {
        let rows: Vec<String> = results.iter().map(|result| format!("{result},80\n")).collect();
        format!("result,payout\n{}", rows.concat().repeat(30))
    };
    let folder = Folder::new().with("planted.csv", &csv(&["LOST", "LOST", "WON"]));
    let folder = folder.with("never.csv", &csv(&["LOST", "WON"]));
    let gate = ["edge", "gate", "--trades", "planted.csv", "--after-virtual-losses", "2", "--json"];
    let answer = folder.run(&gate).json();
    let bot = &answer["bots"][0];
    assert_eq!((bot["trades"].as_u64(), bot["real"].as_u64()), (Some(90), Some(30)));
    assert_near(&bot["mean_of_real"], 0.8, 1e-12);
    assert_near(&bot["gain"], 0.8 + 0.4, 1e-12);
    assert!(bot["p_shuffled"].as_f64().unwrap() < 0.01, "{bot}");
    assert_eq!(folder.run(&gate).json(), answer);
    let never = folder.run(&["edge", "gate", "--trades", "never.csv", "--after-virtual-losses", "2"]);
    assert!(never.stdout.contains("never opened"), "{}", never.stdout);
    folder.run(&["edge", "gate", "--trades", "never.csv"]).fails(2, &["--after-virtual-losses"]);
    folder.run(&["edge", "gate", "--trades", "never.csv", "--virtual-win-rate", "60"]).fails(2, &["--over"]);
}

/// Ten trades, an hour apart, from 20:00 UTC on: L L W L before midnight, then L W L L L W.
#[test]
fn a_gate_of_the_day_opens_as_often_as_it_says_from_where_the_day_begins() {
    let start = 1_767_556_800_000_i64; // 2026-01-04 20:00 UTC.
    let results = ["LOST", "LOST", "WON", "LOST", "LOST", "WON", "LOST", "LOST", "LOST", "WON"];
    let row = |(hour, result): (i64, &str)| {
        let at = start + hour * 3_600_000;
        format!("{at},{},80,{result}\n", at + 60_000)
    };
    let rows: String = (0..).zip(results).map(row).collect();
    let folder = Folder::new().with("t.csv", &format!("decision_time,close_time,payout,result\n{rows}"));
    let folder = folder.with("bare.csv", "result,payout\nLOST,80\nWON,80\n");
    let gate = ["edge", "gate", "--trades", "t.csv", "--after-virtual-losses", "2", "--json"];
    let real = |arguments: &[&str]| {
        let bot = folder.run(&[&gate, arguments].concat()).json()["bots"][0].clone();
        (bot["real"].as_u64().unwrap(), (bot["mean_of_real"].as_f64().unwrap() * 100.0).round())
    };
    // v v r v v r v v r v: a win, a win and a loss.
    assert_eq!(real(&[]), (3, 20.0));
    // Days from 00:00 UTC: v v r r | v v v v r r, open until the day ends; a win, two losses, a win.
    assert_eq!(real(&["--resets", "day"]), (4, -10.0));
    // Once a day, one trade: v v r v | v v v v r v, a win and a loss.
    let once = ["--resets", "day", "--openings", "1", "--close-after-trades", "1"];
    assert_eq!(real(&once), (2, -10.0));
    // Days from 20:00 UTC have all ten trades: v v r and no more.
    assert_eq!(
        real(&[&once[..], &["--day-start", "21:00", "--day-timezone", "Africa/Lagos"]].concat()),
        (1, 80.0)
    );
    let refused = |arguments: &[&str], parts: &[&str]| {
        folder.run(&[&gate, arguments].concat()).fails(2, parts);
    };
    refused(&["--openings", "1"], &["--resets"]);
    refused(&["--day-start", "08:00"], &["--resets"]);
    refused(&["--resets", "day", "--day-timezone", "Mars"], &["Mars"]);
    let bare = ["edge", "gate", "--trades", "bare.csv", "--after-virtual-losses", "2", "--resets", "day"];
    folder.run(&bare).fails(3, &["decision_time"]);
}

#[test]
fn bare_counts_have_figures_and_no_verdict() {
    let counts = ["verdict", "--won", "580", "--lost", "420", "--payout", "85"];
    let all = &json(&counts)["all"];
    assert!(all["verdict"].is_null() && all["account_for"].is_null(), "{all}");
    assert_near(&all["independent"]["win_rate"], 0.58, 1e-12);
    assert!(all["independent"]["p_value"].as_f64().unwrap() < 0.01);
    let printed = candlewick(&[&["edge"], counts.as_slice()].concat()).stdout;
    for part in
        ["none: it takes trades in their order", "assumes independent trades", "--trades or --journal"]
    {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    candlewick(&["edge", "verdict", "--won", "5"]).fails(2, &["--lost"]);
    candlewick(&["edge", "verdict", "--won", "5", "--lost", "5", "--trades", "x"])
        .fails(2, &["cannot be used with"]);
    candlewick(&["edge", "verdict"]).fails(2, &["candlewick.db"]);
}

#[test]
fn trades_in_their_order_have_a_verdict() {
    // Two of three won at payout 85 shows an edge; every other one rules it out.
    let run = |won: fn(usize) -> bool| -> String {
        let line = |place| if won(place) { "WON,85\n" } else { "LOST,85\n" };
        std::iter::once("result,payout\n").chain((0..1_500).map(line)).collect()
    };
    for (won, expected) in
        [(run(|place| place % 3 != 0), "edge_shown"), (run(|place| place % 2 == 0), "edge_rejected")]
    {
        let folder = Folder::new().with("trades.csv", &won);
        let answer = folder.run(&["edge", "verdict", "--trades", "trades.csv", "--json"]).json();
        assert_eq!(answer["all"]["verdict"], expected);
        assert_eq!(answer["all"]["clusters"], 1_500, "one after another");
    }
    let folder = Folder::new().with("trades.csv", "result,payout\nWON,85\nWIN,85\n");
    folder
        .run(&["edge", "verdict", "--trades", "trades.csv"])
        .fails(3, &["trades.csv, line 3: \"WIN\" is not a result", "help: the columns are"]);
    folder.run(&["edge", "verdict", "--trades", "none.csv"]).fails(3, &["none.csv"]);
}

#[test]
fn the_trades_of_a_backtest_have_the_accounts_of_its_report() {
    let folder = folder_with_bot("rsi-reversal", "rsi-reversal");
    let report = folder.run(&[BACKTEST.as_slice(), &["--trades", "trades.csv", "--json"]].concat()).json();
    let answer = folder.run(&["edge", "verdict", "--trades", "trades.csv", "--json"]).json();
    assert!(report["trades"].as_u64().unwrap() >= 5, "{report}");
    assert_eq!(answer["all"]["verdict"], report["verdict"]);
    assert_near(&answer["all"]["independent"]["win_rate"], report["win_rate"].as_f64().unwrap(), 1e-12);
    assert_eq!(answer["all"]["account_for"], report["edge"]["account_for"]);
    assert_eq!(answer["all"]["labels"], report["edge"]["labels"]);
}

/// A ladder of 10, 20 and 40 on a balance of 80, with no limit but that of ruin.
const LADDER: &str = "stake = { kind = \"martingale\", amount = 10, factor = 2, levels = 3 }\nparams";
const BARE: &str = "[account]\ninitial_balance = 80\n[risk]\ndaily_loss_limit = 0\nmax_drawdown_percent = 0\n\
                    ruin_horizon_trades = 60\n[[bots]]";

#[test]
fn ruin_is_reported_of_stakes_at_the_rates_that_matter() {
    let flat =
        ["ruin", "--stake", "1", "--balance", "10", "--payout", "100", "--trades", "200", "--win-rate", "60"];
    let answer = json(&flat);
    let rates = &answer["stakes"][0]["rates"];
    // Ten units of even money within 200 trades, by reflection: P(95 wins at most) + P(94 at most) of 200.
    assert_near(&rates[0]["ruin"], 0.480_688, 1e-6);
    assert_eq!(
        (&rates[0]["name"], &rates[1]["name"], &rates[2]["name"]),
        (&"coin".into(), &"break_even".into(), &"given".into())
    );
    // (2/3)^z is 5 % at z = 7.4: eight units are enough for ever, and so for 200 trades.
    assert!((6.0..=8.0).contains(&rates[2]["required_balance"].as_f64().unwrap()), "{rates}");
    assert!(answer["ladders"].is_null());

    // Without a factor, what wins back everything: six levels cost 89.5 first stakes, for the losses alone 48.8.
    let ladder = ["ruin", "--martingale", "10", "--payout", "85", "--balance", "100000", "--trades", "50"];
    let stakes = &json(&ladder)["stakes"][0];
    assert_near(&stakes["ladder_cost"], 895.0, 1.0);
    assert_near(&stakes["recovery_costs"][0], 48.8, 0.05);
    assert_near(&stakes["recovery_costs"][1], 89.5, 0.05);
    assert_near(&stakes["rates"][0]["ruin"], 0.0, 1e-12);

    let bound =
        ["ruin", "--soros", "10", "--balance", "100", "--trades", "50", "--won", "90", "--lost", "110"];
    let rates = &json(&bound)["stakes"][0]["rates"];
    // Wilson's lower end of 90 of 200 at z = 1.644854.
    assert_eq!(rates[2]["name"], "lower_bound");
    assert_near(&rates[2]["win_rate"], 0.393_188, 1e-6);
    candlewick(&["edge", "ruin"]).fails(2, &["there are no stakes to look at", "--martingale 10"]);
    candlewick(&["edge", "ruin", "--stake", "1", "--soros", "1"]).fails(2, &["cannot be used with"]);
    candlewick(&["edge", "ruin", "--stake=-1"]).fails(2, &["--stake"]);
    let below = ["edge", "ruin", "--martingale", "2", "--min-stake", "5", "--balance", "1000"];
    candlewick(&below).fails(2, &["its first stake is 2.00, below the smallest that is taken, 5.00"]);
    // A Kelly stake without an edge is none, or the smallest: neither is below it.
    let kelly = ["ruin", "--kelly", "0.5", "--believe", "50", "--balance", "1000"];
    assert_near(&json(&kelly)["stakes"][0]["rates"][0]["ruin"], 0.0, 1e-12);
    candlewick(&["edge", "ruin", "--martingale", "1", "--levels", "65"]).fails(2, &["a ladder of 65 levels"]);
}

#[test]
fn a_bot_below_the_smallest_stake_hides_no_figures_of_another() {
    let share = BOT.to_owned() + "stake = { kind = \"share\", percent = 0.1 }\n";
    let fixed = BOT.replace("\"btc\"", "\"eth\"") + "stake = { kind = \"fixed\", amount = 10.0 }\n";
    let settings = format!("[account]\ninitial_balance = 1000\n[risk]\nmin_stake = 5\n{share}{fixed}");
    let folder = Folder::new().with("bots.toml", &settings);
    let run = folder.run(&["edge", "ruin", "--config", "bots.toml", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let stakes = run.json()["stakes"].as_array().unwrap().clone();
    assert!(stakes.len() == 1 && stakes[0]["bot"] == "eth", "{stakes:?}");
    assert!(
        run.stderr.contains("bot \"btc\": its first stake is 1.00, below the smallest"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_ladder_that_ruins_too_probably_does_not_start_live_and_is_reported_in_a_backtest() {
    let folder = folder_with_bot("params", LADDER);
    let config = folder.read("bot.toml").replace("[[bots]]", BARE);
    let folder = folder.with("bot.toml", &config);
    let refusal =
        ["risk.max_ruin_probability", "ladders of \"btc\"", "within 60 trades", "bring a balance of"];
    let live = folder.run(&["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--until-end"]);
    assert_eq!(live.code, 2, "{}{}", live.stdout, live.stderr);
    folder.run(&["config", "check", "--config", "bot.toml"]).fails(2, &refusal);
    for part in refusal {
        assert!(live.stderr.contains(part), "{part}: {}", live.stderr);
    }
    let notices = folder.run(&[BACKTEST.as_slice(), &["--json"]].concat()).json()["notices"].to_string();
    for part in ["live, this would not start: the ladders of", "its ladder costs 70.00", "if it wins 50 %"] {
        assert!(notices.contains(part), "{part}: {notices}");
    }
    let answer = folder.run(&["edge", "ruin", "--config", "bot.toml", "--json"]).json();
    assert_eq!(answer["stakes"][0]["bot"], "btc");
    assert!(answer["ladders"].as_f64().unwrap() > 0.05, "{answer}");

    let small = folder.with("bot.toml", &config.replace("initial_balance = 80", "initial_balance = 8000"));
    let sound = small.run(&["config", "check", "--config", "bot.toml"]);
    assert!(sound.code == 0 && sound.stdout.contains("with a probability below 0.01 %"), "{}", sound.stdout);
    // The header of the run says it, and that is once.
    let live = small.run(&["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--until-end"]);
    let said = |text: &str| {
        text.split_whitespace().collect::<Vec<_>>().join(" ").matches("bot \"btc\": its ladder of ").count()
    };
    assert_eq!((said(&live.stdout), said(&live.stderr)), (1, 0), "{}{}", live.stdout, live.stderr);
}

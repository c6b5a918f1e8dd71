//! What is found of a run beside its figures: findings, sensitivity, and the variants that were tried.

use crate::candlewick::{BACKTEST, Folder, candles, folder_with_bot};
use crate::regimes::{FOLLOW, follower};
use serde_json::{Value, json};

const LEDGER: &str = "candlewick.variants.jsonl";

fn backtest(folder: &Folder, more: &[&str]) -> Value {
    folder.run(&[&BACKTEST[..], &["--json"], more].concat()).json()
}

fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

#[test]
fn a_report_shows_what_it_is_made_of() {
    let folder = folder_with_bot("01:00", "05:00");
    let report = backtest(&folder, &[]);
    let trades = report["trades"].as_u64().unwrap();
    for breakdown in report["breakdowns"].as_array().unwrap() {
        let cells = breakdown["cells"].as_array().unwrap();
        let sum: u64 = cells.iter().map(|cell| cell["trades"].as_u64().unwrap()).sum();
        assert_eq!(sum, trades, "{breakdown}");
    }
    let last = report["equity"].as_array().unwrap().last().unwrap()["balance"].as_f64().unwrap();
    assert!((last - 10_000.0 - report["pnl"].as_f64().unwrap()).abs() < 1e-6);
    assert!(kinds(&report).contains(&"too_few_trades"), "{report}");
    assert_eq!(report.get("sensitivity"), None);
}

#[test]
fn a_run_is_repeated_on_other_settings_when_asked() {
    let folder = folder_with_bot("01:00", "05:00");
    let report = backtest(&folder, &["--sensitivity"]);
    let curves = report["sensitivity"]["curves"].as_array().unwrap();
    let settings: Vec<&str> = curves.iter().map(|curve| curve["setting"].as_str().unwrap()).collect();
    assert_eq!(settings, ["latency_ms", "payout_percent", "path", "stress"]);
    // On its own settings the run is repeated to the cent.
    for curve in curves {
        let own =
            curve["points"].as_array().unwrap().iter().find(|point| point["is_own"] == json!(true)).unwrap();
        assert_eq!((&own["pnl"], &own["trades"]), (&report["pnl"], &report["trades"]), "{curve}");
    }
}

#[test]
fn each_variant_is_counted_once_and_the_report_corrects_for_all() {
    let folder = folder_with_bot("01:00", "05:00");
    let count = |report: &Value| report["variants"]["count"].as_u64().unwrap();
    assert_eq!(count(&backtest(&folder, &[])), 1);
    let once = folder.read(LEDGER);
    assert_eq!(count(&backtest(&folder, &[])), 1);
    assert_eq!(folder.read(LEDGER), once);
    let other = folder.with("other.toml", "[risk]\nmax_trades_per_hour = 1\n");
    let report = backtest(&other, &["--config", "other.toml"]);
    assert_eq!(count(&report), 2);
    assert!(
        kinds(&report).contains(&"many_variants") && kinds(&report).contains(&"in_sample_only"),
        "{report}"
    );
    if let Some(p_value) = report["p_value"].as_f64() {
        let corrected = report["variants"]["p_value_bonferroni"].as_f64().unwrap();
        assert!((corrected - (2.0 * p_value).min(1.0)).abs() < 1e-12);
    }
}

#[test]
fn nothing_is_counted_where_that_is_turned_off_and_a_ledger_that_cannot_be_written_is_reported() {
    let folder = folder_with_bot("01:00", "05:00");
    let off = folder.with_variable("CANDLEWICK_VARIANTS__LEDGER", "");
    let report = backtest(&off, &[]);
    assert!(report.get("variants").is_none() && !off.path(LEDGER).exists());
    assert!(kinds(&report).contains(&"variants_unknown"), "{report}");
    assert!(report["edge"]["labels"].to_string().contains("variants not counted"), "{report}");
    let lost = off.with_variable("CANDLEWICK_VARIANTS__LEDGER", "no/such/folder/x");
    let report = backtest(&lost, &[]);
    assert!(report["notices"].to_string().contains("not counted"), "{}", report["notices"]);
    assert!(kinds(&report).contains(&"variants_unknown"), "{report}");
}

#[test]
fn an_edge_that_the_best_of_many_variants_shows_by_luck_is_withheld() {
    let folder = follower("edge:0.58:5m", "");
    let alone = folder.run(&FOLLOW).json();
    assert_eq!((&alone["verdict"], &alone["variants"]["count"]), (&json!("edge_shown"), &json!(1)));
    // As many others as would take an account of four million.
    let others: Vec<String> = (0..200_000).map(|name| format!("[\"{name:016x}\",null,null]")).collect();
    // As an earlier version wrote them.
    let ledger = format!(
        "{{\"key\":\"0123456789abcdef\",\"strategy\":\"signal-list\",\"symbols\":[\"ETHUSDT\"],\"interval\":\"5m\",\
         \"from\":0,\"to\":9,\"variants\":[{}]}}\n",
        others.join(",")
    );
    let folder = follower("edge:0.58:5m", "").with(LEDGER, &ledger);
    let report = folder.run(&FOLLOW).json();
    assert_eq!(
        (&report["verdict"], &report["variants"]["count"]),
        (&json!("not_enough_trades"), &json!(200_001))
    );
    let withheld = "of 200001 variants that were tried one may do so well by luck";
    assert_eq!(report["edge"]["withheld"], json!([withheld]));
}

/// A bot that trades a list for a minute each, one signal a line, each in one of two directions.
fn lists(settings: &str) -> Folder {
    let bot = "[simulation]\nlatency_ms = 0\nopen_rounding = \"none\"\n[account]\ninitial_balance = 10000\n[[bots]]\nname = \"a\"\n\
               symbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\nparams = { file = \"list.csv\" }\n\
               close_type = \"01:00\"\n";
    Folder::new().with("bot.toml", &format!("{bot}{settings}")).with("BTCUSDT_1m.csv", &candles(50))
}

/// The list that a number stands for: ten directions by its bits.
fn list(number: u32) -> String {
    let first = candles(50).lines().nth(1).unwrap().split(',').next().unwrap().parse::<i64>().unwrap();
    let row = |place: i64| {
        let direction = if number >> place & 1 == 0 { "BUY" } else { "SELL" };
        format!("{},BTCUSDT,{direction}\n", first + 60_000 * (3 + 4 * place))
    };
    (0..10).map(row).fold("time,symbol,direction\n".to_owned(), |text, row| text + &row)
}

fn count_of(folder: &Folder, more: &[&str]) -> u64 {
    let report = backtest(folder, more);
    report["variants"]["count"].as_u64().unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn the_fifteenth_rewrite_of_a_list_is_the_fifteenth_variant_and_its_copy_none() {
    let mut folder = lists("");
    for number in 1..=15 {
        folder = folder.with("list.csv", &list(number));
        assert_eq!(count_of(&folder, &[]), u64::from(number));
    }
    let copy = "[[bots]]\nname = \"a\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\n\
                params = { file = \"copy.csv\" }\nclose_type = \"01:00\"\n";
    let folder = folder.with("copy.csv", &list(15)).with("copy.toml", copy);
    assert_eq!(count_of(&folder, &["--config", "copy.toml"]), 15);
    // The same candles in another file and under another symbol are no other ones.
    let folder = folder
        .with("mine.csv", &candles(50))
        .with("named.toml", &copy.replace("BTCUSDT", "MINE"))
        .with("copy.csv", &list(15).replace("BTCUSDT", "MINE"));
    let named = [
        "backtest",
        "--json",
        "--config",
        "bot.toml",
        "--config",
        "named.toml",
        "--data",
        "MINE@1m=mine.csv",
    ];
    assert_eq!(folder.run(&named).json()["variants"]["count"], 15);
}

#[test]
fn the_candles_that_were_chosen_are_a_choice_and_a_file_that_grew_is_none() {
    let folder = lists("").with("list.csv", &list(5));
    let rows: Vec<String> = folder.read("BTCUSDT_1m.csv").lines().map(str::to_owned).collect();
    let cut = |from: usize, to: usize| [&rows[..1], &rows[1..][from..to]].concat().join("\n") + "\n";
    let folder = folder.with("BTCUSDT_1m.csv", &cut(0, 30));
    assert_eq!(count_of(&folder, &[]), 1);
    let folder = folder.with("BTCUSDT_1m.csv", &cut(0, 50));
    assert_eq!(count_of(&folder, &[]), 1, "it grew");
    let moment = |row: usize| rows[1 + row].split(',').next().unwrap().to_owned();
    assert_eq!(count_of(&folder, &["--from", &moment(7)]), 2);
    assert_eq!(count_of(&folder, &["--to", &moment(40)]), 3);
    assert_eq!(count_of(&folder, &["--to", &moment(40)]), 3);
    let folder = folder.with("BTCUSDT_1m.csv", &cut(3, 50));
    assert_eq!(count_of(&folder, &[]), 4, "a file without its first candles");
    let folder = folder.with("BTCUSDT_1m.csv", &cut(0, 45));
    assert_eq!(count_of(&folder, &[]), 5, "a file without its last candles, after a look at them");
}

#[test]
fn a_strategy_that_is_the_same_however_its_candles_grew_is_one_variant_and_a_rewritten_one_another() {
    let rows: Vec<String> = candles(50).lines().map(str::to_owned).collect();
    let cut = |to: usize| rows[..=to].join("\n") + "\n";
    // Every other candle has a signal, and trades of 1 to 3 minutes lie across the end of each file.
    let every = (1..25).map(|place| {
        let time = rows[2 * place].split(',').next().unwrap();
        format!("{time},BTCUSDT,BUY\n")
    });
    let every = every.fold("time,symbol,direction\n".to_owned(), |text, row| text + &row);
    for close_type in ["01:00", "03:00"] {
        let folder = lists("");
        let bot = folder.read("bot.toml").replace("\"01:00\"", &format!("\"{close_type}\""));
        let mut folder = folder.with("bot.toml", &bot).with("list.csv", &every);
        for to in 20..=50 {
            folder = folder.with("BTCUSDT_1m.csv", &cut(to));
            assert_eq!(count_of(&folder, &[]), 1, "{close_type} {to}");
        }
    }
    // A program of the same name and version that trades the other way: its list lies where no name knows of it.
    let folder = lists("").with("list.csv", &every).with("BTCUSDT_1m.csv", &cut(40));
    assert_eq!(count_of(&folder, &[]), 1);
    let noted = folder.read(LEDGER);
    let (before, trades) = noted.trim_end().trim_end_matches("\"]]}").rsplit_once('"').unwrap();
    assert_eq!(trades.len(), 16);
    std::fs::remove_file(folder.path(LEDGER)).unwrap();
    std::fs::remove_dir_all(folder.path(".candlewick")).ok();
    let folder = folder
        .with("off.toml", "[data]\nstate = \"new\"\n")
        .with(LEDGER, &format!("{before}\"{}\"]]}}\n", "0".repeat(16)))
        .with("BTCUSDT_1m.csv", &cut(50));
    for _ in 0..2 {
        assert_eq!(count_of(&folder, &["--config", "bot.toml", "--config", "off.toml"]), 2);
    }
}

#[test]
fn a_sweep_of_candles_that_grew_finds_a_strategy_that_was_rewritten() {
    let rows: Vec<String> = candles(50).lines().map(str::to_owned).collect();
    let cut = |to: usize| rows[..=to].join("\n") + "\n";
    let folder = lists("").with("list.csv", &list(5)).with("BTCUSDT_1m.csv", &cut(30));
    assert_eq!(count_of(&folder, &[]), 1);
    let tried = |folder: &Folder, state: &str, out: &str| {
        let folder_of = format!("[data]\nstate = \"{state}\"\n");
        std::fs::write(folder.path("state.toml"), folder_of).unwrap();
        let searched = ["--config", "state.toml", "--param", "close_type=01:00,02:00,03:00", "--out", out];
        folder.run(&[&["sweep", "--json"], &BACKTEST[1..], &searched].concat()).json()["variants_tried"]
            .clone()
    };
    let noted = folder.read(LEDGER);
    let folder = folder.with("BTCUSDT_1m.csv", &cut(50));
    assert_eq!(tried(&folder, ".candlewick", "same"), json!(3));
    // A program of the same name and version that traded otherwise ran the first of these sets then.
    let (before, _) = noted.trim_end().trim_end_matches("\"]]}").rsplit_once('"').unwrap();
    let folder = folder.with(LEDGER, &format!("{before}\"{}\"]]}}\n", "0".repeat(16)));
    for out in ["rewritten", "again"] {
        assert_eq!(tried(&folder, "new", out), json!(4), "{out}");
    }
}

#[test]
fn a_second_ledger_begins_no_new_count() {
    let folder =
        lists("").with("list.csv", &list(1)).with("new.toml", "[variants]\nledger = \"new.jsonl\"\n");
    let new = ["--config", "bot.toml", "--config", "new.toml"];
    assert_eq!(count_of(&folder, &[]), 1);
    let folder = folder.with("list.csv", &list(2));
    let report = backtest(&folder, &new);
    assert_eq!((&report["variants"]["count"], &report["variants"]["is_first"]), (&json!(2), &json!(false)));
    let findings = report["findings"].to_string();
    assert!(
        findings.contains("counted in another ledger among them") && findings.contains(LEDGER),
        "{findings}"
    );
    let folder = folder.with("list.csv", &list(3));
    assert_eq!((count_of(&folder, &[]), count_of(&folder, &new)), (3, 3));
    std::fs::remove_file(folder.path("new.jsonl")).unwrap();
    let lost = backtest(&folder, &[])["findings"].to_string();
    assert!(lost.contains("new.jsonl: the file is missing or empty"), "{lost}");
}

#[test]
fn a_setting_counts_where_it_changes_trades_and_not_where_it_does_not() {
    let with =
        |stake: &str, risk: &str| format!("stake = {{ kind = \"fixed\", amount = {stake} }}\n[risk]\n{risk}");
    let run = |folder: Folder, settings: &str| {
        let bot = lists(settings).read("bot.toml");
        let folder = folder.with("bot.toml", &bot);
        (count_of(&folder, &[]), folder)
    };
    let folder = lists("").with("list.csv", &list(1_023));
    let (count, mut folder) = run(folder, &with("10", "min_stake = 1.00\ndaily_loss_limit = 200\n"));
    assert_eq!(count, 1);
    for settings in [
        with("10", "min_stake = 1.01\ndaily_loss_limit = 200\n"),
        with("10", "daily_loss_limit = 4_000\nmax_clock_skew_ms = 1999\n"),
    ] {
        let count;
        (count, folder) = run(folder, &settings);
        assert_eq!(count, 1, "{settings}");
    }
    let (count, _) = run(folder, &with("35", "daily_loss_limit = 200\n"));
    assert_eq!(count, 2, "with a stake of 35 the sixth loss of the day cannot be paid any more");
}

#[test]
fn a_ledger_that_was_lost_is_said_and_withholds_an_edge() {
    let folder = follower("edge:0.58:5m", "");
    assert_eq!(folder.run(&FOLLOW).json()["verdict"], "edge_shown");
    for damage in ["", "{}\n"] {
        let folder = follower("edge:0.58:5m", "");
        let first = folder.run(&FOLLOW).json();
        assert!(
            kinds(&first).contains(&"variants_unknown") && first["variants"]["is_first"] == json!(true),
            "{first}"
        );
        let folder = folder.with(LEDGER, damage);
        for _ in 0..2 {
            let report = folder.run(&FOLLOW).json();
            assert_eq!(report["verdict"], "not_enough_trades");
            let withheld = report["edge"]["withheld"].to_string();
            assert!(withheld.contains("variants unknown: the file is"), "{withheld}");
            let finding =
                report["findings"].as_array().unwrap().iter().find(|one| one["kind"] == "variants_unknown");
            assert_eq!(finding.unwrap()["severity"], "serious");
        }
    }
    std::fs::remove_file(folder.path(LEDGER)).unwrap();
    assert_eq!(folder.run(&FOLLOW).json()["verdict"], "not_enough_trades");
}

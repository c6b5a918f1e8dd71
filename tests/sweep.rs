//! Sweeps: refused arguments, changed inputs and programs, and stopping limits.

use crate::candlewick::{BINARY, BOT, Folder, bot_with, candles};
use crate::excerpt::{MONDAY, folder_of_days};
use std::path::{Path, PathBuf};

const SEARCHED: &str = "--config bot.toml --data BTCUSDT_1m.csv --param period=2..9 \
                        --param oversold=10..45:5 --param close_type=01:00,03:00";
pub(crate) const RESULTS: [&str; 5] =
    ["results.csv", "results.parquet", "report.html", "luck.json", "best.toml"];
const SHORT: &str = "sweep --config bot.toml --data BTCUSDT_1m.csv --min-trades 1";

pub(crate) fn folder(days: i64) -> Folder {
    folder_of_days(days).with("bot.toml", &bot_with("rsi-reversal", "period = 5"))
}

fn short_folder(bot: &str) -> Folder {
    Folder::new().with("bot.toml", bot).with("BTCUSDT_1m.csv", &candles(400))
}

fn has_notice(folder: &Folder, more: &str, parts: &[&str]) -> bool {
    let document = folder.run_line(&format!("{SHORT} --json {more}")).json();
    let notices: Vec<String> = serde_json::from_value(document["notices"].clone()).unwrap();
    notices.iter().any(|notice| parts.iter().all(|part| notice.contains(part)))
}

pub(crate) fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let terms = ["sweep", "--json", "--min-trades", "10", "--where", "oversold > period + 5"];
    terms.into_iter().chain(SEARCHED.split(' ')).chain(more.iter().copied()).collect()
}

pub(crate) fn plan<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = sweep(more);
    arguments.insert(1, "plan");
    arguments
}

pub(crate) fn step<'a>(name: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["sweep"], name, &["--json"], more].concat()
}

#[track_caller]
pub(crate) fn assert_same(whole: &Path, other: &Path, files: &[&str]) {
    for file in files {
        let [one, two] = [whole, other].map(|folder| std::fs::read(folder.join(file)).unwrap());
        assert!(one == two, "{file} differs in {}", other.display());
    }
}

pub(crate) fn journalled(folder: &Folder, journal: &str) -> Vec<String> {
    let text = std::fs::read(folder.path(journal)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
}

#[test]
fn sweep_with_changed_signal_file_is_a_different_sweep() {
    let bot = bot_with("signal-list", "file = \"signals.csv\"");
    let signals = |minute: i64| format!("time,symbol,direction\n{},BTCUSDT,BUY\n", MONDAY + minute * 60_000);
    for more in ["", "--param file=signals.csv"] {
        let folder = folder(1).with("list.toml", &bot).with("signals.csv", &signals(60));
        let line =
            format!("sweep --config list.toml --data BTCUSDT_1m.csv --param close_type=01:00,05:00 {more}");
        for _ in 0..2 {
            assert_eq!(folder.run_line(&line).code, 0, "the same file must give the same sweep");
        }
        folder.with("signals.csv", &signals(90)).run_line(&line).fails(2, &["differences: files"]);
    }
}

/// Copies the program with one letter of a help text changed, as another program of the same version.
fn rebuilt(folder: &Folder) -> PathBuf {
    let mut bytes = std::fs::read(BINARY).unwrap();
    let text = b"Merge the shards of a plan";
    let at = bytes.windows(text.len()).position(|part| part == text).expect("the binary contains its help");
    bytes[at] = b'm';
    let path = folder.path("rebuilt");
    std::fs::copy(BINARY, &path).unwrap(); // with its permissions
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn refuses_results_of_another_program_unless_allowed() {
    let here = folder(1);
    let other = rebuilt(&here);
    let few = ["--search", "random", "--trials", "12"];
    let walk = "walk-forward --train 8h --test 8h".split(' ').chain(SEARCHED.split(' ')).collect();
    for search in [sweep(&few), walk] {
        assert_eq!(here.run(&search).code, 0);
        here.run_program(&other, &search).fails(2, &["differences: program", "--out"]);
    }
    here.run(&plan(&[&few[..], &["--shards", "1"]].concat())).json();
    let (run, merge) = (step(&["run", "--shard", "1"], &[]), step(&["merge"], &[]));
    let allowed = |step: &[&'static str]| [step, &["--allow-other-program"]].concat();
    here.run_program(&other, &run).fails(2, &["--allow-other-program"]);
    let ran = here.run_program(&other, &allowed(&run)).json();
    assert!(ran["notices"][0].as_str().unwrap().contains("another program made the plan"), "{ran}");
    here.run(&merge).fails(2, &["shard 1", "--allow-other-program"]);
    let by_another = "shard 1 was not run by the program";
    let merged = here.run(&allowed(&merge)).json();
    assert!(merged["notices"].to_string().contains(by_another), "{merged}");
    assert!(here.read("sweep/report.html").contains(by_another));
}

#[test]
fn refuses_impossible_searches_and_names_the_wrong_value() {
    let folder = folder(1);
    let sweep = "sweep --config bot.toml --data BTCUSDT_1m.csv";
    for (more, parts) in [
        ("", &["period (2 to 500)", "oversold (0 to 100)", "close_type"][..]),
        ("--param perid=2..9", &["\"period\""]),
        ("--param period=1..9", &["2 to 500"]),
        ("--param period=2..9 --where period>9", &["no parameter set"]),
        ("--param period=2..9 --where perod>9", &["period"]),
        ("--param oversold --search grid", &["oversold"]),
        ("--param period=2..9 --trials 0", &["0 trials"]),
        ("--param period=2..9 --search grid --trials 5", &["grid"]),
        ("--param period=2..9 --search tpe --halving 3", &["--halving"]),
        ("--param period=2..9 --bot btd", &["\"btc\""]),
        ("--param close_type=00:30,01:00", &["--param close_type", "--allow-coarse"]),
        ("--param period=2..3 --objective luck", &["expectancy"]),
        ("--param period=2..9 --search random --batch 4", &["--batch requires"]),
        ("--param period=2..9 --search tpe --batch 0", &["--batch"]),
    ] {
        folder.run_line(&format!("{sweep} {more}")).fails(2, parts);
    }
    assert_eq!(folder.run_line(&format!("{sweep} --param period=2..3")).code, 0);
    folder.run_line(&format!("{sweep} --param period=2..4")).fails(2, &["differences: parameters"]);
    folder.run_line("sweep --param period=2..3").fails(2, &["btc-rsi"]);
}

#[test]
fn sets_stopped_by_a_losing_streak_report_it_like_their_backtests() {
    let bot = BOT.to_owned() + "[risk]\nmax_loss_streak = 2\nmax_open_trades = 0\n";
    let folder = short_folder(&bot);
    let document = folder.run_line(&format!("{SHORT} --json --param period=2..4")).json();
    let mut stopped = 0;
    for row in folder.read("sweep/results.csv").lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let one = bot.replace("period = 2", &format!("period = {}", cells[3]));
        std::fs::write(folder.path("one.toml"), one).unwrap();
        let one = folder.run_line("backtest --config one.toml --data BTCUSDT_1m.csv --json").json();
        let is_refused = one["refused"]["LossStreak"].as_u64() > Some(0);
        assert_eq!(row.ends_with(",LossStreak"), is_refused, "{row}: {}", one["refused"]);
        assert_eq!(cells[6], one["trades"].to_string(), "{row}");
        stopped += u64::from(is_refused);
    }
    assert!(stopped > 0 && document["stopped"]["LossStreak"] == stopped, "{document:#}");
}

#[test]
fn counts_sets_refused_by_the_strategy_and_fails_if_all_are_refused() {
    let folder = short_folder(&bot_with("ema-cross", ""));
    let refused = folder.run_line(&format!("{SHORT} --param fast=20,21 --param slow=10,20 --out none"));
    refused.fails(2, &["all 4 sets", "fast = 20", "slow = 10", "--where"]);
    assert!(!folder.path("none/results.csv").exists());
    let some = "--param fast=20,21 --param slow=10,30 --out some";
    assert!(has_notice(&folder, some, &["2 of 4 sets", "slow = 10", "--where \"fast < slow\""]));
}

#[test]
fn notes_that_close_type_has_no_effect_on_a_rule_with_its_own_expiry() {
    for (own, is_noted) in [("expiry = \"05:00\"\n", true), ("", false)] {
        let folder = short_folder(&bot_with("rules", "file = \"rule.toml\""))
            .with("rule.toml", &format!("buy = \"close > open\"\n{own}"));
        let parts = ["--param close_type has no effect"];
        assert_eq!(has_notice(&folder, "--param close_type=01:00,05:00", &parts), is_noted);
    }
}

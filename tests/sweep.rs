//! Sweeps: refused arguments, changed inputs and programs, and limits that stop a set.

use crate::candlewick::{self, BINARY, Folder};
use crate::excerpt::MONDAY;
use crate::searched::{BOT, folder};
use std::path::{Path, PathBuf};

const SEARCHED: [&str; 10] = [
    "--config",
    "bot.toml",
    "--data",
    "BTCUSDT_1m.csv",
    "--param",
    "period=2..9",
    "--param",
    "oversold=10..45:5",
    "--param",
    "close_type=01:00,03:00",
];

pub(crate) fn sweep<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let condition = ["--where", "oversold > period + 5"];
    [&["sweep", "--json", "--min-trades", "10"], &SEARCHED[..], &condition, more].concat()
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
pub(crate) fn assert_same(one: &Path, two: &Path, case: &str) {
    for name in ["results.csv", "results.parquet", "report.html", "luck.json", "best.toml"] {
        let [one, two] = [one, two].map(|folder| std::fs::read(folder.join(name)).unwrap());
        assert!(one == two, "{case}: {name} differs");
    }
}

pub(crate) fn journalled(folder: &Folder, journal: &str) -> Vec<String> {
    let text = std::fs::read(folder.path(journal)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
}

#[test]
fn a_sweep_whose_signals_changed_in_their_file_is_another_one() {
    let bot =
        BOT.replace("rsi-reversal", "signal-list").replace("{ period = 5 }", "{ file = \"signals.csv\" }");
    let signals = |minute: i64| format!("time,symbol,direction\n{},BTCUSDT,BUY\n", MONDAY + minute * 60_000);
    for more in ["", "--param file=signals.csv"] {
        let folder = folder(1).with("list.toml", &bot).with("signals.csv", &signals(60));
        let line =
            format!("sweep --config list.toml --data BTCUSDT_1m.csv --param close_type=01:00,05:00 {more}");
        for _ in 0..2 {
            assert_eq!(folder.run_line(&line).code, 0, "the same file is the same sweep");
        }
        folder.with("signals.csv", &signals(90)).run_line(&line).fails(2, &["differs in: files"]);
    }
}

/// Copies the program with one letter of a help text changed: another program of the same version.
fn rebuilt(folder: &Folder) -> PathBuf {
    let mut bytes = std::fs::read(BINARY).unwrap();
    let text = b"Put the shards of a plan together";
    let start = bytes.windows(text.len()).position(|part| part == text).expect("the help of the binary");
    bytes[start] = b'p';
    let path = folder.path("rebuilt");
    std::fs::copy(BINARY, &path).unwrap(); // with its permissions
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn results_of_another_program_are_refused_unless_allowed() {
    let here = folder(1);
    let other = rebuilt(&here);
    let few = ["--search", "random", "--trials", "12"];
    let walk = [&["walk-forward", "--train", "8h", "--test", "8h"], &SEARCHED[..]].concat();
    for search in [sweep(&few), walk] {
        assert_eq!(here.run(&search).code, 0);
        here.run_of(&other, &search).fails(2, &["differs in: program", "--out"]);
    }
    here.run(&plan(&[&few[..], &["--shards", "1"]].concat())).json();
    let (run, merge) = (step(&["run", "--shard", "1"], &[]), step(&["merge"], &[]));
    let allowed = |step: &[&'static str]| [step, &["--allow-other-program"]].concat();
    here.run_of(&other, &run).fails(2, &["--allow-other-program"]);
    let ran = here.run_of(&other, &allowed(&run)).json();
    assert!(ran["notices"][0].as_str().unwrap().contains("another program"), "{ran}");
    here.run(&merge).fails(2, &["shard 1", "--allow-other-program"]);
    let by_another = "shard 1 was run by another program";
    let merged = here.run(&allowed(&merge)).json();
    assert!(merged["notices"].to_string().contains(by_another), "{merged}");
    assert!(here.read("sweep/report.html").contains(by_another));
}

#[test]
fn searches_that_cannot_run_are_refused_with_the_value_at_fault() {
    let folder = folder(1);
    let sweep = "sweep --config bot.toml --data BTCUSDT_1m.csv";
    for (more, parts) in [
        ("", &["period (2 to 500)", "oversold (0 to 100)", "close_type"][..]),
        ("--param perid=2..9", &["\"period\""]),
        ("--param period=1..9", &["2 to 500"]),
        ("--param period=2..9 --where period>9", &["no set"]),
        ("--param period=2..9 --where perod>9", &["period"]),
        ("--param oversold --search grid", &["oversold"]),
        ("--param period=2..9 --trials 0", &["0 trials"]),
        ("--param period=2..9 --search grid --trials 5", &["grid"]),
        ("--param period=2..9 --search tpe --halving 3", &["--halving"]),
        ("--param period=2..9 --bot btd", &["\"btc\""]),
        ("--param close_type=00:30,01:00", &["--param close_type", "--allow-coarse"]),
        ("--param period=2..3 --objective luck", &["expectancy"]),
    ] {
        folder.run_line(&format!("{sweep} {more}")).fails(2, parts);
    }
    assert_eq!(folder.run_line(&format!("{sweep} --param period=2..3")).code, 0);
    folder.run_line(&format!("{sweep} --param period=2..4")).fails(2, &["differs in: parameters"]);
    folder.run_line("sweep --param period=2..3").fails(2, &["btc-rsi"]);
}

#[test]
fn sets_that_a_streak_of_losses_stopped_name_it_as_their_backtests_do() {
    let bot = candlewick::BOT.to_owned() + "[risk]\nmax_loss_streak = 2\nmax_open_trades = 0\n";
    let folder = Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candlewick::candles(400));
    let search = "--config bot.toml --data BTCUSDT_1m.csv --param period=2..4 --min-trades 1";
    let document = folder.run_line(&format!("sweep --json {search}")).json();
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

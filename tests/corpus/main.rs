//! `strategy check` accuses no honest strategy and catches each cheat by its own check.
//! Without `strategy` or `sweep` as its first argument, this program runs itself for each of them and compares results.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failed read or command fails the test")]

mod cheat;
mod declare;
mod disguised;
mod honest;
mod trial;

use candlewick_cli::{App, CountingAllocator};
use candlewick_sdk::Candle;
use candlewick_sdk::testkit::random_walk;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

candlewick_sdk::parameters! {
    /// None.
    pub(crate) struct NoParams {}
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const BUILT_IN: &str = "rsi-reversal ema-cross trend-filter signal-list bollinger-reversal macd-cross \
                        donchian-breakout stochastic-adx coin";
const ON_MARKET: &str = "rules:bollinger-reversal.toml rules:donchian-breakout.toml rules:ema-cross-adx.toml \
                         rules:higher-trend.toml rules:inside-bar-breakout.toml rules:macd-cross.toml \
                         rules:rsi-reversal.toml rules:session-open.toml rules:stochastic-adx.toml \
                         rules:three-in-a-row.toml market:rsi-reversal market:ema-cross market:bollinger-reversal \
                         market:macd-cross market:donchian-breakout market:stochastic-adx";
const MARKET_DATA: &str = "EURUSD_1m.csv";
const MARKET_CANDLES: usize = 6_000;
const DATA: &str = "BTCUSDT_1m.csv";
/// Fixed, so that the results are reproducible.
const SEED: &str = "20260105";

fn main() -> ExitCode {
    let (mut honest, mut cheats) = (BUILT_IN.split(' ').collect::<Vec<_>>(), Vec::new());
    let app = honest::add(App::with_builtin_strategies(), &mut honest);
    let app = disguised::add(trial::add(cheat::add_all(app, &mut cheats)));
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if words.first().is_some_and(|first| ["strategy", "sweep", "walk-forward"].contains(&first.as_str())) {
        return app.run();
    }
    // Arguments of the test harness select among its tests; this is one of them.
    if !words.is_empty() && !words.iter().any(|word| "corpus".contains(word.as_str())) {
        return ExitCode::SUCCESS;
    }
    assert!(honest.len() >= 50 && cheats.len() >= 20, "{} and {}", honest.len(), cheats.len());
    let (trial, disguised) = (trial::caught(), disguised::caught());
    let listed: BTreeSet<&str> = cheat::caught().map(|(name, ..)| name).collect();
    let added: BTreeSet<&str> = cheats.iter().copied().collect();
    assert_eq!(added, listed, "each cheat has a check that catches it");
    let folder = folder();
    honest.extend(ON_MARKET.split(' '));
    let others = trial.iter().chain(&disguised).chain(&disguised::ENDED).map(|(name, _)| name);
    let names: Vec<&str> = honest.iter().chain(&cheats).chain(others).copied().collect();
    let checked = check_all(&names, folder.path());
    let (others, tried) = checked.split_at(honest.len() + cheats.len());
    let (tried, ended) = tried.split_at(trial.len() + disguised.len());
    let mut problems: Vec<String> =
        names.iter().zip(others).filter_map(|(name, outcome)| judge(name, outcome)).collect();
    problems.extend(trial.iter().chain(&disguised).zip(tried).filter_map(judge_caught));
    problems.extend(disguised::ENDED.iter().zip(ended).filter_map(judge_ended));
    for (strategy, code, says) in [
        ("t-declared-future", 5, "t-declared-future declares"),
        ("t-table-by-close", 5, "by their prices"),
        ("t-once-model", 5, "differs in a new process"),
        ("t-engulfing", 0, ""),
    ] {
        for how in [("sweep", "results.csv"), ("walk-forward", "windows.csv")] {
            problems.extend(search(how, strategy, (code, says), folder.path()));
        }
    }
    for problem in &problems {
        println!("{problem}");
    }
    let cheats = cheats.len() + tried.len() + ended.len();
    println!("{} honest strategies, {cheats} cheats, {} problems", honest.len(), problems.len());
    ExitCode::from(u8::from(!problems.is_empty()))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (walk, mut list) = (random_walk(77, 1_500), "time,symbol,direction\n".to_owned());
    for (index, candle) in walk.iter().enumerate() {
        let [open, close] = [candle.open(), candle.close()];
        if index % 9 == 0 {
            let (time, side) = (candle.time().get() + 60_000, if close > open { "BUY" } else { "SELL" });
            writeln!(list, "{time},BTCUSDT,{side}").unwrap();
        }
    }
    std::fs::write(folder.path().join(DATA), csv(&walk)).unwrap();
    std::fs::write(folder.path().join(declare::DATA), csv(&random_walk(78, 6_000))).unwrap();
    std::fs::write(folder.path().join("list.csv"), list).unwrap();
    let market = std::fs::read_to_string(repository().join("backtest-data").join(MARKET_DATA)).unwrap();
    let market: Vec<&str> = market.lines().take(MARKET_CANDLES + 1).collect();
    std::fs::write(folder.path().join(MARKET_DATA), market.join("\n") + "\n").unwrap();
    folder
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn csv(candles: &[Candle]) -> String {
    let mut text = "time,open,high,low,close,volume\n".to_owned();
    for candle in candles {
        let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
        writeln!(text, "{},{open},{high},{low},{close},{}", candle.time(), candle.volume()).unwrap();
    }
    text
}

struct CheckOutput {
    code: i32,
    failed: Vec<String>,
    printed: String,
}

fn check_all(names: &[&str], folder: &Path) -> Vec<CheckOutput> {
    let (next, outcome) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = check(name, folder);
            outcome.lock().unwrap().push((*name, one));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut outcome = outcome.into_inner().unwrap();
    outcome.sort_by_key(|(name, _)| names.iter().position(|one| one == name));
    outcome.into_iter().map(|(_, outcome)| outcome).collect()
}

fn check(name: &str, folder: &Path) -> CheckOutput {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (place, own) = name.split_once(':').unwrap_or(("", name));
    let strategy = if place == "rules" { place } else { own };
    command.args(["strategy", "check", strategy, "--json", "--seed", SEED]).current_dir(folder).env_clear();
    command.env("XDG_CACHE_HOME", folder).env("XDG_STATE_HOME", folder);
    command.env("CANDLEWICK_EVIDENCE__SEAL", "false");
    // A cheat that waits long shows only in many candles.
    match name {
        "t-sleeper" => &mut command,
        "w-every-5000th" | "w-turns-after-4000" | "w-first-3000" | "w-rare-expiry" => {
            command.args(["--unseen", "12000"])
        }
        _ => command.args(["--unseen", "3000"]),
    };
    // A busy machine may be many times slower.
    let is_ended = disguised::ENDED.iter().any(|(ended, _)| *ended == name);
    command.args(["--timeout", if is_ended { "6" } else { "900" }]);
    let known = ["--data", declare::DATA, "--param", &format!("file={}", declare::DATA)];
    let list = ["--data", DATA, "--param", "file=list.csv"];
    let candles = ["--data", DATA, "--param", "file=BTCUSDT_1m.csv"];
    let rule = format!("file={}", repository().join("strategies/rules").join(own).display());
    match name {
        _ if !place.is_empty() => {
            let rule = ["--param", &rule];
            command.args(["--data", MARKET_DATA]).args(if place == "rules" { &rule[..] } else { &[] })
        }
        "signal-list" => command.args(list),
        "c-reads-the-next-row" | "c-mean-of-the-file" => command.args(candles),
        "t-table-by-time" => command.args(known),
        "t-table-by-close" | "t-nearest-neighbour" | "u-child-process" => command.args(&known[..2]),
        _ if name.starts_with("w-shape") || name.starts_with("w-first") => command.args(&known[..2]),
        _ => &mut command,
    };
    let output = command.output().unwrap();
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let checks = document["checks"].as_array().into_iter().flatten();
    let failed = checks.filter(|check| check["result"] == "failed");
    let failed = failed.filter_map(|check| check["check"].as_str().map(str::to_owned)).collect();
    CheckOutput { code: output.status.code().unwrap_or(-1), failed, printed }
}

fn search(
    (command_name, results): (&str, &str),
    strategy: &str,
    (code, says): (i32, &str),
    folder: &Path,
) -> Option<String> {
    let bot = format!(
        "[[bots]]\nname = \"bot\"\nsymbol = \"ETHUSDT\"\ninterval = \"1m\"\nstrategy = \"{strategy}\"\nclose_type = \"01:00\"\n"
    );
    std::fs::write(folder.join("bot.toml"), bot).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (out, data) = (format!("{command_name}-{strategy}"), declare::DATA);
    command.args([command_name, "--config", "bot.toml", "--data", data, "--param", "close_type=01:00,02:00"]);
    command.args(["--out", &out]).current_dir(folder).env_clear();
    command.env("XDG_CACHE_HOME", folder).env("XDG_STATE_HOME", folder);
    command.env("CANDLEWICK_EVIDENCE__SEAL", "false");
    let output = command.output().unwrap();
    let outcome = String::from_utf8_lossy(&output.stderr);
    let has_results = folder.join(&out).join(results).exists();
    let is_right = output.status.code() == Some(code) && outcome.contains(says) && has_results == (code == 0);
    (!is_right)
        .then(|| format!("{command_name} of {strategy} must end with {code} and say {says:?}: {outcome}"))
}

fn judge(name: &str, outcome: &CheckOutput) -> Option<String> {
    let Some((_, check, must_be_alone)) = cheat::caught().find(|(cheat, ..)| *cheat == name) else {
        let is_fine = outcome.code == 0 && outcome.failed.is_empty();
        return (!is_fine).then(|| format!("{name} is honest but was accused:\n{}", outcome.printed));
    };
    let is_caught = outcome.code == 5 && outcome.failed.iter().any(|failed| failed == check.name());
    let is_alone = !must_be_alone || outcome.failed.len() == 1;
    let alone = if must_be_alone { " alone" } else { "" };
    (!is_caught || !is_alone)
        .then(|| format!("{name} must be caught by {check}{alone}:\n{}", outcome.printed))
}

fn judge_caught(((name, check), outcome): (&(&str, &str), &CheckOutput)) -> Option<String> {
    let is_caught = outcome.code == 5 && outcome.failed.iter().any(|failed| failed == check);
    (!is_caught)
        .then(|| format!("{name} must be caught by {check}: {:?}\n{}", outcome.failed, outcome.printed))
}

fn judge_ended(((name, says), outcome): (&(&str, &str), &CheckOutput)) -> Option<String> {
    let is_named = outcome.code == 5 && outcome.printed.contains(says);
    (!is_named).then(|| {
        format!("{name} must end with code 5 and say {says:?}: {}\n{}", outcome.code, outcome.printed)
    })
}

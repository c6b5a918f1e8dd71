//! `strategy check` on strategies that are known: honest ones, none of which it may accuse, and cheats, each of which it must
//! catch by the check that is there for it.
//!
//! This is a program of its own, with the strategies of the corpus in its `App`, as any author's program is. Without
//! `strategy` as its first argument it runs itself once for each of them, and compares.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "what cannot be read or run fails its test")]

mod cheat;
mod declare;
mod honest;

use candlewick_cli::{App, CountingAllocator};
use candlewick_sdk::testkit::{Check, random_walk};
use cheat::{CAUGHT_BY, Care};
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

/// What comes with Candlewick is honest, too.
const BUILT_IN: [&str; 4] = ["rsi-reversal", "ema-cross", "trend-filter", "signal-list"];
/// Candles that some are given as a file.
const DATA: &str = "BTCUSDT_1m.csv";

fn main() -> ExitCode {
    let (mut honest, mut cheats) = (BUILT_IN.to_vec(), Vec::new());
    let app = honest::add(App::with_builtin_strategies(), &mut honest);
    let app = cheat::add(app, &mut cheats);
    if std::env::args().nth(1).is_some_and(|first| first == "strategy") {
        return app.run();
    }
    // Words of the test harness choose among its tests, of which this is one.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if !chosen.is_empty() && !chosen.iter().any(|word| "corpus".contains(word.as_str())) {
        return ExitCode::SUCCESS;
    }
    assert!(honest.len() >= 30 && cheats.len() >= 20, "{} and {}", honest.len(), cheats.len());
    let listed: BTreeSet<&str> = CAUGHT_BY.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        cheats.iter().copied().collect::<BTreeSet<_>>(),
        listed,
        "each cheat has the check that catches it"
    );
    let folder = folder();
    let names: Vec<&str> = honest.iter().chain(&cheats).copied().collect();
    let checked = check_all(&names, folder.path());
    let problems: Vec<String> =
        names.iter().zip(&checked).filter_map(|(name, checked)| judge(name, checked)).collect();
    for problem in &problems {
        println!("{problem}");
    }
    print_table(&names[honest.len()..], &checked[honest.len()..]);
    println!("{} honest strategies, {} cheats, {} problems", honest.len(), cheats.len(), problems.len());
    ExitCode::from(u8::from(!problems.is_empty()))
}

/// A folder with candles and a list of signals.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (mut candles, mut list) =
        ("time,open,high,low,close,volume\n".to_owned(), "time,symbol,direction\n".to_owned());
    for (index, candle) in random_walk(77, 1_500).iter().enumerate() {
        let [open, high, low, close] = [candle.open(), candle.high(), candle.low(), candle.close()];
        writeln!(candles, "{},{open},{high},{low},{close},{}", candle.time(), candle.volume()).unwrap();
        if index % 9 == 0 {
            writeln!(
                list,
                "{},BTCUSDT,{}",
                candle.time().get() + 60_000,
                if close > open { "BUY" } else { "SELL" }
            )
            .unwrap();
        }
    }
    std::fs::write(folder.path().join(DATA), candles).unwrap();
    std::fs::write(folder.path().join("list.csv"), list).unwrap();
    folder
}

/// What `strategy check` said: the exit code, and the checks that failed.
struct Said {
    code: i32,
    failed: Vec<String>,
    printed: String,
}

/// Checks them, two at a time.
fn check_all(names: &[&str], folder: &Path) -> Vec<Said> {
    let (next, said) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = check(name, folder);
            said.lock().unwrap().push((*name, one));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut said = said.into_inner().unwrap();
    said.sort_by_key(|(name, _)| names.iter().position(|one| one == name));
    said.into_iter().map(|(_, said)| said).collect()
}

fn check(name: &str, folder: &Path) -> Said {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["strategy", "check", name, "--json"]).current_dir(folder).env_clear();
    command.env("XDG_CACHE_HOME", folder);
    let list = ["--data", DATA, "--param", "file=list.csv"];
    let candles = ["--data", DATA, "--param", "file=BTCUSDT_1m.csv"];
    match name {
        "signal-list" => command.args(list),
        "c-reads-the-next-row" | "c-mean-of-the-file" => command.args(candles),
        _ => &mut command,
    };
    let output = command.output().unwrap();
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let checks = document["checks"].as_array().into_iter().flatten();
    let failed = checks.filter(|check| check["result"] == "failed");
    let failed = failed.filter_map(|check| check["check"].as_str().map(str::to_owned)).collect();
    Said { code: output.status.code().unwrap_or(-1), failed, printed }
}

/// What is wrong with what was said.
fn judge(name: &str, said: &Said) -> Option<String> {
    let Some((_, check, care)) = CAUGHT_BY.iter().find(|(cheat, ..)| *cheat == name) else {
        let is_fine = said.code == 0 && said.failed.is_empty();
        return (!is_fine).then(|| format!("{name} is honest, and accused:\n{}", said.printed));
    };
    let is_caught = said.code == 5 && said.failed.iter().any(|failed| failed == check.name());
    let is_alone = *care == Care::Careless || said.failed.len() == 1;
    (!is_caught || !is_alone)
        .then(|| format!("{name} must be caught by {check} ({care:?}):\n{}", said.printed))
}

/// For each check what it caught, and what would have escaped without it.
fn print_table(cheats: &[&str], said: &[Said]) {
    let checks: BTreeSet<Check> = CAUGHT_BY.iter().map(|(_, check, _)| *check).collect();
    println!("{:<12} {:>6} {:>17}", "check", "caught", "without it escape");
    for check in checks {
        let caught =
            cheats.iter().zip(said).filter(|(_, said)| said.failed.iter().any(|name| name == check.name()));
        let alone = caught.clone().filter(|(_, said)| said.failed.len() == 1);
        let (caught, alone) = (caught.count(), alone.count());
        assert!(alone > 0, "no cheat of the corpus shows what {check} is for");
        println!("{check:<12} {caught:>6} {alone:>17}");
    }
}

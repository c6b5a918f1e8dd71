//! Benchmark of the whole program on cached candles, and of a process with the hand-written loop.

use super::by_hand;
use super::median_and_minimum;
use super::work::Signals;
use anyhow::{Context, ensure};
use candlewick_app::configuration::DataSettings;
use candlewick_broker::clock::Stopwatch;
use candlewick_history::CandleFile;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use wait4::Wait4;

const CONFIGURATION: &str = r#"
[risk]
daily_loss_limit = 1000.0

[[bots]]
name = "rsi"
symbol = "BTCUSDT"
asset_type = "crypto"
interval = "1m"
strategy = "rsi-reversal"
close_type = "05:00"
params = { period = 14, oversold = 30.0, overbought = 70.0 }
stake = { kind = "fixed", amount = 10.0 }
"#;
const FILE: &str = "BTCUSDT_1m.csv";
const MINUTES_A_DAY: usize = 24 * 60;
const MIB: f64 = 1_048_576.0;

/// Runs `candlewick backtest` and `bench --floor` in turns. Both programs must be in one folder.
pub(super) fn measure(candles: usize, rounds: usize) -> anyhow::Result<Value> {
    let xtask = std::env::current_exe()?;
    let candlewick = xtask.with_file_name(format!("candlewick{}", std::env::consts::EXE_SUFFIX));
    ensure!(
        candlewick.is_file(),
        "there is no program {}\nhint: run `cargo build --release` first",
        candlewick.display()
    );
    let folder = tempfile::tempdir()?;
    let run_in_folder = |program: &Path, arguments: &[&str]| run(program, arguments, folder.path());
    fs::write(folder.path().join("bench.toml"), CONFIGURATION)?;
    let days = candles.div_ceil(MINUTES_A_DAY).to_string();
    run_in_folder(&candlewick, &["data", "generate", "--symbol", "BTCUSDT", "--days", &days, "--quiet"])?;
    backdate(&folder.path().join(FILE))?;
    let backtest = ["backtest", "--config", "bench.toml", "--data", FILE, "--json", "--quiet"];
    let by_hand = ["bench", "--floor", FILE];
    // Fills the cache.
    run_in_folder(&candlewick, &backtest)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(run_in_folder(&candlewick, &backtest)?);
        floor.push(run_in_folder(&xtask, &by_hand)?);
    }
    let candles = candles.next_multiple_of(MINUTES_A_DAY);
    Ok(json!({ "candles": candles, "backtest": to_cost(&ours), "by_hand": to_cost(&floor) }))
}

/// Trades the candles of a file with the hand-written loop. The program must have cached them.
pub(super) fn trade_by_hand(file: &Path) -> anyhow::Result<Value> {
    let cache = DataSettings::default().file_cache().context("there is no folder for caches")?;
    let series = cache.read(&CandleFile::from_path(file)?, &mut |_| {})?.into_candles();
    let candles = series.candles();
    let outcome = by_hand::run::<1>(candles, Signals::AtCrossings, 60_000.0, |index| &candles[index]);
    Ok(json!({ "trades": outcome.trades }))
}

fn to_cost(runs: &[(Duration, u64)]) -> Value {
    let times = runs.iter().map(|(time, _)| time.as_secs_f64() * 1e3);
    let (median, minimum) = median_and_minimum(times.collect());
    let peak = runs.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    // Peak memory includes the pages of mapped candles.
    json!({ "median_ms": median, "minimum_ms": minimum, "peak_mib": peak as f64 / MIB })
}

/// Returns elapsed time and peak memory of a process that ignores the user's settings and cache.
fn run(program: &Path, arguments: &[&str], folder: &Path) -> anyhow::Result<(Duration, u64)> {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CANDLEWICK_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let described = || format!("{} {}", program.display(), arguments.join(" "));
    let watch = Stopwatch::start();
    let ended = command.spawn().and_then(Wait4::wait4).with_context(described)?;
    let elapsed = watch.elapsed();
    ensure!(ended.status.success(), "{}: {}", described(), ended.status);
    Ok((elapsed, ended.rusage.maxrss))
}

/// Backdates a file: the cache ignores files that may still change.
fn backdate(path: &Path) -> anyhow::Result<()> {
    let file = File::options().append(true).open(path)?;
    let written = file.metadata()?.modified()?;
    Ok(file.set_modified(written.checked_sub(Duration::from_mins(1)).unwrap_or(written))?)
}

//! Benchmark of the whole program on cached candles against a process with a hand-written loop.

use crate::error::AppError;
use candlewick_backtest::bench::run_single_by_hand;
use candlewick_broker::clock::Stopwatch;
use candlewick_history::{CandleFile, FileCache};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
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

#[derive(Clone, Debug, Serialize)]
pub struct WholeProcess {
    pub candles: usize,
    pub backtest: Cost,
    pub by_hand: Cost,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    pub median_ms: f64,
    pub minimum_ms: f64,
    /// Peak memory, including the pages of mapped candles.
    pub peak_mib: f64,
}

impl WholeProcess {
    pub fn measure(candles: usize, rounds: usize, on_round: &mut dyn FnMut()) -> Result<Self, AppError> {
        let folder = tempfile::tempdir().map_err(unexpected)?;
        let program = Program { path: std::env::current_exe().map_err(unexpected)?, folder: folder.path() };
        std::fs::write(folder.path().join("bench.toml"), CONFIGURATION).map_err(unexpected)?;
        let days = candles.div_ceil(MINUTES_A_DAY).to_string();
        // In processes of their own: what starts another must be small, or its memory counts as the other's.
        program.run(&["data", "generate", "--symbol", "BTCUSDT", "--days", &days, "--quiet"])?;
        let_rest(&folder.path().join(FILE)).map_err(unexpected)?;
        let backtest = ["backtest", "--config", "bench.toml", "--data", FILE, "--json", "--quiet"];
        let by_hand = ["bench", "--floor", FILE, "--quiet"];
        program.run(&backtest)?;
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ours.push(program.run(&backtest)?);
            floor.push(program.run(&by_hand)?);
            on_round();
        }
        let candles = days.parse().unwrap_or(0) * MINUTES_A_DAY;
        Ok(Self { candles, backtest: Cost::of(&ours), by_hand: Cost::of(&floor) })
    }
}

impl Cost {
    fn of(runs: &[(Duration, u64)]) -> Self {
        let mut times: Vec<f64> = runs.iter().map(|(time, _)| time.as_secs_f64() * 1e3).collect();
        times.sort_by(f64::total_cmp);
        Self {
            median_ms: times.get(times.len() / 2).copied().unwrap_or(f64::NAN),
            minimum_ms: times.first().copied().unwrap_or(f64::NAN),
            peak_mib: runs.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0) as f64 / MIB,
        }
    }
}

struct Program<'a> {
    path: PathBuf,
    folder: &'a Path,
}

impl Program<'_> {
    fn run(&self, arguments: &[&str]) -> Result<(Duration, u64), AppError> {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CANDLEWICK_") {
                command.env_remove(name);
            }
        }
        command.env("XDG_CACHE_HOME", self.folder.join("cache"));
        command.args(arguments).current_dir(self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        let watch = Stopwatch::start();
        let ended = command.spawn().and_then(Wait4::wait4).map_err(unexpected)?;
        let elapsed = watch.elapsed();
        if !ended.status.success() {
            let problem = format!("`candlewick {}` ended with {}", arguments.join(" "), ended.status);
            return Err(unexpected(io::Error::other(problem)));
        }
        Ok((elapsed, ended.rusage.maxrss))
    }
}

pub fn floor_of_file(path: &Path, cache: Option<&FileCache>) -> Result<u64, AppError> {
    let source = CandleFile::from_path(path)?;
    let read = match cache {
        Some(cache) => cache.read(&source, &mut |_| {})?,
        None => candlewick_history::HashedSeries::new(source.read(&mut |_| {})?),
    };
    Ok(run_single_by_hand(read.candles().candles()).trades)
}

/// Backdates a file, as the cache trusts only files that no longer change.
fn let_rest(path: &Path) -> io::Result<()> {
    let file = File::options().append(true).open(path)?;
    let written = file.metadata()?.modified()?;
    file.set_modified(written.checked_sub(Duration::from_mins(1)).unwrap_or(written))
}

fn unexpected(error: io::Error) -> AppError {
    AppError::system("the bench could not run the program in a folder of its own", error)
}

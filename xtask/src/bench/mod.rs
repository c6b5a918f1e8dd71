//! `bench`: cost of backtests relative to hand-written loops that make the same trades.

mod work;

use crate::Report;
use anyhow::{Context, ensure};
use candlewick_app::configuration::DataSettings;
use candlewick_broker::clock::Stopwatch;
use candlewick_history::CandleFile;
use candlewick_sdk::testkit::Allocations;
use clap::Args;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use wait4::Wait4;
use work::{GROWTH, MINUTES_PER_DAY, Ran, Signals, WORKS, Work, WorkKind, entry_price, trade_by_hand};

const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
const FILE: &str = "BTCUSDT_1m.csv";

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// Number of candles in each workload
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(20_000..=10_000_000))]
    candles: u32,
    /// Number of runs of each workload
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Also measure longer series, and fewer bots and symbols
    #[arg(long)]
    growth: bool,
    /// Only run the backtest of one workload, for a profiler; a part of its name is enough
    #[arg(long, value_name = "WORK")]
    profile: Option<String>,
    /// Run the hand-written loop of the --profile workload instead of its backtest
    #[arg(long, requires = "profile")]
    by_hand: bool,
    /// Only run the hand-written loop over this file
    #[arg(long, value_name = "FILE", hide = true)]
    floor: Option<PathBuf>,
}

pub(crate) fn run(arguments: &BenchArguments) -> anyhow::Result<Report> {
    let document = match (&arguments.floor, &arguments.profile) {
        (Some(file), _) => trade_file_by_hand(file)?,
        (None, Some(name)) => profile(name, arguments)?,
        (None, None) => measure_all(arguments)?,
    };
    Ok(Report { document, broken: Vec::new() })
}

fn measure_all(arguments: &BenchArguments) -> anyhow::Result<Value> {
    let (candles, rounds) = (arguments.candles as usize, arguments.rounds as usize);
    eprintln!("whole process, {candles} candles");
    // Measured first: the memory of this process, still small, counts towards that of its children.
    let process = measure_process(candles, rounds)?;
    let works = WORKS.map(|kind| measure(kind, candles, rounds));
    let growth = GROWTH.iter().filter(|_| arguments.growth);
    let growth = growth.map(|(kind, candles)| measure(*kind, *candles, rounds));
    Ok(json!({
        "processor": describe_processor(),
        "process": process,
        "works": works.into_iter().collect::<anyhow::Result<Vec<_>>>()?,
        "growth": growth.collect::<anyhow::Result<Vec<_>>>()?,
    }))
}

/// Measures a backtest and its hand-written loop alternately, so that noise affects both.
fn measure(kind: WorkKind, candles: usize, rounds: usize) -> anyhow::Result<Value> {
    let name = kind.name;
    eprintln!("{name}, {candles} candles");
    let work = Work::new(kind, candles)?;
    let before = Allocations::current_thread().bytes;
    let held = || Allocations::current_thread().bytes - before;
    let mut most = 0;
    let Ran { outcome, refused, book } = work.run(&mut || most = held().max(most))?;
    let judged = held();
    drop(book);
    let (most, book) = (most.max(judged), judged - held());
    ensure!(outcome == work.run_by_hand(), "{name}: backtest and hand-written loop make different trades");
    let (bots, decisions) = (work.bots(), work.decisions());
    let ns_per_decision = |watch: Stopwatch| watch.elapsed().as_secs_f64() * 1e9 / decisions as f64;
    let (mut backtest, mut by_hand) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let watch = Stopwatch::start();
        black_box(work.run(&mut || {})?);
        backtest.push(ns_per_decision(watch));
        let watch = Stopwatch::start();
        black_box(work.run_by_hand());
        by_hand.push(ns_per_decision(watch));
    }
    let (median, minimum) = median_and_minimum(backtest);
    let (floor_median, floor_minimum) = median_and_minimum(by_hand);
    Ok(json!({
        "work": name,
        "bots": bots,
        "decisions": decisions,
        "trades": outcome.trades,
        "refused": refused,
        "backtest_ns": { "median": median, "minimum": minimum },
        "by_hand_ns": { "median": floor_median, "minimum": floor_minimum },
        "ratio": median / floor_median,
        "ratio_of_minima": minimum / floor_minimum,
        "memory": {
            "most_bytes": most,
            "book_bytes": book,
            "bytes_per_bot": (most - book) as f64 / bots as f64,
        },
    }))
}

fn profile(name: &str, arguments: &BenchArguments) -> anyhow::Result<Value> {
    let mut kinds = WORKS.iter().chain(GROWTH.iter().map(|(kind, _)| kind));
    let kind = kinds.find(|kind| kind.name.contains(name));
    let kind = kind.with_context(|| format!("no work has \"{name}\" in its name"))?;
    let work = Work::new(*kind, arguments.candles as usize)?;
    for _ in 0..arguments.rounds {
        if arguments.by_hand {
            black_box(work.run_by_hand());
        } else {
            black_box(work.run(&mut || {})?);
        }
    }
    Ok(json!({ "work": kind.name, "runs": arguments.rounds }))
}

fn median_and_minimum(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |index: usize| times.get(index).copied().unwrap_or(f64::NAN);
    (at(times.len() / 2), at(0))
}

fn describe_processor() -> Value {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fields = || text.lines().filter_map(|line| line.split_once(':'));
    let value = |key: &str| fields().find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim());
    let has = |flag: &str| value("flags").is_some_and(|flags| flags.split(' ').any(|known| known == flag));
    let vectors = [("avx512f", "AVX-512"), ("avx2", "AVX2")].into_iter().find(|(flag, _)| has(flag));
    let caches = (0..).map_while(|index| {
        let read = |file: &str| fs::read_to_string(format!("{CACHES}/index{index}/{file}")).ok();
        let (level, kind, size) = (read("level")?, read("type")?, read("size")?);
        Some(format!("L{} {} {}", level.trim(), kind.trim(), size.trim()))
    });
    json!({
        "model": value("model name").unwrap_or(std::env::consts::ARCH),
        "vectors": vectors.map(|(_, name)| name),
        "caches": caches.collect::<Vec<String>>(),
    })
}

/// Alternates `candlewick backtest` and `bench --floor`. Both programs must be in the same folder.
fn measure_process(candles: usize, rounds: usize) -> anyhow::Result<Value> {
    let xtask = std::env::current_exe()?;
    let candlewick = xtask.with_file_name(format!("candlewick{}", std::env::consts::EXE_SUFFIX));
    ensure!(
        candlewick.is_file(),
        "{} does not exist\nhint: run `cargo build --release` first",
        candlewick.display()
    );
    let folder = tempfile::tempdir()?;
    let run_in_folder = |program: &Path, arguments: &[&str]| run_program(program, arguments, folder.path());
    fs::write(folder.path().join("bench.toml"), include_str!("process.toml"))?;
    let days = candles.div_ceil(MINUTES_PER_DAY).to_string();
    run_in_folder(&candlewick, &["data", "generate", "--symbol", "BTCUSDT", "--days", &days, "--quiet"])?;
    // Otherwise, every run would generate the candles again to recognize them as synthetic.
    fs::remove_dir_all(folder.path().join(".local/state"))?;
    // Backdates the file, because the cache skips recently modified files.
    let file = File::options().append(true).open(folder.path().join(FILE))?;
    file.set_modified(file.metadata()?.modified()? - Duration::from_mins(1))?;
    let backtest = ["backtest", "--config", "bench.toml", "--data", FILE, "--json", "--quiet"];
    let by_hand = ["bench", "--floor", FILE];
    run_in_folder(&candlewick, &backtest)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(run_in_folder(&candlewick, &backtest)?);
        floor.push(run_in_folder(&xtask, &by_hand)?);
    }
    let candles = candles.next_multiple_of(MINUTES_PER_DAY);
    Ok(json!({ "candles": candles, "backtest": to_cost(&ours), "by_hand": to_cost(&floor) }))
}

/// Trades a file's candles with the hand-written loop. `candlewick` must have cached the file.
fn trade_file_by_hand(file: &Path) -> anyhow::Result<Value> {
    let cache = DataSettings::default().file_cache().context("there is no cache folder: set HOME")?;
    let series = cache.read(&CandleFile::from_path(file)?, &mut |_| {})?.into_candles();
    let candles = series.candles();
    let outcome =
        trade_by_hand::<1>(candles, Signals::AtCrossings, |index| entry_price(&candles[index], 60_000.0));
    Ok(json!({ "trades": outcome.trades }))
}

fn to_cost(runs: &[(Duration, u64)]) -> Value {
    let times = runs.iter().map(|(time, _)| time.as_secs_f64() * 1e3);
    let (median, minimum) = median_and_minimum(times.collect());
    // Peak memory includes the pages of mapped candles.
    let peak = runs.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    json!({ "median_ms": median, "minimum_ms": minimum, "peak_mib": peak as f64 / 1_048_576.0 })
}

/// Runs a program without the user's settings and cache. Returns elapsed time and peak memory.
fn run_program(program: &Path, arguments: &[&str], folder: &Path) -> anyhow::Result<(Duration, u64)> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().env("HOME", folder);
    // Sealing would hide the last candles.
    command.env("CANDLEWICK_EVIDENCE__SEAL", "false");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let described = || format!("{} {}", program.display(), arguments.join(" "));
    let watch = Stopwatch::start();
    let ended = command.spawn().and_then(Wait4::wait4).with_context(described)?;
    let elapsed = watch.elapsed();
    ensure!(ended.status.success(), "{}: {}", described(), ended.status);
    Ok((elapsed, ended.rusage.maxrss))
}

//! `bench`: measures the cost of a backtest on this machine.

use crate::context::Context;
use crate::failure::{Ending, Failure, FailureKind};
use crate::output::{print, show_as, table};
use crate::progress::Progress;
use candlewick_app::bench::{Held, Measured, Processor, Spread, WholeProcess, floor_of_file, measure};
use candlewick_app::configuration::DataSettings;
use candlewick_backtest::bench::{Crowd, WorkKind};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Candle counts over which the cost per candle must not grow.
const GROWTH: [usize; 3] = [100_000, 1_000_000, 10_000_000];
/// Candles per symbol of a crowd. The cost of a decision must not depend on the size of the crowd.
const CROWD_CANDLES: usize = 100_000;
const KIB: f64 = 1_024.0;

/// What to measure.
#[derive(Debug, Args)]
#[command(
    after_help = "Each work is run in turn with a loop that is written by hand for the same trades and does nothing else; the \
                  ratio of the two is what matters, and it is best read on a quiet machine.\n\nExamples:\n  candlewick \
                  bench\n  candlewick bench --candles 100000 --rounds 3\n  candlewick bench --growth --json"
)]
pub(crate) struct BenchArguments {
    /// How many candles each work has
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(20_000..=10_000_000))]
    candles: u32,
    /// How often each is run
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Measure one bot over 100 thousand, one million and ten million candles as well, and one to ten bots on each of one
    /// to ten symbols
    #[arg(long)]
    growth: bool,
    /// Run only the loop by hand, over this file
    #[arg(long, value_name = "FILE", hide = true)]
    floor: Option<PathBuf>,
}

#[derive(Serialize)]
struct Figures {
    processor: Processor,
    process: WholeProcess,
    works: Vec<Measured>,
    growth: Vec<Measured>,
}

pub(super) fn run(arguments: &BenchArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    if let Some(path) = &arguments.floor {
        let trades = floor_of_file(path, DataSettings::default().file_cache().as_ref())?;
        print(&format!("{trades} trades"))?;
        return Ok(Ending::Done);
    }
    let (candles, rounds) = (arguments.candles as usize, arguments.rounds as usize);
    let growth = if arguments.growth { growth_works() } else { Vec::new() };
    let total = ((1 + WorkKind::ALL.len() + growth.len()) * rounds) as u64;
    let mut progress = Progress::new("Measuring", context.global);
    let mut done = 0;
    let mut step = || {
        done += 1;
        progress.update(done, total);
    };
    // First, while this process is small.
    let process = WholeProcess::measure(candles, rounds, &mut step)?;
    let mut of_kind = |kind, candles| {
        measure(kind, candles, rounds, &mut step)
            .map_err(|error| Failure::new(FailureKind::Unexpected, error))
    };
    let works = WorkKind::ALL.into_iter().map(|kind| of_kind(kind, candles)).collect::<Result<_, _>>()?;
    let growth = growth.into_iter().map(|(kind, count)| of_kind(kind, count)).collect::<Result<_, _>>()?;
    drop(progress);
    let figures = Figures { processor: Processor::of_this_machine(), process, works, growth };
    show_as(&figures, || figures.to_text(), context.global)?;
    Ok(Ending::Done)
}

fn growth_works() -> Vec<(WorkKind, usize)> {
    let longer = GROWTH.into_iter().map(|count| (WorkKind::Single, count));
    let larger = Crowd::GROWTH.into_iter();
    longer.chain(larger.map(|crowd| (WorkKind::Crowd(crowd), CROWD_CANDLES * crowd.symbols()))).collect()
}

impl Figures {
    fn to_text(&self) -> String {
        let header = [
            "",
            "decisions",
            "trades",
            "refused",
            "backtest",
            "by hand",
            "ratio",
            "of minima",
            "KiB a bot",
            "book, KiB",
        ];
        let mut works = table(header);
        for one in self.works.iter().chain(&self.growth) {
            let ns = |spread: Spread| format!("{:.1} ns ({:.1})", spread.median, spread.minimum);
            let kib = |bytes: fn(Held) -> f64| {
                one.memory.map_or_else(|| "-".to_owned(), |held| format!("{:.1}", bytes(held) / KIB))
            };
            works.add_row([
                one.work.clone(),
                one.decisions.to_string(),
                one.trades.to_string(),
                one.refused.to_string(),
                ns(one.backtest_ns),
                ns(one.by_hand_ns),
                format!("{:.2}", one.ratio),
                format!("{:.2}", one.ratio_of_minima),
                kib(|held| held.bytes_per_bot),
                kib(|held| held.book_bytes as f64),
            ]);
        }
        let mut processes =
            table(["whole process, candles in the cache", "median", "minimum", "peak memory"]);
        let (ours, floor) = (&self.process.backtest, &self.process.by_hand);
        for (name, cost) in [("candlewick backtest", ours), ("the loop by hand", floor)] {
            processes.add_row([
                name.to_owned(),
                format!("{:.0} ms", cost.median_ms),
                format!("{:.0} ms", cost.minimum_ms),
                format!("{:.0} MiB", cost.peak_mib),
            ]);
        }
        format!(
            "Measured on {}.\n\nNanoseconds per decision (one candle of one bot): median of the rounds, minimum in brackets. \
             Memory without candles: per bot, and of the trade book.\n{works}\n\n\
             {} candles, from the start of the program to its end.\n{processes}",
            self.processor, self.process.candles
        )
    }
}

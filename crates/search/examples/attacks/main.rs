//! Attacks on the guarantee of evidence ledgers: the probability that a ledger ever contains a false *edge shown* on
//! past candles is at most alpha. No bot has an edge in these markets, so every *shown* is false.
//!
//! `cargo run --release -p candlewick-search --example attacks -- [--lives N | --short] [--broken] [NAME...]`
//! counts the ledgers that show an edge, and fails if they are too many. `--broken` judges every test with the full
//! alpha, and fails if an attack stays within its limit.
#![allow(clippy::print_stdout, reason = "the tables are what it is for")]

mod crashes;
mod ideas;
mod life;
mod market;
mod power;

use candlewick_statistics::{WinRate, binomial_p_value};
use ideas::best;
use life::{Life, Result, any};
use market::{Bot, Direction};
use rayon::prelude::*;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

/// Name, lives, and a function that returns whether a ledger shows an edge. It fails if another promise is broken.
type Attack = (&'static str, u64, fn(&mut Life) -> Result<bool>);

static ATTACKS: &[Attack] = &[
    ("hours", 400, |life| best((0..24).map(|first| Bot::new(0..1).with_hours(first, 5)), life)),
    ("weekdays", 400, |life| {
        let masks = (1..127_u32).filter(|mask| (4..=5).contains(&mask.count_ones()));
        best(masks.map(|mask| Bot { skipped_weekdays: mask, ..Bot::new(0..1) }), life)
    }),
    ("symbols", 400, |life| best((0..24).map(|n| Bot::new(n..n + 1).with_hours(n, 6)), life)),
    ("bots", 400, |life| best(life.random_bots::<32>(), life)),
    ("directions", 400, |life| {
        let bot = |lag| Bot { direction: Direction::Echo(lag), ..Bot::new(0..1).with_hours(8, 8) };
        best((1..13).flat_map(|lag| [bot(lag), Bot { is_inverted: true, ..bot(lag) }]), life)
    }),
    ("durations", 400, |life| {
        let bot = |n: usize| Bot { duration: 1 + n as i64 / 3, ..Bot::new(0..2).with_hours(8 * n, 8) };
        best((0..18).map(bot), life)
    }),
    ("stakes", 400, |life| {
        let bot = |mask| Bot { skipped_stakes: mask, ..Bot::new(0..2).with_hours(6, 12) };
        best((1..15).flat_map(|mask| [bot(mask), Bot { is_inverted: true, ..bot(mask) }]), life)
    }),
    ("prices", 400, |life| {
        let bot = |mask| Bot { skipped_prices: mask, ..Bot::new(0..2).with_hours(6, 12) };
        best((1..15).flat_map(|mask| [bot(mask), Bot { is_inverted: true, ..bot(mask) }]), life)
    }),
    ("40-symbols", 2_000, |life| any(0..40, |n| life.shows(&Bot::new(n..n + 1).with_hours(8, 5)))),
    ("40-bots", 2_000, |life| any(life.random_bots::<40>(), |bot| life.shows(&bot))),
    ("sets", 400, ideas::sets),
    ("adaptive-ideas", 2_000, ideas::adaptive),
    ("twins", 400, ideas::twins),
    ("odd-and-even-days", 400, |life| {
        let halves = |bot: Bot| [1, 2].map(|skipped_parities| Bot { skipped_parities, ..bot.clone() });
        any(life.random_bots::<12>().into_iter().flat_map(halves), |bot| life.shows(&bot))
    }),
    ("hidden-inputs", 400, ideas::hidden_inputs),
    ("disguises", 400, ideas::disguises),
    ("growing-candles", 400, ideas::growing_candles),
    ("changed-earlier-trades", 400, ideas::changed_earlier_trades),
    ("partial-last-days", 400, ideas::partial_last_days),
    ("revealed-days", 400, ideas::revealed_days),
    ("kills", 400, crashes::kills),
    ("two-at-once", 400, crashes::two_at_once),
    ("damaged-ledgers", 400, crashes::damaged_ledgers),
];

fn main() -> Result<ExitCode> {
    let (mut arguments, mut names) = (env::args().skip(1), Vec::new());
    let (mut only_lives, mut is_short, mut is_broken) = (None, false, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--lives" => only_lives = Some(arguments.next().ok_or("--lives needs a number")?.parse::<u64>()?),
            "--short" => is_short = true,
            "--broken" => is_broken = true,
            name if name == "power" || ATTACKS.iter().any(|attack| attack.0 == name) => names.push(argument),
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let is_included = |name: &str| names.is_empty() || names.iter().any(|included| included == name);
    // A life syncs its ledger up to a few hundred times, which is fast only in memory.
    let memory = Some(Path::new("/dev/shm")).filter(|memory| memory.is_dir());
    let parent = memory.map_or_else(env::temp_dir, Path::to_owned);
    let folder = tempfile::Builder::new().prefix("attacks").tempdir_in(parent)?;
    println!("| attack | lives | lives with *shown* | limit | |\n|---|---|---|---|---|");
    let mut all_pass = true;
    for (index, (name, lives, attack)) in ATTACKS.iter().enumerate().filter(|row| is_included(row.1.0)) {
        let lives = only_lives.unwrap_or(if is_short { lives / 8 } else { *lives });
        let live = |life: u64| -> Result<u64> {
            let (number, folder) = (1_000_000 * index as u64 + life, folder.path().join(life.to_string()));
            let is_shown = attack(&mut Life::start(&folder, number, is_broken)?)?;
            fs::remove_dir_all(&folder)?;
            Ok(is_shown.into())
        };
        let shown = (0..lives).into_par_iter().map(live).try_reduce(|| 0, |sum, shown| Ok(sum + shown));
        let limit = limit(lives);
        let passes = shown.as_ref().is_ok_and(|shown| (*shown > limit) == is_broken);
        let found = shown.map_or_else(|error| error.to_string(), |shown| shown.to_string());
        println!("| {name} | {lives} | {found} | {limit} | {} |", if passes { "pass" } else { "FAIL" });
        all_pass &= passes;
    }
    all_pass &= is_broken || !is_included("power") || power::print()?;
    Ok(if all_pass { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the largest accepted number of lives with *shown*. An error rate of 5 % exceeds it in one of 1,000 runs.
fn limit(lives: u64) -> u64 {
    let chance = |count| WinRate::new(count, lives - count).and_then(|rate| binomial_p_value(rate, 0.05));
    (0..lives).find(|limit| chance(limit + 1).is_ok_and(|chance| chance < 0.001)).unwrap_or(lives)
}

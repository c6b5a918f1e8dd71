//! Many schedules on all cores.

use crate::prelude::*;
use crate::schedule::{Played, play};
use crate::world::Counts;
use candlewick_broker::clock::Stopwatch;
use std::fmt::Write as _;
use std::ops::Range;

const ENOUGH: u64 = 5;

pub(crate) struct ManySchedules {
    pub(crate) failed: Vec<Played>,
    counts: Counts,
    elapsed: Duration,
}

impl ManySchedules {
    pub(crate) fn play(seeds: Range<u64>, logging: Logging) -> Self {
        let watch = Stopwatch::start();
        let next = AtomicU64::new(seeds.start);
        let gathered = Mutex::new((Counts::default(), Vec::new()));
        let enough = crate::number("CANDLEWICK_FAULT_ENOUGH").unwrap_or(ENOUGH) as usize;
        let work = || {
            while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < seeds.end) {
                if gathered.lock().unwrap().1.len() >= enough {
                    break;
                }
                let played = play_caught(seed, logging);
                let (counts, failed): &mut (Counts, Vec<Played>) = &mut gathered.lock().unwrap();
                for (what, count) in &played.counts {
                    *counts.entry(*what).or_default() += count;
                }
                if !played.broken.is_empty() {
                    failed.push(played);
                }
            }
        };
        std::thread::scope(|scope| {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..cores {
                scope.spawn(work);
            }
        });
        let (counts, mut failed) = gathered.into_inner().unwrap();
        failed.sort_by_key(|played: &Played| played.seed);
        Self { failed, counts, elapsed: watch.elapsed() }
    }

    pub(crate) fn summary(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        format!("in {:.1} s: {}", self.elapsed.as_secs_f64(), counts.join(", "))
    }

    pub(crate) fn failures(&self) -> String {
        let mut text = String::new();
        for played in &self.failed {
            let broken: Vec<_> = played.broken.iter().take(4).map(String::as_str).collect();
            let seed = played.seed;
            for line in &played.log {
                let _ = writeln!(text, "{line}");
            }
            let _ = write!(
                text,
                "\nseed {seed}: {}\n  {:?}\n  CANDLEWICK_FAULT_SEED={seed} cargo test -p candlewick-runtime --test faults\n",
                broken.join("\n    "),
                Lies::of(seed)
            );
        }
        text
    }
}

fn play_caught(seed: u64, logging: Logging) -> Played {
    std::panic::catch_unwind(|| play(seed, logging)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
        let broken = vec![format!("it panicked: {}", text.unwrap_or_default())];
        Played { seed, broken, ..Played::default() }
    })
}

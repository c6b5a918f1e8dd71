//! Many schedules on all cores.

use crate::prelude::*;
use crate::schedule::{PlayedSchedule, play, play_plan};
use crate::world::Counts;
use candlewick_broker::clock::Stopwatch;
use std::fmt::Write as _;
use std::ops::Range;

const ENOUGH: u64 = 5;
const TWINS: u64 = 60;

pub(crate) struct ManySchedules {
    pub(crate) failed: Vec<PlayedSchedule>,
    counts: Counts,
    elapsed: Duration,
}

impl ManySchedules {
    pub(crate) fn play(seeds: Range<u64>, is_logging: bool) -> Self {
        let watch = Stopwatch::start();
        let gathered = Mutex::new((Counts::default(), Vec::new()));
        let enough = crate::number("CANDLEWICK_FAULT_ENOUGH").unwrap_or(ENOUGH) as usize;
        play_each(seeds, |seed| {
            if gathered.lock().unwrap().1.len() >= enough {
                return;
            }
            let played = play_caught(seed, is_logging);
            let (counts, failed): &mut (Counts, Vec<PlayedSchedule>) = &mut gathered.lock().unwrap();
            for (what, count) in &played.counts {
                *counts.entry(*what).or_default() += count;
            }
            if !played.broken.is_empty() {
                failed.push(played);
            }
        });
        let (counts, mut failed) = gathered.into_inner().unwrap();
        failed.sort_by_key(|played: &PlayedSchedule| played.seed);
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
                Lies::draw(seed)
            );
        }
        text
    }
}

fn play_caught(seed: u64, is_logging: bool) -> PlayedSchedule {
    std::panic::catch_unwind(|| play(seed, is_logging)).unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
        let broken = vec![format!("it panicked: {}", text.unwrap_or_default())];
        PlayedSchedule { seed, broken, ..PlayedSchedule::default() }
    })
}

fn play_each(seeds: Range<u64>, play: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(seeds.start);
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Relaxed)).filter(|seed| *seed < seeds.end) {
            play(seed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

#[test]
fn eviction_does_not_change_decisions() {
    let twins = crate::number("CANDLEWICK_FAULT_TWINS").unwrap_or(TWINS);
    let (forgotten, end) = (AtomicU64::new(0), twins + 1);
    play_each(1..end, |seed| {
        let [few, all] = [1, 0].map(|remember_s| {
            let (plan, dice) = Plan::draw(seed);
            play_plan((plan.with_many_trades(remember_s), dice), false)
        });
        let of = |played: &PlayedSchedule, what: &str| played.counts[what];
        assert_eq!((&few.broken, of(&all, "intents forgotten")), (&all.broken, 0), "seed {seed}");
        assert_eq!((&few.hash, of(&few, "intents")), (&all.hash, of(&all, "intents")), "seed {seed}");
        forgotten.fetch_add(of(&few, "intents forgotten"), Relaxed);
    });
    let forgotten = forgotten.into_inner();
    println!("{twins} schedules, {forgotten} intents forgotten");
    assert!(forgotten > twins, "only {forgotten} intents were forgotten");
}

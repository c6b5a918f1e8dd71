//! Schedules of runs that forget what is over as soon as they may, against the same of runs that forget nothing.

use crate::prelude::*;
use crate::schedule::{Played, layer_of, play_plan};

const TWINS: u64 = 60;

#[test]
fn a_run_that_forgets_decides_as_one_that_forgets_nothing() {
    let twins = crate::number("CANDLEWICK_FAULT_TWINS").unwrap_or(TWINS);
    let (next, forgotten) = (AtomicU64::new(1), AtomicU64::new(0));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed > twins {
                break;
            }
            let play = |remember_s| {
                let (plan, dice) = Plan::of(seed);
                play_plan((plan.with_many_trades(remember_s), dice), layer_of(seed), Logging::Nothing)
            };
            let (few, all) = (play(1), play(0));
            let of = |played: &Played, what: &str| played.counts[what];
            assert_eq!((&few.broken, of(&all, "intents forgotten")), (&all.broken, 0), "seed {seed}");
            assert_eq!((&few.hash, of(&few, "intents")), (&all.hash, of(&all, "intents")), "seed {seed}");
            forgotten.fetch_add(of(&few, "intents forgotten"), Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let forgotten = forgotten.into_inner();
    println!("{twins} schedules, {forgotten} intents forgotten");
    assert!(forgotten > twins, "only {forgotten} intents were forgotten");
}

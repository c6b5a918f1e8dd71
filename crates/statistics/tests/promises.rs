//! The measurements of `examples/promises` with fewer trials, which detect badly broken promises.

#[path = "../examples/promises/budget.rs"]
mod budget;
#[path = "../examples/promises/change.rs"]
#[allow(dead_code, reason = "its table is for the example")]
mod change;
#[path = "../examples/promises/families.rs"]
mod families;
#[path = "../examples/promises/intervals.rs"]
mod intervals;
#[path = "../examples/promises/looks.rs"]
#[allow(dead_code, reason = "its table is for the example")]
mod looks;
#[path = "../examples/promises/measured.rs"]
mod measured;
#[path = "../examples/promises/payouts.rs"]
mod payouts;
#[path = "../examples/promises/verdict.rs"]
mod verdict;

use candlewick_statistics::EdgeTestPlan;
use measured::{Measured, Scale};

/// Uses a large delta, so that nearly all paths end in a verdict. Undecided paths would hide errors.
fn scale(trials: u64) -> Scale {
    let plan = EdgeTestPlan::new(0.05, 0.05, 0.12).expect("rates and an edge between 0 and 1");
    Scale { trials, trades: 1_000, plan }
}

#[track_caller]
fn check(measured: &[Measured], expected: usize) {
    assert_eq!(measured.len(), expected);
    let broken: Vec<String> = measured.iter().filter(|one| !one.is_kept()).map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{}\n{}", Measured::HEADER, broken.join("\n"));
}

#[test]
fn the_verdict_errs_no_more_often_than_promised() {
    check(&verdict::errors(scale(1_000)).unwrap(), 13);
}

#[test]
fn bots_that_share_one_alpha_show_no_edge_more_often_than_promised() {
    let measured = budget::errors(scale(80)).unwrap();
    check(&measured, 18);
    let [fifty, alone] = [2, 3].map(|row| measured[row].found);
    assert!(fifty < 0.2 && alone > 0.5, "{fifty} of journals of fifty bots, {alone} without sharing");
}

#[test]
fn changing_payouts_do_not_break_the_verdict() {
    check(&payouts::errors(scale(1_000)).unwrap(), 8);
}

#[test]
fn sequences_cover_at_every_look_and_watches_are_as_seldom_wrong_as_promised() {
    let scale = |trials| Scale { trades: 400, ..scale(trials) };
    check(&looks::coverage(scale(60)).unwrap(), 15);
    check(&payouts::coverage(scale(60)).unwrap(), 7);
    check(&change::errors(scale(60), 100).unwrap(), 5);
}

#[test]
fn intervals_cover_and_tests_err_as_promised() {
    check(&intervals::coverage(scale(1_500)).unwrap(), 4);
    check(&intervals::errors(scale(2_000)).unwrap(), 2);
}

#[test]
fn many_variants_deceive_no_more_often_than_promised() {
    check(&families::errors(scale(150)).unwrap(), 7);
}

//! Whether what a strategy remembers grows for ever.

use super::super::allocator::Allocations;
use super::super::candles::{at_interval, moved, random_walk};
use super::Finding;
use super::bench::{Found, failed, noted, passed};
use super::subject::{Manner, Showing, Subject, guarded};
use crate::{Candle, Millis};
use std::cell::Cell;

/// Candles until everything that is remembered for a while should be in place, beyond twice the warm-up.
const SETTLE: usize = 3_000;
/// So many times as many are shown in all.
const TIMES: usize = 10;
/// Bytes for each further candle: less than that, nobody runs out of memory in years.
const MAX_BYTES: f64 = 0.25;

/// Shows ten times as many candles as should fill whatever is kept, and looks how much more is held at the end.
pub(super) fn memory(subject: &Subject, warmup: usize) -> Found {
    if !Allocations::are_counted() {
        let words =
            "the program has no counting allocator: install candlewick_sdk::testkit::CountingAllocator";
        return Ok((Finding::NotRun, words.to_owned()));
    }
    let block = at_interval(&random_walk(29, 2 * warmup + SETTLE), subject.bot.interval);
    let length = subject.bot.interval.length() * block.len() as i64;
    // No results: those would be kept here. No answers are kept either.
    let mut showing = Showing::new(subject, Manner::ALONE)?;
    let (mut grown, mut calls) = (0, 0);
    for time in 0..TIMES as i64 {
        let later = shifted(&block, length * time);
        let before = Allocations::of_this_thread();
        let place = Cell::new(0);
        guarded(&place, || {
            while place.get() < later.len() {
                showing.show_next(&later, &place);
                showing.answers.truncate(0);
            }
            Ok(())
        })?;
        let after = Allocations::of_this_thread();
        if time > 0 {
            grown += after.bytes - before.bytes;
            calls += after.calls - before.calls;
        }
    }
    let candles = (block.len() * (TIMES - 1)) as f64;
    let (bytes, calls) = (grown as f64 / candles, calls as f64 / candles);
    if bytes > MAX_BYTES {
        return failed(format!("it holds {bytes:.1} bytes more with every candle, for ever"));
    }
    if calls > MAX_BYTES {
        return noted(format!(
            "it holds no more with time, but takes memory {calls:.1} times a candle, which is slow"
        ));
    }
    passed(format!("what it holds does not grow over {candles} candles"))
}

fn shifted(candles: &[Candle], by: Millis) -> Vec<Candle> {
    candles.iter().map(|candle| moved(candle, candle.time() + by, 1.0)).collect()
}

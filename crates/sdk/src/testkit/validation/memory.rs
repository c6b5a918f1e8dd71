//! Check for unbounded memory growth.

use super::super::allocator::Allocations;
use super::super::candles::{at_interval, moved, random_walk};
use super::Finding;
use super::bench::{Found, failed, noted, passed};
use super::subject::{Manner, Showing, Stop, Subject, guarded, with_room};
use crate::{Candle, Millis};
use std::cell::Cell;

const SETTLE: usize = 3_000;
const TIMES: usize = 10;
const TIMES_SETTLED: usize = 4;
/// Allowed growth in bytes per candle: too little to exhaust memory within years.
const MAX_BYTES: f64 = 0.25;

pub(super) fn memory(subject: &Subject, warmup: usize) -> Found {
    if !Allocations::are_counted() {
        let words =
            "the program has no counting allocator: install candlewick_sdk::testkit::CountingAllocator";
        return Ok((Finding::NotRun, words.to_owned()));
    }
    let block = at_interval(&random_walk(29, 2 * warmup + SETTLE), subject.bot.interval);
    let alone = growth(subject, &block, TIMES, Manner::ALONE)?;
    let candles = (block.len() * (TIMES - 1)) as f64;
    let (bytes, calls) = (alone.bytes as f64 / candles, alone.calls as f64 / candles);
    if bytes > MAX_BYTES {
        return failed(format!("it holds {bytes:.1} bytes more with every candle, for ever"));
    }
    let settled = growth(subject, &block, TIMES_SETTLED, Manner::LIVE)?.bytes as f64
        / (block.len() * (TIMES_SETTLED - 1)) as f64;
    if settled > MAX_BYTES {
        return failed(format!(
            "shown how its trades end, it holds {settled:.1} bytes more with every candle, for ever: forget old settlements"
        ));
    }
    if calls > MAX_BYTES {
        return noted(format!(
            "it holds no more with time, but takes memory {calls:.1} times a candle, which is slow"
        ));
    }
    passed(format!("what it holds does not grow over {candles} candles"))
}

fn growth(subject: &Subject, block: &[Candle], times: usize, manner: Manner) -> Result<Allocations, Stop> {
    let length = subject.bot.interval.length() * block.len() as i64;
    let all: Vec<Candle> = (0..times as i64).flat_map(|time| shifted(block, length * time)).collect();
    let all = with_room(&all);
    // No answers are kept, and of open trades as many at the end of each block as at the end of the first.
    let mut showing = Showing::new(subject, manner)?;
    let mut first = None;
    let place = Cell::new(0);
    guarded(&place, || {
        while place.get() < all.len() {
            showing.show_next(&all, &place);
            showing.answers.truncate(0);
            if place.get() == block.len() {
                first = Some(Allocations::of_this_thread());
            }
        }
        Ok(())
    })?;
    let (last, first) = (Allocations::of_this_thread(), first.unwrap_or_default());
    Ok(Allocations { bytes: last.bytes - first.bytes, calls: last.calls - first.calls })
}

fn shifted(candles: &[Candle], by: Millis) -> Vec<Candle> {
    candles.iter().map(|candle| moved(candle, candle.time() + by, 1.0)).collect()
}

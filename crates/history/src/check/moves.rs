//! Implausible price moves: spikes, jumps and stretches without movement.

use super::{Finding, FindingKind};
use candlewick_sdk::{Candle, CandleSeries};
use std::ops::Range;

/// Number of candles per block. The usual range is computed per block, because it changes between market regimes.
const BLOCK_CANDLES: usize = 500;
const MIN_MOVING_CANDLES: usize = 20;

/// Reports moves of more than `factor` times the usual range. A spike is a high or low outside the prices
/// of both neighbouring candles. A jump is an open that is far from the previous close.
pub(super) fn report_spikes_and_jumps(series: &CandleSeries, factor: f64, note: &mut dyn FnMut(Finding)) {
    let candles = series.candles();
    let Some(usual) = UsualRange::new(candles) else { return };
    let spike_at = |at: usize| Spike::detect(candles, at).filter(|spike| spike.part > factor * usual.at(at));
    let mut spike_before = None;
    let mut spike_here = spike_at(0);
    for index in 0..candles.len() {
        let range = index..index + 1;
        let percent =
            |part: f64| format!("{:.2} %, {:.0} times the usual range", part * 100.0, part / usual.at(index));
        if let Some(Spike { part, what, price, neighbour }) = &spike_here {
            let detail =
                format!("{what} {price} differs from the adjacent {what} {neighbour} by {}", percent(*part));
            note(new_finding(series, FindingKind::Spike, range, detail));
        } else if spike_before.is_none()
            && let Some(before) = index.checked_sub(1).map(|before| &candles[before])
            && before.close_time(series.interval()) == candles[index].time()
        {
            let (close, open) = (before.close(), candles[index].open());
            let part = relative_distance(close, open);
            if part > factor * usual.at(index) {
                let detail =
                    format!("open {open} differs from the previous close {close} by {}", percent(part));
                note(new_finding(series, FindingKind::Jump, range, detail));
            }
        }
        spike_before = spike_here;
        spike_here = spike_at(index + 1);
    }
}

struct Spike {
    /// Size of the spike as a fraction of the price.
    part: f64,
    what: &'static str,
    price: f64,
    neighbour: f64,
}

impl Spike {
    fn detect(candles: &[Candle], index: usize) -> Option<Self> {
        let here = candles.get(index)?;
        let before = index.checked_sub(1).map(|before| &candles[before]);
        let neighbours = || before.into_iter().chain(candles.get(index + 1));
        let highest = neighbours().map(Candle::high).reduce(f64::max)?;
        let lowest = neighbours().map(Candle::low).reduce(f64::min)?;
        let (up, down) = (here.high() / highest - 1.0, lowest / here.low() - 1.0);
        Some(if up > down {
            Self { part: up, what: "high", price: here.high(), neighbour: highest }
        } else {
            Self { part: down, what: "low", price: here.low(), neighbour: lowest }
        })
    }
}

fn relative_distance(a: f64, b: f64) -> f64 {
    a.max(b) / a.min(b) - 1.0
}

/// Median candle range of each block, as a fraction of the price. Flat candles are ignored.
struct UsualRange(Vec<f64>);

impl UsualRange {
    fn new(candles: &[Candle]) -> Option<Self> {
        let all = median_candle_range(candles)?;
        let blocks = candles.chunks(BLOCK_CANDLES);
        Some(Self(blocks.map(|block| median_candle_range(block).unwrap_or(all)).collect()))
    }

    fn at(&self, index: usize) -> f64 {
        let block = self.0.get(index / BLOCK_CANDLES).or(self.0.last());
        block.copied().unwrap_or(f64::INFINITY)
    }
}

fn median_candle_range(candles: &[Candle]) -> Option<f64> {
    let reaches = candles.iter().map(|candle| relative_distance(candle.high(), candle.low()));
    let mut moving: Vec<f64> = reaches.filter(|reach| *reach > 0.0).collect();
    if moving.len() < MIN_MOVING_CANDLES {
        return None;
    }
    let middle = moving.len() / 2;
    let (_, median, _) = moving.select_nth_unstable_by(middle, f64::total_cmp);
    Some(*median)
}

pub(super) fn report_flat_stretches(series: &CandleSeries, min_candles: u64, note: &mut dyn FnMut(Finding)) {
    let interval = series.interval();
    let continues = |before: &Candle, here: &Candle| {
        is_flat(before)
            && is_flat(here)
            && before.close_time(interval) == here.time()
            && before.close().to_bits() == here.open().to_bits()
    };
    let mut start = 0;
    for run in series.candles().chunk_by(continues) {
        let range = start..start + run.len();
        start = range.end;
        if run.len() as u64 >= min_candles && is_flat(&run[0]) {
            let detail = format!("the price stays at {} for {} candles", run[0].close(), run.len());
            note(new_finding(series, FindingKind::Flat, range, detail));
        }
    }
}

fn is_flat(candle: &Candle) -> bool {
    candle.high() <= candle.low()
}

fn new_finding(series: &CandleSeries, kind: FindingKind, range: Range<usize>, detail: String) -> Finding {
    let candles = &series.candles()[range];
    let start = candles.first().map(Candle::time);
    let end = candles.last().map(|candle| candle.close_time(series.interval()));
    Finding { kind, row: None, start, end, count: candles.len() as u64, detail }
}

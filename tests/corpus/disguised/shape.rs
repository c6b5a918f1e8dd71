//! Cheats with built-in knowledge of a data file that recognize its candles by their shapes.

use crate::declare::{follow, push, rise, rule, toward};
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Candle, Signal, StrategyEntry};
use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

static CANDLES: LazyLock<Vec<Candle>> = LazyLock::new(|| random_walk(78, 6_000));

pub(super) fn moves() -> HashMap<u64, f64> {
    let pairs = CANDLES.windows(2);
    pairs.map(|pair| (pair[0].close().to_bits(), pair[1].close() - pair[0].close())).collect()
}

fn table<K: std::hash::Hash + Eq + Send + 'static>(
    (count, ahead): (usize, usize),
    key: impl Fn(&[Candle]) -> K + Send + 'static,
) -> impl FnMut(&Candle) -> Option<Signal> + Send + 'static {
    let windows = CANDLES.windows(count + ahead);
    let known: HashMap<K, f64> = windows
        .map(|window| (key(&window[..count]), window[count + ahead - 1].close() - window[count - 1].close()))
        .collect();
    let mut last = VecDeque::new();
    move |candle| {
        push(&mut last, candle, count);
        let now: Vec<Candle> = last.iter().copied().collect();
        if now.len() < count {
            return None;
        }
        toward(known.get(&key(&now)).copied().unwrap_or(rise(candle)), "as it was")
    }
}

fn ratios(candles: &[Candle]) -> Vec<f64> {
    candles.windows(2).map(|pair| pair[1].close() / pair[0].close()).collect()
}

fn rounded(value: f64, digits: i32) -> i64 {
    (value * 10_f64.powi(digits)).round() as i64
}

fn rounded_ratios(digits: i32) -> impl Fn(&[Candle]) -> Vec<i64> + Send + 'static {
    move |candles| ratios(candles).into_iter().map(|ratio| rounded(ratio, digits)).collect()
}

fn signs(candles: &[Candle]) -> Vec<bool> {
    candles.iter().map(|candle| candle.close() > candle.open()).collect()
}

fn is_traded(candle: &Candle) -> bool {
    candle.time().get() % (12 * 60_000) == 0
}

fn nearest(count: usize) -> impl FnMut(&Candle) -> Option<Signal> + Send + 'static {
    let known: Vec<(Vec<f64>, f64)> = CANDLES
        .windows(count + 1)
        .filter(|window| is_traded(&window[count - 1]))
        .map(|window| (ratios(&window[..count]), window[count].close() - window[count - 1].close()))
        .collect();
    let mut last = VecDeque::new();
    move |candle| {
        push(&mut last, candle, count);
        if last.len() < count || !is_traded(candle) {
            return None;
        }
        let now = ratios(last.make_contiguous());
        let distance = |one: &[f64]| one.iter().zip(&now).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let best = known.iter().min_by(|a, b| distance(&a.0).total_cmp(&distance(&b.0)))?;
        toward(best.1, "as it was")
    }
}

pub(super) fn entries() -> [StrategyEntry; 8] {
    [
        rule("w-shape-bits", 3, |_| {
            table((3, 1), |last| ratios(last).into_iter().map(f64::to_bits).collect::<Vec<_>>())
        }),
        rule("w-shape-signs", 14, |_| table((14, 1), signs)),
        rule("w-shape-nearest", 4, |_| nearest(4)),
        rule("w-shape-wicks", 1, |_| {
            table((1, 1), |last| {
                let range = last[0].high() - last[0].low();
                let part = |price: f64| rounded((price - last[0].low()) / range, 4);
                (part(last[0].open()), part(last[0].close()))
            })
        }),
        rule("w-shape-volume", 2, |_| table((2, 1), |last| rounded(last[1].volume() / last[0].volume(), 6))),
        rule("w-shape-far", 3, |_| table((3, 10), rounded_ratios(6))),
        rule("w-shape-half", 3, |_| {
            let mut rule = table((3, 1), rounded_ratios(5));
            move |candle: &Candle| {
                let known = rule(candle);
                let cheats = candle.close().to_bits().count_ones().is_multiple_of(2);
                if cheats { known } else { follow(candle) }
            }
        }),
        rule("w-shape-signs-both-ways", 16, |_| {
            let mut rule = table((16, 1), |last| {
                let signs = signs(last);
                signs.iter().map(|sign| *sign == signs[0]).collect::<Vec<_>>()
            });
            let mut opposite = table((16, 1), signs);
            move |candle: &Candle| {
                let same = opposite(candle);
                rule(candle).and(same)
            }
        }),
    ]
}

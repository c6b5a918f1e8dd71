//! Prices of the venue: one bar a second, a function of symbol and second unless a trade's outcome was decided.

use crate::clock::iso;
use serde_json::{Value, json};
use std::collections::HashMap;

const BAR_MS: i64 = 1000;
const BAR_DELAY_MS: i64 = 300;

pub(crate) struct Pair {
    pub(crate) name: &'static str,
    kind: &'static str,
    /// Price around which the market moves, in points.
    base: i64,
    points: i64,
}

pub(crate) const PAIRS: [Pair; 3] = [
    Pair { name: "BTCUSDT", kind: "crypto", base: 6_010_000, points: 100 },
    Pair { name: "EURUSD", kind: "forex", base: 108_500, points: 100_000 },
    Pair { name: "GBPUSD", kind: "forex", base: 127_100, points: 100_000 },
];

impl Pair {
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        PAIRS.iter().find(|pair| pair.name == name)
    }

    pub(crate) fn price(&self, points: i64) -> f64 {
        points as f64 / self.points as f64
    }

    pub(crate) const fn step(&self) -> i64 {
        self.base / 10_000
    }
}

#[derive(Default)]
pub(crate) struct Market {
    fixed: HashMap<(&'static str, i64), i64>,
}

impl Market {
    pub(crate) fn close(&self, pair: &Pair, second: i64) -> i64 {
        if let Some(points) = self.fixed.get(&(pair.name, second)) {
            return *points;
        }
        let at = second as f64;
        let wave = (at / 97.0).sin() * 8.0 + (at / 23.0).sin() * 3.0 + (at / 5.3).sin();
        pair.base + (wave * pair.step() as f64) as i64 + second.rem_euclid(7)
    }

    pub(crate) fn fix(&mut self, pair: &Pair, second: i64, points: i64) {
        self.fixed.insert((pair.name, second), points);
    }

    pub(crate) fn record(&self, pair: &Pair, until: i64, now: i64) -> Value {
        let known = (now - BAR_MS - BAR_DELAY_MS).min(until).div_euclid(BAR_MS);
        let mut bar = self.candle(pair, known * BAR_MS, 1);
        let stored = iso((known + 1) * BAR_MS + BAR_DELAY_MS);
        for (name, value) in [
            ("id", json!(format!("{}-{known}", pair.name))),
            ("slot", json!("default")),
            ("pair", json!(pair.name)),
            ("type", json!(pair.kind)),
            ("createdAt", json!(stored)),
            ("updatedAt", json!(stored)),
        ] {
            bar[name] = value;
        }
        bar
    }

    fn candle(&self, pair: &Pair, time: i64, seconds: i64) -> Value {
        let first = time.div_euclid(BAR_MS);
        let closes: Vec<i64> = (first - 1..first + seconds).map(|second| self.close(pair, second)).collect();
        let price = |points: Option<&i64>| pair.price(points.copied().unwrap_or_default());
        json!({
            "volume": 3 * seconds, "time": time,
            "openPrice": price(closes.first()), "closePrice": price(closes.last()),
            "highPrice": price(closes.iter().max()), "lowPrice": price(closes.iter().min()),
        })
    }

    pub(crate) fn candles(&self, pair: &Pair, seconds: i64, span: (i64, i64), now: i64) -> Vec<Value> {
        let step = seconds * BAR_MS;
        let first = (span.0 + step - 1).div_euclid(step);
        let last = (span.1.div_euclid(step)).min((now - step - BAR_DELAY_MS).div_euclid(step));
        (first..=last).take(1000).map(|number| self.candle(pair, number * step, seconds)).collect()
    }
}

pub(crate) fn interval_seconds(text: &str) -> Option<i64> {
    let (digits, unit) = text.split_at(text.len().checked_sub(1)?);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86400,
        _ => return None,
    };
    digits.parse::<i64>().ok().map(|count| count * unit)
}

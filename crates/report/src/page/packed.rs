//! Candles and trades, packed as text for the script of a page. Each zoom level merges four bars of the previous level
//! into one, until all bars fit on a screen. A browser can therefore open even a large page quickly.

use super::RunPage;
use crate::analysis::RunData;
use crate::markup::escape_hidden_in_json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use candlewick_engine::{IntentRow, IntentState};
use candlewick_sdk::{Candle, Direction, Interval};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use std::io::{self, Read, Write};

const MAX_DECIMALS: u32 = 10;
/// Relative tolerance within which a scaled price counts as an integer.
const TOLERANCE: f64 = 4e-15;
/// Largest integer that JavaScript can add without rounding errors.
const MAX_EXACT_INTEGER: f64 = 9e15;

#[derive(Default)]
pub(super) struct PackedNumbers(Vec<u8>);

impl PackedNumbers {
    pub(super) fn add(&mut self, number: i64) {
        // Zigzag encoding maps 0, -1, 1, -2, 2 to 0, 1, 2, 3, 4.
        let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
        while rest > 127 {
            self.0.push((rest & 127) as u8 | 128);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }

    pub(super) fn to_base64(&self) -> io::Result<String> {
        compress(&self.0)
    }
}

pub(super) fn compress(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

pub(super) fn decompress(letters: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(&STANDARD.decode(letters).ok()?[..]).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn price_decimals(candles: &ZoomLevel) -> u32 {
    let prices = || candles.bars.iter().flat_map(|bar| [bar.open, bar.high, bar.low, bar.close]);
    let highest = prices().fold(0.0, f64::max);
    let fits = |decimals: &u32| highest * 10_f64.powi(decimals.cast_signed()) < MAX_EXACT_INTEGER;
    let is_exact = |decimals: &u32| {
        let power = 10_f64.powi(decimals.cast_signed());
        prices().all(|price| (price * power - (price * power).round()).abs() <= price * power * TOLERANCE)
    };
    let possible = || (0..=MAX_DECIMALS).take_while(fits);
    possible().find(is_exact).or_else(|| possible().last()).unwrap_or_default()
}

/// Encodes a level by column: time gaps, opens relative to the previous close, bodies, upper wicks and lower wicks.
fn pack_level(level: &ZoomLevel, decimals: u32) -> PackedNumbers {
    let power = 10_f64.powi(decimals.cast_signed());
    let whole = |price: f64| (price * power).round() as i64;
    let mut numbers = PackedNumbers::default();
    let mut before = 0;
    for bar in &level.bars {
        numbers.add(bar.index - before - 1);
        before = bar.index;
    }
    let mut before = 0;
    for bar in &level.bars {
        numbers.add(whole(bar.open) - before);
        before = whole(bar.close);
    }
    for bar in &level.bars {
        numbers.add(whole(bar.close) - whole(bar.open));
    }
    for bar in &level.bars {
        numbers.add(whole(bar.high) - whole(bar.open.max(bar.close)));
    }
    for bar in &level.bars {
        numbers.add(whole(bar.open.min(bar.close)) - whole(bar.low));
    }
    numbers
}

const ZOOM_FACTOR: i64 = 4;
const MAX_TOP_LEVEL_BARS: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bar {
    /// Start of the bar, as a number of bar lengths since 1970.
    pub(super) index: i64,
    pub(super) open: f64,
    pub(super) high: f64,
    pub(super) low: f64,
    pub(super) close: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ZoomLevel {
    pub(super) bar_length_ms: i64,
    pub(super) bars: Vec<Bar>,
}

impl ZoomLevel {
    pub(super) fn build_all(candles: &[Candle], interval: Interval) -> Vec<Self> {
        let bar_length_ms = interval.length().get();
        let bar = |candle: &Candle| Bar {
            index: candle.time().get().div_euclid(bar_length_ms),
            open: candle.open(),
            high: candle.high(),
            low: candle.low(),
            close: candle.close(),
        };
        let mut levels = vec![Self { bar_length_ms, bars: candles.iter().map(bar).collect() }];
        while let Some(last) = levels.last().filter(|last| last.bars.len() > MAX_TOP_LEVEL_BARS) {
            let next = last.join_bars();
            levels.push(next);
        }
        levels
    }

    fn join_bars(&self) -> Self {
        let mut bars: Vec<Bar> = Vec::with_capacity(self.bars.len() / 3);
        for bar in &self.bars {
            let index = bar.index.div_euclid(ZOOM_FACTOR);
            match bars.last_mut().filter(|last| last.index == index) {
                Some(last) => {
                    last.high = last.high.max(bar.high);
                    last.low = last.low.min(bar.low);
                    last.close = bar.close;
                }
                None => bars.push(Bar { index, ..*bar }),
            }
        }
        Self { bar_length_ms: self.bar_length_ms * ZOOM_FACTOR, bars }
    }
}

pub(super) struct PackedRun {
    pub(super) contents: Value,
    pub(super) elements: Vec<(String, String)>,
}

impl PackedRun {
    pub(super) fn from_page(page: &RunPage<'_>) -> io::Result<Self> {
        let mut elements = Vec::new();
        let mut series = Vec::new();
        for (number, one) in page.candles.iter().enumerate() {
            let levels = ZoomLevel::build_all(one.candles(), one.interval());
            let decimals = price_decimals(&levels[0]);
            let packed = levels.par_iter().map(|level| pack_level(level, decimals).to_base64());
            let packed = packed.collect::<io::Result<Vec<String>>>()?;
            let names: Vec<_> = (0..levels.len()).map(|level| format!("candles-{number}-{level}")).collect();
            let levels_of = levels.iter().zip(&names);
            let levels_of = levels_of.map(
                |(level, name)| json!({ "id": name, "length": level.bar_length_ms, "count": level.bars.len() }),
            );
            series.push(json!({
                "name": one.series().to_string(),
                "decimals": decimals,
                "start": one.start(),
                "end": one.end(),
                "levels": levels_of.collect::<Vec<Value>>(),
            }));
            elements.extend(names.into_iter().zip(packed));
        }
        let of_bot = |bot: &candlewick_engine::BotSettings| {
            let place = page.candles.iter().position(|one| one.series() == bot.series());
            json!({ "name": bot.name, "series": place })
        };
        let bots: Vec<Value> = page.trades.bots.iter().map(of_bot).collect();
        let trades = escape_hidden_in_json(&pack_columns(&page.rows, &page.trades)).to_string();
        elements.push(("trades".to_owned(), compress(trades.as_bytes())?));
        let decimals = page.trades.scale.decimals();
        let contents = json!({ "series": series, "bots": bots, "trades": page.rows.len(), "money": decimals,
            "settings": page.settings });
        Ok(Self { contents, elements })
    }
}

/// Packs trades by column. Stores each decision time relative to the previous decision, each open time relative to
/// the decision, and each close time relative to the open time.
pub(super) fn pack_columns(rows: &[&IntentRow], trades: &RunData<'_>) -> Value {
    let scale = trades.scale;
    let column = |read: &dyn Fn(&IntentRow) -> Value| rows.iter().map(|row| read(row)).collect::<Vec<_>>();
    let mut before = 0;
    let decided: Vec<i64> = rows
        .iter()
        .map(|row| {
            let at = row.approved.decision_time().get();
            let step = at - before;
            before = at;
            step
        })
        .collect();
    let close = |row: &IntentRow| row.close_time.filter(|_| row.state == IntentState::Settled);
    json!({
        "bot": column(&|row| json!(row.approved.bot().index())),
        "buy": column(&|row| json!(u8::from(row.approved.direction() == Direction::Buy))),
        "amount": column(&|row| json!(scale.to_f64(row.approved.stake()))),
        "decided": decided,
        "opened": column(&|row| json!(row.open_time.map(|at| at - row.approved.decision_time()))),
        "open": column(&|row| json!(row.open_price)),
        "closed": column(&|row| json!(close(row).zip(row.open_time).map(|(close, open)| close - open))),
        "close": column(&|row| json!(row.close_price.filter(|_| row.state == IntentState::Settled))),
        "payout": column(&|row| json!(row.payout)),
        "result": column(&|row| json!(row.outcome)),
        "pnl": column(&|row| json!((row.state == IntentState::Settled).then(|| scale.to_f64(row.profit)))),
        "reason": column(&|row| json!(trades.book.reason(row).to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Millis, Ohlcv};
    use proptest::prelude::*;

    fn bar(index: i64, [open, high, low, close]: [f64; 4]) -> Bar {
        Bar { index, open, high, low, close }
    }

    fn walk(count: i64) -> ZoomLevel {
        let mut dice = 88_172_645_463_325_252_u64;
        let mut throw = |sides: u64| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice % sides) as i64
        };
        let mut price = 4_000_000_i64;
        let bars = (0..count).map(|place| {
            let open = price;
            price += throw(4_001) - 2_000;
            let high = open.max(price) + throw(900);
            let low = open.min(price) - throw(900);
            bar(place + 27_000_000, [open, high, low, price].map(|ticks| ticks as f64 / 100.0))
        });
        ZoomLevel { bar_length_ms: 60_000, bars: bars.collect() }
    }

    #[test]
    fn candles_take_less_than_eight_bytes_each() {
        let level = walk(50_000);
        let letters = pack_level(&level, price_decimals(&level)).to_base64().unwrap();
        assert!(letters.len() < 50_000 * 8, "{}", letters.len());
    }

    #[test]
    fn finds_decimals_of_prices() {
        for (price, expected) in [
            (46_319.0, 0),
            (1.57597, 5),
            (0.099_469_990_000_000_01, 8),
            (1.0 / 3.0, MAX_DECIMALS),
            (123_456_789.5, 1),
        ] {
            let level = ZoomLevel { bar_length_ms: 1, bars: vec![bar(0, [price; 4])] };
            assert_eq!(price_decimals(&level), expected, "{price}");
        }
    }

    fn candles() -> impl Strategy<Value = Vec<Candle>> {
        let one = (1_i64..9, 1_000_u32..9_000, 1_000_u32..9_000, 0_u32..500, 0_u32..500);
        proptest::collection::vec(one, 1..3_000).prop_map(|rows| {
            let mut minute = -4_000;
            let next = |(gap, open, close, above, below)| {
                minute += if gap == 8 { 700 } else { 1 };
                let prices = [open, close, above, below].map(|ticks: u32| f64::from(ticks) / 100.0);
                let [open, close, above, below] = prices;
                let (high, low) = (open.max(close) + above, open.min(close) - below);
                let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
                Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
            };
            rows.into_iter().map(next).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_bar_joins_its_candles(candles in candles()) {
            let levels = ZoomLevel::build_all(&candles, Interval::MINUTE);
            prop_assert!(levels[levels.len() - 1].bars.len() <= MAX_TOP_LEVEL_BARS);
            for level in &levels {
                let mut rest = &candles[..];
                for bar in &level.bars {
                    let from = bar.index * level.bar_length_ms;
                    let own = rest.partition_point(|candle| candle.time().get() < from + level.bar_length_ms);
                    let (inside, later) = rest.split_at(own);
                    prop_assert!(inside.iter().all(|candle| candle.time().get() >= from));
                    let high = inside.iter().map(Candle::high).fold(f64::MIN, f64::max);
                    let low = inside.iter().map(Candle::low).fold(f64::MAX, f64::min);
                    let first = inside.first().map(Candle::open);
                    let last = inside.last().map(Candle::close);
                    prop_assert_eq!((Some(bar.open), bar.high, bar.low, Some(bar.close)), (first, high, low, last));
                    rest = later;
                }
                prop_assert!(rest.is_empty());
            }
        }
    }
}

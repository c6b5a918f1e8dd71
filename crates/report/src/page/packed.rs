//! Compression of bytes and encoding as text for a page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{self, Read, Write};

use super::bars::Level;

const MAX_DECIMALS: u32 = 10;
/// Relative tolerance for a scaled price to count as a whole number, because decimal fractions are
/// not exact in binary.
const NEAR: f64 = 4e-15;
/// Largest whole number that a script adds without loss.
const MOST: f64 = 9e15;

/// Variable-length encoding of signed numbers.
#[derive(Default)]
pub(super) struct Numbers(Vec<u8>);

impl Numbers {
    pub(super) fn add(&mut self, number: i64) {
        // Signs alternate, so that what is near 0 is small: 0, -1, 1, -2, 2.
        let mut rest = ((number << 1) ^ (number >> 63)).cast_unsigned();
        while rest > 127 {
            self.0.push((rest & 127) as u8 | 128);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }

    pub(super) fn to_letters(&self) -> io::Result<String> {
        letters(&self.0)
    }
}

pub(super) fn letters(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

pub(super) fn unpacked(letters: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(&STANDARD.decode(letters).ok()?[..]).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

pub(super) fn decimals_of(candles: &Level) -> u32 {
    let prices = || candles.bars.iter().flat_map(|bar| [bar.open, bar.high, bar.low, bar.close]);
    let highest = prices().fold(0.0, f64::max);
    let fits = |decimals: &u32| highest * 10_f64.powi(decimals.cast_signed()) < MOST;
    let is_exact = |decimals: &u32| {
        let power = 10_f64.powi(decimals.cast_signed());
        prices().all(|price| (price * power - (price * power).round()).abs() <= price * power * NEAR)
    };
    let possible = || (0..=MAX_DECIMALS).take_while(fits);
    possible().find(is_exact).or_else(|| possible().last()).unwrap_or_default()
}

/// Encodes a level column by column. Positions are stored as gaps, opens as differences to the
/// previous close, and other prices as mostly small distances.
pub(super) fn numbers_of(level: &Level, decimals: u32) -> Numbers {
    let power = 10_f64.powi(decimals.cast_signed());
    let whole = |price: f64| (price * power).round() as i64;
    let mut numbers = Numbers::default();
    let mut before = 0;
    for bar in &level.bars {
        numbers.add(bar.place - before - 1);
        before = bar.place;
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

#[cfg(test)]
mod tests {
    use super::super::bars::Bar;
    use super::*;

    /// Reads numbers as the page's script does.
    fn numbers_in(bytes: &[u8]) -> Vec<i64> {
        let (mut numbers, mut value, mut unit) = (Vec::new(), 0_i128, 1_i128);
        for byte in bytes {
            value += i128::from(byte & 127) * unit;
            unit *= 128;
            if *byte < 128 {
                let number = if value % 2 == 1 { -(value + 1) / 2 } else { value / 2 };
                numbers.push(i64::try_from(number).unwrap());
                (value, unit) = (0, 1);
            }
        }
        numbers
    }

    fn bar(place: i64, [open, high, low, close]: [f64; 4]) -> Bar {
        Bar { place, open, high, low, close }
    }

    #[test]
    fn numbers_are_read_back() {
        let all = [0, -1, 1, 63, -64, 64, 8_191, -8_192, 1 << 40, i64::MAX, i64::MIN];
        let mut numbers = Numbers::default();
        for number in all {
            numbers.add(number);
        }
        assert_eq!(numbers_in(&unpacked(&numbers.to_letters().unwrap()).unwrap()), all);
    }

    #[test]
    fn a_level_is_columns_of_small_steps() {
        let bars = vec![bar(100, [1.5, 1.7, 1.4, 1.6]), bar(103, [1.5, 1.5, 1.2, 1.3])];
        let level = Level { length_ms: 60_000, bars };
        assert_eq!(decimals_of(&level), 1);
        let written = numbers_in(&numbers_of(&level, 1).0);
        // Places, opens, closes, highs, lows.
        assert_eq!(written, [99, 2, 15, -1, 1, -2, 1, 0, 1, 1]);
    }

    /// A market as they are: steps of some ticks, a few candles without any.
    fn walk(count: i64) -> Level {
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
        Level { length_ms: 60_000, bars: bars.collect() }
    }

    #[test]
    fn a_million_candles_take_less_than_eight_bytes_each() {
        let level = walk(50_000);
        let letters = numbers_of(&level, decimals_of(&level)).to_letters().unwrap();
        assert!(letters.len() < 50_000 * 8, "{}", letters.len());
        let read = numbers_in(&unpacked(&letters).unwrap());
        assert_eq!(read.len(), 50_000 * 5);
    }

    #[test]
    fn prices_have_the_decimals_that_they_need() {
        for (price, expected) in [
            (46_319.0, 0),
            (1.57597, 5),
            (0.099_469_990_000_000_01, 8),
            (1.0 / 3.0, MAX_DECIMALS),
            (123_456_789.5, 1),
        ] {
            let level = Level { length_ms: 1, bars: vec![bar(0, [price; 4])] };
            assert_eq!(decimals_of(&level), expected, "{price}");
        }
    }
}

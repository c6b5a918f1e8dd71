//! Batch evaluation of rules. Each value has a column with one entry per candle of the batch.

use crate::graph::{BinaryOp, Field};
use crate::indicator::{CandleIndicator, NumberIndicator, write_columns};
use crate::program::{InlineSlots, Slot, Slots};
use crate::step::compare;
use candlewick_sdk::indicator::Ema;
use candlewick_sdk::{Candle, MAX_BATCH_CANDLES};

pub(crate) type Column = [f64; MAX_BATCH_CANDLES];

/// One column for each value of a small program. [`InlineSlots`] stores the last entry of each column.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    all: Box<[Column]>,
    prices: [bool; 4],
    /// Number of candles in the batch. Column entries at or after this index are meaningless.
    count: usize,
}

impl Columns {
    pub(crate) fn new(values: &InlineSlots) -> Self {
        let columns = values.used_values().iter().map(|value| [*value; MAX_BATCH_CANDLES]);
        Self { all: columns.collect(), prices: values.used_prices(), count: 0 }
    }

    #[inline]
    pub(crate) fn load_prices(&mut self, candles: &[Candle]) {
        self.count = candles.len().min(MAX_BATCH_CANDLES);
        let Some(prices) = self.all.first_chunk_mut() else { return };
        let [open, high, low, close] = prices;
        let [by_open, by_high, by_low, by_close] = self.prices;
        if by_open {
            open.iter_mut().zip(candles).for_each(|(open, candle)| *open = candle.open());
        }
        if by_high {
            high.iter_mut().zip(candles).for_each(|(high, candle)| *high = candle.high());
        }
        if by_low {
            low.iter_mut().zip(candles).for_each(|(low, candle)| *low = candle.low());
        }
        if by_close {
            close.iter_mut().zip(candles).for_each(|(close, candle)| *close = candle.close());
        }
    }

    #[inline]
    pub(crate) fn value_at(&self, place: Slot, candle: usize) -> f64 {
        self.all[place][candle]
    }

    /// Returns a mask with a 1 bit for each candle on which `holds` is true. The first candle is the lowest bit.
    #[inline]
    pub(crate) fn mask_where(&self, one: Slot, other: Slot, holds: impl Fn(f64, f64) -> bool) -> u64 {
        let mut flags = [0_u8; MAX_BATCH_CANDLES];
        let pairs = self.all[one].iter().zip(&self.all[other]);
        flags.iter_mut().zip(pairs).for_each(|(flag, (one, other))| *flag = u8::from(holds(*one, *other)));
        let (bytes, _) = flags.as_chunks();
        bytes.iter().rev().fold(0, |bits, eight| bits << 8 | pack_bits(*eight))
    }

    #[inline]
    pub(crate) fn map(&mut self, of: Slot, out: Slot, values: &mut InlineSlots, value: impl Fn(f64) -> f64) {
        let of = self.all[of];
        self.all[out].iter_mut().zip(&of).for_each(|(out, of)| *out = value(*of));
        self.store_last(out, values);
    }

    #[inline]
    pub(crate) fn zip_with(
        &mut self,
        (one, other): (Slot, Slot),
        out: Slot,
        values: &mut InlineSlots,
        value: impl Fn(f64, f64) -> f64,
    ) {
        let mut made = [f64::NAN; MAX_BATCH_CANDLES];
        let pairs = self.all[one].iter().zip(&self.all[other]);
        made.iter_mut().zip(pairs).for_each(|(made, (one, other))| *made = value(*one, *other));
        self.all[out] = made;
        self.store_last(out, values);
    }

    #[inline]
    pub(crate) fn scan(
        &mut self,
        of: Slot,
        out: Slot,
        values: &mut InlineSlots,
        mut value: impl FnMut(f64) -> f64,
    ) {
        let count = self.count;
        let (of, columns) = self.split(of, out);
        let Some(column) = columns.first_mut() else { return };
        column.iter_mut().zip(&of[..count]).for_each(|(out, of)| *out = value(*of));
        self.store_last(out, values);
    }

    /// Counts how often a condition is true in a rolling window. A count is NaN if any value in the window is unknown.
    /// `window` holds up to `MAX_BATCH_CANDLES` values before the batch, oldest first, and is updated for the next batch.
    #[inline]
    pub(crate) fn count(&mut self, of: Slot, window: &mut [f64], out: Slot, values: &mut InlineSlots) {
        let (new, length) = (self.all[of], window.len());
        let mut all = [f64::NAN; 2 * MAX_BATCH_CANDLES];
        all[..length].copy_from_slice(window);
        all[length..length + MAX_BATCH_CANDLES].copy_from_slice(&new);
        let known = &all[..length + self.count];
        let holds = |condition: f64| f64::from(u8::from(condition == 1.0));
        let mut held: f64 = window.iter().map(|condition| holds(*condition)).sum();
        let column = &mut self.all[out];
        column
            .iter_mut()
            .zip(new.iter().zip(&all))
            .for_each(|(out, (new, old))| *out = holds(*new) - holds(*old));
        for out in &mut column[..self.count] {
            held += *out;
            *out = held;
        }
        if known.iter().fold(false, |is, condition| is | condition.is_nan()) {
            let mut unknown = window.iter().filter(|condition| condition.is_nan()).count();
            for (out, (new, old)) in column[..self.count].iter_mut().zip(new.iter().zip(&all)) {
                unknown = unknown + usize::from(new.is_nan()) - usize::from(old.is_nan());
                if unknown > 0 {
                    *out = f64::NAN;
                }
            }
        }
        window.copy_from_slice(&all[self.count..self.count + length]);
        self.store_last(out, values);
    }

    #[inline]
    pub(crate) fn map_candles(
        &mut self,
        candles: &[Candle],
        out: Slot,
        values: &mut InlineSlots,
        mut value: impl FnMut(&Candle) -> f64,
    ) {
        self.all[out].iter_mut().zip(candles).for_each(|(out, candle)| *out = value(candle));
        self.store_last(out, values);
    }

    pub(crate) fn apply_binary(
        &mut self,
        binary: BinaryOp,
        (one, other): (Slot, Slot),
        out: Slot,
        values: &mut InlineSlots,
    ) {
        macro_rules! loops {
            ($($which:ident),+) => {
                match binary {
                    $(BinaryOp::$which => {
                        self.zip_with((one, other), out, values, |one, other| BinaryOp::$which.apply(one, other));
                    })+
                }
            };
        }
        loops!(Add, Subtract, Multiply, Divide, Min, Max, Less, LessOrEqual, Equal, Unequal, And, Or);
    }

    /// Shifts a column by one candle; `last` becomes the first entry. Returns the value of `last` for the next batch.
    #[inline]
    pub(crate) fn shift(&mut self, of: Slot, last: f64, out: Slot, values: &mut InlineSlots) -> f64 {
        let next = self.count.checked_sub(1).map_or(last, |place| self.all[of][place]);
        self.all.copy_within(of..=of, out);
        self.all[out].copy_within(..MAX_BATCH_CANDLES - 1, 1);
        self.all[out][0] = last;
        self.store_last(out, values);
        next
    }

    #[inline]
    pub(crate) fn compare(&mut self, (one, other): (Slot, Slot), out: Slot, values: &mut InlineSlots) {
        let (one, other, close) = (&self.all[one], &self.all[other], &self.all[Field::CLOSE]);
        let now = std::array::from_fn(|place| compare(one[place], other[place], close[place]));
        self.all[out] = now;
        self.store_last(out, values);
    }

    #[inline]
    pub(crate) fn compare_and_track(
        &mut self,
        (one, other): (Slot, Slot),
        out: Slot,
        values: &mut InlineSlots,
    ) {
        let before = values.at(out);
        self.compare((one, other), out, values);
        self.shift(out, before, out + 1, values);
    }

    #[inline]
    pub(crate) fn update_with_number<I: NumberIndicator>(
        &mut self,
        indicator: &mut I,
        of: Slot,
        out: Slot,
        values: &mut InlineSlots,
    ) {
        let count = self.count;
        let (of, columns) = self.split(of, out);
        indicator.update_columns(&of[..count], &mut columns[..I::LINE_COUNT]);
        self.store_last_lines(out, I::LINE_COUNT, values);
    }

    #[inline]
    pub(crate) fn update_emas(
        &mut self,
        averages: [&mut Ema; 2],
        of: Slot,
        outs: [Slot; 2],
        values: &mut InlineSlots,
    ) {
        let count = self.count;
        let Ok([of, one, other]) = self.all.get_disjoint_mut([of, outs[0], outs[1]]) else { return };
        Ema::update_batch(averages, &of[..count], [one, other].map(|column| &mut column[..count]));
        for out in outs {
            self.store_last(out, values);
        }
    }

    #[inline]
    pub(crate) fn update_with_candle<I: CandleIndicator>(
        &mut self,
        indicator: &mut I,
        candles: &[Candle],
        out: Slot,
        values: &mut InlineSlots,
    ) {
        let lines = candles.iter().map(|candle| indicator.update_lines(candle));
        write_columns(&mut self.all[out..out + I::LINE_COUNT], lines);
        self.store_last_lines(out, I::LINE_COUNT, values);
    }

    /// Returns the column of an operand and all columns from `out` on. Operands precede `out`.
    #[inline]
    fn split(&mut self, of: Slot, out: Slot) -> (&Column, &mut [Column]) {
        let (before, from) = self.all.split_at_mut(out);
        (&before[of], from)
    }

    fn store_last_lines(&self, out: Slot, lines: usize, values: &mut InlineSlots) {
        (out..out + lines).for_each(|line| self.store_last(line, values));
    }

    #[inline]
    fn store_last(&self, out: Slot, values: &mut InlineSlots) {
        if let Some(last) = self.count.checked_sub(1) {
            values.put(out, self.all[out][last]);
        }
    }
}

/// Packs eight bytes, each 0 or 1, into eight bits. The first byte becomes the lowest bit.
#[inline]
fn pack_bits(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

//! Recognition of sealed candles that exploring runs saw under other dates or in an altered form.
//!
//! Each exploring run stores its days in the file of [`SeenMoves`]: 48 half-hour log moves, divided by their median, so
//! a scale has no effect and inverted prices only change the signs. [`find_copies`] shifts the sealed candles by every
//! multiple of 15 minutes within a day and compares their days with all stored days. Windows with many equal or many
//! opposite signs are compared again at each minute. Candles of 1 h, 90 min and 2 h have moves of their own length.
//!
//! Measured: no copy in 6,000 unrelated pairs (3.75 million stored days) and in 3,000 pairs with a correlation of 0.9
//! or 0.93; 1.8 s of CPU time for 60 sealed days and 80,000 stored days. Not found: candles in reverse or at another
//! speed, coarsely rounded prices, and sealed candles above 5 min after a shift between their closes.

use super::LedgerError;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis};
use chrono::NaiveDate;
use rayon::prelude::*;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::PathBuf;

const SLOTS: usize = 48;
const SLOT_MINUTES: i64 = 30;
const DAY_MINUTES: i64 = 24 * 60;
/// Maximum length of a move in slots.
const MAX_MOVE_SLOTS: i64 = 4;
/// Stored value of a slot without a move.
const MISSING_MOVE: i8 = i8::MIN;
/// Stored value of a move of median size.
const MEDIAN_UNITS: f64 = 30.0;
const MIN_DAY_MOVES: usize = 12;
const RECORD_BYTES: usize = 60;
const SHIFT_STEP_MINUTES: i64 = 15;
/// Average number of moves in a window of days.
const WINDOW_MOVES: f64 = 144.0;
/// Minimum number of common nonzero moves in a window.
const MIN_COMMON_MOVES: i32 = 40;
/// Maximum number of days of a [`DayRun`] that have moves. All their moves can be counted in 16 bits.
const MAX_RUN_DAYS: usize = 1_000;
/// Longest gap between the days of a [`DayRun`].
const MAX_GAP_DAYS: i64 = 10;
/// Largest difference between two time zones.
const MAX_ZONE_MINUTES: i64 = 26 * 60;
const COARSE: Limits = Limits { sign_errors: 4.0, correlation: 0.5, zone_correlation: 0.5 };
const EXACT: Limits = Limits { sign_errors: 6.2, correlation: 0.7, zone_correlation: 0.95 };
type Moves = [i8; SLOTS];

/// Moves of one UTC day of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayMoves {
    /// Hash of the symbol, which keeps series apart. The highest 2 bits are the length of the moves in slots, minus 1.
    pub series: u64,
    pub day: NaiveDate,
    /// Log moves in units of 1/30 of the day's median size, clipped at 127 units; -128 if a price is missing.
    pub moves: [i8; SLOTS],
}

/// Sealed days that were seen under other dates or in an altered form. Both ranges exclude their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedDays {
    pub sealed: Range<NaiveDate>,
    pub seen: Range<NaiveDate>,
}

/// The file of the days that exploring runs saw: records of 60 bytes in the order in which they were added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenMoves {
    path: PathBuf,
}

/// The last close in each minute, as a logarithm.
struct MinuteCloses(Vec<(i64, f64)>);

/// Days of a series without long gaps.
struct DayRun {
    /// Days from 1970 to the first day.
    first: i64,
    days: Vec<Moves>,
    /// Two bits per slot of a day: whether the move is up, and whether it is up or down.
    signs: Vec<[u64; 2]>,
    move_slots: i64,
}

/// Minimum values of a copy.
struct Limits {
    /// Distance of the share of equal signs from 1/2 in standard errors.
    sign_errors: f32,
    correlation: f64,
    /// Correlation at shifts that a time zone explains, because twin markets move together.
    zone_correlation: f64,
}

/// Days of a shifted series that are compared with the seen days `lag` days later.
struct Window<'a> {
    days: Range<i64>,
    lag: i64,
    seen: &'a DayRun,
}

/// Returns the moves of the days of `series`, without days that have few moves.
/// Only candles of up to 30 min, 1 h, 90 min and 2 h have moves.
pub fn day_moves(series: &CandleSeries) -> Vec<DayMoves> {
    let Some(slots) = move_slots(series.interval()) else { return Vec::new() };
    let hash = blake3::hash(series.symbol().as_str().as_bytes());
    let hash = hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let id = hash >> 2 | (slots as u64 - 1) << 62;
    let record = |(day, moves)| Some(DayMoves { series: id, day: date(day)?, moves });
    MinuteCloses::new(series).shifted_days(0, slots).into_iter().filter_map(record).collect()
}

/// Returns the sealed days whose moves were seen, possibly with opposite signs.
/// `sealed` must not contain explored days, because days that were seen under their own date are copies too.
pub fn find_copies(sealed: &CandleSeries, seen: &[DayMoves]) -> Vec<CopiedDays> {
    let Some(own_slots) = move_slots(sealed.interval()) else { return Vec::new() };
    let (closes, seen) = (MinuteCloses::new(sealed), DayRun::from_stored(seen, own_slots));
    let mut copies = Vec::new();
    for runs in seen.chunk_by(|one, two| one.move_slots == two.move_slots) {
        let steps = (0..DAY_MINUTES / SHIFT_STEP_MINUTES).into_par_iter();
        let found = |step: i64| closes.find_copies(step * SHIFT_STEP_MINUTES, runs);
        copies.par_extend(steps.flat_map_iter(found));
    }
    merge(copies)
}

impl DayMoves {
    pub fn to_bytes(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.series.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.day.to_epoch_days().to_le_bytes());
        bytes[12..].copy_from_slice(&self.moves.map(i8::cast_unsigned));
        bytes
    }

    /// Returns `None` if the day is not in the calendar.
    pub fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let (series, rest) = bytes.split_first_chunk()?;
        let (day, rest) = rest.split_first_chunk()?;
        let day = NaiveDate::from_epoch_days(i32::from_le_bytes(*day))?;
        let moves = rest.first_chunk()?.map(u8::cast_signed);
        Some(Self { series: u64::from_le_bytes(*series), day, moves })
    }
}

impl SeenMoves {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Adds the days that are not stored yet. They are durable on return.
    pub fn add(&self, days: &[DayMoves]) -> Result<(), LedgerError> {
        self.append(days).map_err(|source| LedgerError::File { path: self.path.clone(), source })
    }

    /// Returns the stored days. A file that does not exist has none. A partial last record is ignored.
    pub fn read(&self) -> Result<Vec<DayMoves>, LedgerError> {
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            bytes => bytes.map_err(|source| LedgerError::File { path: self.path.clone(), source })?,
        };
        Ok(bytes.as_chunks().0.iter().filter_map(DayMoves::from_bytes).collect())
    }

    fn append(&self, days: &[DayMoves]) -> io::Result<()> {
        self.path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(&self.path)?;
        file.lock()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (stored, partial) = bytes.as_chunks::<RECORD_BYTES>();
        let mut known: HashSet<[u8; RECORD_BYTES]> = stored.iter().copied().collect();
        let records = days.iter().map(DayMoves::to_bytes);
        let new: Vec<u8> = records.filter(|record| known.insert(*record)).flatten().collect();
        // New records overwrite a partial one.
        file.seek(SeekFrom::Start((bytes.len() - partial.len()) as u64))?;
        file.write_all(&new)?;
        file.sync_all()
    }
}

impl MinuteCloses {
    fn new(series: &CandleSeries) -> Self {
        let minute = |candle: &Candle| ceil_div(candle.close_time(series.interval()).get(), 60_000);
        Self(keep_last(series.candles().iter().map(|candle| (minute(candle), candle.close().ln()))))
    }

    /// Returns the days after a shift of all closes by `shift` minutes.
    /// A move ends at the last close in its last half hour and starts at the last close in the half hour before it.
    fn shifted_days(&self, shift: i64, move_slots: i64) -> Vec<(i64, Moves)> {
        let ends = self.0.iter().map(|(minute, close)| (ceil_div(minute + shift, SLOT_MINUTES), *close));
        let ends = keep_last(ends);
        let log_move = |(index, (end, close)): (usize, &(i64, f64))| {
            let mut before = ends[..index].iter().rev().take(move_slots as usize);
            let (_, start) = before.find(|(start, _)| *start == end - move_slots)?;
            Some((end - 1, close - start))
        };
        let moves: Vec<(i64, f64)> = ends.iter().enumerate().filter_map(log_move).collect();
        let day = |slot: i64| slot.div_euclid(SLOTS as i64);
        let days = moves.chunk_by(|one, two| day(one.0) == day(two.0));
        days.filter_map(|moves| Some((day(moves[0].0), to_units(moves)?))).collect()
    }

    fn find_copies(&self, shift: i64, seen: &[DayRun]) -> Vec<CopiedDays> {
        let move_slots = seen[0].move_slots;
        let days = self.shifted_days(shift, move_slots);
        let exact = OnceCell::new();
        let shift_by_minutes = || {
            let shifts = shift - SHIFT_STEP_MINUTES / 2..=shift + SHIFT_STEP_MINUTES / 2;
            shifts.map(|shift| (shift, self.shifted_days(shift, move_slots))).collect::<Vec<_>>()
        };
        let mut copies = Vec::new();
        for own in DayRun::split(&days, move_slots) {
            for window in seen.iter().flat_map(|seen| own.similar_windows(seen)) {
                if window.is_copy(shift, &days, &COARSE) {
                    let mut exact = exact.get_or_init(shift_by_minutes).iter();
                    let found = exact.find(|(shift, days)| window.is_copy(*shift, days, &EXACT));
                    copies.extend(found.and_then(|(shift, _)| self.copied_days(&window, *shift)));
                }
            }
        }
        copies
    }

    fn copied_days(&self, window: &Window<'_>, shift: i64) -> Option<CopiedDays> {
        let days = (self.0.first()?.0 - 1).div_euclid(DAY_MINUTES)..ceil_div(self.0.last()?.0, DAY_MINUTES);
        let first = (window.days.start * DAY_MINUTES - shift).div_euclid(DAY_MINUTES).max(days.start);
        let until = ceil_div(window.days.end * DAY_MINUTES - shift, DAY_MINUTES).min(days.end);
        let seen = date(window.days.start + window.lag)?..date(window.days.end + window.lag)?;
        Some(CopiedDays { sealed: date(first)?..date(until)?, seen })
    }
}

impl DayRun {
    /// Returns the runs in ascending order of the length of their moves, which is at least `min_slots`.
    /// Days that are stored again with other moves, such as those of another vendor, become runs of their own.
    fn from_stored<'a>(stored: &'a [DayMoves], min_slots: i64) -> Vec<Self> {
        let mut versions = HashMap::new();
        let with_version = |day: &'a DayMoves| {
            let version = versions.entry((day.series, day.day)).or_insert(0);
            *version += 1;
            (*version, day)
        };
        let mut sorted: Vec<(u32, &DayMoves)> = stored.iter().map(with_version).collect();
        sorted.sort_unstable_by_key(|(version, day)| (day.series, *version, day.day));
        let series = sorted.chunk_by(|one, two| (one.0, one.1.series) == (two.0, two.1.series));
        let split = |days: &[(u32, &DayMoves)]| {
            let move_slots = (days[0].1.series >> 62) as i64 + 1;
            let days = days.iter().map(|(_, day)| (day.day.to_epoch_days().into(), day.moves));
            Self::split(&days.collect::<Vec<_>>(), move_slots)
        };
        let longer = |run: Self| run.with_longer_moves(run.move_slots.max(min_slots));
        series.flat_map(split).filter_map(longer).collect()
    }

    fn split(days: &[(i64, Moves)], move_slots: i64) -> Vec<Self> {
        let without_gaps = days.chunk_by(|one, two| two.0 - one.0 <= MAX_GAP_DAYS);
        let run = |days: &[(i64, Moves)]| {
            let (first, last) = (days[0].0, days[days.len() - 1].0);
            let index = |day| days.binary_search_by_key(&day, |known| known.0);
            let moves = |day| index(day).map_or([MISSING_MOVE; SLOTS], |index| days[index].1);
            Self::new(first, (first..=last).map(moves).collect(), move_slots)
        };
        without_gaps.flat_map(|days| days.chunks(MAX_RUN_DAYS)).map(run).collect()
    }

    fn new(first: i64, days: Vec<Moves>, move_slots: i64) -> Self {
        let add_slot = |[up, moved]: [u64; 2], size: &i8| {
            [up << 1 | u64::from(*size > 0), moved << 1 | u64::from(!matches!(*size, 0 | MISSING_MOVE))]
        };
        let signs = days.iter().map(|day| day.iter().fold([0; 2], add_slot)).collect();
        Self { first, days, signs, move_slots }
    }

    /// Returns the run with sums of successive moves. `None` if `slots` is not a multiple of the present length.
    fn with_longer_moves(&self, slots: i64) -> Option<Self> {
        let (length, count) = (self.move_slots as usize, (slots / self.move_slots) as usize);
        let sum = |day: &Moves, slot: usize| {
            let sizes = (0..count).map(|index| slot.checked_sub(index * length).map(|slot| day[slot]));
            let sizes = sizes.map(|size| size.filter(|size| *size != MISSING_MOVE).map(f64::from));
            let size = sizes.sum::<Option<f64>>()? / (count as f64).sqrt();
            Some(size.round().clamp(-127.0, 127.0) as i8)
        };
        let longer = |day| std::array::from_fn(|slot| sum(day, slot).unwrap_or(MISSING_MOVE));
        let days = self.days.iter().map(longer);
        (slots % self.move_slots == 0).then(|| Self::new(self.first, days.collect(), slots))
    }

    /// Returns the windows of one day and of several days in which the share of equal signs is far from 1/2.
    fn similar_windows<'a>(&self, seen: &'a Self) -> Vec<Window<'a>> {
        let moves = |run: &Self| run.signs.iter().map(|[_, moved]| moved.count_ones()).sum::<u32>();
        let moves_per_day = |run: &Self| f64::from(moves(run)) / run.days.len() as f64;
        let window_days = WINDOW_MOVES / moves_per_day(self).min(moves_per_day(seen));
        // Sums over all days before: common moves in the lower 16 bits, opposite moves in the upper 16 bits.
        let mut totals = vec![0_u32; self.days.len() + 1];
        let mut windows = Vec::new();
        for offset in 1 - self.days.len() as i64..seen.days.len() as i64 {
            let (own_first, seen_first) = ((-offset).max(0) as usize, offset.max(0) as usize);
            let count = (self.days.len() - own_first).min(seen.days.len() - seen_first);
            let totals = &mut totals[..=count];
            let days = self.signs[own_first..].iter().zip(&seen.signs[seen_first..]);
            for (total, ([own_up, own_moved], [up, moved])) in totals[1..].iter_mut().zip(days) {
                let moved = own_moved & moved;
                *total = moved.count_ones() | ((own_up ^ up) & moved).count_ones() << 16;
            }
            let mut sum = 0_u32;
            for total in &mut totals[1..] {
                sum = sum.wrapping_add(*total);
                *total = sum;
            }
            let lag = offset + seen.first - self.first;
            // Twin markets move together on some days, so days of about the same date are only compared as a whole.
            let is_near = (-2..=1).contains(&lag);
            let lengths = if is_near { [count; 2] } else { [1, count.min(window_days.ceil() as usize)] };
            for (length, errors) in lengths.into_iter().zip([EXACT.sign_errors, COARSE.sign_errors]) {
                let is_similar = |(end, start): (&u32, &u32)| {
                    let sum = end.wrapping_sub(*start);
                    let (moved, opposite) = ((sum & 0xFFFF) as i32, (sum >> 16) as i32);
                    are_signs_unlikely(moved, moved - 2 * opposite, errors)
                };
                let sums = || totals[length..].iter().zip(&*totals);
                // A fold without branches is faster than `any`.
                if sums().fold(false, |found, sums| found | is_similar(sums)) {
                    for (index, _) in sums().enumerate().filter(|(_, sums)| is_similar(*sums)) {
                        let start = self.first + (own_first + index) as i64;
                        windows.push(Window { days: start..start + length as i64, lag, seen });
                    }
                }
            }
        }
        windows
    }
}

impl Window<'_> {
    fn is_copy(&self, shift: i64, days: &[(i64, Moves)], limits: &Limits) -> bool {
        let days = days.iter().filter(|(day, _)| self.days.contains(day));
        let seen = |day: i64| &self.seen.days[(day + self.lag - self.seen.first) as usize];
        let pairs = days.flat_map(|(day, own)| own.iter().zip(seen(*day)));
        let pairs = pairs.filter(|(own, seen)| **own != MISSING_MOVE && **seen != MISSING_MOVE);
        let pairs: Vec<[f64; 2]> = pairs.map(|(own, seen)| [f64::from(*own), f64::from(*seen)]).collect();
        let sum = |value: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(value).sum::<f64>();
        let covariance = |one: usize, two: usize| {
            pairs.len() as f64 * sum(&|pair| pair[one] * pair[two])
                - sum(&|pair| pair[one]) * sum(&|pair| pair[two])
        };
        // NaN if one side does not move.
        let correlation = covariance(0, 1) / (covariance(0, 0) * covariance(1, 1)).sqrt();
        let moved = sum(&|pair| (pair[0] * pair[1]).abs().min(1.0));
        let net_signs = sum(&|pair| (pair[0] * pair[1]).clamp(-1.0, 1.0));
        let is_near = (self.lag * DAY_MINUTES + shift).abs() <= MAX_ZONE_MINUTES;
        correlation.abs() >= if is_near { limits.zone_correlation } else { limits.correlation }
            && correlation * net_signs > 0.0
            && are_signs_unlikely(moved as i32, net_signs as i32, limits.sign_errors)
    }
}

fn are_signs_unlikely(moved: i32, net_signs: i32, errors: f32) -> bool {
    let net = net_signs as f32;
    moved >= MIN_COMMON_MOVES && net * net > errors * errors * moved as f32
}

fn move_slots(interval: Interval) -> Option<i64> {
    let slot = Millis::MINUTE * SLOT_MINUTES;
    let slots = ceil_div(interval.length().get(), slot.get());
    (slots == 1 || slots <= MAX_MOVE_SLOTS && interval.length().is_aligned_to(slot)).then_some(slots)
}

/// Keeps the last price of each time.
fn keep_last(prices: impl Iterator<Item = (i64, f64)>) -> Vec<(i64, f64)> {
    let mut kept: Vec<(i64, f64)> = Vec::new();
    for price in prices {
        kept.pop_if(|last| last.0 == price.0);
        kept.push(price);
    }
    kept
}

/// Returns `None` if there are too few moves or the price never moves.
fn to_units(moves: &[(i64, f64)]) -> Option<Moves> {
    let mut sizes: Vec<f64> = moves.iter().map(|(_, size)| size.abs()).filter(|size| *size > 0.0).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let median = sizes.get(sizes.len() / 2).filter(|_| moves.len() >= MIN_DAY_MOVES)?;
    let mut units = [MISSING_MOVE; SLOTS];
    for (slot, size) in moves {
        // Rounded away from zero, because the signs of small moves count as well.
        let unit = (size.abs() / median * MEDIAN_UNITS).ceil().min(127.0).copysign(*size);
        units[slot.rem_euclid(SLOTS as i64) as usize] = unit as i8;
    }
    Some(units)
}

/// Joins copies whose sealed days and seen days overlap or touch.
fn merge(mut copies: Vec<CopiedDays>) -> Vec<CopiedDays> {
    copies.sort_unstable_by_key(|copy| (copy.sealed.start, copy.seen.start));
    let mut merged: Vec<CopiedDays> = Vec::new();
    for CopiedDays { sealed, seen } in copies {
        let touches = |copy: &&mut CopiedDays| {
            sealed.start <= copy.sealed.end && seen.start <= copy.seen.end && copy.seen.start <= seen.end
        };
        if let Some(copy) = merged.iter_mut().find(touches) {
            copy.sealed.end = copy.sealed.end.max(sealed.end);
            copy.seen = copy.seen.start.min(seen.start)..copy.seen.end.max(seen.end);
        } else {
            merged.push(CopiedDays { sealed, seen });
        }
    }
    merged
}

fn date(day: i64) -> Option<NaiveDate> {
    NaiveDate::from_epoch_days(i32::try_from(day).ok()?)
}

fn ceil_div(value: i64, divisor: i64) -> i64 {
    -(-value).div_euclid(divisor)
}

#[cfg(test)]
mod tests;

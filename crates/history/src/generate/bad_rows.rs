//! Adds deliberate defects to generated candles: gaps and bad rows, for tests of the data checks.

use super::Dice;
use crate::disk::{SystemDisk, replace};
use crate::{CSV_HEADER, FindingKind, HistoryError};
use candlewick_sdk::{Candle, CandleSeries, Millis};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

const MAX_GAP_CANDLES: u32 = 10;
const MIN_DISTANCE_CANDLES: usize = 3;
/// Bit pattern that modifies the seed, so that the choice of defects is independent of the prices.
const SEED_MASK: u64 = 0x5A5A_5A5A_5A5A_5A5A;

type FormatRow = fn(&Candle, Option<&Candle>) -> String;

const BAD_ROWS: [(FindingKind, FormatRow); 9] = [
    (FindingKind::Unreadable, |candle, _| format!("{},{},{}", candle.time(), candle.open(), candle.high())),
    (FindingKind::NotFinite, |candle, _| {
        csv_row(candle, candle.time(), f64::NAN, candle.low(), candle.volume())
    }),
    (FindingKind::Price, |candle, _| csv_row(candle, candle.time(), candle.high(), 0.0, candle.volume())),
    (FindingKind::Volume, |candle, _| csv_row(candle, candle.time(), candle.high(), candle.low(), -1.0)),
    (FindingKind::Range, |candle, _| {
        csv_row(candle, candle.time(), candle.low() / 2.0, candle.low(), candle.volume())
    }),
    (FindingKind::Misaligned, |candle, _| {
        let time = candle.time() + Millis::new(1);
        csv_row(candle, time, candle.high(), candle.low(), candle.volume())
    }),
    (FindingKind::Unsorted, |candle, next| {
        format!("{}\n{}", next.map(format_candle_row).unwrap_or_default(), format_candle_row(candle))
    }),
    (FindingKind::Duplicate, |candle, _| format!("{0}\n{0}", format_candle_row(candle))),
    (FindingKind::Spike, |candle, _| {
        csv_row(candle, candle.time(), candle.high() * 2.0, candle.low(), candle.volume())
    }),
];

/// Removes candles to create gaps of 1 to 10 candles. No gap is near another gap or an end of the series.
pub fn with_gaps(series: &CandleSeries, gaps: u32, seed: u64) -> Result<CandleSeries, HistoryError> {
    if gaps == 0 {
        return Ok(series.clone());
    }
    let candles = series.candles();
    let mut dice = Dice::new(series.symbol(), seed ^ SEED_MASK);
    let mut kept: Vec<Candle> = Vec::with_capacity(candles.len());
    let mut from = 0;
    for slot in
        slots(candles.len(), gaps, MAX_GAP_CANDLES as usize).ok_or_else(|| too_many_error("gaps", gaps))?
    {
        let length = dice.between(1, MAX_GAP_CANDLES) as usize;
        let start = slot.start + dice.between(0, (slot.len() - length) as u32) as usize;
        kept.extend_from_slice(&candles[from..start]);
        from = start + length;
    }
    kept.extend_from_slice(&candles[from..]);
    Ok(CandleSeries::new(series.series(), kept).expect("a subset of a series with both ends is valid"))
}

#[derive(Clone, Debug)]
pub struct BadRows {
    series: CandleSeries,
    bad: Vec<(usize, FindingKind, FormatRow)>,
}

impl BadRows {
    pub fn new(series: CandleSeries, count: u32, seed: u64) -> Result<Self, HistoryError> {
        let mut dice = Dice::new(series.symbol(), !seed ^ SEED_MASK);
        let slots =
            slots(series.candles().len(), count, 1).ok_or_else(|| too_many_error("bad-rows", count))?;
        let places = slots.map(|slot| slot.start + dice.between(0, slot.len() as u32 - 1) as usize);
        let bad = places.zip(BAD_ROWS.into_iter().cycle()).map(|(place, (kind, row))| (place, kind, row));
        Ok(Self { bad: bad.collect(), series })
    }

    pub fn counts(&self) -> BTreeMap<FindingKind, u64> {
        let mut counts = BTreeMap::new();
        for (_, kind, _) in &self.bad {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        counts
    }

    pub fn write_csv(&self, mut writer: impl Write) -> io::Result<()> {
        let candles = self.series.candles();
        writeln!(writer, "{CSV_HEADER}")?;
        // Whether the next row was already written.
        let mut is_written = false;
        for (index, candle) in candles.iter().enumerate() {
            if std::mem::take(&mut is_written) {
                continue;
            }
            match self.bad.binary_search_by_key(&index, |(place, ..)| *place) {
                Ok(place) => {
                    let (_, kind, format_row) = self.bad[place];
                    writeln!(writer, "{}", format_row(candle, candles.get(index + 1)))?;
                    is_written = kind == FindingKind::Unsorted;
                }
                Err(_) => writeln!(writer, "{}", format_candle_row(candle))?,
            }
        }
        writer.flush()
    }

    pub fn write_csv_file(&self, path: &Path) -> Result<(), HistoryError> {
        let mut text = Vec::new();
        let written = self.write_csv(&mut text).and_then(|()| replace(&SystemDisk, path, &[&text]));
        written.map_err(HistoryError::io(path, "write"))
    }
}

fn format_candle_row(candle: &Candle) -> String {
    csv_row(candle, candle.time(), candle.high(), candle.low(), candle.volume())
}

fn csv_row(candle: &Candle, time: Millis, high: f64, low: f64, volume: f64) -> String {
    format!("{time},{},{high},{low},{},{volume}", candle.open(), candle.close())
}

fn slots(candles: usize, count: u32, minimum: usize) -> Option<impl Iterator<Item = std::ops::Range<usize>>> {
    let count = count as usize;
    let width = candles.checked_sub(2 * MIN_DISTANCE_CANDLES)?.checked_div(count).unwrap_or(usize::MAX);
    // 32 bits of randomness are enough.
    let length = width.checked_sub(MIN_DISTANCE_CANDLES).filter(|length| *length >= minimum)?.min(1 << 30);
    Some((0..count).map(move |index| {
        let start = MIN_DISTANCE_CANDLES + index * width;
        start..start + length
    }))
}

fn too_many_error(setting: &'static str, count: u32) -> HistoryError {
    let problem = format!("{count} is too many for this number of candles; use a lower number or more days");
    HistoryError::InvalidSetting { setting, problem }
}

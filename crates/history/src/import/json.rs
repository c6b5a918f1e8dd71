//! Freqtrade JSON: a list of `[time, open, high, low, close, volume]` rows, parsed one by one.

use super::row::{Clock, FileRows, Problem, Row, RowUnit};
use candlewick_sdk::{Millis, Ohlcv};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::io::BufRead;

const COLUMN_COUNT: usize = 6;
/// Number of columns in raw exchange responses, which also contain close time, quote volume and trade count.
const EXCHANGE_COLUMNS: usize = 12;
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

pub(super) fn decode(reader: impl BufRead) -> Result<FileRows, Problem> {
    let mut decoded = FileRows::new(Clock::Utc, RowUnit::Row);
    let mut source = serde_json::Deserializer::from_reader(reader);
    let read = TableVisitor(&mut decoded).deserialize(&mut source).and_then(|()| source.end());
    read.map_err(|error| {
        if error.is_io() {
            return Problem::Io(error.into());
        }
        Problem::File(format!(
            "{error}; the format freqtrade-json is a list of [time, open, high, low, close, volume]"
        ))
    })?;
    Ok(decoded)
}

struct TableVisitor<'a>(&'a mut FileRows);

impl<'de> DeserializeSeed<'de> for TableVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TableVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut place = 0;
        while let Some(Cells { count, cells }) = list.next_element()? {
            place += 1;
            let content = || format!("{:?}", &cells[..count.min(COLUMN_COUNT)]);
            self.0.push(place, build_row(count, cells).map(Some), content).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

struct Cells {
    count: usize,
    cells: [Option<f64>; COLUMN_COUNT],
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct CellsVisitor;
        impl<'de> Visitor<'de> for CellsVisitor {
            type Value = Cells;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row of six numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Cells, A::Error> {
                let mut row = Cells { count: 0, cells: [None; COLUMN_COUNT] };
                while row.count < COLUMN_COUNT {
                    let Some(Cell(cell)) = list.next_element()? else { return Ok(row) };
                    row.cells[row.count] = cell;
                    row.count += 1;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {
                    row.count += 1;
                }
                Ok(row)
            }
        }
        source.deserialize_seq(CellsVisitor)
    }
}

struct Cell(Option<f64>);

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum NumberOrText {
            Number(f64),
            Text(String),
        }
        let read = match Option::<NumberOrText>::deserialize(source)? {
            None => None,
            Some(NumberOrText::Number(number)) => Some(number),
            Some(NumberOrText::Text(text)) => {
                Some(text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not a number")))?)
            }
        };
        Ok(Self(read))
    }
}

fn build_row(count: usize, cells: [Option<f64>; COLUMN_COUNT]) -> Result<Row, String> {
    if count != COLUMN_COUNT && count != EXCHANGE_COLUMNS {
        return Err(format!("the row has {count} numbers instead of {COLUMN_COUNT}"));
    }
    let [Some(time), Some(open), Some(high), Some(low), Some(close), Some(volume)] = cells else {
        return Err("a number is null".to_owned());
    };
    if time.fract() != 0.0 || time.abs() > MAX_EXACT_INTEGER {
        return Err(format!("time {time} is not a whole number of milliseconds since 1970"));
    }
    Ok(Row { time: Millis::new(time as i64), numbers: Ohlcv { open, high, low, close, volume } })
}

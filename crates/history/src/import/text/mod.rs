//! Line-based formats: layouts detected by the first line, with common row parsing.

mod layout;
mod moment;
mod vendor;

use super::ImportFormat;
use super::labels::Labels;
use super::lines::Lines;
use super::problem::Problem;
use super::row::{Decoded, Unit};
use crate::csv::excerpt;
use candlewick_sdk::{Interval, Millis};
use layout::{Header, Layout, Line};
use std::io::BufRead;

pub(super) fn format_of(first: &str) -> Option<ImportFormat> {
    vendor::LAYOUTS.iter().find(|(_, layout_of)| layout_of(first).is_some()).map(|(format, _)| *format)
}

pub(super) fn reads(format: ImportFormat, first: &str, second: &str) -> bool {
    match layout_of(format, first.as_bytes()) {
        Ok(layout) if layout.header == Header::Present => layout.read(second.as_bytes()).is_ok(),
        Ok(_) => true,
        Err(_) => false,
    }
}

pub(super) fn decode(
    format: ImportFormat,
    reader: impl BufRead,
    only: &[String],
) -> Result<Decoded, Problem> {
    let mut lines = Lines::new(reader);
    let Some((number, first)) = lines.next()? else {
        return Err(Problem::Empty("the file is empty; it needs at least one candle".to_owned()));
    };
    let layout = layout_of(format, first).map_err(|problem| Problem::Line { line: number, problem })?;
    let mut decoded = Decoded::new(layout.clock, Unit::Line);
    decoded.interval = layout.interval;
    decoded.labels = Labels::new(layout.labels, only);
    let mut length = Length::default();
    if layout.header == Header::Absent {
        keep(&mut decoded, number, first, layout, &mut length)?;
    }
    while let Some((number, line)) = lines.next()? {
        keep(&mut decoded, number, line, layout, &mut length)?;
    }
    if let Some(stated) = length.0 {
        decoded.interval = Interval::from_seconds(stated.get() / 1_000).ok();
    }
    Ok(decoded)
}

#[derive(Default)]
struct Length(Option<Millis>);

fn is_month(length: Millis) -> bool {
    (28..=31).any(|days| Millis::DAY * days == length)
}

impl Length {
    fn hold(&mut self, line: &Line) -> Result<(), String> {
        let Some(length) = line.length else { return Ok(()) };
        let first = *self.0.get_or_insert(length);
        let is_equal = first == length && length.is_aligned_to(Millis::SECOND);
        if is_equal || is_month(first) && is_month(length) {
            return Ok(());
        }
        Err(format!(
            "the candle lasts {length} ms, the first one {first} ms; a file holds candles of one length"
        ))
    }
}

fn keep(
    decoded: &mut Decoded,
    number: u64,
    line: &[u8],
    layout: Layout,
    length: &mut Length,
) -> Result<(), Problem> {
    if layout.labels.is_some() {
        let text = String::from_utf8_lossy(line);
        let cells: Vec<&str> = text.split(char::from(layout.separator)).collect();
        if !decoded.labels.accept(number, |column| cells.get(column).copied().unwrap_or_default()) {
            return Ok(());
        }
    }
    let read = layout.read(line).and_then(|line| match line {
        Some(line) => length.hold(&line).map(|()| {
            decoded.decimals = decoded.decimals.and(line.decimals);
            Some(line.row)
        }),
        None => Ok(None),
    });
    let content = || String::from_utf8_lossy(line).into_owned();
    decoded.keep(number, read, content).map_err(Problem::File)
}

fn layout_of(format: ImportFormat, first: &[u8]) -> Result<Layout, String> {
    let known = vendor::LAYOUTS.iter().filter(|(of, _)| *of == format);
    let text = std::str::from_utf8(first).ok();
    let found = text.and_then(|text| known.clone().find_map(|(_, layout_of)| layout_of(text)));
    found.ok_or_else(|| {
        let expected = vendor::first_line_of(format);
        format!("the first line is \"{}\"; in the format {format} it is like \"{expected}\"", excerpt(first))
    })
}

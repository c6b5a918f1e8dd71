//! Import of tables with named columns from spreadsheets, scripts and charting sites.
//!
//! The first pass determines column roles and the formats of numbers and times. The second pass reads the rows.

use super::labels::Labels;
use super::row::{Clock, DecimalCount, FileRows, Problem, Row, RowUnit};
use crate::csv::excerpt;
use candlewick_sdk::Ohlcv;
use columns::{Columns, Header};
use csv::StringRecord;
use number::NumberStyle;
use std::borrow::Cow;
use time::TimeStyle;

mod columns;
mod number;
mod settings;
mod time;

pub use settings::{ColumnRoles, DateOrder, DecimalMark, Delimiter, ParseTableOptionError, TableSettings};

pub(super) const NOT_UTF8: &str = "the file is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8)";

pub(super) struct NamedTable {
    pub(super) decoded: FileRows,
    pub(super) layout: String,
}

pub(super) fn may_be_table(first: &str) -> bool {
    Delimiter::CANDIDATES.iter().any(|delimiter| split(first, *delimiter).len() >= 5)
        || is_space_separated(first)
}

pub(super) fn can_read(first: &str, second: &str) -> bool {
    let is_whole = |delimiter: &Delimiter| {
        let names = split(first, *delimiter).len();
        names >= 5 && names == split(second, *delimiter).len()
    };
    let content = format!("{first}\n{second}\n");
    Delimiter::CANDIDATES.iter().any(is_whole)
        && match decode(content.as_bytes(), &TableSettings::default(), &[]) {
            Ok(table) => !table.decoded.rows.is_empty(),
            Err(problem) => matches!(problem, Problem::Ambiguous { .. }),
        }
}

pub(super) fn decode(bytes: &[u8], settings: &TableSettings, only: &[String]) -> Result<NamedTable, Problem> {
    let content = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let content = &*clear_preamble(content);
    let first = content.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first =
        first.ok_or_else(|| Problem::Empty("the file is empty; it needs at least one candle".to_owned()))?;
    let first =
        std::str::from_utf8(first.trim_ascii_end()).map_err(|_| Problem::File(NOT_UTF8.to_owned()))?;
    let delimiter = detect_delimiter(first, settings)?;
    let content = &*collapse_spaces(content, delimiter);
    let mut records = Records::new(content, delimiter);
    let Some(header) = records.next() else {
        return Err(Problem::Empty("the file has no row with values".to_owned()));
    };
    let (_, header) = header?;
    let sample = records.next().transpose()?.map(|(_, record)| record);
    let mut columns = Columns::detect(&header, sample.as_ref(), settings.columns.as_ref())?;
    if columns.has_clock() {
        for record in data_records(content, delimiter, &columns) {
            columns.update_clock_digits(&record?.1);
        }
    }
    let seen = survey_table(content, delimiter, &columns)?;
    let numbers = NumberStyle::detect(&seen.numbers, settings.decimal, delimiter)?;
    let times = TimeStyle::detect(&seen.times, settings.date_order)?;
    let clock = if columns.is_utc && times.clock() == Clock::Wall { Clock::Utc } else { times.clock() };
    let mut decoded = FileRows::new(clock, RowUnit::Line);
    decoded.labels = Labels::new(columns.labels, only);
    let has_end = content.ends_with(b"\n") || content.ends_with(b"\r");
    let mut records = data_records(content, delimiter, &columns).peekable();
    let mut previous = None;
    while let Some(record) = records.next() {
        let (line, record) = record?;
        if !decoded.labels.accept(line, |column| cell(&record, column)) {
            previous = Some(record);
            continue;
        }
        let is_last = !has_end && records.peek().is_none();
        let cut = is_last.then(|| columns.check_last_column(&record, previous.as_ref())).flatten();
        let read = cut.map_or_else(|| parse_row(&record, &columns, numbers, times), Err);
        if let Ok(Some(_)) = read {
            let prices = columns.prices.map(|column| cell(&record, column));
            decoded.decimals =
                decoded.decimals.merge(DecimalCount::from_prices(prices, numbers.decimal_mark()));
        }
        decoded.push(line, read, || record.iter().collect::<Vec<_>>().join(",")).map_err(Problem::File)?;
        previous = Some(record);
    }
    let (between, marks) = (delimiter.describe(), numbers.describe());
    let reading = format!("{columns}; separated by {between}{marks}; times: {}", times.describe());
    Ok(NamedTable { decoded, layout: reading })
}

pub(super) fn preamble_length(content: &[u8]) -> usize {
    let is_remark = |line: &&[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || [&b"#"[..], b"http://", b"https://"].iter().any(|mark| line.starts_with(mark))
    };
    content.split_inclusive(|byte| *byte == b'\n').take_while(is_remark).map(<[u8]>::len).sum()
}

/// Replaces the lines before the table with blank lines to preserve line numbers.
fn clear_preamble(content: &[u8]) -> Cow<'_, [u8]> {
    let length = preamble_length(content);
    if content[..length].trim_ascii().is_empty() {
        return Cow::Borrowed(content);
    }
    let ends = content[..length].iter().filter(|byte| **byte == b'\n').copied();
    Cow::Owned(ends.chain(content[length..].iter().copied()).collect())
}

#[derive(Default)]
struct TableSurvey {
    numbers: number::NumberSurvey,
    times: time::TimeSurvey,
}

fn survey_table(content: &[u8], delimiter: Delimiter, columns: &Columns) -> Result<TableSurvey, Problem> {
    let mut seen = TableSurvey::default();
    for record in data_records(content, delimiter, columns) {
        let (_, record) = record?;
        for column in columns.prices.iter().chain(&columns.volume) {
            seen.numbers.add(cell(&record, *column));
        }
        seen.times.add(&columns.join_time(&record));
    }
    Ok(seen)
}

fn parse_row(
    record: &StringRecord,
    columns: &Columns,
    numbers: NumberStyle,
    times: TimeStyle,
) -> Result<Option<Row>, String> {
    if let Some(problem) = columns.check_column_count(record.len()) {
        return Err(problem);
    }
    let prices = columns.prices.map(|column| cell(record, column));
    if prices.iter().all(|price| number::is_missing(price)) {
        return Ok(None);
    }
    let time = times.parse(&columns.join_time(record))?;
    let price = |name: &str, text: &str| {
        numbers.parse(text).ok_or_else(|| format!("{name} \"{}\" is not a number", excerpt(text.as_bytes())))
    };
    let [open, high, low, close] = prices;
    let volume = match columns.volume.map(|column| cell(record, column)) {
        Some(text) if !number::is_missing(text) => numbers
            .to_volume(text)
            .ok_or_else(|| format!("volume \"{}\" is not a number", excerpt(text.as_bytes())))?,
        _ => 0.0,
    };
    let numbers = Ohlcv {
        open: price("open", open)?,
        high: price("high", high)?,
        low: price("low", low)?,
        close: price("close", close)?,
        volume,
    };
    Ok(Some(Row { time, numbers }))
}

fn cell(record: &StringRecord, column: usize) -> &str {
    record.get(column).unwrap_or_default().trim()
}

fn data_records<'a>(
    content: &'a [u8],
    delimiter: Delimiter,
    columns: &Columns,
) -> impl Iterator<Item = Result<(u64, StringRecord), Problem>> + use<'a> {
    Records::new(content, delimiter).skip(usize::from(columns.header == Header::Present))
}

struct Records<'a> {
    content: &'a [u8],
    records: csv::StringRecordsIntoIter<&'a [u8]>,
}

impl<'a> Records<'a> {
    fn new(content: &'a [u8], delimiter: Delimiter) -> Self {
        let mut builder = csv::ReaderBuilder::new();
        let builder = builder.has_headers(false).flexible(true).delimiter(delimiter.byte());
        Self { content, records: builder.from_reader(content).into_records() }
    }

    /// Returns the line number of the record at `position`, skipping blank lines before it. Returns 0 for `None`.
    fn line_number(&self, position: Option<&csv::Position>) -> u64 {
        let Some(position) = position else { return 0 };
        let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
        let before = self.content.get(from..).unwrap_or_default();
        let ends = before.iter().take_while(|byte| b"\r\n".contains(byte));
        position.line() + ends.filter(|byte| **byte == b'\n').count() as u64
    }
}

impl Iterator for Records<'_> {
    type Item = Result<(u64, StringRecord), Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.records.next()? {
                Ok(record) if record.iter().all(|cell| cell.trim().is_empty()) => {}
                Ok(record) => {
                    let line = self.line_number(record.position());
                    return Some(Ok((line, record)));
                }
                Err(error) => {
                    let line = self.line_number(error.position());
                    let problem = format!("the line cannot be split into columns: {error}");
                    return Some(Err(Problem::Line { line, problem }));
                }
            }
        }
    }
}

fn split(line: &str, delimiter: Delimiter) -> Vec<String> {
    let line = collapse_spaces(line.as_bytes(), delimiter);
    let mut builder = csv::ReaderBuilder::new();
    let builder = builder.has_headers(false).flexible(true).delimiter(delimiter.byte());
    let mut records = builder.from_reader(&*line).into_records();
    let record = records.next().and_then(Result::ok).unwrap_or_default();
    record.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn collapse_spaces(content: &[u8], delimiter: Delimiter) -> Cow<'_, [u8]> {
    if delimiter != Delimiter::Space {
        return Cow::Borrowed(content);
    }
    let mut single = Vec::with_capacity(content.len());
    for byte in content {
        let is_second = *byte == b' ' && matches!(single.last(), None | Some(b' ' | b'\n'));
        if matches!(byte, b'\r' | b'\n') && single.last() == Some(&b' ') {
            single.pop();
        }
        if !is_second {
            single.push(*byte);
        }
    }
    Cow::Owned(single)
}

fn is_space_separated(first: &str) -> bool {
    let cells = split(first, Delimiter::Space);
    let numbers = cells.iter().filter(|cell| number::is_number(cell)).count();
    !first.contains([',', ';', '\t', '|']) && (columns::has_price_names(&cells) || numbers >= 4)
}

fn detect_delimiter(first: &str, settings: &TableSettings) -> Result<Delimiter, Problem> {
    if let Some(delimiter) = settings.delimiter {
        return Ok(delimiter);
    }
    let fits = |delimiter: &Delimiter| {
        let cells = split(first, *delimiter);
        match &settings.columns {
            Some(roles) => cells.len() == roles.0.len(),
            None => columns::has_price_names(&cells),
        }
    };
    let found: Vec<Delimiter> = Delimiter::CANDIDATES.into_iter().filter(fits).collect();
    let most =
        || Delimiter::CANDIDATES.into_iter().rev().max_by_key(|delimiter| split(first, *delimiter).len());
    match (found.as_slice(), &settings.columns) {
        ([only], _) => Ok(*only),
        ([], _) if is_space_separated(first) => Ok(Delimiter::Space),
        ([], None) => Ok(most().unwrap_or(Delimiter::Comma)),
        ([], Some(roles)) => {
            let seen = format!(
                "--columns names {} columns, but no delimiter splits the first line, \"{}\", into that many columns",
                roles.0.len(),
                excerpt(first.as_bytes())
            );
            Err(Problem::ambiguous(seen, "--columns with one name per column (- skips a column)"))
        }
        (_, _) => {
            let seen =
                format!("the first line, \"{}\", can be split by two delimiters", excerpt(first.as_bytes()));
            Err(Problem::ambiguous(seen, "--delimiter, one of comma, semicolon, tab, bar, space"))
        }
    }
}

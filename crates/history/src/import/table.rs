//! Rows of a candle file, with UTC times, symbol and interval. Imports and checks process these rows.

use super::format::ImportFormat;
use super::labels::{LabelColumns, Labels, is_label};
use super::name::{NameParts, is_hist_data_meta_trader, likely_symbol, parse_name};
use super::named::TableSettings;
use super::row::{Clock, FileRows, Problem, ProblemCollector, Row, RowUnit};
use super::unpack::{self, unpack};
use super::zone::{ClockChange, Zone, check_fixed_offset, convert_to_utc};
use super::{json, named, spacing, text};
use crate::error::{ParseChoiceError, parse_choice};
use crate::{HistoryError, Progress};
use bytes::Bytes;
use candlewick_sdk::{Interval, Millis, Series, Symbol};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[cfg(feature = "feather")]
use super::feather;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    Option,
    Name,
    Content,
    Spacing,
}

impl ValueSource {
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Option => "the option",
            Self::Name => "the file name",
            Self::Content => "the content",
            Self::Spacing => "the spacing of the rows",
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Option => "as given",
            Self::Name => "from the file name",
            Self::Content => "from the content",
            Self::Spacing => "from the spacing of the rows",
        }
    }
}

pub(crate) struct CandleTable {
    pub(crate) path: PathBuf,
    pub(crate) format: ImportFormat,
    pub(crate) series: Series,
    pub(crate) symbol_source: ValueSource,
    pub(crate) interval_source: ValueSource,
    /// Rows with open times in UTC.
    pub(crate) decoded: FileRows,
    pub(crate) zone: Option<Zone>,
    pub(crate) skipped_rows: u64,
    pub(crate) was_newest_first: bool,
    pub(crate) was_in_seconds: bool,
    pub(crate) table_layout: Option<String>,
}

#[cfg(not(feature = "feather"))]
const FEATHER_PROBLEM: &str = "this program was built without feather support: save the candles as Parquet or CSV, or build the \
                               program with `--features feather`";

/// Maximum uncompressed size of a file that is read into memory as a whole.
const MAX_IN_MEMORY_BYTES: u64 = 1 << 30;

impl CandleTable {
    pub(crate) fn read(
        path: &Path,
        settings: &ImportSettings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, HistoryError> {
        Self::read_unpacked(path, settings, |entry, most, read| unpack(path, entry, most, progress, read))
    }

    pub(crate) fn read_from(
        content: &[u8],
        path: &Path,
        settings: &ImportSettings,
    ) -> Result<Self, HistoryError> {
        let (packed, length) = (std::io::Cursor::new(content), content.len() as u64);
        Self::read_unpacked(path, settings, |entry, most, read| {
            unpack::unpack_from(packed, length, entry, most, &mut crate::ignore_progress, read)
        })
    }

    fn read_unpacked(
        path: &Path,
        settings: &ImportSettings,
        open: impl FnOnce(Option<&str>, u64, unpack::ContentFn<'_, Self>) -> Result<Self, Problem>,
    ) -> Result<Self, HistoryError> {
        let mut inner = path.to_owned();
        let mut read_content = |entry: Option<&str>, reader: &mut dyn BufRead| {
            inner.extend(entry);
            Self::from_content(path, entry, reader, settings)
        };
        let read = open(settings.entry.as_deref(), settings.max_bytes, &mut read_content);
        read.map_err(|problem| problem.in_file(&inner))
    }

    fn from_content(
        path: &Path,
        entry: Option<&str>,
        reader: &mut dyn BufRead,
        settings: &ImportSettings,
    ) -> Result<Self, Problem> {
        let name = entry.map_or_else(|| path.to_string_lossy(), Into::into);
        let mut start = vec![0; 4096];
        let length = fill_buffer(reader, &mut start)?;
        start.truncate(length);
        if let Some(decode) = unpack::utf16_decoder(&start) {
            let content = decode(&read_to_memory(&mut start.as_slice().chain(reader))?)?;
            return Self::from_content(path, entry, &mut content.as_bytes(), settings);
        }
        let format = match settings.format {
            Some(format) => format,
            None if !settings.table.is_default() => ImportFormat::Table,
            None => ImportFormat::sniff(&start)?,
        };
        let whole = start.as_slice().chain(reader);
        let named = parse_name(&name, format).or(entry.map(|_| parse_name(&path.to_string_lossy(), format)));
        let (mut decoded, reading) = match decode(format, whole, settings) {
            Ok(decoded) => decoded,
            Err(problem) => return Err(problem.merge(detect_symbol(&name, named, settings, None).err())),
        };
        if let Some(problem) = decoded.labels.find_problem(decoded.unit, settings.symbol.or(named.symbol)) {
            return Err(problem);
        }
        if decoded.rows.is_empty() {
            return Err(no_candles_problem(&decoded, format, settings));
        }
        let in_seconds = decoded.convert_seconds();
        let mut questions = ProblemCollector::default();
        let zone = questions.ok_or_record(detect_zone(&name, named, format, decoded.clock, settings));
        // A repeated local hour can be resolved only if the rows are in order.
        let is_repeated = |time| zone.flatten().is_some_and(|zone: Zone| zone.is_repeated(time));
        let newest_first = decoded.reverse_if_newest_first(is_repeated);
        let moved = zone.flatten().map(|zone| convert_to_utc(&mut decoded, zone, settings.clock_change));
        let skipped = moved.transpose()?.unwrap_or_default();
        let symbol = questions.ok_or_record(detect_symbol(&name, named, settings, decoded.labels.symbol()));
        let interval = questions.ok_or_record(detect_interval(&decoded, named, settings));
        let (Some(zone), Some((symbol, symbol_from)), Some((interval, interval_from))) =
            (zone, symbol, interval)
        else {
            return Err(questions.problem());
        };
        decoded.labels.check_symbol(symbol, symbol_from.describe())?;
        decoded.labels.check_interval(interval)?;
        spacing::apply_bar_time(&mut decoded, interval, settings.bar_time)?;
        if let Some(zone) = zone {
            check_fixed_offset(&decoded, zone, interval)?;
        }
        spacing::check_alignment(&decoded, interval)?;
        spacing::check_single_interval(&decoded, interval)?;
        let series = Series { symbol, interval };
        let path = entry.map_or_else(|| path.to_owned(), |entry| path.join(entry));
        Ok(Self {
            path,
            format,
            series,
            symbol_source: symbol_from,
            interval_source: interval_from,
            decoded,
            zone,
            skipped_rows: skipped,
            was_newest_first: newest_first,
            was_in_seconds: in_seconds,
            table_layout: reading,
        })
    }
}

fn no_candles_problem(decoded: &FileRows, format: ImportFormat, settings: &ImportSettings) -> Problem {
    if let Some(problem) = decoded.labels.no_match_problem(decoded.unit) {
        return problem;
    }
    let unit = decoded.unit.as_str();
    let first = decoded.broken_rows.first();
    let first = first.map(|broken| format!("; {unit} {}: {}", broken.row_number, broken.problem));
    let guessed = match settings.format {
        Some(_) => String::new(),
        None => format!("; the file was read as {format} (use --format to change this)"),
    };
    Problem::Empty(format!("the file holds no candles{}{guessed}", first.unwrap_or_default()))
}

fn decode(
    format: ImportFormat,
    mut content: impl BufRead,
    settings: &ImportSettings,
) -> Result<(FileRows, Option<String>), Problem> {
    if format != ImportFormat::Table && !settings.table.is_default() {
        let what = format!(
            "--columns, --delimiter, --decimal and --date-order require --format table, not {format}"
        );
        return Err(Problem::File(what));
    }
    let decoded = match format {
        ImportFormat::Table => {
            let table = named::decode(&read_to_memory(&mut content)?, &settings.table, &settings.only)?;
            return Ok((table.decoded, Some(table.layout)));
        }
        ImportFormat::FreqtradeJson => json::decode(content),
        #[cfg(feature = "feather")]
        ImportFormat::Feather => feather::decode(read_to_memory(&mut content)?, &settings.only),
        #[cfg(not(feature = "feather"))]
        ImportFormat::Feather => Err(Problem::File(FEATHER_PROBLEM.to_owned())),
        ImportFormat::Parquet => decode_parquet(read_to_memory(&mut content)?, &settings.only),
        ImportFormat::Csv
        | ImportFormat::Binance
        | ImportFormat::HistData
        | ImportFormat::Dukascopy
        | ImportFormat::MetaTrader4
        | ImportFormat::MetaTrader5
        | ImportFormat::Yahoo => text::decode(format, content, &settings.only),
    };
    Ok((decoded?, None))
}

fn fill_buffer(reader: &mut dyn BufRead, buffer: &mut [u8]) -> Result<usize, Problem> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 => break,
            length => filled += length,
        }
    }
    Ok(filled)
}

fn read_to_memory(reader: &mut impl Read) -> Result<Vec<u8>, Problem> {
    let mut content = Vec::new();
    if reader.take(MAX_IN_MEMORY_BYTES + 1).read_to_end(&mut content)? as u64 > MAX_IN_MEMORY_BYTES {
        return Err(Problem::File(format!("the file is larger than {MAX_IN_MEMORY_BYTES} bytes; split it")));
    }
    Ok(content)
}

fn decode_parquet(content: Vec<u8>, only: &[String]) -> Result<FileRows, Problem> {
    let content = Bytes::from(content);
    let labels = crate::parquet::read_texts(content.clone(), is_label).map_err(Problem::File)?;
    let mut decoded = FileRows::new(Clock::Utc, RowUnit::Row);
    decoded.labels = Labels::new(LabelColumns::find(labels.iter().map(|column| column.name.as_str())), only);
    let mut place = 0;
    let mut keep = |time, numbers| {
        place += 1;
        if !decoded.labels.accept(place, |column| labels[column].text(place as usize - 1)) {
            return Ok(());
        }
        decoded.push(place, Ok(Some(Row { time, numbers })), String::new)
    };
    crate::parquet::read_rows(content, &["time", "date"], &mut keep).map_err(Problem::File)?;
    Ok(decoded)
}

/// Returns the time zone of the local times, or `None` if the times are in UTC or are calendar days.
fn detect_zone(
    name: &str,
    named: NameParts,
    format: ImportFormat,
    clock: Clock,
    settings: &ImportSettings,
) -> Result<Option<Zone>, Problem> {
    let needless = |what: &str| Err(Problem::File(format!("{what}: omit --timezone")));
    match (clock, settings.zone) {
        (Clock::Utc, Some(zone)) if !zone.is_utc() => needless("the times are in UTC"),
        (Clock::Day, Some(_)) => needless("the times are calendar days"),
        (Clock::Utc, _) | (Clock::Day, None) => Ok(None),
        (Clock::Wall, Some(zone)) => Ok(Some(zone)),
        (Clock::Wall, None) => {
            if format == ImportFormat::HistData || is_hist_data_meta_trader(name) {
                return Ok(Some(Zone::est()));
            }
            let seen = format!("a {format} file does not state the time zone of its times");
            // With short candles, weekends reveal a wrong zone. Longer candles begin at the server's midnight.
            if named.interval.is_some_and(|interval| interval.length() > Millis::HOUR) {
                let server = "--timezone Europe/Athens";
                let option =
                    format!("--timezone with the zone of the server that made the candles, such as {server}");
                return Err(Problem::Ambiguous { seen, option, examples: vec![server.to_owned()] });
            }
            let option = "--timezone, such as --timezone UTC or --timezone Europe/Athens".to_owned();
            Err(Problem::Ambiguous { seen, option, examples: vec!["--timezone UTC".to_owned()] })
        }
    }
}

fn detect_symbol(
    name: &str,
    named: NameParts,
    settings: &ImportSettings,
    label: Option<&str>,
) -> Result<(Symbol, ValueSource), Problem> {
    if let Some(symbol) = settings.symbol {
        return Ok((symbol, ValueSource::Option));
    }
    let symbol = named.symbol.ok_or_else(|| {
        let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
        let seen = format!("the file name \"{file}\" does not contain a symbol");
        let example = label.map_or_else(|| likely_symbol(&file), likely_symbol);
        Problem::with_example(seen, format!("--symbol {example}"))
    })?;
    Ok((symbol, ValueSource::Name))
}

fn detect_interval(
    decoded: &FileRows,
    named: NameParts,
    settings: &ImportSettings,
) -> Result<(Interval, ValueSource), Problem> {
    if let Some(interval) = settings.interval {
        return Ok((interval, ValueSource::Option));
    }
    let is_month = decoded.interval.is_some_and(spacing::is_month);
    match (decoded.interval, named.interval) {
        (Some(content), _) if is_month => Ok((content, ValueSource::Content)),
        (Some(content), Some(name)) if content != name => Err(Problem::with_example(
            format!("the file name says {name}, but the content says {content}"),
            format!("--interval {content}"),
        )),
        (Some(content), _) => Ok((content, ValueSource::Content)),
        (None, Some(name)) => Ok((name, ValueSource::Name)),
        (None, None) => Ok((spacing::derive_interval(&decoded.rows)?, ValueSource::Spacing)),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarTime {
    #[default]
    Open,
    Close,
}

impl FromStr for BarTime {
    type Err = ParseChoiceError;

    fn from_str(text: &str) -> Result<Self, ParseChoiceError> {
        parse_choice(text, &[("open", Self::Open), ("close", Self::Close)])
    }
}

/// Import options. Options that are not set are detected from the file. An ambiguous file is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportSettings {
    pub format: Option<ImportFormat>,
    pub symbol: Option<Symbol>,
    pub interval: Option<Interval>,
    /// Labels of the rows to read, such as a symbol or an interval. An empty list reads all rows.
    pub only: Vec<String>,
    pub zone: Option<Zone>,
    pub clock_change: ClockChange,
    pub bar_time: BarTime,
    pub table: TableSettings,
    pub entry: Option<String>,
    pub max_bytes: u64,
}

impl ImportSettings {
    /// Default maximum uncompressed file size: 4 GiB, about 60 million lines.
    pub const MAX_BYTES: u64 = 4 << 30;
}

impl Default for ImportSettings {
    fn default() -> Self {
        Self {
            format: None,
            symbol: None,
            interval: None,
            only: Vec::new(),
            zone: None,
            clock_change: ClockChange::Strict,
            bar_time: BarTime::Open,
            table: TableSettings::default(),
            entry: None,
            max_bytes: Self::MAX_BYTES,
        }
    }
}

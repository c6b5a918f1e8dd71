//! CSV candle files: a header, then one candle per line with unquoted numbers.

use crate::HistoryError;
use crate::disk::{SystemDisk, replace_with};
use candlewick_sdk::{Candle, CandleError, CandleSeries, Interval, Millis, Ohlcv, Series};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

pub const CSV_HEADER: &str = "time,open,high,low,close,volume";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub read_bytes: u64,
    pub total_bytes: u64,
}

pub fn ignore_progress(_: Progress) {}

const COLUMNS: usize = 6;
/// Minimum growth of the candle buffer. A large buffer grows by an eighth instead of doubling, to save memory.
const MIN_EXTRA_CAPACITY: usize = 4096;
const BUFFER_BYTES: usize = 256 * 1024;
/// Maximum line length. A time and five numbers of up to 330 digits fit into a line.
const MAX_LINE_BYTES: u64 = 4096;
/// Range of plausible Unix times in milliseconds, from March 1973 to the year 5138.
const PLAUSIBLE_MS: std::ops::Range<i64> = 100_000_000_000..100_000_000_000_000;

pub fn read_csv_file(
    path: &Path,
    series: Series,
    progress: &mut dyn FnMut(Progress),
) -> Result<CandleSeries, HistoryError> {
    let failed = HistoryError::io(path, "open");
    let file = File::open(path).map_err(&failed)?;
    let total_bytes = file.metadata().map_err(&failed)?.len();
    let watched = ProgressReader { inner: file, state: Progress { read_bytes: 0, total_bytes }, progress };
    read_csv(BufReader::with_capacity(BUFFER_BYTES, watched), path, series)
}

/// Reads [`CSV_HEADER`] and candles in ascending time order. `path` is only used in error messages.
pub fn read_csv(reader: impl BufRead, path: &Path, series: Series) -> Result<CandleSeries, HistoryError> {
    let mut candles: Vec<Candle> = Vec::new();
    let mut lines = Lines::new(reader);
    let mut header_seen = false;
    while let Some((number, content)) = lines.next().map_err(|error| error.in_file(path))? {
        let fix_line = |problem| HistoryError::InvalidLine { path: path.to_owned(), line: number, problem };
        if !header_seen {
            check_header(content).map_err(fix_line)?;
            header_seen = true;
            continue;
        }
        let candle = parse_candle(content, series.interval).map_err(fix_line)?;
        if let Some(previous) = candles.last() {
            check_order(previous.time(), candle.time()).map_err(fix_line)?;
        }
        if candles.len() == candles.capacity() {
            candles.reserve_exact((candles.len() / 8).max(MIN_EXTRA_CAPACITY));
        }
        candles.push(candle);
    }
    let add_candles = |problem: &str| HistoryError::NoCandles {
        place: path.display().to_string(),
        problem: problem.to_owned(),
    };
    if !header_seen {
        return Err(add_candles("the file is empty; it needs the header and at least one candle"));
    }
    CandleSeries::new(series, candles)
        .map_err(|_| add_candles("there are no candles after the header; add at least one"))
}

/// Non-blank lines of a text, without line terminators. Each line comes with its 1-based number.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

#[derive(Debug)]
pub(crate) enum LineError {
    Io(io::Error),
    TooLong { line: u64 },
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::with_capacity(256), number: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, LineError> {
        loop {
            self.number += 1;
            self.buffer.clear();
            let bounded = &mut self.reader.by_ref().take(MAX_LINE_BYTES);
            let length = bounded.read_until(b'\n', &mut self.buffer).map_err(LineError::Io)?;
            if length == 0 {
                return Ok(None);
            }
            if length as u64 == MAX_LINE_BYTES && !self.buffer.ends_with(b"\n") {
                return Err(LineError::TooLong { line: self.number });
            }
            if !trim_line_end(&self.buffer, self.number).is_empty() {
                break;
            }
        }
        Ok(Some((self.number, trim_line_end(&self.buffer, self.number))))
    }
}

impl LineError {
    pub(crate) fn too_long_message() -> String {
        format!("the line is longer than {MAX_LINE_BYTES} bytes; is this a candle file?")
    }

    fn in_file(self, path: &Path) -> HistoryError {
        match self {
            Self::Io(error) => HistoryError::io(path, "read")(error),
            Self::TooLong { line } => {
                HistoryError::InvalidLine { path: path.to_owned(), line, problem: Self::too_long_message() }
            }
        }
    }
}

fn trim_line_end(line: &[u8], number: u64) -> &[u8] {
    let content = line.strip_suffix(b"\n").unwrap_or(line);
    let content = content.strip_suffix(b"\r").unwrap_or(content);
    if number == 1 { content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content) } else { content }
}

fn check_header(content: &[u8]) -> Result<(), String> {
    if content == CSV_HEADER.as_bytes() {
        return Ok(());
    }
    if content.first().is_some_and(u8::is_ascii_digit) {
        return Err(format!("the header is missing; write \"{CSV_HEADER}\" above the first candle"));
    }
    Err(format!(
        "the header is \"{}\", not \"{CSV_HEADER}\"; correct it, or import the file with `candlewick data import`",
        excerpt(content)
    ))
}

fn check_order(previous: Millis, time: Millis) -> Result<(), String> {
    match time.cmp(&previous) {
        std::cmp::Ordering::Greater => Ok(()),
        std::cmp::Ordering::Equal => Err(format!("time {time} occurs twice; remove one of the two lines")),
        std::cmp::Ordering::Less => {
            Err(format!("time {time} comes after {previous}; sort the lines by time, oldest first"))
        }
    }
}

fn parse_candle(content: &[u8], interval: Interval) -> Result<Candle, String> {
    let Ok(text) = std::str::from_utf8(content) else {
        return Err(format!("\"{}\" is not UTF-8 text; is this a candle file?", excerpt(content)));
    };
    let mut columns = text.split(',');
    let mut cells = [""; COLUMNS];
    for (index, cell) in cells.iter_mut().enumerate() {
        let Some(column) = columns.next() else { return Err(column_count_problem(index)) };
        *cell = column;
    }
    let surplus = columns.count();
    if surplus > 0 {
        return Err(column_count_problem(COLUMNS + surplus));
    }
    let [time, open, high, low, close, volume] = cells;
    let time = Millis::new(parse_unix_time(time, "milliseconds")?);
    let numbers = Ohlcv {
        open: parse_number("open", open)?,
        high: parse_number("high", high)?,
        low: parse_number("low", low)?,
        close: parse_number("close", close)?,
        volume: parse_number("volume", volume)?,
    };
    Candle::new(time, interval, numbers).map_err(|error| match error {
        CandleError::Misaligned { .. } => format!("{error}; {}", alignment_advice(time, interval)),
        CandleError::NotFinite { .. }
        | CandleError::NotPositive { .. }
        | CandleError::NegativeVolume { .. }
        | CandleError::OutsideRange { .. } => format!("{error}; correct or remove the line"),
    })
}

fn column_count_problem(found: usize) -> String {
    format!("{found} columns instead of {COLUMNS} ({CSV_HEADER}); is the line cut off?")
}

pub(crate) fn parse_unix_time(text: &str, unit: &str) -> Result<i64, String> {
    text.parse().map_err(|_| {
        format!("time \"{}\" is not a whole number of {unit} since 1970", excerpt(text.as_bytes()))
    })
}

pub(crate) fn parse_number(column: &str, text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| {
        let text = excerpt(text.as_bytes());
        format!("{column} \"{text}\" is not a number; use digits and a decimal point only")
    })
}

fn alignment_advice(time: Millis, interval: Interval) -> String {
    if !PLAUSIBLE_MS.contains(&time.get().saturating_abs()) {
        return "times are milliseconds since 1970; check the unit".to_owned();
    }
    // Intervals offered by the venue (observed: values), longest first.
    let usual = ["12h", "1h", "30m", "15m", "5m", "2m", "1m", "30s", "5s", "1s"];
    let fitting = usual.iter().filter_map(|text| text.parse::<Interval>().ok());
    let fitting = fitting.filter(|shorter| *shorter < interval).find(|i| time.is_aligned_to(i.length()));
    match fitting {
        Some(shorter) => format!("the time is aligned to {shorter}; is that the file's interval?"),
        None => format!("candles of {interval} open at multiples of {interval} since 1970, in UTC"),
    }
}

/// Returns the first characters of untrusted input, escaped so that messages can contain them.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const MAX_EXCERPT_BYTES: usize = 60;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * MAX_EXCERPT_BYTES)]);
    let shown: String = text.chars().take(MAX_EXCERPT_BYTES).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_EXCERPT_BYTES).is_some() { shown + "..." } else { shown }
}

pub(crate) struct ProgressReader<'a, R> {
    pub(crate) inner: R,
    pub(crate) state: Progress,
    pub(crate) progress: &'a mut dyn FnMut(Progress),
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.state.read_bytes += length as u64;
        (self.progress)(self.state);
        Ok(length)
    }
}

/// Writes the header and one line per candle. Each number gets the fewest digits that preserve its value.
pub fn write_csv(series: &CandleSeries, mut writer: impl Write) -> io::Result<()> {
    writeln!(writer, "{CSV_HEADER}")?;
    for candle in series.candles() {
        let (open, high, low) = (candle.open(), candle.high(), candle.low());
        let (close, volume) = (candle.close(), candle.volume());
        writeln!(writer, "{},{open},{high},{low},{close},{volume}", candle.time())?;
    }
    writer.flush()
}

pub fn write_csv_file(series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
    let written = replace_with(&SystemDisk, path, &mut |file| {
        write_csv(series, BufWriter::with_capacity(256 * 1024, file))
    });
    written.map_err(HistoryError::io(path, "write"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Symbol;
    use proptest::prelude::*;
    use std::fs;

    fn read(content: &[u8], interval: &str) -> Result<CandleSeries, String> {
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: interval.parse().unwrap() };
        read_csv(content, Path::new("x.csv"), series).map_err(|error| error.to_string())
    }

    fn check(content: &str, interval: &str, expected: &str) {
        let error = read(content.as_bytes(), interval).unwrap_err();
        assert!(error.starts_with(&format!("x.csv{expected}")), "{error}");
    }

    #[test]
    fn accepts_all_line_endings() {
        for content in [
            "time,open,high,low,close,volume\n60000,1.5,2,1,1.75,10\n120000,1,1,1,1,0\n",
            "time,open,high,low,close,volume\n60000,1.5,2,1,1.75,10\n120000,1,1,1,1,0",
            "\u{feff}time,open,high,low,close,volume\r\n60000,1.5,2,1,1.75,10\r\n\r\n120000,1,1,1,1,0\r\n\r\n",
        ] {
            let series = read(content.as_bytes(), "1m").unwrap();
            let first = series.candles()[0];
            assert_eq!([first.open(), first.high(), first.low(), first.close()], [1.5, 2.0, 1.0, 1.75]);
            assert_eq!((first.time().get(), first.volume()), (60_000, 10.0));
            assert_eq!((series.candles().len(), series.end().get()), (2, 180_000));
        }
    }

    #[test]
    fn errors_name_file_line_and_fix() {
        for (rows, problem) in [
            ("60000,1,1,1,1,0\n120000,1,1,1", ", line 3: 4 columns instead of 6 (time,open,high,low,"),
            ("60000,1,1,1,1,0,7,8\n", ", line 2: 8 columns instead of 6"),
            ("60000,1,\"1\",1,1,0\n", r#", line 2: high "\"1\"" is not a number"#),
            ("\n1.5,1,1,1,1,0\n", ", line 3: time \"1.5\" is not a whole number of milliseconds"),
            ("60000,1,1,2,1,0\r\n", ", line 2: low 2 and high 1 do not enclose open 1 and close 1"),
            ("60000,NaN,1,1,1,0", ", line 2: open is not a finite number"),
            ("120000,1,1,1,1,0\r\n60000,1,1,1,1,0\r\n", ", line 3: time 60000 comes after 120000"),
            ("60000,1,1,1,1,0\n120000,1,1,1,1,0\n120000,1,1,1,1,0\n", ", line 4: time 120000 occurs twice"),
            ("", ": there are no candles after the header"),
        ] {
            check(&format!("{CSV_HEADER}\n{rows}"), "1m", problem);
        }
        let endless = CSV_HEADER.to_owned() + &"1".repeat(100_000);
        for (content, expected) in [
            ("", ": the file is empty"),
            ("\r\n", ": the file is empty"),
            ("60000,1,1,1,1,0\n", ", line 1: the header is missing; write \"time,open,high,"),
            ("Date,Open\n60000,1,1,1,1,0\n", ", line 1: the header is \"Date,Open\", not \"time,"),
            (&endless, ", line 1: the line is longer than 4096 bytes"),
        ] {
            check(content, "1m", expected);
        }
        for (time, interval, advice) in [
            ("1515560100000", "1h", "the time is aligned to 5m"),
            ("1640991660123", "1m", "candles of 1m open at multiples of 1m since 1970, in UTC"),
            ("1640991665", "1m", "times are milliseconds since 1970"),
        ] {
            let problem = format!(", line 2: time {time} is not aligned to {interval}; {advice}");
            check(&format!("{CSV_HEADER}\n{time},1,1,1,1,0"), interval, &problem);
        }
    }

    fn build_series(candles: Vec<Candle>) -> CandleSeries {
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE };
        CandleSeries::new(series, candles).unwrap()
    }

    fn candle(minute: i64, prices: [f64; 4], volume: f64) -> Candle {
        let mut sorted = prices;
        sorted.sort_by(f64::total_cmp);
        let [low, open, close, high] = sorted;
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, Ohlcv { open, high, low, close, volume })
            .unwrap()
    }

    #[test]
    fn writes_shortest_round_trip_numbers() {
        let mut text = Vec::new();
        let prices = [0.1 + 0.2, 1.0, 46_319.5, 0.000_012_5];
        write_csv(&build_series(vec![candle(1, prices, 1e9)]), &mut text).unwrap();
        let expected =
            "time,open,high,low,close,volume\n60000,0.30000000000000004,46319.5,0.0000125,1,1000000000\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn written_file_reads_back_and_leaves_no_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("BTCUSDT_1m.csv");
        fs::write(&path, "old").unwrap();
        let series = build_series(vec![candle(1, [1.0, 2.0, 3.0, 4.0], 5.0)]);
        write_csv_file(&series, &path).unwrap();
        let mut steps = Vec::new();
        let read = read_csv_file(&path, series.series(), &mut |at| steps.push(at)).unwrap();
        assert_eq!(read.candles(), series.candles());
        let last = steps.last().unwrap();
        assert_eq!((last.read_bytes, last.total_bytes), (48, 48));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(read_csv_file(folder.path(), series.series(), &mut ignore_progress).is_err(), "a folder");
    }

    proptest! {
        #[test]
        fn written_candles_read_back_equal(
            rows in prop::collection::btree_map(
                -1_000_000_000_i64..1_000_000_000,
                (prop::array::uniform4(0_u64..0x7FEF_FFFF_FFFF_FFFF), 0_u64..0x7FEF_FFFF_FFFF_FFFF),
                1..20,
            )
        ) {
            // Covers the bits of every positive finite double, including subnormals.
            let candles: Vec<Candle> = rows
                .iter()
                .map(|(minute, (bits, volume))| {
                    candle(*minute, bits.map(|bits| f64::from_bits(bits + 1)), f64::from_bits(*volume))
                })
                .collect();
            let series = build_series(candles);
            let mut text = Vec::new();
            write_csv(&series, &mut text).unwrap();
            let read = read_csv(text.as_slice(), Path::new("x.csv"), series.series()).unwrap();
            prop_assert_eq!(read.candles(), series.candles());
        }
    }
}

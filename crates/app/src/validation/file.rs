//! Truncates the files that parameters name. A strategy that reads future rows then decides differently.

use candlewick_sdk::testkit::{Check, CheckReport, Finding, Market, Subject, TruncatedParams, check_files};
use candlewick_sdk::{Interval, Millis};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;
use tempfile::TempDir;

const TRUNCATION_CHECKS: usize = 5;
const MAX_FILE_BYTES: u64 = 64 << 20;
/// Header of a candle file. A candle is known only one interval after the time in its row.
const CANDLE_HEADER: &str = "time,open,high,low,close";
/// Smallest number that is read as milliseconds since 1970. Smaller numbers are read as seconds.
const MIN_PLAUSIBLE_EPOCH_MS: i64 = 100_000_000_000;

pub(super) fn check(subject: &Subject, market: &Market) -> CheckReport {
    let not_run = |words: String| Check::Files.report(Finding::NotRun, words);
    let named = named_files(&subject.params);
    if named.is_empty() {
        return not_run("no parameter names a file".to_owned());
    }
    let mut tables = Vec::with_capacity(named.len());
    for (place, path) in named {
        match Table::read(&path) {
            Ok(table) => tables.push((place, table)),
            Err(problem) => return not_run(format!("{path} was not checked: {problem}")),
        }
    }
    match write_truncated_files(subject, market, &tables) {
        // Keeps the folder until the check is done.
        Ok((_folder, known)) => check_files(subject, market, &known),
        Err(error) => not_run(format!("cannot write a truncated copy of a file: {error}")),
    }
}

pub(super) fn named_files(params: &Value) -> Vec<(String, String)> {
    let mut named = named_paths(params);
    named.retain(|(_, path)| Path::new(path).is_file());
    named
}

pub(super) fn named_paths(params: &Value) -> Vec<(String, String)> {
    let mut named = Vec::new();
    add_paths(params, String::new(), &mut named);
    named
}

fn add_paths(value: &Value, place: String, named: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) if !text.is_empty() && Path::new(text).exists() => {
            named.push((place, text.clone()));
        }
        Value::Array(values) => {
            let values = values.iter().enumerate();
            values.for_each(|(number, value)| add_paths(value, format!("{place}/{number}"), named));
        }
        Value::Object(values) => values.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            add_paths(value, format!("{place}/{key}"), named);
        }),
        _ => {}
    }
}

struct Table(Vec<(Option<Millis>, String)>);

impl Table {
    fn read(path: &str) -> Result<Self, String> {
        let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
        if size > MAX_FILE_BYTES {
            return Err(format!("the file is larger than {} MiB", MAX_FILE_BYTES >> 20));
        }
        let text = fs::read_to_string(path).map_err(|_| "the file is not text".to_owned())?;
        Self::parse(&text).ok_or_else(|| "no row starts with a time".to_owned())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines: Vec<(Option<Millis>, String)> =
            text.lines().map(|line| (parse_row_time(line), line.to_owned())).collect();
        let times: Vec<Millis> = lines.iter().filter_map(|(time, _)| *time).collect();
        if times.is_empty() {
            return None;
        }
        if text.trim_start_matches('\u{feff}').to_lowercase().starts_with(CANDLE_HEADER) {
            let distances = times.windows(2).map(|pair| pair[1] - pair[0]);
            let length = distances.filter(|distance| *distance > Millis::ZERO).min();
            let length = length.unwrap_or(Interval::MINUTE.length());
            for time in lines.iter_mut().filter_map(|(time, _)| time.as_mut()) {
                *time += length;
            }
        }
        Some(Self(lines))
    }

    fn rows_until(&self, moment: Millis) -> String {
        let known = self.0.iter().filter(|(time, _)| time.is_none_or(|time| time <= moment));
        known.flat_map(|(_, line)| [line.as_str(), "\n"]).collect()
    }
}

fn parse_row_time(line: &str) -> Option<Millis> {
    let first = line.split([',', ';', '\t']).next()?.trim().trim_matches('"');
    let number: i64 = first.parse().ok()?;
    Some(if number.abs() < MIN_PLAUSIBLE_EPOCH_MS {
        Millis::from_seconds(number)
    } else {
        Millis::new(number)
    })
}

fn write_truncated_files(
    subject: &Subject,
    market: &Market,
    tables: &[(String, Table)],
) -> io::Result<(TempDir, Vec<TruncatedParams>)> {
    let folder = tempfile::tempdir()?;
    let length = subject.bot.interval.length();
    let mut known = Vec::with_capacity(TRUNCATION_CHECKS);
    for number in 1..=TRUNCATION_CHECKS {
        let candle = &market.candles[number * (market.candles.len() - 1) / (TRUNCATION_CHECKS + 1)];
        let moment = candle.time() + length;
        let mut params = subject.params.clone();
        for (file, (place, table)) in tables.iter().enumerate() {
            let path = folder.path().join(format!("{file}-{number}.csv"));
            fs::write(&path, table.rows_until(moment))?;
            if let Some(value) = params.pointer_mut(place) {
                *value = Value::String(path.to_string_lossy().into_owned());
            }
        }
        known.push(TruncatedParams { end_time: moment, params });
    }
    Ok((folder, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, moment: i64, expected: Option<&str>) {
        let table = Table::parse(text);
        assert_eq!(table.map(|table| table.rows_until(Millis::new(moment))).as_deref(), expected, "{text}");
    }

    #[test]
    fn finds_files_in_nested_parameters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.csv");
        fs::write(&path, "").unwrap();
        let path = path.to_str().unwrap();
        let params = serde_json::json!({
            "a/b": path, "period": 3, "parts": [{ "params": { "file": path, "mode": "none such" } }],
        });
        let places: Vec<String> = named_files(&params).into_iter().map(|(place, _)| place).collect();
        assert_eq!(places, ["/a~1b", "/parts/0/params/file"]);
        assert!(places.iter().all(|place| params.pointer(place).and_then(Value::as_str) == Some(path)));
    }

    #[test]
    fn rows_are_known_at_their_time_and_candles_at_their_close() {
        let (list, candles) = ("time,symbol,direction\n", "time,open,high,low,close,volume\n");
        let rows = "1767571200000,B\n1767571260000,S\n1767571320000,B\n";
        let (first, second) = ("1767571200000,B\n", "1767571260000,S\n");
        check(&[list, rows].concat(), 1_767_571_260_000, Some(&[list, first, second].concat()));
        check(&[candles, rows].concat(), 1_767_571_260_000, Some(&[candles, first].concat()));
        check("1767571200;B\n1767571260;S\n", 1_767_571_259_999, Some("1767571200;B\n"));
        check("name,B\n", 0, None);
    }
}

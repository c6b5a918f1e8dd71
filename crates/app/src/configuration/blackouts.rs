//! Reads blackout files, which list periods without new trades, as CSV or iCalendar.

mod calendar;

use super::Config;
use crate::traded_symbols::resolve_blackout_symbols;
use candlewick_engine::Blackout;
use candlewick_sandbox::parse_any_time;
use candlewick_sdk::{Millis, Symbol};
use std::path::Path;

const MAX_FILE_BYTES: u64 = 4_000_000;
const MAX_SPANS: usize = 20_000;
const CSV_COLUMNS: [&str; 4] = ["from", "to", "symbols", "reason"];

pub(super) fn read_blackout_file(config: &mut Config) -> Result<(), String> {
    let blackouts = &mut config.risk.blackouts;
    if !blackouts.file.is_empty() && blackouts.hash.is_empty() {
        let bytes = read_bytes(Path::new(&blackouts.file))?;
        let path = Path::new(&blackouts.file);
        let is_calendar = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ics"));
        blackouts.spans = if is_calendar { calendar::parse_spans(&bytes)? } else { parse_spans(&bytes)? };
        resolve_blackout_symbols(&mut blackouts.spans, &config.bots);
        blackouts.hash = blake3::hash(&bytes).to_hex().to_string();
    }
    Ok(())
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error| format!("cannot read the file: {error}");
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(format!("the path must be a regular file of at most {} MB", MAX_FILE_BYTES / 1_000_000));
    }
    std::fs::read(path).map_err(cannot)
}

fn parse_spans(bytes: &[u8]) -> Result<Vec<Blackout>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(bytes);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = |name: &str| header.iter().position(|column| column.trim_start_matches('\u{feff}') == name);
    let known = |column: &&str| CSV_COLUMNS.contains(&column.trim_start_matches('\u{feff}'));
    let (Some(from), Some(to), None) =
        (place("from"), place("to"), header.iter().find(|column| !known(column)))
    else {
        let found = header.iter().collect::<Vec<_>>().join(",");
        return Err(format!(
            "the first line must be `from,to`, `from,to,symbols` or `from,to,symbols,reason`, not {found:?}; \
             the name of an iCalendar file must end in .ics"
        ));
    };
    let (symbols, reason) = (place("symbols"), place("reason"));
    let mut spans = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |place: Option<usize>| place.and_then(|place| record.get(place)).unwrap_or_default();
        let wrong = |problem: String| format!("line {line}: {problem}");
        let from = parse_time(cell(Some(from))).map_err(wrong)?;
        let to = parse_time(cell(Some(to))).map_err(wrong)?;
        if from >= to {
            return Err(wrong("the end must be after the start".to_owned()));
        }
        let names = cell(symbols).split([' ', ',', ';', '|']).filter(|name| !name.is_empty());
        let symbols = names.map(|name| name.parse::<Symbol>().map_err(|error| wrong(error.to_string())));
        let symbols = symbols.collect::<Result<_, _>>()?;
        if record.len() > header.len() {
            let problem = "more columns than in the header; if the reason contains a comma, put it in quotes";
            return Err(wrong(problem.to_owned()));
        }
        spans.push(Blackout { from, to, symbols, reason: cell(reason).to_owned() });
        if spans.len() > MAX_SPANS {
            return Err(wrong(format!("the file has more than {MAX_SPANS} blackout periods")));
        }
    }
    Ok(spans)
}

fn parse_time(text: &str) -> Result<Millis, String> {
    parse_any_time(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEWS: i64 = 1_767_619_500_000; // 2026-01-05 13:25 UTC

    #[test]
    fn reads_zones_symbols_and_reasons_of_spans() {
        let text = "from,to,symbols,reason\n2026-01-05 13:25,2026-01-05T14:35:00+01:00,,\"US jobs, monthly\"\n\
                    1767619500000, 1767619560000 ,EURUSD GBPUSD,rates\n";
        let spans = parse_spans(text.as_bytes()).unwrap();
        let [first, second] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!((first.from.get(), first.to.get()), (NEWS, NEWS + 600_000));
        assert_eq!((first.symbols.len(), first.reason.as_str()), (0, "US jobs, monthly"));
        assert_eq!((second.from.get(), second.to.get()), (NEWS, NEWS + 60_000));
        let names: Vec<&str> = second.symbols.iter().map(Symbol::as_str).collect();
        assert_eq!((names, second.reason.as_str()), (vec!["EURUSD", "GBPUSD"], "rates"));
        let bare = parse_spans(b"\xef\xbb\xbfto,from\n2026-01-06,2026-01-05\n").unwrap();
        assert_eq!(bare[0].to - bare[0].from, Millis::DAY);
        assert_eq!(parse_spans(b"from,to\n").unwrap(), []);
    }

    #[test]
    fn reports_errors_with_their_line() {
        for (text, expected) in [
            ("", "the first line must be"),
            ("2026-01-05,2026-01-06\n", "the first line must be"),
            ("from,to,pair\n", "\"from,to,pair\""),
            ("from,to\n2026-01-05,2026-01-06\ntomorrow,2026-01-06\n", "line 3: \"tomorrow\" is not a time"),
            ("from,to\n2026-01-05\n", "line 2: \"\" is not a time"),
            ("from,to\n2026-01-06,2026-01-05\n", "line 2: the end must be after the start"),
            ("from,to,symbols,reason\n2026-01-05,2026-01-06,,jobs, monthly\n", "line 2: more columns"),
        ] {
            let problem = parse_spans(text.as_bytes()).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}

//! Label columns. They contain the symbol and interval of each row, and whether its candle is finished.

use super::row::{Problem, RowUnit};
use crate::csv::excerpt;
use candlewick_sdk::{Interval, Millis, Symbol};
use std::collections::HashMap;

const SYMBOL_NAMES: &str = "symbol|symbol name|sym|ticker|tickers|pair|currency pair|currencypair|trading pair|\
                            instrument|instrument name|code|secid|inst id|instid|product id|epic";
const INSTRUMENT_NAMES: &str = "name|figi|isin|asset|security|instrument id|instrument uid";
const INTERVAL_NAMES: &str =
    "interval|per|period|timeframe|time frame|tf|resolution|granularity|bar size|frequency";
const FINISHED_NAMES: &str = "complete|completed|is complete|iscomplete|closed|is closed|isclosed|is final|isfinal|\
                              finished|is finished|confirm|confirmed";
const UNFINISHED_NAMES: &str = "partial|is partial|ispartial|incomplete|forming|is forming";

const MAX_LABEL_VALUES: usize = 1_000;
const MAX_INTERVALS: usize = 20;
const MAX_LISTED_VALUES: usize = 5;

/// Normalizes a column name: `<OPEN>` and `1. open` become `open`, and `Open_Time` becomes `open time`.
pub(super) fn normalize_name(name: &str) -> String {
    let name = name.trim().trim_matches(['<', '>', '"', '\'']).trim().to_lowercase().replace('_', " ");
    match name.split_once(". ") {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        _ => name,
    }
}

pub(super) fn is_one_of(known: &str, name: &str) -> bool {
    known.split('|').any(|one| one == name)
}

pub(crate) fn is_label(name: &str) -> bool {
    LabelColumns::find([name]).is_some()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelColumns {
    symbol: Option<usize>,
    instrument: Option<usize>,
    interval: Option<usize>,
    finished: Option<usize>,
    unfinished: Option<usize>,
}

impl LabelColumns {
    pub(crate) fn find<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let names: Vec<String> = names.into_iter().map(normalize_name).collect();
        let place = |known: &str| names.iter().position(|name| is_one_of(known, name));
        let columns = Self {
            symbol: place(SYMBOL_NAMES),
            instrument: place(INSTRUMENT_NAMES),
            interval: place(INTERVAL_NAMES),
            finished: place(FINISHED_NAMES),
            unfinished: place(UNFINISHED_NAMES),
        };
        (columns != Self::default()).then_some(columns)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TextColumn {
    pub(crate) name: String,
    texts: Vec<String>,
    indices: HashMap<String, u32>,
    rows: Vec<u32>,
}

impl TextColumn {
    pub(crate) fn new(name: String) -> Self {
        Self { name, texts: Vec::new(), indices: HashMap::new(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, text: &str) {
        let index = self.indices.get(text).copied().unwrap_or_else(|| {
            let next = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
            self.texts.push(text.to_owned());
            self.indices.insert(text.to_owned(), next);
            next
        });
        self.rows.push(index);
    }

    pub(crate) fn text(&self, row: usize) -> &str {
        let text = self.rows.get(row).and_then(|index| self.texts.get(*index as usize));
        text.map(String::as_str).unwrap_or_default()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    columns: LabelColumns,
    only: Vec<String>,
    wanted_symbols: Vec<String>,
    wanted_intervals: Vec<String>,
    symbols: LabelValues,
    intervals: LabelValues,
    excluded: LabelValues,
    pub(crate) excluded_rows: u64,
    pub(crate) unfinished_rows: u64,
}

impl Labels {
    pub(crate) fn new(columns: Option<LabelColumns>, only: &[String]) -> Self {
        let columns = columns.unwrap_or_default();
        let has_symbol = columns.symbol.or(columns.instrument).is_some();
        let names_interval = |label: &&String| columns.interval.is_some() && parse_interval(label).is_some();
        let (intervals, symbols): (Vec<&String>, Vec<&String>) = only.iter().partition(names_interval);
        Self {
            columns,
            only: only.to_vec(),
            wanted_symbols: symbols
                .into_iter()
                .filter(|_| has_symbol)
                .map(|label| normalize_label(label))
                .collect(),
            wanted_intervals: intervals.into_iter().map(|label| normalize_label(label)).collect(),
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.columns == LabelColumns::default()
    }

    pub(crate) fn accept<'a>(&mut self, place: u64, cell: impl Fn(usize) -> &'a str) -> bool {
        if self.is_empty() {
            return true;
        }
        let columns = self.columns;
        let text = |column: Option<usize>| column.map(|column| cell(column).trim()).unwrap_or_default();
        let symbol = text(columns.symbol.or(columns.instrument));
        let interval = text(columns.interval);
        for (label, wanted) in [(symbol, &self.wanted_symbols), (interval, &self.wanted_intervals)] {
            if !wanted.is_empty() && !wanted.contains(&normalize_label(label)) {
                self.excluded.add(label, place);
                self.excluded_rows += 1;
                return false;
            }
        }
        self.symbols.add(symbol, place);
        self.intervals.add(interval, place);
        let is_unfinished = parse_flag(text(columns.finished)) == Some(false)
            || parse_flag(text(columns.unfinished)) == Some(true);
        self.unfinished_rows += u64::from(is_unfinished);
        !is_unfinished
    }

    pub(super) fn find_problem(&self, unit: RowUnit, symbol: Option<Symbol>) -> Option<Problem> {
        if !self.only.is_empty() && self.is_empty() {
            let only = self.only.join(",");
            let problem = format!("--only {only}: the file has no column for a symbol or an interval");
            return Some(Problem::File(problem));
        }
        let lengths = &self.intervals.found;
        let are_lengths = lengths.len() <= MAX_INTERVALS
            && lengths.iter().all(|value| parse_interval(&value.text).is_some());
        let intervals = are_lengths.then_some(&self.intervals);
        for (what, values) in [("symbols", Some(&self.symbols)), ("intervals", intervals)] {
            let Some(values) = values.filter(|values| values.found.len() > 1) else { continue };
            let seen = format!("the file holds {} {what}: {}", values.found.len(), values.render(unit));
            let wanted = symbol
                .and_then(|symbol| values.found.iter().find(|value| matches_symbol(&value.text, symbol)));
            let example = wanted.or(values.found.first()).map_or("", |value| value.text.as_str());
            return Some(Problem::with_example(seen, format!("--only {}", quote_if_needed(example))));
        }
        None
    }

    pub(super) fn no_match_problem(&self, unit: RowUnit) -> Option<Problem> {
        let first = self.excluded.found.first()?;
        let seen =
            format!("no row matches {}; the file holds {}", self.only.join(","), self.excluded.render(unit));
        Some(Problem::with_example(seen, format!("--only {}", quote_if_needed(&first.text))))
    }

    pub(super) fn symbol(&self) -> Option<&str> {
        self.columns.symbol?;
        self.symbols.found.first().map(|value| value.text.as_str())
    }

    fn is_symbol_chosen(&self) -> bool {
        self.symbols.found.iter().any(|value| self.wanted_symbols.contains(&value.key))
    }

    pub(super) fn check_symbol(&self, symbol: Symbol, stated_by: &str) -> Result<(), Problem> {
        let Some(named) = self.symbol().filter(|named| !matches_symbol(named, symbol)) else { return Ok(()) };
        if self.is_symbol_chosen() {
            return Ok(());
        }
        let shown = excerpt(named.as_bytes());
        let seen = format!("the symbol column says {shown}, but {stated_by} says {symbol}");
        let named = quote_if_needed(named);
        let option = format!("--symbol {named}, or --only {named} if {symbol} is another name for it");
        Err(Problem::Ambiguous { seen, option, examples: vec![format!("--symbol {named}")] })
    }

    pub(super) fn check_interval(&self, interval: Interval) -> Result<(), Problem> {
        let Some(named) = self.intervals.found.first() else { return Ok(()) };
        let contradicts = match parse_interval(&named.text) {
            Some(IntervalLabel::Exact(length)) => length != interval.length(),
            Some(IntervalLabel::Number(number)) => {
                let units = [Millis::new(1), Millis::SECOND, Millis::MINUTE];
                !units.into_iter().any(|unit| unit * number == interval.length())
            }
            None => false,
        };
        if !contradicts {
            return Ok(());
        }
        let shown = excerpt(named.text.as_bytes());
        let seen = format!("the interval column says {shown}, but the file is read as {interval}");
        Err(Problem::ambiguous(seen, "--interval with the column's value, or remove the column"))
    }
}

#[derive(Clone, Debug, Default)]
struct LabelValues {
    found: Vec<LabelValue>,
    indices: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct LabelValue {
    text: String,
    key: String,
    first_place: u64,
    rows: u64,
}

impl LabelValues {
    fn add(&mut self, text: &str, place: u64) {
        if text.is_empty() {
            return;
        }
        if let Some(index) = self.indices.get(text) {
            self.found[*index].rows += 1;
            return;
        }
        if self.indices.len() >= MAX_LABEL_VALUES {
            return;
        }
        let key = normalize_label(text);
        let known = self.found.iter().position(|value| value.key == key);
        let index = known.unwrap_or_else(|| {
            self.found.push(LabelValue { text: text.to_owned(), key, first_place: place, rows: 0 });
            self.found.len() - 1
        });
        self.found[index].rows += 1;
        self.indices.insert(text.to_owned(), index);
    }

    fn render(&self, unit: RowUnit) -> String {
        let unit = unit.as_str();
        let describe = |value: &LabelValue| {
            let LabelValue { text, first_place, rows, .. } = value;
            format!("{} ({rows} rows, the first in {unit} {first_place})", excerpt(text.as_bytes()))
        };
        let mut listed: Vec<String> = self.found.iter().take(MAX_LISTED_VALUES).map(describe).collect();
        if self.found.len() > MAX_LISTED_VALUES {
            listed.push(format!("{} more", self.found.len() - MAX_LISTED_VALUES));
        }
        listed.join(", ")
    }
}

fn parse_flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" | "1.0" => Some(true),
        "false" | "f" | "no" | "n" | "0" | "0.0" => Some(false),
        _ => None,
    }
}

/// Normalizes a label, so that `C:EURUSD` equals `EUR/USD`, and `M1` equals `1m`.
fn normalize_label(label: &str) -> String {
    match parse_interval(label) {
        Some(IntervalLabel::Exact(length)) => length.to_string(),
        Some(IntervalLabel::Number(_)) => label.trim().to_owned(),
        None => normalize_symbol(label),
    }
}

fn normalize_symbol(text: &str) -> String {
    let name = text.rsplit_once(':').map_or(text, |(_, name)| name);
    let name = name.strip_suffix("=X").unwrap_or(name);
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

/// Returns whether a label such as `BINANCE:BTCUSDT`, `BTC/USDT` or `BTCUSDT.P` refers to `symbol`.
fn matches_symbol(label: &str, symbol: Symbol) -> bool {
    let without_suffix = |text: &str| normalize_symbol(text.split(['.', ' ']).next().unwrap_or(text));
    let (named, own) = (normalize_symbol(label), normalize_symbol(symbol.as_str()));
    let is_otc = |name: &str| name.contains("OTC");
    let has_same_base = without_suffix(label) == own || without_suffix(symbol.as_str()) == named;
    named == own || is_otc(&named) == is_otc(&own) && has_same_base
}

fn quote_if_needed(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || ":/._=-".contains(letter);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("\"{}\"", excerpt(text.as_bytes())) }
}

enum IntervalLabel {
    Exact(Millis),
    Number(i64),
}

/// Parses an interval label such as `1m`, `M1`, `5 min`, `PT1H`, `D` or `60`.
fn parse_interval(text: &str) -> Option<IntervalLabel> {
    const MAX_INTERVAL_MS: i64 = 2_678_400_000;
    let text = text.trim();
    if let Ok(number) = text.parse::<i64>() {
        return (1..=MAX_INTERVAL_MS).contains(&number).then_some(IntervalLabel::Number(number));
    }
    let days = match text.to_ascii_lowercase().as_str() {
        "d" | "day" | "daily" => Some(1),
        "w" | "week" | "weekly" => Some(7),
        "mn" | "mn1" | "month" | "monthly" => Some(31),
        _ => None,
    };
    if let Some(days) = days {
        return Some(IntervalLabel::Exact(Millis::DAY * days));
    }
    let text = text.strip_prefix("PT").or_else(|| text.strip_prefix('P')).unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    [text, lower.as_str()]
        .into_iter()
        .find_map(|text| match text.parse::<Interval>() {
            Ok(interval) => Some(interval.length()),
            Err(error) => error.suggestion()?.parse::<Interval>().ok().map(Interval::length),
        })
        .map(IntervalLabel::Exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str], only: &[&str], rows: &[&[&str]]) -> (Labels, Vec<bool>) {
        let only: Vec<String> = only.iter().map(|only| (*only).to_owned()).collect();
        let mut labels = Labels::new(LabelColumns::find(names.iter().copied()), &only);
        let accepted = (2..).zip(rows).map(|(at, row)| labels.accept(at, |column| row[column])).collect();
        (labels, accepted)
    }

    #[test]
    fn only_selects_by_symbol_and_by_interval() {
        let rows: [&[&str]; 4] = [&["EURUSD", "1"], &["GBPUSD", "1"], &["EURUSD", "5"], &["GBPUSD", "5"]];
        let names = ["ticker", "per"];
        for (only, expected) in [
            (&["GBP/USD"][..], [false, true, false, true]),
            (&["5"], [false, false, true, true]),
            (&["EURUSD", "1"], [true, false, false, false]),
            (&["NZDUSD"], [false; 4]),
        ] {
            let (labels, accepted) = labels(&names, only, &rows);
            assert_eq!(accepted, expected, "{only:?}");
            assert_eq!(labels.excluded_rows, expected.iter().filter(|accepted| !**accepted).count() as u64);
        }
        // Row numbers are not intervals. Without an interval column, a numeric code is a symbol.
        let counted: Vec<String> = (1..40).map(|number| number.to_string()).collect();
        let counted: Vec<[&str; 1]> = counted.iter().map(|number| [number.as_str()]).collect();
        let counted: Vec<&[&str]> = counted.iter().map(|row| &row[..]).collect();
        assert!(labels(&["period"], &[], &counted).0.find_problem(RowUnit::Line, None).is_none());
        assert_eq!(labels(&["code"], &["7203"], &[&["7203"], &["9984"]]).1, [true, false]);
    }

    #[test]
    fn detects_contradicting_symbol_and_interval_columns() {
        for (label, symbol, is_right) in [
            ("GBPUSD", "EURUSD", false),
            ("EUR_USD", "EURUSD", true),
            ("C:EURUSD", "EUR/USD", true),
            ("eur_usd", "EURUSD", true),
            ("EURUSD=X", "EURUSD", true),
            ("AAPL.US", "AAPL", true),
            ("EURUSD-OTC", "EURUSD", false),
            ("EURUSD (OTC)", "EURUSD", false),
            ("EURUSD-OTC", "EURUSD_otc", true),
            ("BTCUSDT", "BTCUSD", false),
        ] {
            let (labels, _) = labels(&["symbol"], &[], &[&[label]]);
            assert_eq!(labels.check_symbol(symbol.parse().unwrap(), "--symbol").is_ok(), is_right, "{label}");
        }
        let (chosen, _) = labels(&["symbol"], &["BBG0013HGFT4"], &[&["BBG0013HGFT4"]]);
        assert!(chosen.check_symbol("USDRUB".parse().unwrap(), "--symbol").is_ok());
        for (label, interval, is_right) in [
            ("M5", "5m", true),
            ("5", "5m", true),
            ("300", "5m", true),
            ("5 min", "5m", true),
            ("PT1M", "1m", true),
            ("1h", "5m", false),
            ("5", "1m", false),
            ("D", "1d", true),
            ("x", "5m", true),
        ] {
            let (labels, _) = labels(&["interval"], &[], &[&[label]]);
            assert_eq!(labels.check_interval(interval.parse().unwrap()).is_ok(), is_right, "{label}");
        }
    }
}

//! Determines the role of each table column from the column names or from the options.

use super::settings::{ColumnRoles, Role};
use super::{number, time};
use crate::csv::excerpt;
use crate::import::labels::{LabelColumns, is_one_of, normalize_name};
use crate::import::row::{Problem, has_split_decimals, split_decimals_problem};
use ::csv::StringRecord;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    Present,
    Absent,
}

#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) header: Header,
    time: (usize, Option<usize>),
    pub(super) prices: [usize; 4],
    pub(super) volume: Option<usize>,
    pub(super) min_width: usize,
    pub(super) is_utc: bool,
    pub(super) labels: Option<LabelColumns>,
    clock_digits: usize,
    names: Vec<String>,
}

const TIME_NAMES: &str = "time|timestamp|datetime|date time|date/time|date|day|open time|opentime|start|start time|\
                          window start|start at|starttime|begin|candle time|bar time|ts event|unix|unix time|\
                          unix timestamp|epoch|ts|t|index|unnamed: 0";
const UTC_TIME_NAMES: &str =
    "gmt time|utc time|utc|time utc|time (utc)|datetime utc|datetime (utc)|date (utc)";
const OPEN_NAMES: &str = "open|o|open price|opening price|price open";
const HIGH_NAMES: &str = "high|h|high price|price high|max|highest";
const LOW_NAMES: &str = "low|l|low price|price low|min|lowest";
const CLOSE_NAMES: &str = "close|c|close price|closing price|price close|close/last|last";
const PRICE_NAMES: &str = "price";
const VOLUME_NAMES: &str = "volume|vol|vol.|v|tick volume|tickvol|tickvolume|base volume";

pub(super) fn has_price_names(cells: &[String]) -> bool {
    let names: Vec<String> = cells.iter().map(|cell| normalize_name(cell)).collect();
    let has = |known: &str| names.iter().any(|name| is_one_of(known, name));
    has(OPEN_NAMES) && has(HIGH_NAMES) && has(LOW_NAMES) && (has(CLOSE_NAMES) || has(PRICE_NAMES))
}

impl Columns {
    pub(super) fn detect(
        header: &StringRecord,
        sample: Option<&StringRecord>,
        given: Option<&ColumnRoles>,
    ) -> Result<Self, Problem> {
        let cells: Vec<String> = header.iter().map(|cell| cell.trim().to_owned()).collect();
        match given {
            Some(roles) => Self::from_roles(roles, &cells),
            None if cells.iter().any(|cell| is_value(cell)) => {
                let seen = "the first line holds values instead of column names".to_owned();
                Err(columns_problem(seen, &suggest_roles_for_values(&cells)))
            }
            None => Self::from_names(&cells, sample),
        }
    }

    fn from_roles(roles: &ColumnRoles, cells: &[String]) -> Result<Self, Problem> {
        if cells.len() < roles.0.len() {
            let seen =
                format!("--columns names {} columns, but the first line has {}", roles.0.len(), cells.len());
            return Err(columns_problem(seen, &suggest_roles_for_values(cells)));
        }
        let open = roles.0.iter().position(|role| *role == Some(Role::Open));
        let is_value = open.and_then(|open| cells.get(open)).is_some_and(|cell| is_value(cell));
        let (header, names) = if is_value {
            (Header::Absent, (1..=cells.len()).map(|number| format!("column {number}")).collect())
        } else {
            (Header::Present, cells.to_vec())
        };
        Self::new(header, &roles.0, names, false)
    }

    fn from_names(cells: &[String], sample: Option<&StringRecord>) -> Result<Self, Problem> {
        let names: Vec<String> = cells.iter().map(|cell| normalize_name(cell)).collect();
        let all = |known: &str| -> Vec<usize> {
            (0..names.len()).filter(|column| is_one_of(known, &names[*column])).collect()
        };
        let mut roles: Vec<Option<Role>> = vec![None; cells.len()];
        let mut doubles: Vec<String> = Vec::new();
        let mut missing: Vec<&str> = Vec::new();
        let mut give = |role: Role, found: &[usize]| {
            if let Some(first) = found.first() {
                roles[*first] = Some(role);
            }
            if found.len() > 1 {
                let names: Vec<String> = found.iter().map(|at| format!("\"{}\"", cells[*at])).collect();
                doubles.push(format!("{} for {}", names.join(" and "), role.as_str()));
            }
        };
        let named_closes = all(CLOSE_NAMES);
        let closes = if named_closes.is_empty() { all(PRICE_NAMES) } else { named_closes };
        for (role, found) in [
            (Role::Open, all(OPEN_NAMES)),
            (Role::High, all(HIGH_NAMES)),
            (Role::Low, all(LOW_NAMES)),
            (Role::Close, closes),
        ] {
            if found.is_empty() {
                missing.push(role.as_str());
            }
            give(role, &found);
        }
        let exact = all("volume");
        give(Role::Volume, &if exact.is_empty() { all(VOLUME_NAMES) } else { exact });
        // pandas writes the index to an unnamed first column. Here, the index contains the times.
        let nameless = if names.first().is_some_and(String::is_empty) { vec![0] } else { Vec::new() };
        let utc = all(UTC_TIME_NAMES);
        let mut times = [all(TIME_NAMES), utc.clone()].concat();
        times.sort_unstable();
        if times.is_empty() {
            times = nameless;
        }
        match *times.as_slice() {
            [] => missing.push("time"),
            [date, clock] if is_date_and_clock(sample, date, clock) => {
                give(Role::Date, &[date]);
                give(Role::Clock, &[clock]);
            }
            _ => give(Role::Time, &times),
        }
        if !missing.is_empty() {
            let shown: Vec<String> = cells.iter().take(16).map(|cell| excerpt(cell.as_bytes())).collect();
            let seen = format!(
                "the table has no column for {}; found \"{}\"",
                missing.join(", "),
                shown.join("\", \"")
            );
            return Err(columns_problem(seen, &suggest_roles(&roles, &names, sample)));
        }
        if !doubles.is_empty() {
            let seen = format!("the columns are ambiguous: {}", doubles.join("; "));
            return Err(columns_problem(seen, &suggest_roles(&roles, &names, sample)));
        }
        let is_utc = times.iter().all(|column| utc.contains(column));
        Self::new(Header::Present, &roles, cells.to_vec(), is_utc)
    }

    fn new(
        header: Header,
        roles: &[Option<Role>],
        names: Vec<String>,
        is_utc: bool,
    ) -> Result<Self, Problem> {
        let place = |role: Role| roles.iter().position(|given| *given == Some(role));
        let needed = |role: Role| {
            place(role).ok_or_else(|| Problem::File(format!("the table has no column for {}", role.as_str())))
        };
        let time = match place(Role::Date) {
            Some(date) => (date, Some(needed(Role::Clock)?)),
            None => (needed(Role::Time)?, None),
        };
        let prices = [needed(Role::Open)?, needed(Role::High)?, needed(Role::Low)?, needed(Role::Close)?];
        let min_width = 1 + prices.into_iter().chain([time.0]).chain(time.1).max().unwrap_or_default();
        let labels = match header {
            Header::Present => LabelColumns::find(names.iter().map(String::as_str)),
            Header::Absent => None,
        };
        let volume = place(Role::Volume);
        Ok(Self { header, time, prices, volume, min_width, is_utc, labels, clock_digits: 0, names })
    }

    pub(super) fn update_clock_digits(&mut self, record: &StringRecord) {
        let clock = self.time.1.and_then(|clock| record.get(clock)).unwrap_or_default().trim();
        if is_digits(clock) {
            self.clock_digits = self.clock_digits.max(clock.len());
        }
    }

    pub(super) const fn has_clock(&self) -> bool {
        self.time.1.is_some()
    }

    pub(super) fn check_last_column(
        &self,
        record: &StringRecord,
        previous: Option<&StringRecord>,
    ) -> Option<String> {
        let expected = previous.map_or(self.names.len(), StringRecord::len);
        if record.len() < expected {
            return Some(format!("{} columns instead of {expected}; is the line cut off?", record.len()));
        }
        let last_cell = |row: &StringRecord| row.iter().next_back().unwrap_or_default().trim().to_owned();
        let (last, previous) = (last_cell(record), previous.map(last_cell).unwrap_or_default());
        let is_truncated = last.is_empty() && !previous.is_empty()
            || last.ends_with(['.', ',']) && !previous.ends_with(['.', ',']);
        is_truncated.then(|| format!("the file ends with \"{last}\" without a line break; is data missing?"))
    }

    pub(super) fn check_column_count(&self, count: usize) -> Option<String> {
        if count < self.min_width {
            return Some(format!("{count} columns instead of {}; is the line cut off?", self.min_width));
        }
        let is_split = matches!(self.header, Header::Present) && has_split_decimals(count, self.names.len());
        is_split.then(|| split_decimals_problem(count, self.names.len()))
    }

    pub(super) fn join_time(&self, record: &StringRecord) -> String {
        let cell = |column: usize| record.get(column).unwrap_or_default().trim();
        match self.time {
            (time, None) => cell(time).to_owned(),
            (date, Some(clock)) => join_day_and_clock(cell(date), cell(clock), self.clock_digits),
        }
    }
}

/// Joins a date and a time of day. The time may lack its leading zero: `93000` means 09:30:00.
fn join_day_and_clock(date: &str, clock: &str, digits: usize) -> String {
    if digits > 4 && is_digits(clock) { format!("{date} {clock:0>6}") } else { format!("{date} {clock}") }
}

fn is_digits(text: &str) -> bool {
    (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_value(cell: &str) -> bool {
    time::is_time(cell) || number::is_number(cell)
}

fn is_date_and_clock(sample: Option<&StringRecord>, date: usize, clock: usize) -> bool {
    let Some(sample) = sample else { return false };
    let cell = |column: usize| sample.get(column).unwrap_or_default().trim();
    time::is_day(cell(date)) && time::is_day_and_clock(&join_day_and_clock(cell(date), cell(clock), 6))
}

fn columns_problem(seen: String, columns: &str) -> Problem {
    let example = format!("--columns {columns}");
    let option = format!("--columns, such as {example} (- skips a column)");
    Problem::Ambiguous { seen, option, examples: vec![example] }
}

fn suggest_roles(roles: &[Option<Role>], names: &[String], sample: Option<&StringRecord>) -> String {
    let mut roles = roles.to_vec();
    if let [None, None, ..] = *roles
        && is_date_and_clock(sample, 0, 1)
    {
        (roles[0], roles[1]) = (Some(Role::Date), Some(Role::Clock));
    }
    let timed = roles.iter().any(|role| matches!(role, Some(Role::Time | Role::Date)));
    for role in [Role::Time, Role::Open, Role::High, Role::Low, Role::Close] {
        let is_there = if role == Role::Time { timed } else { roles.contains(&Some(role)) };
        if !is_there && let Some(free) = find_free_column(role, &roles, names, sample) {
            roles[free] = Some(role);
        }
    }
    ColumnRoles(roles).to_string()
}

fn find_free_column(
    role: Role,
    roles: &[Option<Role>],
    names: &[String],
    sample: Option<&StringRecord>,
) -> Option<usize> {
    let cell = |column: usize| sample.and_then(|sample| sample.get(column)).unwrap_or_default().trim();
    let holds = |column: &usize| match role {
        Role::Time => time::is_time(cell(*column)),
        _ => number::is_number(cell(*column)),
    };
    let resembles = |column: &usize| {
        let name = names.get(*column).map(String::as_str).unwrap_or_default();
        match role {
            Role::Time => ["from", "start", "begin", "time", "date"].iter().any(|part| name.contains(part)),
            _ => name.contains(role.as_str()),
        }
    };
    let free: Vec<usize> = (0..roles.len()).filter(|column| roles[*column].is_none()).collect();
    let fits = free.iter().find(|column| holds(column) && resembles(column));
    fits.or_else(|| free.iter().find(|column| holds(column))).or(free.first()).copied()
}

fn suggest_roles_for_values(cells: &[String]) -> String {
    let usual = [Role::Time, Role::Open, Role::High, Role::Low, Role::Close, Role::Volume].map(Some);
    let roles = usual.into_iter().chain(std::iter::repeat(None)).take(cells.len().clamp(5, 32)).collect();
    ColumnRoles(roles).to_string()
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |column: usize| match self.names.get(column).map(String::as_str) {
            Some("") | None => format!("column {}", column + 1),
            Some(name) if self.header == Header::Absent => name.to_owned(),
            Some(name) => format!("\"{}\"", excerpt(name.as_bytes())),
        };
        write!(f, "time {}", name(self.time.0))?;
        if let Some(clock) = self.time.1 {
            write!(f, " and {}", name(clock))?;
        }
        for (role, column) in ["open", "high", "low", "close"].iter().zip(self.prices) {
            write!(f, ", {role} {}", name(column))?;
        }
        match self.volume {
            Some(volume) => write!(f, ", volume {}", name(volume))?,
            None => f.write_str(", no volume")?,
        }
        let used: Vec<usize> =
            self.prices.into_iter().chain(self.volume).chain([self.time.0]).chain(self.time.1).collect();
        let left: Vec<usize> = (0..self.names.len()).filter(|column| !used.contains(column)).collect();
        if !left.is_empty() {
            let shown: Vec<String> = left.iter().take(8).map(|column| name(*column)).collect();
            write!(f, "; ignored {}", shown.join(", "))?;
            if left.len() > shown.len() {
                write!(f, " and {} more", left.len() - shown.len())?;
            }
        }
        Ok(())
    }
}

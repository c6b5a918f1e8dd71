//! Import options for tables: column roles, delimiter, decimal mark and date order.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSettings {
    pub columns: Option<ColumnRoles>,
    pub delimiter: Option<Delimiter>,
    pub decimal: Option<DecimalMark>,
    pub date_order: Option<DateOrder>,
}

impl TableSettings {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    Time,
    Date,
    Clock,
    Open,
    High,
    Low,
    Close,
    Volume,
}

impl Role {
    pub(super) const ALL: [Self; 8] =
        [Self::Time, Self::Date, Self::Clock, Self::Open, Self::High, Self::Low, Self::Close, Self::Volume];

    pub(super) const fn as_str(self) -> &'static str {
        ["time", "date", "clock", "open", "high", "low", "close", "volume"][self as usize]
    }
}

/// Column roles from left to right. The columns `date,clock` together form a time. `-` ignores a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRoles(pub(super) Vec<Option<Role>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delimiter {
    Comma,
    Semicolon,
    Tab,
    Bar,
    Space,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecimalMark {
    /// Numbers with a decimal point: `1.25`, or `1,234.5` with thousands separators.
    Point,
    /// Numbers with a decimal comma: `1,25`, or `1.234,5` with thousands separators.
    Comma,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" {problem}")]
pub struct ParseTableOptionError {
    text: String,
    problem: String,
}

fn error(text: &str, problem: impl Into<String>) -> ParseTableOptionError {
    ParseTableOptionError { text: text.chars().take(80).collect(), problem: problem.into() }
}

impl Delimiter {
    /// Candidates for detection. Spaces separate columns only if the first line contains none of these delimiters.
    pub(super) const CANDIDATES: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Bar];

    pub(super) const fn byte(self) -> u8 {
        DELIMITERS[self as usize].0
    }

    const fn as_str(self) -> &'static str {
        DELIMITERS[self as usize].1
    }

    pub(super) const fn describe(self) -> &'static str {
        DELIMITERS[self as usize].2
    }
}

/// Byte, name and plural name of each delimiter. The index is the discriminant of the delimiter.
const DELIMITERS: [(u8, &str, &str); 5] = [
    (b',', "comma", "commas"),
    (b';', "semicolon", "semicolons"),
    (b'\t', "tab", "tabs"),
    (b'|', "bar", "bars (|)"),
    (b' ', "space", "spaces"),
];

impl FromStr for ColumnRoles {
    type Err = ParseTableOptionError;

    fn from_str(text: &str) -> Result<Self, ParseTableOptionError> {
        let mut roles = Vec::new();
        for name in text.split(',').map(str::trim) {
            let role = Role::ALL.into_iter().find(|role| role.as_str().eq_ignore_ascii_case(name));
            if role.is_none() && !name.is_empty() && name != "-" {
                let problem = format!(
                    "has an unknown column \"{name}\": use time, date, clock, open, high, low, close, volume, or - to skip a \
                     column"
                );
                return Err(error(text, problem));
            }
            if role.is_some() && roles.contains(&role) {
                return Err(error(text, format!("names the column {name} twice")));
            }
            roles.push(role);
        }
        let has = |role: Role| roles.contains(&Some(role));
        if let Some(missing) =
            [Role::Open, Role::High, Role::Low, Role::Close].into_iter().find(|role| !has(*role))
        {
            return Err(error(text, format!("names no column for {}", missing.as_str())));
        }
        match (has(Role::Time), has(Role::Date), has(Role::Clock)) {
            (true, false, false) | (false, true, true) => Ok(Self(roles)),
            _ => Err(error(text, "needs either time, or both date and clock")),
        }
    }
}

impl FromStr for Delimiter {
    type Err = ParseTableOptionError;

    fn from_str(text: &str) -> Result<Self, ParseTableOptionError> {
        let found = Self::CANDIDATES.into_iter().chain([Self::Space]).find(|delimiter| {
            text.eq_ignore_ascii_case(delimiter.as_str()) || text.as_bytes() == [delimiter.byte()]
        });
        match text {
            "\\t" => Ok(Self::Tab),
            _ => found
                .ok_or_else(|| error(text, "is not a delimiter: use comma, semicolon, tab, bar or space")),
        }
    }
}

impl FromStr for DecimalMark {
    type Err = ParseTableOptionError;

    fn from_str(text: &str) -> Result<Self, ParseTableOptionError> {
        match text {
            "point" | "." => Ok(Self::Point),
            "comma" | "," => Ok(Self::Comma),
            _ => Err(error(text, "is neither point nor comma")),
        }
    }
}

impl FromStr for DateOrder {
    type Err = ParseTableOptionError;

    fn from_str(text: &str) -> Result<Self, ParseTableOptionError> {
        match text {
            "day-first" => Ok(Self::DayFirst),
            "month-first" => Ok(Self::MonthFirst),
            _ => Err(error(text, "is neither day-first nor month-first")),
        }
    }
}

impl fmt::Display for ColumnRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|role| role.map_or("-", Role::as_str)).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_repeated_and_missing_columns() {
        for text in [
            "time,open,high,low,close",
            "date,clock,open,-,high,low,close,volume",
            "-,time,close,low,high,open",
        ] {
            assert_eq!(text.parse::<ColumnRoles>().unwrap().to_string(), text);
        }
        for (text, problem) in [
            ("time,open,high,low", "names no column for close"),
            ("time,open,open,high,low,close", "names the column open twice"),
            ("open,high,low,close", "needs either time, or both date and clock"),
            ("date,open,high,low,close", "needs either time, or both date and clock"),
            ("time,o,h,l,c", "unknown column \"o\": use time"),
        ] {
            let error = text.parse::<ColumnRoles>().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert_eq!([";", "tab", "\t", "\\t"].map(|text| text.parse::<Delimiter>().ok()), {
            let tab = Some(Delimiter::Tab);
            [Some(Delimiter::Semicolon), tab, tab, tab]
        });
        assert!("x".parse::<Delimiter>().is_err() && "x".parse::<DecimalMark>().is_err());
    }
}

//! Dates in lists: 2026-11-27, 27/11/2026, 11/27/2026, 27/11.

use crate::configuration::DateOrder;
use chrono::{Datelike as _, NaiveDate};

const LEAP_YEAR: i32 = 2_024;
const ORDERS: [DateOrder; 2] = [DateOrder::DayFirst, DateOrder::MonthFirst];

/// A date of one year, or of every year if `year` is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListDate {
    pub(crate) year: Option<i32>,
    pub(crate) month: u32,
    pub(crate) day: u32,
}

impl ListDate {
    fn exists(self) -> bool {
        NaiveDate::from_ymd_opt(self.year.unwrap_or(LEAP_YEAR), self.month, self.day).is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenDate {
    YearFirst(ListDate),
    YearLast { numbers: (u32, u32), year: Option<i32> },
}

impl WrittenDate {
    pub(super) fn parse(cell: &str) -> Option<Self> {
        let is_one = |date: &Self| ORDERS.into_iter().any(|order| date.read(order).is_some());
        Self::written_as(cell).filter(is_one)
    }

    /// Also accepts dates that do not exist.
    fn written_as(cell: &str) -> Option<Self> {
        let separator = ['-', '/', '.'].into_iter().find(|separator| cell.contains(*separator))?;
        let parts: Vec<&str> = cell.split(separator).collect();
        let number = |text: &str, most: usize| {
            let is_number =
                (1..=most).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| is_number)
        };
        let year = |text: &str| match text.len() {
            4 => number(text, 4)?.try_into().ok(),
            2 if separator != '-' => Some(2_000 + i32::try_from(number(text, 2)?).ok()?),
            _ => None,
        };
        Some(match parts.as_slice() {
            [first, month, day] if first.len() == 4 => {
                let (month, day) = (number(month, 2)?, number(day, 2)?);
                Self::YearFirst(ListDate { year: Some(year(first)?), month, day })
            }
            [first, second, last] => {
                Self::YearLast { numbers: (number(first, 2)?, number(second, 2)?), year: Some(year(last)?) }
            }
            [first, second] if separator == '/' => {
                Self::YearLast { numbers: (number(first, 2)?, number(second, 2)?), year: None }
            }
            _ => return None,
        })
    }

    pub(super) fn read(self, order: DateOrder) -> Option<ListDate> {
        Some(self.in_order(order)).filter(|date| date.exists())
    }

    const fn in_order(self, order: DateOrder) -> ListDate {
        match (self, order) {
            (Self::YearFirst(date), _) => date,
            (Self::YearLast { numbers: (day, month), year }, DateOrder::DayFirst)
            | (Self::YearLast { numbers: (month, day), year }, DateOrder::MonthFirst) => {
                ListDate { year, month, day }
            }
        }
    }

    pub(super) const fn has_year(self) -> bool {
        matches!(self, Self::YearFirst(_) | Self::YearLast { year: Some(_), .. })
    }

    fn depends_on_order(self) -> bool {
        self.read(DateOrder::DayFirst) != self.read(DateOrder::MonthFirst)
    }
}

pub(super) fn fault_of(cell: &str) -> Option<String> {
    let written = WrittenDate::written_as(cell)?;
    let mut months = ORDERS.into_iter().map(|order| written.in_order(order));
    let of_month = months.find_map(|date| {
        let first = NaiveDate::from_ymd_opt(date.year.unwrap_or(LEAP_YEAR), date.month, 1)?;
        let is_february = date.month == 2 && date.year.is_some();
        let month = first.format(if is_february { "%B %Y" } else { "%B" });
        Some(format!("{month} has {} days", first.num_days_in_month()))
    });
    Some(of_month.unwrap_or_else(|| "there is no such month".to_owned()))
}

/// Returns the order of all ambiguous dates, `None` if there are none.
///
/// One date that fits only one order decides for all. Fails if the dates disagree or all are
/// ambiguous. Line numbers are 1-based.
pub(super) fn order_of(
    dates: &[(u64, WrittenDate)],
    set: Option<DateOrder>,
) -> Result<Option<DateOrder>, String> {
    let mut open = dates.iter().filter(|(_, date)| date.depends_on_order());
    let first_only_in = |order: DateOrder| {
        let other = order.other();
        let is_it = |date: WrittenDate| date.read(order).is_some() && date.read(other).is_none();
        dates.iter().find(|(_, date)| is_it(*date)).map(|(line, _)| *line)
    };
    let (day, month) = (first_only_in(DateOrder::DayFirst), first_only_in(DateOrder::MonthFirst));
    match (set, day, month) {
        (Some(order), _, _) => match if order == DateOrder::DayFirst { month } else { day } {
            None => Ok(Some(order)),
            Some(line) => Err(format!(
                "line {line}: its date is none with the {}, as signals.dates says",
                order.words()
            )),
        },
        (None, Some(line), Some(other)) => Err(format!(
            "line {other}: its date has the month first, and that of line {line} the day: write dates as 2026-11-27"
        )),
        (None, Some(_), None) => Ok(Some(DateOrder::DayFirst)),
        (None, None, Some(_)) => Ok(Some(DateOrder::MonthFirst)),
        (None, None, None) => match open.next() {
            None => Ok(None),
            Some((line, date)) => Err(format!(
                "line {line}: its date may be {} or {}, and no date of the list says which: write dates as 2026-11-27, or set \
                 signals.dates = \"day_first\" or \"month_first\"",
                words(date.read(DateOrder::DayFirst)),
                words(date.read(DateOrder::MonthFirst))
            )),
        },
    }
}

fn words(date: Option<ListDate>) -> String {
    let date = date.and_then(|date| NaiveDate::from_ymd_opt(LEAP_YEAR, date.month, date.day));
    date.map_or_else(|| "none".to_owned(), |date| date.format("%-d %B").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_in_the_ways_in_which_people_write_it() {
        let of = |year, month, day| Some(ListDate { year, month, day });
        for (cell, day_first, month_first) in [
            ("2026-11-27", of(Some(2_026), 11, 27), of(Some(2_026), 11, 27)),
            ("2026/11/27", of(Some(2_026), 11, 27), of(Some(2_026), 11, 27)),
            ("27/11/2026", of(Some(2_026), 11, 27), None),
            ("27.11.26", of(Some(2_026), 11, 27), None),
            ("27-11-2026", of(Some(2_026), 11, 27), None),
            ("11/27", None, of(None, 11, 27)),
            ("5/1", of(None, 1, 5), of(None, 5, 1)),
            ("29/02", of(None, 2, 29), None),
            ("29/02/2026", None, None),
            ("31/04", None, None),
            ("00/04", None, None),
            ("10.30", None, None),
            ("10:30", None, None),
            ("+5/01", None, None),
            ("2026-11-27-1", None, None),
            ("1/2/3/4", None, None),
            ("/", None, None),
            ("M5", None, None),
        ] {
            let date = WrittenDate::parse(cell);
            let read = |order| date.and_then(|date| date.read(order));
            let found = (read(DateOrder::DayFirst), read(DateOrder::MonthFirst));
            assert_eq!(found, (day_first, month_first), "{cell}");
            assert_eq!(date.is_some(), day_first.or(month_first).is_some(), "{cell}");
        }
    }

    #[test]
    fn one_date_that_fits_one_order_decides_for_all_and_none_is_guessed() {
        let order = |cells: &[&str], set| {
            let dates = cells.iter().map(|cell| WrittenDate::parse(cell).unwrap());
            let dates: Vec<(u64, WrittenDate)> = (1..).zip(dates).collect();
            order_of(&dates, set)
        };
        let (day, month) = (DateOrder::DayFirst, DateOrder::MonthFirst);
        assert_eq!(order(&["05/01", "27/11"], None), Ok(Some(day)));
        assert_eq!(order(&["05/01", "11/27"], None), Ok(Some(month)));
        assert_eq!(order(&["2026-01-05", "05/05"], None), Ok(None));
        assert_eq!(order(&["05/01"], Some(month)), Ok(Some(month)));
        for (cells, set, part) in [
            (&["05/01", "05/02"][..], None, "line 1: its date may be 5 January or 1 May, and no date"),
            (&["27/11", "11/27"], None, "line 2: its date has the month first, and that of line 1 the day"),
            (&["05/01", "27/11"], Some(month), "line 2: its date is none with the month first"),
        ] {
            let problem = order(cells, set).unwrap_err();
            assert!(problem.starts_with(part), "{problem}");
        }
    }
}

//! What stands above a line and is meant for it: a date, an expiry, or one that another line ended.

use super::clock_time::time_of_day;
use super::columns::{Cells, Column};
use super::date::WrittenDate;
use chrono::{NaiveTime, TimeDelta, Timelike};

/// A time before this hour of the day, below one of the afternoon, is more likely of the next day.
const NIGHT_ENDS: u32 = 6;
/// A time that is earlier by more than the one above it may be of the day after.
const FARTHEST_BACK: TimeDelta = TimeDelta::hours(12);

/// What is shown of a line that ended an expiry.
const SHOWN: usize = 60;

/// Where the date of a line is from.
#[derive(Clone, Copy, Default)]
pub(super) enum Day {
    /// From the line itself, or from nowhere.
    #[default]
    Own,
    /// From this line above it.
    Above(u64),
    /// It would have been from this line above it, which another ended.
    Ended { heading: u64, by: u64 },
    /// This comment above it, which stands below no date, names one.
    Commented(u64),
}

/// An expiry alone that another line ended.
#[derive(Clone)]
pub(super) struct EndedExpiry {
    /// Where it stands.
    pub(super) heading: u64,
    /// By which line it ended.
    pub(super) by: u64,
    /// That line, as far as it is shown.
    pub(super) text: String,
}

/// What stands above a line: a date that holds, or one that a line ended, and an expiry.
#[derive(Default)]
pub(super) struct Above {
    heading: Option<Heading>,
    ended: Day,
    expiry: Option<ExpiryHeading>,
    ended_expiry: Option<EndedExpiry>,
}

/// A date above lines that have none.
struct Heading {
    date: WrittenDate,
    line: u64,
    /// The last time below it, and its line.
    last: Option<(NaiveTime, u64)>,
}

/// An expiry above lines that have none.
struct ExpiryHeading {
    line: u64,
    /// None of several in a row that differ: one may be the chart's.
    code: Option<String>,
    /// Whether a line without one stood below it.
    is_used: bool,
}

impl Above {
    /// A date alone. What stood above entries of the date before may not be meant for those of this one.
    pub(super) fn begin(&mut self, date: WrittenDate, (line, text): (u64, &str)) {
        self.heading = Some(Heading { date, line, last: None });
        if self.expiry.as_ref().is_some_and(|expiry| expiry.is_used) {
            self.end_expiry((line, text));
        }
    }

    /// An expiry alone.
    pub(super) fn begin_expiry(&mut self, code: String, line: u64) {
        let above = self.expiry.take().filter(|above| !above.is_used);
        let is_doubted = above.is_some_and(|above| above.code.as_ref() != Some(&code));
        self.expiry = Some(ExpiryHeading { line, code: Some(code).filter(|_| !is_doubted), is_used: false });
        self.ended_expiry = None;
    }

    pub(super) fn end(&mut self, by: u64) {
        if let Some(heading) = self.heading.take() {
            self.ended = Day::Ended { heading: heading.line, by };
        }
    }

    pub(super) fn end_expiry(&mut self, (by, text): (u64, &str)) {
        if let Some(ExpiryHeading { line, .. }) = self.expiry.take() {
            let text = text.trim();
            let cut = if text.chars().count() > SHOWN { "…" } else { "" };
            let text = text.chars().take(SHOWN).chain(cut.chars()).collect();
            self.ended_expiry = Some(EndedExpiry { heading: line, by, text });
        }
    }

    /// A comment names a day, which the lines below may be of.
    pub(super) fn comment(&mut self, by: u64) {
        if self.heading.is_none() && matches!(self.ended, Day::Own) {
            self.ended = Day::Commented(by);
        }
        self.end(by);
    }

    /// An entry of others, in a list by time: those below may be of the day after.
    pub(super) fn pass(&mut self, time: Option<NaiveTime>, line: u64) {
        if self.heading.as_mut().is_some_and(|heading| heading.take(time, line).is_err()) {
            self.end(line);
        }
    }

    /// Gives an entry its date; one of its own may be that of the lines below as well.
    pub(super) fn date(
        &mut self,
        cells: &mut Cells,
        own: &mut Vec<Column>,
        line: u64,
    ) -> Result<Day, String> {
        match (cells.date, &mut self.heading) {
            (Some(date), Some(heading)) if heading.date != date => {
                self.end(line);
                Ok(Day::Own)
            }
            (Some(_), _) => Ok(Day::Own),
            (None, None) => Ok(self.ended),
            (None, Some(heading)) => {
                let (date, heading_line) = (heading.date, heading.line);
                if let Err(problem) = heading.take(time_of_day(&cells.texts[0]), line) {
                    // Nor is it known of which day those below are.
                    self.end(line);
                    return Err(problem);
                }
                cells.date = Some(date);
                own.insert(0, Column::Date);
                Ok(Day::Above(heading_line))
            }
        }
    }

    /// Gives an entry its expiry; another of its own may be that of the lines below as well. Which line ended the one that it would have
    /// had.
    pub(super) fn expiry(
        &mut self,
        cells: &mut Cells,
        own: &mut Vec<Column>,
        line: (u64, &str),
    ) -> Option<EndedExpiry> {
        let Some(heading) = &mut self.expiry else {
            return self.ended_expiry.clone().filter(|_| cells.texts[4].is_empty());
        };
        if cells.texts[4].is_empty() {
            heading.is_used = true;
            if let Some(code) = &heading.code {
                cells.texts[4].clone_from(code);
                own.push(Column::Expiry);
            }
        } else if heading.code.as_ref() != Some(&cells.texts[4]) {
            self.end_expiry(line);
        }
        None
    }
}

impl Heading {
    /// Takes the time of a line below it.
    ///
    /// # Errors
    /// It is so long before the one above it that it may be of the day after.
    fn take(&mut self, time: Option<NaiveTime>, line: u64) -> Result<(), String> {
        let Some(time) = time else { return Ok(()) };
        let is_next_day =
            |last: NaiveTime| last - time > FARTHEST_BACK || (time.hour() < NIGHT_ENDS && last.hour() >= 12);
        if let Some((_, above)) = self.last.filter(|(last, _)| is_next_day(*last)) {
            return Err(format!(
                "its time is long before that of line {above}, so that it may be of the day after: write its date in it, or above it"
            ));
        }
        self.last = Some((time, line));
        Ok(())
    }
}

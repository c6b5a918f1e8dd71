//! Context from the lines above an entry: a date or expiry, valid or ended by another line.

use super::clock_time::time_of_day;
use super::columns::{Cells, Column};
use super::date::WrittenDate;
use chrono::{NaiveTime, TimeDelta, Timelike};

/// Hour of the day. An earlier time below an afternoon one more likely means the next day.
const NIGHT_ENDS: u32 = 6;
/// A time that jumps back further than this may belong to the next day.
const FARTHEST_BACK: TimeDelta = TimeDelta::hours(12);

const SHOWN: usize = 60;

#[derive(Clone, Copy, Default)]
pub(super) enum Day {
    #[default]
    Own,
    Above(u64),
    /// Would be in line `heading`, but line `by` ended it.
    Ended {
        heading: u64,
        by: u64,
    },
    Commented(u64),
}

#[derive(Clone)]
pub(super) struct EndedExpiry {
    pub(super) heading: u64,
    pub(super) by: u64,
    pub(super) text: String,
}

#[derive(Default)]
pub(super) struct Above {
    heading: Option<Heading>,
    ended: Day,
    expiry: Option<ExpiryHeading>,
    ended_expiry: Option<EndedExpiry>,
}

struct Heading {
    date: WrittenDate,
    line: u64,
    last: Option<(NaiveTime, u64)>,
}

struct ExpiryHeading {
    line: u64,
    /// `None` after several different expiries in a row: one may be the timeframe of the chart.
    code: Option<String>,
    is_used: bool,
}

impl Above {
    /// Starts a date. An expiry used under the previous date may not apply here, so it ends.
    pub(super) fn begin(&mut self, date: WrittenDate, (line, text): (u64, &str)) {
        self.heading = Some(Heading { date, line, last: None });
        if self.expiry.as_ref().is_some_and(|expiry| expiry.is_used) {
            self.end_expiry((line, text));
        }
    }

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

    pub(super) fn comment(&mut self, by: u64) {
        if self.heading.is_none() && matches!(self.ended, Day::Own) {
            self.ended = Day::Commented(by);
        }
        self.end(by);
    }

    /// Records the time of an entry for another bot: in a list ordered by time, the day may change
    /// there.
    pub(super) fn pass(&mut self, time: Option<NaiveTime>, line: u64) {
        if self.heading.as_mut().is_some_and(|heading| heading.take(time, line).is_err()) {
            self.end(line);
        }
    }

    /// Gives an entry its date.
    ///
    /// A different date in the entry ends the one above, since it may apply to the lines below as
    /// well.
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

    /// Gives an entry its expiry and returns the ended one that it would have had.
    ///
    /// A different expiry in the entry ends the one above, since it may apply to the lines below as
    /// well.
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

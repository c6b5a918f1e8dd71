//! Context that other lines provide for an entry: a date heading, an expiry heading, or a modifier such as *pm*.

use super::columns::{Cells, Column};
use super::split::{fold_text, is_number, is_one_of};
use super::time::{UnresolvedDate, parse_time_of_day};
use chrono::{NaiveTime, TimeDelta, Timelike};

/// End of the night. An earlier time may belong to the next day if the line above has an afternoon time.
const NIGHT_END_HOUR: u32 = 6;
const MAX_TIME_DECREASE: TimeDelta = TimeDelta::hours(12);

const MAX_QUOTED_CHARS: usize = 60;

#[derive(Clone, Copy, Default)]
pub(super) enum DateSource {
    #[default]
    Own,
    Heading(u64),
    /// The date in line `heading` no longer applies from line `by` on.
    Ended {
        heading: u64,
        by: u64,
    },
    Comment(u64),
}

#[derive(Clone)]
pub(super) struct EndedExpiry {
    pub(super) heading_line: u64,
    pub(super) ended_by_line: u64,
    pub(super) ended_by_text: String,
}

#[derive(Default)]
pub(super) struct HeadingContext {
    heading: Option<DateHeading>,
    ended: DateSource,
    expiry: Option<ExpiryHeading>,
    ended_expiry: Option<EndedExpiry>,
}

struct DateHeading {
    date: UnresolvedDate,
    line: u64,
    last: Option<(NaiveTime, u64)>,
}

struct ExpiryHeading {
    line: u64,
    /// Duration code. `None` after two different expiries in a row, because one of them may be a chart timeframe.
    code: Option<String>,
    is_used: bool,
}

impl HeadingContext {
    /// Sets the date heading. Clears an expiry heading that was already used.
    pub(super) fn set_date(&mut self, date: UnresolvedDate, (line, text): (u64, &str)) {
        self.heading = Some(DateHeading { date, line, last: None });
        if self.expiry.as_ref().is_some_and(|expiry| expiry.is_used) {
            self.clear_expiry((line, text));
        }
    }

    pub(super) fn set_expiry(&mut self, code: String, line: u64) {
        let above = self.expiry.take().filter(|above| !above.is_used);
        let is_doubted = above.is_some_and(|above| above.code.as_ref() != Some(&code));
        self.expiry = Some(ExpiryHeading { line, code: Some(code).filter(|_| !is_doubted), is_used: false });
        self.ended_expiry = None;
    }

    pub(super) fn clear_date(&mut self, by: u64) {
        if let Some(heading) = self.heading.take() {
            self.ended = DateSource::Ended { heading: heading.line, by };
        }
    }

    pub(super) fn clear_expiry(&mut self, (ended_by_line, text): (u64, &str)) {
        if let Some(ExpiryHeading { line, .. }) = self.expiry.take() {
            let text = text.trim();
            let cut = if text.chars().count() > MAX_QUOTED_CHARS { "…" } else { "" };
            let ended_by_text = text.chars().take(MAX_QUOTED_CHARS).chain(cut.chars()).collect();
            self.ended_expiry = Some(EndedExpiry { heading_line: line, ended_by_line, ended_by_text });
        }
    }

    pub(super) fn record_day_comment(&mut self, by: u64) {
        if self.heading.is_none() && matches!(self.ended, DateSource::Own) {
            self.ended = DateSource::Comment(by);
        }
        self.clear_date(by);
    }

    /// Records the time of a line that is not traded. Clears the date heading if times jump far back.
    pub(super) fn record_untraded_time(&mut self, time: Option<NaiveTime>, line: u64) {
        if self.heading.as_mut().is_some_and(|heading| heading.check_time(time, line).is_err()) {
            self.clear_date(line);
        }
    }

    /// Sets a missing date from the heading. Clears the heading if the entry has a different date.
    pub(super) fn apply_date(
        &mut self,
        cells: &mut Cells,
        own: &mut Vec<Column>,
        line: u64,
    ) -> Result<DateSource, String> {
        match (cells.date, &mut self.heading) {
            (Some(date), heading) => {
                if heading.as_ref().is_some_and(|heading| heading.date != date) {
                    self.clear_date(line);
                }
                Ok(DateSource::Own)
            }
            (None, None) => Ok(self.ended),
            (None, Some(heading)) => {
                let (date, heading_line) = (heading.date, heading.line);
                heading
                    .check_time(parse_time_of_day(&cells.texts[0]), line)
                    .inspect_err(|_| self.clear_date(line))?;
                cells.date = Some(date);
                own.insert(0, Column::Date);
                Ok(DateSource::Heading(heading_line))
            }
        }
    }

    /// Sets a missing expiry from the heading. If the heading no longer applies, returns the line that ended it.
    pub(super) fn apply_expiry(
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
            self.clear_expiry(line);
        }
        None
    }
}

impl DateHeading {
    fn check_time(&mut self, time: Option<NaiveTime>, line: u64) -> Result<(), String> {
        let Some(time) = time else { return Ok(()) };
        let is_next_day = |last: NaiveTime| {
            last - time > MAX_TIME_DECREASE || (time.hour() < NIGHT_END_HOUR && last.hour() >= 12)
        };
        if let Some((_, above)) = self.last.filter(|(last, _)| is_next_day(*last)) {
            return Err(format!(
                "the time is long before the time in line {above} and may belong to the next day: write the date in this line or above this line"
            ));
        }
        self.last = Some((time, line));
        Ok(())
    }
}

const DATE_WORDS: &str = " today tomorrow monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march \
    april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec hoje amanhã amanha segunda terça \
    terca quarta quinta sexta sábado sabado domingo janeiro fevereiro março marco abril maio junho julho agosto setembro outubro novembro \
    dezembro hoy mañana manana lunes martes miércoles miercoles jueves viernes enero febrero marzo mayo junio julio septiembre octubre \
    noviembre diciembre ";

/// Day names. Excludes *today*, which does not date a list that is reused every day.
const DAY_NAMES: &str = " tomorrow monday tuesday wednesday thursday friday saturday sunday amanhã amanha segunda terça terca quarta quinta \
    sexta sábado sabado domingo mañana manana lunes martes miércoles miercoles jueves viernes ";
const HEADING_WORDS: &str = " dez fev abr mai ago set out ene sept seg ter qua qui sex dom lun jue vie tues thur thurs dia tmrw tmr weekend \
    yesterday ontem ayer próxima proxima next ";

pub(super) fn may_name_a_day(text: &str) -> bool {
    has_date_or_word(DATE_WORDS, text)
}

pub(super) fn may_be_day_heading(text: &str) -> bool {
    let lower = text.to_lowercase();
    let may_be = |token: &str| {
        let ends = ["st", "nd", "rd", "th"];
        let number = ends.iter().fold(token, |token, end| token.trim_end_matches(end));
        let is_day = number.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
        is_one_of(token, HEADING_WORDS) || (is_number(number) && (is_day || [6, 8].contains(&number.len())))
    };
    may_name_a_day(text)
        || lower.split(|sign: char| !(sign.is_alphanumeric() || "./-:,".contains(sign))).any(may_be)
}

/// Returns whether a comment names a day. A month without a day is ignored, because *may* is also a verb.
pub(super) fn comment_names_a_day(text: &str) -> bool {
    has_date_or_word(DAY_NAMES, text)
}

fn has_date_or_word(words: &str, text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|sign: char| !(sign.is_alphanumeric() || "./-".contains(sign))).any(|token| {
        let token = token.trim_matches(['.', '/', '-']);
        let parts: Vec<&str> = token.split(['.', '/', '-']).collect();
        is_date(token, &parts) || parts.iter().any(|part| is_one_of(part, words))
    })
}

/// Returns whether a token is a date. `2.2` is not a date, because stake multipliers have this form.
fn is_date(token: &str, parts: &[&str]) -> bool {
    let long = parts.iter().filter(|part| part.len() > 2).count();
    let is_factor = token.contains('.') && token.len() == 3;
    parts.iter().all(|part| is_number(part) && part.len() <= 4)
        && match parts.len() {
            2 => long == 0 && !is_factor,
            3 => long <= 1,
            _ => false,
        }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineModifier {
    Afternoon,
    /// The line suggests that the entries below are cancelled, inverted, past, or in another time zone.
    Invalidating,
}

const AFTERNOON_WORDS: [&str; 7] = ["pm", "p.m", "tarde", "noite", "noche", "afternoon", "evening"];
const INVALIDATING_WORDS: [&str; 6] = ["ontem", "yesterday", "ayer", "ny", "nyc", "u.t.c"];
const INVALIDATING_PHRASES: &str = "cancel, invert, invers, reverse, contrari, opposite, resultad, results, \
    not trade, no trade, don't trade, nao oper, no oper, nao entr, no entr";

pub(super) fn find_modifier(text: &str) -> Option<LineModifier> {
    let text = fold_text(text);
    let token = |sign: char| !(sign.is_alphanumeric() || sign == '.');
    let has = |words: &[&str]| {
        text.split(token).map(|word| word.trim_matches('.')).any(|word| words.contains(&word))
    };
    if has(&INVALIDATING_WORDS) || INVALIDATING_PHRASES.split(", ").any(|part| text.contains(part)) {
        return Some(LineModifier::Invalidating);
    }
    has(&AFTERNOON_WORDS).then_some(LineModifier::Afternoon)
}

pub(super) fn strikeout_problem(line: &str) -> Option<String> {
    let has_stroke = line.chars().any(|sign| ('\u{335}'..='\u{338}').contains(&sign));
    let has_tilde = line.contains('~') && line.chars().any(char::is_alphanumeric);
    let sign = if has_stroke { "a strikethrough" } else { "~" };
    (has_stroke || has_tilde)
        .then(|| format!("{sign} marks the line as cancelled: remove the mark or the line"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is_so: impl Fn(&str) -> bool, texts: &str, others: &str) {
        for (texts, expected) in [(texts, true), (others, false)] {
            for text in texts.split('|') {
                assert_eq!(is_so(text), expected, "{text}");
            }
        }
    }

    #[test]
    fn detects_day_names_as_written_in_chats() {
        let named = "28/11|28.11|28-11|27-11-26|2026.11.28| 28/11/2026 (Sat)|# 28 November|tomorrow|Amanhã|SÁBADO|\
             segunda-feira|Signals of 28.11.|28 nov";
        let other = "VIP room 24h|100 % sure|the rest of the day|gale 2.2|1.0850|M5|10:00 EURUSD CALL|-----|";
        check(may_name_a_day, named, other);
        let heads = "01 DEZ|Dia 28|the 28th|28 / 11 / 2026|28112026|seg|28/11|Amanhã";
        check(may_be_day_heading, heads, "VIP room 24h|100 % sure|the rest of it|WIN RATE 90|-----|");
        let comments = " SINAIS 28/11/2026|amanhã| Monday|2026-11-28";
        check(comment_names_a_day, comments, " it may lose| from my channel| 3 16:15 EURUSD CALL| gale 2.2");
    }

    #[test]
    fn detects_modifiers_and_struck_out_lines() {
        let afternoon = "PM|SINAIS DA TARDE|Afternoon session|9 p.m.";
        let other =
            "LISTA CANCELADA|DO NOT TRADE|NÃO OPERAR|Inverter sinais|RESULTADOS|ONTEM|LISTA NY|U.T.C-5";
        check(|text| find_modifier(text) == Some(LineModifier::Afternoon), afternoon, other);
        check(|text| find_modifier(text) == Some(LineModifier::Invalidating), other, afternoon);
        let none = "VIP room|players only|company|100 % sure|EURUSD|-----|";
        check(|text| find_modifier(text).is_none(), none, other);
        let struck = "M\u{336}5\u{336} EURUSD 10:50 PUT|~~ M5 EURUSD 10:50 PUT ~~|~10:50 EURUSD PUT~";
        check(|text| strikeout_problem(text).is_some(), struck, "10:50 EURUSD PUT|~~~~~~|terc\u{327}a");
    }
}

//! Text of a line: normalization, and splitting into cells, labels and martingale remarks.

use super::columns::{Column, ListBots};
use super::time::{UnresolvedDate, parse_time_of_day};
use super::zones::parse_offset_zone;
use crate::signals::message::parse_direction;
use std::borrow::Cow;

const DASHES: [char; 9] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{fe63}', '\u{ff0d}',
    '\u{2796}',
];
const INVISIBLE_CHARS: [char; 7] =
    ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{feff}'];

const ACCENT_MARKS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36f}';

const LABELS: [(&str, &[Column]); 6] = [
    (" par pair paridade ativo activo asset moeda moneda symbol simbolo ", &[Column::Symbol, Column::Bot]),
    (TIME_LABELS, &[Column::Time]),
    (" direcao direccion direction acao action tipo type ", &[Column::Direction]),
    (
        " exp expira expiry expiration expiracao expiracion timeframe duration duracao duracion ",
        &[Column::Expiry],
    ),
    (" data date dia fecha day ", &[Column::Date]),
    (" entrada entry sinal signal senal ", &[Column::Time, Column::Direction]),
];
const TIME_LABELS: &str = " hora horario time ";
const EXPIRY_LABELS: &str = " exp expira expiry expiration expiracao expiracion ";
const WORDS_BEFORE_TIME: &str = " @ at as ";
const MINUTE_UNITS: &str = " min mins minute minutes minuto minutos ";
const HOUR_UNITS: &str = " hour hours hora horas ";
const GALE_WORDS: &str = " gale gales martingale martingales ";
const WORDS_BEFORE_GALE: &str = " sem no sin without com con with ate hasta up to max maximo maximum fazer ";
const WORDS_AFTER_GALE: &str = " max maximo maximum ";
pub(super) const GALE_TIME_ERROR: &str = "the time follows a gale (martingale step): write the time first";
/// Maximum number of martingale steps. A larger number probably has another meaning.
const MAX_GALES: u8 = 3;

/// Replaces bold, full-width and similar letters by plain letters, and removes invisible characters.
pub(super) fn normalize_text(text: &str) -> String {
    let seen = text.chars().filter(|sign| !INVISIBLE_CHARS.contains(sign) && !ACCENT_MARKS.contains(sign));
    seen.map(|sign| plain_letter(normalize_char(sign))).collect()
}

pub(super) fn fold_text(text: &str) -> String {
    text.chars().map(normalize_char).collect::<String>().to_lowercase().chars().map(without_accent).collect()
}

fn normalize_char(sign: char) -> char {
    match sign {
        sign if DASHES.contains(&sign) => '-',
        '\u{2795}' | '\u{ff0b}' => '+',
        sign => sign,
    }
}

/// Maps mathematical and full-width letters and digits to ASCII. Each mathematical font has 52 letters or 10 digits.
fn plain_letter(sign: char) -> char {
    let code = u32::from(sign);
    let usual = match code {
        0x1_d400..=0x1_d6a3 => {
            let place = (code - 0x1_d400) % 52;
            if place < 26 { 0x41 + place } else { 0x61 + place - 26 }
        }
        0x1_d7ce..=0x1_d7ff => 0x30 + (code - 0x1_d7ce) % 10,
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff41..=0xff5a => code - 0xfee0,
        _ => return sign,
    };
    char::from_u32(usual).unwrap_or(sign)
}

const fn without_accent(sign: char) -> char {
    match sign {
        'á' | 'à' | 'â' | 'ã' | 'ä' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'õ' | 'ö' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        _ => sign,
    }
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns whether `words` contains `word`. In `words`, a space precedes and follows each word.
pub(super) fn is_one_of(word: &str, words: &str) -> bool {
    !word.is_empty() && words.contains(&format!(" {word} "))
}

/// Splits a line at semicolons, commas, vertical bars or spaces. Removes decorations and the line number.
pub(super) fn split_cells(line: &str, bots: &ListBots<'_>) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    let line = without_spaces_in_offsets(line);
    for part in strip_line_number(&line).split([';', ',', '|', '\t']).map(str::trim) {
        if bots.has_name(part) {
            cells.push(part.to_owned());
            continue;
        }
        let start = cells.len();
        let is_ornament = |sign: char| sign == '*' || !(sign.is_ascii() || sign.is_alphanumeric());
        let words = part.split(|sign: char| sign.is_whitespace() || is_ornament(sign));
        let words = words.map(|word| word.trim_matches(['(', ')', '[', ']']));
        let words = words.filter(|word| !word.chars().all(|sign| "-_=~.".contains(sign)));
        let words: Vec<&str> = words.collect();
        let mut rest = words.as_slice();
        while let [word, behind @ ..] = rest {
            rest = behind;
            let is_half = ["AM", "PM"].iter().any(|half| word.eq_ignore_ascii_case(half));
            if let Some(time) = cells.last_mut().filter(|last| is_half && parse_time_of_day(last).is_some()) {
                time.extend([" ", word]);
                continue;
            }
            if let Some(time) = words_after_label(word, rest) {
                rest = time;
                // The expiry in `EXP 1 HORA 14:35` may be an hour or a minute, so `1 HORA` stays ambiguous.
                let is_one = |last: &String| last.parse() == Ok(1) && is_one_of(&fold_text(word), HOUR_UNITS);
                match cells.get_mut(start..).and_then(<[String]>::last_mut).filter(|last| is_one(last)) {
                    Some(last) => last.extend([" ", word]),
                    None => cells.push(format!("{word}:")),
                }
                continue;
            }
            // Words are joined only within one part, because a separator always ends a cell.
            match cells.get(start..).and_then(<[String]>::last).and_then(|last| join_words(last, word, bots))
            {
                Some(joined) => {
                    cells.pop();
                    cells.push(joined);
                }
                None => cells.extend(split_word(word)),
            }
        }
    }
    cells
}

/// Removes the spaces in `UTC - 03:00`, because otherwise `UTC` and `03:00` would become separate cells.
fn without_spaces_in_offsets(line: &str) -> Cow<'_, str> {
    let is_offset = |at: usize| {
        let rest = line.get(at + 3..)?;
        let sign = rest.trim_start();
        let digits = sign.strip_prefix(['+', '-'])?.trim_start();
        let is_spaced = rest.len() > sign.len() || !sign[1..].starts_with(|c: char| c.is_ascii_digit());
        (is_spaced && digits.starts_with(|first: char| first.is_ascii_digit())).then_some((sign, digits))
    };
    let lower = line.to_ascii_lowercase();
    let mut places = lower.match_indices("utc").chain(lower.match_indices("gmt")).map(|(at, _)| at);
    let Some((at, (sign, digits))) = places.find_map(|at| Some((at, is_offset(at)?))) else {
        return Cow::Borrowed(line);
    };
    Cow::Owned(format!("{}{}{digits}", &line[..at + 3], &sign[..1]))
}

/// Returns `rest` from the time on if `word` is a time label without a colon, as in `HORA às 14:35`.
fn words_after_label<'a>(word: &str, rest: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let time = match rest {
        [first, time @ ..] if is_one_of(&fold_text(first), WORDS_BEFORE_TIME) => time,
        time => time,
    };
    let is_time = |word: &&str| split_word(word).iter().any(|cell| parse_time_of_day(cell).is_some());
    Some(time).filter(|time| is_one_of(&fold_text(word), TIME_LABELS) && time.first().is_some_and(is_time))
}

fn join_words(last: &str, word: &str, bots: &ListBots<'_>) -> Option<String> {
    // Joins `EUR USD`, since neither part is a cell by itself.
    let parts = [last, word];
    let is_word = |part: &str| part.len() >= 3 && part.bytes().all(|sign| sign.is_ascii_alphabetic());
    if parts.into_iter().all(is_word) {
        let both = parts.concat();
        let is_symbol = bots.signal_bots.find_symbol(&both).is_some();
        return Some(both)
            .filter(|_| is_symbol && parts.iter().all(|part| Column::classify(part, bots).is_err()));
    }
    let unit = fold_text(word);
    let is_count = last.len() <= 2 && is_number(last);
    if is_count && is_one_of(&unit, MINUTE_UNITS) {
        return Some(format!("{last}min"));
    }
    if is_count && is_one_of(&unit, HOUR_UNITS) {
        return Some(format!("H{last}"));
    }
    let is_utc = ["UTC", "GMT"].iter().any(|name| last.eq_ignore_ascii_case(name));
    let is_zone =
        is_utc && word.starts_with(['+', '-']) && parse_offset_zone(&format!("UTC{word}")).is_some();
    is_zone.then(|| format!("{last}{word}"))
}

/// Splits `2026-11-30T09:20:00-05:00`, `10:50Z` or `10:50+05:30`, but not `10:50-03:00`, which may be a time range.
fn split_instant(word: &str) -> Option<Vec<String>> {
    let dated = word
        .split_once(['T', 't'])
        .filter(|(date, _)| date.len() == 10 && UnresolvedDate::parse(date).is_some());
    let (date, clock) = dated.map_or((None, word), |(date, clock)| (Some(date), clock));
    let (time, zone) = if let Some(time) = clock.strip_suffix(['Z', 'z']) {
        (time, Some("UTC".to_owned()))
    } else {
        // `10:50+1` may be a time with one martingale step.
        let is_hours_and_minutes = |zone: &str| {
            let digits = zone.strip_prefix('+').filter(|zone| [4, 5].contains(&zone.len()));
            digits.is_some_and(|digits| digits.bytes().filter(u8::is_ascii_digit).count() == 4)
        };
        let sign = clock.rfind(['+', '-']).filter(|at| date.is_some() || is_hours_and_minutes(&clock[*at..]));
        sign.map_or((clock, None), |at| (&clock[..at], Some(format!("UTC{}", &clock[at..]))))
    };
    let is_one = parse_time_of_day(time).is_some()
        && zone.as_deref().is_none_or(|one| parse_offset_zone(one).is_some());
    let parts = [date.map(str::to_owned), Some(time.to_owned()), zone];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (is_one && parts.len() > 1).then_some(parts)
}

fn split_word(word: &str) -> Vec<String> {
    if let Some(instant) = split_instant(word) {
        return instant;
    }
    if let Some(time) = word.strip_prefix('@').filter(|time| parse_time_of_day(time).is_some()) {
        return vec!["@".to_owned(), time.to_owned()];
    }
    match word.split_once([':', '=']) {
        Some((label, rest)) if !rest.is_empty() && parse_label(&format!("{label}:")).is_some() => {
            vec![format!("{label}:"), rest.to_owned()]
        }
        _ => vec![word.to_owned()],
    }
}

fn strip_line_number(line: &str) -> &str {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    if !(1..=3).contains(&digits) {
        return line;
    }
    let behind = &line[digits..];
    let rest = behind.strip_prefix("\u{fe0f}\u{20e3}").or_else(|| behind.strip_prefix('\u{20e3}'));
    let rest = rest.or_else(|| {
        let rest = behind.strip_prefix([')', '.', 'º', 'ª', '°'])?;
        rest.starts_with(char::is_whitespace).then_some(rest)
    });
    rest.unwrap_or(line)
}

pub(super) fn parse_label(cell: &str) -> Option<&'static [Column]> {
    let word = fold_text(cell);
    if is_one_of(&word, WORDS_BEFORE_TIME) {
        return Some(&[Column::Time]);
    }
    // `EXP 5` and `EXPIRAÇÃO 5` are labels without a colon.
    let bare = || Some(word.as_str()).filter(|word| is_one_of(word.trim_end_matches('.'), EXPIRY_LABELS));
    let label = word.strip_suffix([':', '=']).or_else(bare)?.trim_end_matches('.');
    LABELS.iter().find(|(names, _)| is_one_of(label, names)).map(|(_, columns)| *columns)
}

fn is_gale(cell: &str) -> bool {
    is_one_of(fold_text(cell).trim_end_matches(':'), GALE_WORDS)
}

fn is_gale_count(cell: &str) -> bool {
    cell.parse::<u8>().is_ok_and(|count| count <= MAX_GALES)
}

pub(super) fn is_gale_only(cells: &[String]) -> bool {
    let is_beside = |cell: &String| {
        let word = fold_text(cell);
        let words = is_one_of(&word, WORDS_BEFORE_GALE) || is_one_of(&word, WORDS_AFTER_GALE);
        // UP is a direction here.
        (words && parse_direction(cell).is_err())
            || is_gale_count(word.trim_end_matches(['º', 'ª', '°', ':']))
    };
    let is_part = |cell: &String| is_gale(cell) || parse_time_of_day(cell).is_some() || is_beside(cell);
    cells.iter().any(|cell| is_gale(cell)) && cells.iter().all(is_part)
}

/// Removes remarks about martingale steps. Returns whether there were any. Fails if the time follows a remark.
pub(super) fn remove_gales(cells: &mut Vec<String>) -> Result<bool, String> {
    let is_count = |cell: Option<&String>| cell.is_some_and(|cell| is_gale_count(cell));
    let is_word =
        |cell: Option<&String>, words: &str| cell.is_some_and(|cell| is_one_of(&fold_text(cell), words));
    let mut has_any = false;
    while let Some(place) = cells.iter().position(|cell| is_gale(cell)) {
        has_any = true;
        if cells[place..].iter().any(|cell| parse_time_of_day(cell).is_some()) {
            return Err(GALE_TIME_ERROR.to_owned());
        }
        let (mut from, mut to) = (place, place + 1);
        if is_count(cells.get(to)) {
            to += 1;
        } else if from > 0 && is_count(cells.get(from - 1)) {
            from -= 1;
        }
        // `up` is a direction in `UP GALE 1`, but not in `up to 1 gale`.
        let is_up_to = |at: usize| fold_text(&cells[at]) == "up" && !is_word(cells.get(at + 1), " to ");
        while from > 0 && is_word(cells.get(from - 1), WORDS_BEFORE_GALE) && !is_up_to(from - 1) {
            from -= 1;
        }
        while is_word(cells.get(to), WORDS_AFTER_GALE) {
            to += 1;
        }
        cells.drain(from..to);
    }
    Ok(has_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_lines_with_only_gales() {
        for (lines, expected) in [
            ("1º GALE → 10:55|2º GALE \u{27a1} 11:00|GALE 1: 10:55|GALE 2 - 11:00|até 2 gales", true),
            ("gale 10:55 / 11:00|10:55 UP GALE 1|GALE 10:55 CALL|EURUSD GALE 10:55|10:55", false),
        ] {
            for line in lines.split('|') {
                let cells = split_cells(line, &ListBots::new(&[]));
                assert_eq!(is_gale_only(&cells), expected, "{line}: {cells:?}");
            }
        }
    }

    #[test]
    fn separates_line_numbers_units_and_labels_from_cells() {
        for (line, expected) in [
            ("2. 16:10 CALL", "16:10|CALL"),
            ("3\u{fe0f}\u{20e3} 16:10 CALL", "16:10|CALL"),
            ("16.10 CALL", "16.10|CALL"),
            ("2.2 CALL", "2.2|CALL"),
            ("16:05 CALL 15 Minutos", "16:05|CALL|15min"),
            ("CALL 2 horas às 14:35", "CALL|H2|às|14:35"),
            ("CALL M5 Horário 2:35 PM", "CALL|M5|Horário:|2:35 PM"),
            ("CALL M5 TIME 14:35Z", "CALL|M5|TIME:|14:35|UTC"),
            ("CALL 2 horas 14:35", "CALL|H2|14:35"),
            ("Hora:15:45 @16:00", "Hora:|15:45|@|16:00"),
            ("15:45 UTC -3 (CALL)", "15:45|UTC-3|CALL"),
            ("3:55 PM - CALL", "3:55 PM|CALL"),
            ("2026-11-30T09:20 BUY", "2026-11-30|09:20|BUY"),
            ("10:50+0530 CALL", "10:50|UTC+0530|CALL"),
            // A time followed by a martingale step or by any other number.
            ("10:50+05 CALL", "10:50+05|CALL"),
            ("10:50+5:30 CALL", "10:50+5:30|CALL"),
            ("10:50-11:00 CALL", "10:50-11:00|CALL"),
            ("EURUSD-10:50", "EURUSD-10:50"),
        ] {
            assert_eq!(split_cells(line, &ListBots::new(&[])).join("|"), expected, "{line}");
        }
        for time in ["- [14:35]", "as 14:35", "às 14:35", "@ 14:35"] {
            for (count, expected) in [(5, "CALL|EXP|5|HORA:|14:35"), (1, "CALL|EXP|1 HORA|14:35")] {
                let line = format!("CALL EXP {count} HORA {time}");
                assert_eq!(split_cells(&line, &ListBots::new(&[])).join("|"), expected, "{line}");
            }
        }
    }

    #[test]
    fn normalises_styled_letters() {
        for (text, expected) in [
            // Bold, sans-serif bold, monospace and full width.
            ("\u{1d414}\u{1d413}\u{1d402}-\u{1d7d1}", "UTC-3"),
            ("\u{1d5e8}\u{1d5e7}\u{1d5d6}-\u{1d7ef}", "UTC-3"),
            ("\u{1d681}\u{1d68a}\u{1d693}", "Raj"),
            ("\u{ff35}\u{ff34}\u{ff23}-\u{ff13}", "UTC-3"),
            ("UT\u{200b}C\u{2060}-3", "UTC-3"),
            ("UTC\u{2013}03:00 \u{2795}1", "UTC-03:00 +1"),
            ("terc\u{327}a", "terca"),
            ("\u{1f7e2} São", "\u{1f7e2} São"),
        ] {
            assert_eq!(normalize_text(text), expected);
        }
        assert_eq!(fold_text("HORÁRIO de São Paulo, UTC\u{2212}3"), "horario de sao paulo, utc-3");
    }
}

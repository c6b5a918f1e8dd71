//! What people write by habit of speech and of other languages where a sign should stand, and how it is written here.

use crate::RuleError;
use crate::catalog;
use crate::token::{Token, Word};
use candlewick_sdk::Interval;
use std::ops::Range;

/// Functions that take times of the day.
const OF_TIMES: [&str; 3] = ["between", "session_range", "pivots"];
/// The longest part of a rule that a message repeats, in bytes.
const MAX_REPEATED: usize = 60;

/// What is wrong with a time of the day without quotes, `8:30`; the words before its colon are read, and that stands at `colon`.
pub(crate) fn bare_time(text: &str, words: &[Token<'_>], colon: usize) -> Option<RuleError> {
    let (hours, before) = words.split_last()?;
    let digits = |text: &str| text.len() <= 2 && !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let behind = &text[colon + 1..];
    let minutes = &behind[..behind.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(behind.len())];
    let written = &text[hours.place.clone()];
    if hours.place.end != colon || !digits(written) || !digits(minutes) || minutes.len() < 2 {
        return None;
    }
    let place = hours.place.start..colon + 1 + minutes.len();
    let time = format!("{written:0>2}:{minutes}");
    let takes_times = called(before).is_some_and(|name| OF_TIMES.contains(&name));
    let message = if takes_times {
        format!("a time of the day stands in quotes: '{time}'")
    } else {
        let (from, to) = match before.last().map(|word| word.kind) {
            Some(Word::Sign("<" | "<=")) => ("00:00", time.as_str()),
            Some(Word::Sign(">" | ">=")) => (time.as_str(), "24:00"),
            _ => (time.as_str(), "17:00"),
        };
        let kinds: Vec<Word<'_>> = before.iter().map(|word| word.kind).collect();
        let zone = match kinds[..] {
            [.., Word::Name("hour"), Word::Sign("("), Word::Text(zone), Word::Sign(")"), _] => {
                format!(", '{zone}'")
            }
            _ => String::new(),
        };
        format!(
            "`{}` is no number: for a time of the day write between('{from}', '{to}'{zone})",
            &text[place.clone()]
        )
    };
    Some(RuleError::new(place, message))
}

/// The time of the day that a text names in another way: `8`, `0800`, `8h`, `1:00 PM`; none where it may be anything.
pub(crate) fn time_meant(text: &str) -> Option<String> {
    let plain = text.trim().to_lowercase().replace([' ', '.'], "");
    let (clock, half) = match (plain.strip_suffix("am"), plain.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (None, Some(clock)) => (clock, Some(12)),
        (None, None) => (plain.trim_end_matches('h'), None),
    };
    let (hours, minutes) = match clock.split_once([':', 'h']) {
        Some(parts) => parts,
        None if clock.len() == 4 => clock.split_at_checked(2)?,
        None => (clock, "00"),
    };
    let number = |digits: &str| digits.parse::<u32>().ok().filter(|_| (1..=2).contains(&digits.len()));
    let (hours, minutes) = (number(hours)?, number(minutes).filter(|_| minutes.len() == 2)?);
    let hours = match half {
        None => hours,
        Some(later) if (1..=12).contains(&hours) => hours % 12 + later,
        Some(_) => return None,
    };
    (hours < 24 && minutes < 60).then(|| format!("{hours:02}:{minutes:02}"))
}

/// What is said of a length of candles that stands like a number, `ema(100, 1h)`; the words before it are read.
pub(crate) fn bare_interval(text: &str, words: &[Token<'_>], place: &Range<usize>) -> Option<String> {
    let written = &text[place.clone()];
    let _: Interval = written.parse().ok()?;
    let value = || {
        let (comma, before) = words.split_last()?;
        let open = open_bracket(before)?;
        let name = before.get(open.checked_sub(1)?)?;
        let is_call = matches!(name.kind, Word::Name(_)) && comma.kind == Word::Sign(",");
        let value = &text[name.place.start..before.last()?.place.end];
        (is_call && value.len() <= MAX_REPEATED).then(|| format!("{value})"))
    };
    let value = value().unwrap_or_else(|| "sma(50)".to_owned());
    Some(format!("`{written}` is a length of candles and stands behind a value: {value}@{written}"))
}

/// What is said of a number of thousands, `1.5k`.
pub(crate) fn thousands(number: f64, written: &str) -> Option<String> {
    let digits = written.strip_suffix(['k', 'K'])?;
    let is_number = digits.parse::<f64>().is_ok();
    is_number.then(|| {
        format!("a number has no unit behind it: for {written} write {}", (number * 1e6).round() / 1e3)
    })
}

/// What is wrong with a decimal comma, `1,58`; the comma is the word at this place.
pub(crate) fn decimal_comma(text: &str, words: &[Token<'_>], comma: usize) -> Option<RuleError> {
    let (whole, comma, part) = (words.get(comma.checked_sub(1)?)?, words.get(comma)?, words.get(comma + 1)?);
    let are_numbers = matches!((whole.kind, part.kind), (Word::Number(_), Word::Number(_)));
    let are_one = whole.place.end == comma.place.start && comma.place.end == part.place.start;
    let place = whole.place.start..part.place.end;
    let number = text[place.clone()].replace(',', ".");
    let is_number = number.parse::<f64>().is_ok();
    (are_numbers && are_one && is_number)
        .then(|| RuleError::new(place, format!("a number has a decimal point, not a comma: write {number}")))
}

/// What is wrong with words of speech between two values, `rsi(7) crosses above 30`; the first of them is the word at this place.
pub(crate) fn spoken(text: &str, words: &[Token<'_>], at: usize) -> Option<RuleError> {
    let name = |place: usize| match words.get(place)?.kind {
        Word::Name(name) => Some(name.to_lowercase()),
        _ => None,
    };
    let mut next = at + usize::from(name(at)? == "is");
    let left = short(text, left_of(words, at)?, "x");
    let verb = name(next).unwrap_or_default();
    next += usize::from(!verb.is_empty());
    let right = |from: usize| short(text, right_of(words, from), "y");
    let cure = match verb.as_str() {
        "cross" | "crosses" | "crossed" | "crossing" => {
            let to = name(next).unwrap_or_default();
            let is_below = ["below", "under", "down"].contains(&to.as_str());
            next += usize::from(is_below || ["above", "over", "up"].contains(&to.as_str()));
            format!("crosses_{}({left}, {})", if is_below { "below" } else { "above" }, right(next))
        }
        "above" | "over" => format!("{left} > {}", right(next)),
        "below" | "under" => format!("{left} < {}", right(next)),
        "greater" | "more" | "higher" | "less" | "lower" if name(next).as_deref() == Some("than") => {
            next += 1;
            let sign = if ["less", "lower"].contains(&verb.as_str()) { "<" } else { ">" };
            format!("{left} {sign} {}", right(next))
        }
        "equals" => format!("{left} == {}", right(next)),
        "in" => format!("{left} == 2 or {left} == 3"),
        "between" => {
            let low = right_of(words, next);
            let high = words.iter().position(|word| word.place.start >= low.end);
            let high = high.filter(|and| name(*and).as_deref() == Some("and")).map(|and| right(and + 1));
            inside(left, short(text, low, "low"), high.unwrap_or("high"))
        }
        "since" => format!("since({left}) <= {}", short(text, right_of(words, next), "3")),
        "within" => format!("since({left}) < {}", short(text, right_of(words, next), "3")),
        "for" => {
            let many = words.get(next).map_or(0..0, |word| word.place.clone());
            let many = short(text, many, "3");
            format!("count({left}, {many}) == {many}")
        }
        "rising" | "rises" => format!("rising({left}, 1)"),
        "falling" | "falls" => format!("falling({left}, 1)"),
        _ if next > at && name(at).as_deref() == Some("is") => {
            next = at + 1;
            let sign = words.get(next).map(|word| word.kind);
            let is_sign = matches!(sign, Some(Word::Sign("<" | ">" | "<=" | ">=" | "==" | "!=")));
            return is_sign.then(|| {
                RuleError::new(words[at].place.clone(), "there is no `is`: leave it out".to_owned())
            });
        }
        _ => return None,
    };
    let place = words[at].place.start..words[next - 1].place.end;
    let message = format!("there is no `{}`: write {cure}", &text[place.clone()]);
    Some(RuleError::new(place, message))
}

/// What is written for a value from one to another, with what becomes of the bounds. Of hours it is the times of the day: `hour()` of
/// 17 lasts until 17:59.
fn inside(value: &str, low: &str, high: &str) -> String {
    let is_turned = matches!((low.parse::<f64>(), high.parse::<f64>()), (Ok(low), Ok(high)) if low > high);
    let is_hour = value.starts_with("hour(");
    // From Saturday to Monday the week begins anew; any other value lies between the smaller and the larger.
    if is_turned && value.starts_with("weekday(") {
        return format!("({value} >= {low} or {value} <= {high}), which takes in both");
    }
    let (low, high) = if is_turned && !is_hour { (high, low) } else { (low, high) };
    let both = format!("{value} >= {low} and {value} <= {high}");
    let zone = value.strip_prefix("hour(").and_then(|zone| zone.strip_suffix(')'));
    let hour = |text: &str| text.parse::<u8>().ok().filter(|hour| *hour < 24);
    let (Some(zone), Some(from), Some(to)) = (zone, hour(low), hour(high).filter(|_| low != high)) else {
        return format!("({both}), which takes in both");
    };
    let zone = if zone.is_empty() { String::new() } else { format!(", {zone}") };
    let until = if from < to { format!("; {both} holds until {to:02}:59:59") } else { String::new() };
    format!(
        "between('{from:02}:00', '{to:02}:00'{zone}), which takes in {from:02}:00 and not {to:02}:00{until}"
    )
}

/// What is wrong with a name before a number or another name, `rsi 7` and `previous high`; the latter is the word at this place.
pub(crate) fn side_by_side(text: &str, words: &[Token<'_>], at: usize) -> Option<RuleError> {
    let (before, word) = (words.get(at.checked_sub(1)?)?, words.get(at)?);
    let Word::Name(name) = before.kind else { return None };
    let written = &text[word.place.clone()];
    let message = match word.kind {
        Word::Number(_) if catalog::find(name).is_some_and(|function| !function.takes.is_empty()) => {
            format!("a period stands in brackets: write {name}({written})")
        }
        Word::Name(_) if ["previous", "prev", "last"].contains(&name.to_lowercase().as_str()) => {
            format!("there is no `{name}`: the value of the candle before is written {written}[1]")
        }
        _ => return None,
    };
    Some(RuleError::new(before.place.start..word.place.end, message))
}

/// What is wrong with a unit behind a number, `5 pips` and `3 candles`; it is the word at this place.
pub(crate) fn unit(text: &str, words: &[Token<'_>], at: usize) -> Option<RuleError> {
    let (before, word) = (words.get(at.checked_sub(1)?)?, words.get(at)?);
    let (Word::Number(number), Word::Name(name)) = (before.kind, word.kind) else { return None };
    let written = &text[before.place.clone()];
    let message = match name.to_lowercase().as_str() {
        "pip" | "pips" => {
            let (usual, yen) = (number / 10_000.0, number / 100.0);
            format!(
                "a distance is in the unit of the price: {written} pips are {usual} of EURUSD, {yen} of USDJPY"
            )
        }
        "candle" | "candles" | "bar" | "bars" => {
            format!("leave `{name}` out: a number of candles is {written}")
        }
        _ => return None,
    };
    Some(RuleError::new(before.place.start..word.place.end, message))
}

/// A part of the rule as it is written; something shorter where it is empty or long.
fn short<'t>(text: &'t str, place: Range<usize>, otherwise: &'t str) -> &'t str {
    if place.is_empty() || place.len() > MAX_REPEATED { otherwise } else { &text[place] }
}

/// The value or condition that ends before this word.
fn left_of(words: &[Token<'_>], at: usize) -> Option<Range<usize>> {
    let before = &words[..at];
    let begins = last_outside(before, |word| {
        matches!(word, Word::Sign("(" | "[" | ",") | Word::Name("and" | "or" | "not"))
    });
    let first = before.get(begins.map_or(0, |place| place + 1))?;
    Some(first.place.start..before.last()?.place.end)
}

/// What follows from this word on, as far as it is joined by no `and` or `or`; empty where nothing does.
fn right_of(words: &[Token<'_>], from: usize) -> Range<usize> {
    let behind = words.get(from..).unwrap_or_default();
    let mut depth = 0_usize;
    let ends = behind.iter().position(|word| match word.kind {
        Word::Sign("(" | "[") => {
            depth += 1;
            false
        }
        Word::Sign(")" | "]") if depth > 0 => {
            depth -= 1;
            false
        }
        Word::Sign(")" | "]" | ",") | Word::Name("and" | "or") => depth == 0,
        _ => false,
    });
    match &behind[..ends.unwrap_or(behind.len())] {
        [] => 0..0,
        [first, .., last] => first.place.start..last.place.end,
        [one] => one.place.clone(),
    }
}

/// The function whose values these words stand among.
fn called<'t>(words: &[Token<'t>]) -> Option<&'t str> {
    match words.get(open_bracket(words)?.checked_sub(1)?)?.kind {
        Word::Name(name) => Some(name),
        _ => None,
    }
}

/// The bracket that is still open behind these words.
fn open_bracket(words: &[Token<'_>]) -> Option<usize> {
    last_outside(words, |word| matches!(word, Word::Sign("(" | "[")))
}

/// The last of these words that is such a one and stands in no bracket that is closed behind it.
fn last_outside(words: &[Token<'_>], is_one: impl Fn(Word<'_>) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    words.iter().rposition(|word| match word.kind {
        Word::Sign(")" | "]") => {
            depth += 1;
            false
        }
        Word::Sign("(" | "[") if depth > 0 => {
            depth -= 1;
            false
        }
        kind => depth == 0 && is_one(kind),
    })
}

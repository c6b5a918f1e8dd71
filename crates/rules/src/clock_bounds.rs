//! Bounds of the hour and the minute of the day that take in more, or less, than whoever writes them as a time of the day means.

use crate::impossible::{number_of, text_of, turned};
use crate::rule::Condition;
use crate::syntax::{Form, Operator, PartId};
use candlewick_sdk::Interval;
use std::ops::Range;

const HOUR_MS: i64 = 3_600_000;
/// The last hour of the day: what is bounded by it is not bounded.
const LAST_HOUR: f64 = 23.0;
const LAST_MINUTE: f64 = 59.0;

/// `hour()` or `minute()` on the left, with what it is compared with.
struct Bound {
    part: PartId,
    value: PartId,
    is_hour: bool,
    /// Whether it is bounded from above.
    is_upper: bool,
    operator: Operator,
    number: f64,
}

impl Bound {
    /// Whether it lets every minute pass.
    fn takes_in_all(&self) -> bool {
        match self.operator {
            Operator::LessOrEqual => self.number >= LAST_MINUTE,
            Operator::GreaterOrEqual => self.number <= 0.0,
            _ => false,
        }
    }
}

/// Each bound of a time of the day in a condition of candles of this length, with what it comes to and what is probably meant.
pub(crate) fn doubtful_bounds(condition: &Condition, own: Interval) -> Vec<String> {
    // The candles of an hour close at whole hours: `hour() <= 17` is until 17:00.
    if own.length().get() >= HOUR_MS {
        return Vec::new();
    }
    let mut found = Vec::new();
    let of_hours = places_of_hours(condition);
    for group in condition.tree.and_groups() {
        let is_of_hours = |part: &PartId| {
            let place = &condition.tree.part(*part).place;
            of_hours.iter().any(|outer| outer.start <= place.start && place.end <= outer.end)
        };
        let shorter = group.into_iter().filter(|part| !is_of_hours(part));
        let bounds: Vec<Bound> = shorter.filter_map(|part| bound_of(condition, part)).collect();
        let minutes: Vec<&Bound> = bounds.iter().filter(|bound| !bound.is_hour).collect();
        for one in bounds.iter().filter(|bound| bound.is_hour) {
            match minutes[..] {
                [] => found.extend(words_of_hour(condition, one)),
                [minute] if minute.is_upper == one.is_upper && !minute.takes_in_all() => {
                    found.push(words_of_both(condition, one, minute));
                }
                // Minutes between two bounds are those of every hour.
                _ => {}
            }
        }
    }
    found
}

/// Where a condition speaks of candles of an hour or more.
fn places_of_hours(condition: &Condition) -> Vec<Range<usize>> {
    let of_hours = |id: PartId| {
        let part = condition.tree.part(id);
        let Form::At { interval, .. } = &part.form else { return None };
        let is_long = interval.parse().is_ok_and(|interval: Interval| interval.length().get() >= HOUR_MS);
        is_long.then(|| part.place.clone())
    };
    (0..condition.tree.len()).filter_map(of_hours).collect()
}

fn bound_of(condition: &Condition, part: PartId) -> Option<Bound> {
    let Form::Binary { operator, left, right } = condition.tree.part(part).form else { return None };
    let (value, operator, number) = match (number_of(condition, left), number_of(condition, right)) {
        (None, Some(number)) => (left, operator, number),
        (Some(number), None) => (right, turned(operator), number),
        _ => return None,
    };
    let is_upper = match operator {
        Operator::Less | Operator::LessOrEqual => true,
        Operator::Greater | Operator::GreaterOrEqual => false,
        _ => return None,
    };
    let Form::Call { name, .. } = &condition.tree.part(value).form else { return None };
    let (is_hour, last) = match name.as_str() {
        "hour" => (true, LAST_HOUR),
        "minute" => (false, LAST_MINUTE),
        _ => return None,
    };
    let is_time = number.fract().abs() < f64::EPSILON && (0.0..=last).contains(&number);
    is_time.then_some(Bound { part, value, is_hour, is_upper, operator, number })
}

/// What `hour() <= 17` and `hour() > 8` come to.
fn words_of_hour(condition: &Condition, bound: &Bound) -> Option<String> {
    let Bound { part, value, number, .. } = *bound;
    let (text, value) = (text_of(condition, part), text_of(condition, value));
    match bound.operator {
        // `hour() < 0` never holds, and `hour() >= 0` always does.
        _ if number >= LAST_HOUR || number <= 0.0 => None,
        Operator::LessOrEqual => Some(format!(
            "`{text}` holds until {number:02}:59:59: write `{value} < {number}` if {number:02}:00 is meant"
        )),
        Operator::Greater => Some(format!(
            "`{text}` holds from {:02}:00 on: write `{value} >= {number}` if {number:02}:00 is meant",
            number + 1.0
        )),
        _ => None,
    }
}

/// What `hour() <= 17 and minute() <= 30` comes to.
fn words_of_both(condition: &Condition, hour: &Bound, minute: &Bound) -> String {
    let zone = match &condition.tree.part(hour.value).form {
        Form::Call { arguments, .. } => arguments.first().map(|zone| text_of(condition, *zone)),
        _ => None,
    };
    let zone = zone.map_or_else(String::new, |zone| format!(", {zone}"));
    let time = format!("{:02}:{:02}", hour.number, minute.number);
    let (whole, cure) = if hour.is_upper {
        (format!("until {time}"), format!("between('00:00', '{time}'{zone})"))
    } else {
        (format!("from {time} on"), format!("between('{time}', '00:00'{zone})"))
    };
    format!(
        "`{}` is asked of every hour, beside `{}`: write `{cure}` if {whole} is meant",
        text_of(condition, minute.part),
        text_of(condition, hour.part)
    )
}

#[cfg(test)]
mod tests {
    use crate::{NAME, doubtful_parts};
    use candlewick_sdk::Registry;
    use serde_json::json;

    fn check(interval: &str, buy: &str, expected: &[&str]) {
        let params = json!({ "buy": buy });
        let found = doubtful_parts(&Registry::default(), (NAME, &params), interval.parse().unwrap()).unwrap();
        assert_eq!(found, expected, "{buy}");
    }

    #[test]
    fn an_hour_that_is_taken_in_or_left_out_is_told() {
        for (buy, expected) in [
            (
                "close > open and hour() >= 8 and hour() <= 17",
                "`hour() <= 17` holds until 17:59:59: write `hour() < 17` if 17:00 is meant",
            ),
            (
                "9 >= hour('Europe/London')",
                "`9 >= hour('Europe/London')` holds until 09:59:59: write `hour('Europe/London') < 9` if 09:00 is meant",
            ),
            ("hour() > 8", "`hour() > 8` holds from 09:00 on: write `hour() >= 8` if 08:00 is meant"),
            (
                "8 < hour() and hour() < 17",
                "`8 < hour()` holds from 09:00 on: write `hour() >= 8` if 08:00 is meant",
            ),
        ] {
            check("15m", buy, &[expected]);
        }
        for buy in [
            "hour() >= 8 and hour() < 17",
            "hour() == 17 or hour() != 9",
            "minute() <= 30 and weekday() <= 5",
            "hour() > 22.5 or hour() + 1 <= 17",
            "hour() <= 0 or hour() > 0",
            "hour() >= 9 and minute() >= 1 and minute() < 5",
            "(hour() <= 17)@1h and close > open",
            "(hour() <= 17 and close > open)@4h",
        ] {
            check("1m", buy, &[]);
        }
        // That is until 17:00, whatever is to be said of the minute.
        check(
            "1m",
            "hour() <= 16 and minute() <= 59",
            &["`minute() <= 59` always holds: the value lies between 0 and 59"],
        );
        // An hourly candle that closes at 17:00 is the last of them.
        check("1h", "hour() <= 17 and close > open", &[]);
    }

    #[test]
    fn a_minute_beside_an_hour_is_answered_with_a_time_of_the_day() {
        check(
            "1m",
            "hour() <= 17 and close > open and minute() < 30",
            &[
                "`minute() < 30` is asked of every hour, beside `hour() <= 17`: write `between('00:00', '17:30')` if until 17:30 is meant",
            ],
        );
        check(
            "5m",
            "hour('UTC-3') >= 9 and minute('UTC-3') >= 30",
            &[
                "`minute('UTC-3') >= 30` is asked of every hour, beside `hour('UTC-3') >= 9`: write `between('09:30', '00:00', 'UTC-3')` if from \
                 09:30 on is meant",
            ],
        );
        // The first minutes of each hour of the morning, a bound on either side.
        check("1m", "hour() >= 8 and minute() < 5", &[]);
        check("1m", "hour() >= 8 or minute() >= 5", &[]);
    }
}

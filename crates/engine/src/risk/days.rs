//! Parsing of weekdays: `mon`, `Monday`, `mon-fri`.

use super::hours::Weekday;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Mon),
    ("tuesday", Weekday::Tue),
    ("wednesday", Weekday::Wed),
    ("thursday", Weekday::Thu),
    ("friday", Weekday::Fri),
    ("saturday", Weekday::Sat),
    ("sunday", Weekday::Sun),
];

pub(super) fn read_days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Weekday>, D::Error> {
    let mut days = Vec::new();
    for text in Vec::<String>::deserialize(deserializer)? {
        let found = span_of(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "days: {text:?} is no day: use mon, tue, wed, thu, fri, sat, sun, as in [\"mon\", \"wed\"] or [\"mon-fri\"]"
            ))
        })?;
        for day in found {
            if !days.contains(&day) {
                days.push(day);
            }
        }
    }
    Ok(days)
}

fn span_of(text: &str) -> Option<Vec<Weekday>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (place_of(first)?, place_of(last)?);
    let count = (last + 7 - first) % 7 + 1;
    Some(DAYS.iter().cycle().skip(first).take(count).map(|(_, day)| *day).collect())
}

fn place_of(name: &str) -> Option<usize> {
    let name = name.trim().to_ascii_lowercase();
    DAYS.iter().position(|(full, _)| name.len() >= 3 && full.starts_with(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn days_are_taken_by_their_names_short_and_full_and_as_spans() {
        use Weekday::{Fri, Mon, Sat, Sun, Thu, Tue, Wed};
        for (written, expected) in [
            (json!([]), Ok(vec![])),
            (json!(["mon", "wed"]), Ok(vec![Mon, Wed])),
            (json!(["Monday", "TUES"]), Ok(vec![Mon, Tue])),
            (json!(["mon-fri"]), Ok(vec![Mon, Tue, Wed, Thu, Fri])),
            (json!(["fri - mon", "sat"]), Ok(vec![Fri, Sat, Sun, Mon])),
            (json!(["wed-wed"]), Ok(vec![Wed])),
            (json!(["moon"]), Err("\"moon\" is no day: use mon, tue")),
            (json!(["m"]), Err("\"m\" is no day")),
            (json!(["mon-"]), Err("\"mon-\" is no day")),
        ] {
            match (read_days(&written), expected) {
                (Ok(days), Ok(expected)) => assert_eq!(days, expected, "{written}"),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (read, _) => panic!("{written}: {read:?}"),
            }
        }
    }
}

//! Reading of JSON objects field by field, counting unknown fields.

use candlewick_broker::UnrecognisedData;
use candlewick_sdk::Millis;
use chrono::{DateTime, NaiveDateTime};
use rust_decimal::Decimal;
use serde_json::{Map, Value};
use std::ops::Range;

pub(crate) trait Record: Sized {
    const NAME: &'static str;

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("{record} is not {expected}")]
    Kind { record: &'static str, expected: &'static str },
    #[error("{record} has no readable \"{field}\"")]
    Field { record: &'static str, field: &'static str },
    #[error("{record} {id} is listed twice")]
    Duplicate { record: &'static str, id: String },
}

pub(crate) trait Field: Sized {
    fn from_value(value: &Value) -> Option<Self>;

    fn unknown(&self) -> Option<&str> {
        None
    }
}

pub(crate) struct Fields<'a> {
    record: &'static str,
    object: Map<String, Value>,
    drift: &'a UnrecognisedData,
}

pub(crate) fn read_record<R: Record>(value: Value, drift: &UnrecognisedData) -> Result<R, Unreadable> {
    let Value::Object(object) = value else {
        return Err(Unreadable::Kind { record: R::NAME, expected: "an object" });
    };
    let mut fields = Fields { record: R::NAME, object, drift };
    let record = R::read(&mut fields)?;
    for field in fields.object.keys() {
        drift.count_field(R::NAME, field);
    }
    Ok(record)
}

pub(crate) fn read_all<R: Record>(value: Value, drift: &UnrecognisedData) -> Result<Vec<R>, Unreadable> {
    rows_of::<R>(value)?.into_iter().map(|row| read_record(row, drift)).collect()
}

pub(crate) fn read_list<R: Record>(
    value: Value,
    drift: &UnrecognisedData,
) -> Result<(Vec<R>, usize), Unreadable> {
    let rows = rows_of::<R>(value)?;
    let count = rows.len();
    let mut records = Vec::with_capacity(count);
    for row in rows {
        match read_record(row, drift) {
            Ok(record) => records.push(record),
            Err(Unreadable::Field { .. }) => {} // counted where it was met
            Err(Unreadable::Kind { record, .. } | Unreadable::Duplicate { record, .. }) => {
                drift.count_unreadable(record, "row");
            }
        }
    }
    let unreadable = count - records.len();
    Ok((records, unreadable))
}

fn rows_of<R: Record>(value: Value) -> Result<Vec<Value>, Unreadable> {
    match value {
        Value::Array(rows) => Ok(rows),
        _ => Err(Unreadable::Kind { record: R::NAME, expected: "in an array" }),
    }
}

impl Fields<'_> {
    pub(crate) fn optional<T: Field>(&mut self, field: &'static str) -> Option<T> {
        let value = self.object.remove(field).filter(|value| !value.is_null())?;
        let Some(read) = T::from_value(&value) else {
            self.drift.count_unreadable(self.record, field);
            return None;
        };
        if let Some(text) = read.unknown() {
            self.drift.count_value(self.record, field, text);
        }
        Some(read)
    }

    pub(crate) fn required<T: Field>(&mut self, field: &'static str) -> Result<T, Unreadable> {
        if self.object.get(field).is_none_or(Value::is_null) {
            self.drift.count_unreadable(self.record, field);
        }
        self.optional(field).ok_or(Unreadable::Field { record: self.record, field })
    }

    pub(crate) fn unreadable<T>(&self, field: &'static str) -> Result<T, Unreadable> {
        self.drift.count_unreadable(self.record, field);
        Err(Unreadable::Field { record: self.record, field })
    }

    /// Takes a time of a trade. 0 means unknown; a time outside [`TIMES`] is malformed.
    pub(crate) fn moment(&mut self, field: &'static str) -> Option<Millis> {
        let moment: Millis = self.optional(field).filter(|moment| *moment != Millis::ZERO)?;
        if !TIMES.contains(&moment) {
            self.drift.count_malformed(self.record, field, "is not a time from 2000 to 2100");
            return None;
        }
        Some(moment)
    }

    /// Takes a price. 0 means unknown (contract 2.3: zeros in the open response).
    pub(crate) fn beyond_zero<T: Field + PartialOrd + Default>(&mut self, field: &'static str) -> Option<T> {
        let value: T = self.optional(field)?;
        if value < T::default() {
            self.drift.count_malformed(self.record, field, "is below zero");
        }
        (value > T::default()).then_some(value)
    }

    pub(crate) fn nested<R: Record>(&mut self, field: &'static str) -> Option<R> {
        let value = self.object.remove(field).filter(|value| !value.is_null())?;
        let read = read_record(value, self.drift);
        if read.is_err() {
            self.drift.count_unreadable(self.record, field);
        }
        read.ok()
    }

    pub(crate) fn list<R: Record>(&mut self, field: &'static str) -> (Vec<R>, usize) {
        let Some(value) = self.object.remove(field).filter(|value| !value.is_null()) else {
            return (Vec::new(), 0);
        };
        let read = read_list(value, self.drift);
        if read.is_err() {
            self.drift.count_unreadable(self.record, field);
        }
        read.unwrap_or_else(|_| (Vec::new(), 1))
    }

    pub(crate) fn raw(&mut self, field: &'static str) -> Option<Value> {
        self.object.remove(field)
    }

    pub(crate) const fn drift(&self) -> &UnrecognisedData {
        self.drift
    }
}

/// Returns the text of a number or string.
///
/// Venues may send numbers as strings (`observed: prices and candles`).
fn number_text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.trim().to_owned()),
        _ => None,
    }
}

impl Field for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

impl Field for bool {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Field for u64 {
    fn from_value(value: &Value) -> Option<Self> {
        Decimal::from_value(value).filter(|number| number.fract().is_zero())?.try_into().ok()
    }
}

impl Field for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        number_text(value)?.parse().ok().filter(|number: &Self| number.is_finite())
    }
}

impl Field for Decimal {
    fn from_value(value: &Value) -> Option<Self> {
        let text = number_text(value)?;
        text.parse().or_else(|_| Self::from_scientific(&text)).ok()
    }
}

/// Plausible trade times: the years 2000 to 2099.
const TIMES: Range<Millis> = Millis::new(946_684_800_000)..Millis::new(4_102_444_800_000);

impl Field for Millis {
    fn from_value(value: &Value) -> Option<Self> {
        if let Some(number) = Decimal::from_value(value) {
            return i64::try_from(number.floor()).ok().map(Self::new);
        }
        let text = value.as_str()?.trim();
        let moment = DateTime::parse_from_rfc3339(text).map(|moment| moment.timestamp_millis());
        let moment = moment.or_else(|_| text.parse().map(|m: NaiveDateTime| m.and_utc().timestamp_millis()));
        moment.ok().map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[allow(clippy::needless_pass_by_value)] // rows are written in place
    fn check<T: Field + PartialEq + std::fmt::Debug>(json: Value, expected: Option<T>) {
        assert_eq!(T::from_value(&json), expected, "{json}");
    }

    #[test]
    fn numbers_are_read_from_numbers_and_strings() {
        for json in [json!(12.5), json!("12.5"), json!(" 12.50 "), json!("1.25e1")] {
            check(json.clone(), Some(12.5_f64));
            check(json, Some(Decimal::new(125, 1)));
        }
        for json in [json!(""), json!("NaN"), json!("inf"), json!(true), json!([1]), json!("12,5")] {
            check::<f64>(json.clone(), None);
            check::<Decimal>(json, None);
        }
        check(json!(0.1), Some(Decimal::new(1, 1)));
        check(json!(1e-7), Some(Decimal::new(1, 7)));
        check(json!("7"), Some(7_u64));
        check::<u64>(json!(7.5), None);
        check::<u64>(json!(-1), None);
    }

    #[test]
    fn times_are_read_from_integers_strings_and_iso_8601() {
        // 2026-11-20 12:00:00 UTC is 20,777 days and a half after the epoch.
        let noon = Millis::new(20_777 * 86_400_000 + 43_200_000);
        for json in [
            json!(1_795_176_000_000_i64),
            json!(1_795_176_000_000.0),
            json!("1795176000000"),
            json!("2026-11-20T12:00:00.000Z"),
            json!("2026-11-20T13:00:00+01:00"),
            json!("2026-11-20T12:00:00"),
        ] {
            check(json, Some(noon));
        }
        for json in [json!("yesterday"), json!({}), json!(1e300), json!("")] {
            check::<Millis>(json, None);
        }
    }

    #[test]
    fn texts_and_flags_are_read_from_what_means_the_same() {
        check(json!(17), Some("17".to_owned()));
        check::<String>(json!(["x"]), None);
        check(json!("true"), Some(true));
        check::<bool>(json!(1), None);
    }

    proptest! {
        #[test]
        fn a_moment_of_iso_8601_is_read(milliseconds in -62_135_596_800_000_i64..253_402_300_800_000) {
            let moment = chrono::DateTime::<chrono::Utc>::from_timestamp_millis(milliseconds).unwrap();
            let json = Value::from(moment.to_rfc3339_opts(chrono::SecondsFormat::Millis, true));
            prop_assert_eq!(Millis::from_value(&json), Some(Millis::new(milliseconds)));
        }

        #[test]
        fn no_text_or_number_from_outside_is_too_strange_to_read(text in ".*", exponent in "-?[0-9]{1,4}e-?[0-9]{1,12}", number in any::<f64>()) {
            for value in [Value::from(text), Value::from(exponent), Value::from(number)] {
                let _ = (Decimal::from_value(&value), f64::from_value(&value), u64::from_value(&value));
                let _ = Millis::from_value(&value);
            }
        }
    }
}

//! Parsers for JSON without duplicate keys, for record fields, and for error bodies.

use candlewick_broker::UnrecognisedData;
use candlewick_sdk::Millis;
use chrono::{DateTime, NaiveDateTime};
use rust_decimal::Decimal;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::ops::Range;

/// Parses JSON and rejects duplicate keys. Other parsers silently keep the last of several values.
pub fn parse_json(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).map(|UniqueKeys(value)| value)
}

struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, UniqueKeys(value))) = entries.next_entry::<String, _>()? {
            if object.contains_key(&key) {
                let key: String = key.chars().take(32).collect();
                return Err(A::Error::custom(format_args!("key {key:?} occurs twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

pub(crate) trait Record: Sized {
    const NAME: &'static str;

    fn read(fields: &mut Fields<'_>) -> Result<Self, RecordError>;
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("{record} is not {expected}")]
    Kind { record: &'static str, expected: &'static str },
    #[error("{record} has no readable \"{field}\"")]
    Field { record: &'static str, field: &'static str },
    #[error("{record} {id} is listed twice")]
    Duplicate { record: &'static str, id: String },
}

pub(crate) trait Field: Sized {
    fn from_value(value: &Value) -> Option<Self>;

    fn unrecognised_text(&self) -> Option<&str> {
        None
    }
}

pub(crate) struct Fields<'a> {
    record: &'static str,
    object: Map<String, Value>,
    drift: &'a UnrecognisedData,
}

pub(crate) fn read_record<R: Record>(value: Value, drift: &UnrecognisedData) -> Result<R, RecordError> {
    let Value::Object(object) = value else {
        return Err(RecordError::Kind { record: R::NAME, expected: "an object" });
    };
    let mut fields = Fields { record: R::NAME, object, drift };
    let record = R::read(&mut fields)?;
    fields.count_unknown_fields();
    Ok(record)
}

pub(crate) fn read_records<R: Record>(value: Value, drift: &UnrecognisedData) -> Result<Vec<R>, RecordError> {
    extract_rows::<R>(value)?.into_iter().map(|row| read_record(row, drift)).collect()
}

pub(crate) fn read_list<R: Record>(
    value: Value,
    drift: &UnrecognisedData,
) -> Result<(Vec<R>, usize), RecordError> {
    let rows = extract_rows::<R>(value)?;
    let count = rows.len();
    let mut records = Vec::with_capacity(count);
    for row in rows {
        match read_record(row, drift) {
            Ok(record) => records.push(record),
            Err(RecordError::Field { .. }) => {} // already counted
            Err(RecordError::Kind { record, .. } | RecordError::Duplicate { record, .. }) => {
                drift.count_unreadable_field(record, "row");
            }
        }
    }
    let unreadable = count - records.len();
    Ok((records, unreadable))
}

fn extract_rows<R: Record>(value: Value) -> Result<Vec<Value>, RecordError> {
    match value {
        Value::Array(rows) => Ok(rows),
        _ => Err(RecordError::Kind { record: R::NAME, expected: "in an array" }),
    }
}

impl<'a> Fields<'a> {
    fn count_unknown_fields(&self) {
        for field in self.object.keys() {
            self.drift.count_field(self.record, field);
        }
    }

    pub(crate) fn take_optional<T: Field>(&mut self, field: &'static str) -> Option<T> {
        let value = self.object.remove(field).filter(|value| !value.is_null())?;
        let Some(read) = T::from_value(&value) else {
            self.drift.count_unreadable_field(self.record, field);
            return None;
        };
        if let Some(text) = read.unrecognised_text() {
            self.drift.count_value(self.record, field, text);
        }
        Some(read)
    }

    /// Takes contract fields that this crate does not use, to check their types only.
    pub(crate) fn ignore<T: Field>(&mut self, fields: &[&'static str]) {
        for &field in fields {
            let _: Option<T> = self.take_optional(field);
        }
    }

    pub(crate) fn take_required<T: Field>(&mut self, field: &'static str) -> Result<T, RecordError> {
        if self.object.get(field).is_none_or(Value::is_null) {
            self.drift.count_unreadable_field(self.record, field);
        }
        self.take_optional(field).ok_or(RecordError::Field { record: self.record, field })
    }

    pub(crate) fn unreadable_field<T>(&self, field: &'static str) -> Result<T, RecordError> {
        self.drift.count_unreadable_field(self.record, field);
        Err(RecordError::Field { record: self.record, field })
    }

    /// Takes a time field. Returns `None` if the time is 0, which means unknown, or outside [`PLAUSIBLE_TIMES`].
    pub(crate) fn take_time(&mut self, field: &'static str) -> Option<Millis> {
        let moment: Millis = self.take_optional(field).filter(|moment| *moment != Millis::ZERO)?;
        if !PLAUSIBLE_TIMES.contains(&moment) {
            self.drift.count_impossible_value(self.record, field, "is outside the years 2000 to 2099");
            return None;
        }
        Some(moment)
    }

    /// Takes a price field. Returns `None` if the price is negative or 0, which means unknown (contract 2.3).
    pub(crate) fn take_price<T: Field + PartialOrd + Default>(&mut self, field: &'static str) -> Option<T> {
        let value: T = self.take_optional(field)?;
        if value < T::default() {
            self.drift.count_impossible_value(self.record, field, "is below zero");
        }
        (value > T::default()).then_some(value)
    }

    /// Checks the types of the fields of a nested object that is otherwise unused.
    pub(crate) fn ignore_object(
        &mut self,
        field: &'static str,
        record: &'static str,
        check: fn(&mut Fields<'a>),
    ) {
        let Some(value) = self.object.remove(field).filter(|value| !value.is_null()) else { return };
        let Value::Object(object) = value else {
            return self.drift.count_unreadable_field(self.record, field);
        };
        let mut nested = Fields { record, object, drift: self.drift };
        check(&mut nested);
        nested.count_unknown_fields();
    }

    pub(crate) fn take_list<R: Record>(&mut self, field: &'static str) -> (Vec<R>, usize) {
        let Some(value) = self.object.remove(field).filter(|value| !value.is_null()) else {
            return (Vec::new(), 0);
        };
        let read = read_list(value, self.drift);
        if read.is_err() {
            self.drift.count_unreadable_field(self.record, field);
        }
        read.unwrap_or_else(|_| (Vec::new(), 1))
    }

    pub(crate) fn take_raw(&mut self, field: &'static str) -> Option<Value> {
        self.object.remove(field)
    }

    pub(crate) const fn drift(&self) -> &UnrecognisedData {
        self.drift
    }
}

/// Returns the text of a number field, which is a JSON number or a string (see `observed: prices and candles`).
fn read_number_text(value: &Value) -> Option<String> {
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
        read_number_text(value)?.parse().ok().filter(|number: &Self| number.is_finite())
    }
}

impl Field for Decimal {
    fn from_value(value: &Value) -> Option<Self> {
        let text = read_number_text(value)?;
        text.parse().or_else(|_| Self::from_scientific(&text)).ok()
    }
}

/// Plausible trade times: the years 2000 to 2099.
const PLAUSIBLE_TIMES: Range<Millis> = Millis::new(946_684_800_000)..Millis::new(4_102_444_800_000);

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

/// Body of an answer whose status is not 200 (contract 5, `observed: opening a trade`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// The venue's message on one line; `HTTP <status>` if there is no message.
    pub(crate) text: String,
    /// Status name or error code, from the field `error` in `data` or in the body.
    pub(crate) code: Option<String>,
    pub(crate) venue_time: Option<Millis>,
}

const MAX_LINE_BYTES: usize = 300;

impl ErrorBody {
    /// Parses an error body. The message is a string, list or object in `data.message`, `data`, `message` or `error`.
    pub(crate) fn parse(status: u16, body: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let data = json.get("data").unwrap_or(&Value::Null);
        let candidates =
            [data.get("message"), data.as_str().map(|_| data), json.get("message"), json.get("error")];
        let text = candidates.into_iter().flatten().find_map(read_message);
        let code = [data.get("error"), json.get("error")].into_iter().flatten().find_map(Value::as_str);
        Self {
            code: code.map(to_one_line),
            text: text.map_or_else(|| format!("HTTP {status}"), |text| to_one_line(&text)),
            venue_time: json.get("timestamp").and_then(Millis::from_value),
        }
    }
}

fn read_message(message: &Value) -> Option<String> {
    let text = match message {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(read_message).collect::<Vec<_>>().join("; "),
        Value::Object(object) => match object.get("message").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None if object.is_empty() => return None,
            None => message.to_string(),
        },
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

pub(crate) fn to_one_line(text: &str) -> String {
    let words: Vec<_> =
        text.split(|c: char| c.is_control() || c == ' ').filter(|word| !word.is_empty()).collect();
    let mut line = words.join(" ");
    line.truncate(line.floor_char_boundary(MAX_LINE_BYTES));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn rejects_an_object_with_a_key_twice_at_any_depth() {
        for (text, key) in [
            (r#"{"balance": 9988, "balance": 123456}"#, "balance"),
            (r#"[{"id": "w"}, {"id": "w", "x": [{"a": 1, "a": 1}]}]"#, "a"),
            (r#"{"amount": 1, "\u0061mount": 2}"#, "amount"),
        ] {
            let error = parse_json(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("key \"{key}\" occurs twice")), "{error}");
        }
        assert_eq!(parse_json(br#"[{"a": 1}, {"a": 2}]"#).unwrap(), json!([{"a": 1}, {"a": 2}]));
    }

    proptest! {
        #[test]
        fn agrees_with_the_lenient_parser_without_duplicate_keys(
            text in r#"[\[\]{}",:0-9a-c.e+\- ]{0,40}"#, number in any::<f64>(), word in ".*",
        ) {
            let object = json!({"number": number, "word": word, "list": [null, true, -7, u64::MAX, {}]});
            prop_assert_eq!(parse_json(object.to_string().as_bytes()).unwrap(), object);
            if let Ok(strict) = parse_json(text.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), strict);
            }
        }
    }

    fn check_text(body: &Value, expected: &str) {
        assert_eq!(ErrorBody::parse(400, body.to_string().as_bytes()).text, expected, "{body}");
    }

    #[test]
    fn finds_the_failure_text_in_any_place() {
        check_text(&json!({"data": {"message": "a"}, "message": "b", "error": "c"}), "a");
        check_text(&json!({"data": {"error": "x"}, "message": "b", "error": "c"}), "b");
        check_text(&json!({"error": "c"}), "c");
        check_text(&json!({"data": "d", "message": "b"}), "d");
        check_text(&json!({"data": {"message": ["too low", "not active"]}}), "too low; not active");
        check_text(&json!({"message": {"message": "inner", "code": 7}}), "inner");
        check_text(&json!({"message": {"code": 7}}), "{\"code\":7}");
        check_text(&json!({"message": []}), "HTTP 400");
        check_text(&json!({"message": null, "error": "  "}), "HTTP 400");
        check_text(&json!("text"), "HTTP 400");
        check_text(&json!({"message": "two\r\n lines\u{7}"}), "two lines");
        assert_eq!(ErrorBody::parse(502, b"<html>").text, "HTTP 502");
        let long = json!({"message": "é".repeat(900)}).to_string();
        assert_eq!(ErrorBody::parse(400, long.as_bytes()).text.len(), 300);
    }

    #[test]
    fn both_401_bodies_of_the_contract_are_read() {
        let json = json!({
            "statusCode": 401, "status": "error", "timestamp": "2026-11-20T12:00:00.000Z",
            "path": "/token/trades",
            "data": {"message": "Invalid token", "error": "Unauthorized", "statusCode": 401},
        });
        let read = ErrorBody::parse(401, json.to_string().as_bytes());
        let expected = ErrorBody {
            text: "Invalid token".into(),
            code: Some("Unauthorized".into()),
            venue_time: Some(Millis::new(1_795_176_000_000)),
        };
        assert_eq!(read, expected);

        let json = json!({"statusCode": 401, "message": "Unauthorized"});
        let read = ErrorBody::parse(401, json.to_string().as_bytes());
        assert_eq!(read, ErrorBody { text: "Unauthorized".into(), code: None, venue_time: None });
    }

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
        // 2026-11-20 12:00:00 UTC is 20,777.5 days after the epoch.
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
    fn reads_equivalent_texts_and_flags() {
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
        fn arbitrary_input_never_panics(text in ".*", exponent in "-?[0-9]{1,4}e-?[0-9]{1,12}", number in any::<f64>()) {
            for value in [Value::from(text), Value::from(exponent), Value::from(number)] {
                let _ = (Decimal::from_value(&value), f64::from_value(&value), u64::from_value(&value));
                let _ = Millis::from_value(&value);
            }
        }
    }
}

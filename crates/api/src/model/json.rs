//! JSON parsing that rejects duplicate keys.
//!
//! A lenient parser keeps the last one, so a reply with two balances would be accepted with either.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

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

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
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
            // The same key, written differently.
            (r#"{"amount": 1, "\u0061mount": 2}"#, "amount"),
        ] {
            let error = parse_json(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("key \"{key}\" occurs twice")), "{error}");
        }
        assert_eq!(parse_json(br#"[{"a": 1}, {"a": 2}]"#).unwrap(), json!([{"a": 1}, {"a": 2}]));
    }

    proptest! {
        #[test]
        fn reads_the_same_as_the_lenient_parser_where_no_key_is_twice(
            text in r#"[\[\]{}",:0-9a-c.e+\- ]{0,40}"#, number in any::<f64>(), word in ".*",
        ) {
            let object = json!({"number": number, "word": word, "list": [null, true, -7, u64::MAX, {}]});
            prop_assert_eq!(parse_json(object.to_string().as_bytes()).unwrap(), object);
            if let Ok(strict) = parse_json(text.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), strict);
            }
        }
    }
}

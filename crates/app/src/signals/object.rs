//! A JSON object that rejects duplicate keys, since it is unclear which one was meant.

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;

pub(super) struct Object(pub(super) Map<String, Value>);

pub(super) const TWICE: &str = "the key ";

struct EachOnce;

impl<'de> Visitor<'de> for EachOnce {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Object, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = entries.next_entry::<String, Value>()? {
            if object.contains_key(&key) {
                let key: String = key.chars().take(32).collect();
                return Err(A::Error::custom(format!("{TWICE}{key:?} stands twice: send it once")));
            }
            object.insert(key, value);
        }
        Ok(Object(object))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EachOnce)
    }
}

//! A single parameter value.

use serde_json::{Value, json};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value that a search assigns to a parameter.
///
/// Two values are equal if a strategy cannot tell them apart.
#[derive(Clone, Debug)]
pub enum Setting {
    Flag(bool),
    Whole(i64),
    Real(f64),
    /// Text, duration code or expiration type.
    Text(Arc<str>),
}

impl Setting {
    pub fn to_json(&self) -> Value {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Whole(number) => json!(number),
            Self::Real(number) => json!(number),
            Self::Text(text) => json!(&**text),
        }
    }

    pub fn to_number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Flag(one), Self::Flag(two)) => one == two,
            (Self::Whole(one), Self::Whole(two)) => one == two,
            (Self::Real(one), Self::Real(two)) => one.to_bits() == two.to_bits(),
            (Self::Text(one), Self::Text(two)) => one == two,
            (Self::Flag(_) | Self::Whole(_) | Self::Real(_) | Self::Text(_), _) => false,
        }
    }
}

impl Eq for Setting {}

impl Hash for Setting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Flag(flag) => flag.hash(state),
            Self::Whole(number) => number.hash(state),
            Self::Real(number) => number.to_bits().hash(state),
            Self::Text(text) => text.hash(state),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

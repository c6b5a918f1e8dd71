//! One value of one parameter.

use serde_json::{Value, json};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value that a search gives to a parameter. Two are equal when a strategy could not tell them apart.
#[derive(Clone, Debug)]
pub enum Setting {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// A text, a duration code, an expiration type.
    Text(Arc<str>),
}

impl Setting {
    /// As a strategy's parameters hold it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Flag(flag) => json!(flag),
            Self::Whole(number) => json!(number),
            Self::Real(number) => json!(number),
            Self::Text(text) => json!(&**text),
        }
    }

    /// The number that it is; a flag or a text is none.
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

//! A price at a moment.

use crate::Millis;
use serde::{Deserialize, Serialize};

/// The latest price of a symbol at a moment of venue time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The moment the price belongs to.
    pub time: Millis,
    /// The price, above zero.
    pub value: f64,
}

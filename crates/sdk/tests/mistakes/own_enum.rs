//! A parameter of a custom type.

use candlewick_sdk::{schemars, serde};

#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "candlewick_sdk::serde")]
#[schemars(crate = "candlewick_sdk::schemars")]
enum Mode {
    Fast,
}

candlewick_sdk::parameters! {
    pub struct Params {
        mode: Mode = Mode::Fast;
    }
}

fn main() {}

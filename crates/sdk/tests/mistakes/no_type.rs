//! A parameter without a type.

candlewick_sdk::parameters! {
    pub struct Params {
        period = 14, 1..=500;
    }
}

fn main() {}

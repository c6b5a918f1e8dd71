//! A line without a semicolon.

candlewick_sdk::parameters! {
    pub struct Params {
        period: usize = 14, 1..=500
    }
}

fn main() {}

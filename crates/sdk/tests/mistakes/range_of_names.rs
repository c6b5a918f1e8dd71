//! A range that is no pair of numbers.

candlewick_sdk::parameters! {
    pub struct Params {
        period: usize = 14, 1..=LONGEST;
    }
}

fn main() {}

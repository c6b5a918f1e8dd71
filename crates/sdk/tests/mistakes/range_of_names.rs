//! A range that is not a pair of literals.

candlewick_sdk::parameters! {
    pub struct Params {
        period: usize = 14, 1..=LONGEST;
    }
}

fn main() {}

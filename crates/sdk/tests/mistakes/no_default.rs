//! A parameter without a default.

candlewick_sdk::parameters! {
    pub struct Params {
        period: usize;
    }
}

fn main() {}

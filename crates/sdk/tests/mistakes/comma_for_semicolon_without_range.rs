//! A line without a range that ends with a comma.

candlewick_sdk::parameters! {
    pub struct Params {
        period: usize = 14,
        level: f64 = 30.0;
    }
}

fn main() {}

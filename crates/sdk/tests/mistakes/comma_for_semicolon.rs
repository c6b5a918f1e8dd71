//! A line that ends with a comma.

candlewick_sdk::parameters! {
    pub struct Params {
        period: usize = 14, 1..=500,
        level: f64 = 30.0;
    }
}

fn main() {}

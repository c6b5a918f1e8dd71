//! A parameter marked as public.

candlewick_sdk::parameters! {
    pub struct Params {
        /// Candles in the average.
        pub period: usize = 14;
    }
}

fn main() {}

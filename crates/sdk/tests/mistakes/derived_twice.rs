//! A derive that `parameters!` adds already.

candlewick_sdk::parameters! {
    /// Parameters.
    #[derive(Copy, Debug)]
    pub struct Params {
        period: usize = 14, 1..=500;
    }
}

fn main() {}

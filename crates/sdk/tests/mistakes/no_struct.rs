//! Parameters that are no struct.

candlewick_sdk::parameters! {
    pub enum Params { Slow, Fast }
}

fn main() {}

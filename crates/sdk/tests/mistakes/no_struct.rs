//! Parameters that are not a struct.

candlewick_sdk::parameters! {
    pub enum Params { Slow, Fast }
}

fn main() {}

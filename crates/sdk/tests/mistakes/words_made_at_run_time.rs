//! A signal text built at run time.

use candlewick_sdk::Signal;

fn main() {
    let change = 0.02;
    let _ = Signal::buy(&format!("rose by {change}"));
    let _ = Signal::sell(format!("fell by {change}"));
    let _ = Signal::buy("rose").with(&format!("change {}", 1), change);
}

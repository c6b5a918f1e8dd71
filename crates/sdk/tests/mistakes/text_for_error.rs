//! A text instead of an error in `build`.

use candlewick_sdk::BuildError;

fn check(period: usize) -> Result<(), BuildError> {
    if period > 20 {
        return Err("period is above 20");
    }
    if period == 0 {
        return Err(format!("period = {period} is too short"));
    }
    Ok(())
}

fn main() {
    _ = check(14);
}

//! Text of the break-even payout, the same on every screen and page.

pub(crate) const MAX_PERCENT: f64 = 100.0;

/// Formats a break-even payout in percent of the stake. Above the stake there is no such payout,
/// because no venue pays more. Trades without a loss have no break-even payout.
pub(crate) fn break_even_payout_words(percent: f64) -> String {
    if percent <= 0.0 {
        return "-".to_owned();
    }
    if percent > MAX_PERCENT { "none (above 100 %)".to_owned() } else { format!("{percent:.2} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_the_stake_there_is_none() {
        for (percent, expected) in [
            (78.571_4, "78.57 %"),
            (100.0, "100.00 %"),
            (0.0, "-"),
            (103.4, "none (above 100 %)"),
            (f64::INFINITY, "none (above 100 %)"),
        ] {
            assert_eq!(break_even_payout_words(percent), expected);
        }
    }
}

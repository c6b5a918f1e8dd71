//! The payout at which trades would have lost nothing, in words: one answer on every screen and page.

/// The most that a win can pay, in percent of the stake.
pub(crate) const MAX_PERCENT: f64 = 100.0;

/// A break-even payout, in percent of the stake, as people read it. No venue pays more than the stake: above that there is none.
/// Trades of which none was lost say nothing of it.
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

//! Finding: a rule has many numbers and few trades to fit them to.

use super::{Finding, FindingKind, Severity};
use candlewick_engine::{BotSettings, IntentRow};

const MIN_NUMBERS: usize = 12;
/// Fewer trades per number suggest overfitting (10 to 20 observations per parameter: F. E. Harrell,
/// *Regression Modeling Strategies*, 2015, section 4.4).
const MIN_TRADES_PER_NUMBER: usize = 20;

pub(super) fn find(numbers: &[usize], settled: &[&IntentRow], bots: &[BotSettings]) -> Option<Finding> {
    numbers.iter().zip(bots).enumerate().find_map(|(index, (numbers, bot))| {
        let trades = settled.iter().filter(|row| row.approved.bot().index() == index).count();
        is_fitted(*numbers, trades).then(|| Finding {
            kind: FindingKind::ManyNumbers,
            severity: Severity::Warning,
            text: format!(
                "The rule of {} has {numbers} numbers for {trades} trades. So many numbers fit any {trades} trades: test the rule on \
                 candles that it was not written for.",
                bot.name
            ),
        })
    })
}

const fn is_fitted(numbers: usize, trades: usize) -> bool {
    numbers >= MIN_NUMBERS && trades > 0 && trades < numbers * MIN_TRADES_PER_NUMBER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_trades_for_each_number_are_enough() {
        for (numbers, trades, expected) in
            [(4, 10, false), (12, 239, true), (12, 240, false), (300, 4_000, true), (40, 0, false)]
        {
            assert_eq!(is_fitted(numbers, trades), expected, "{numbers} {trades}");
        }
    }
}

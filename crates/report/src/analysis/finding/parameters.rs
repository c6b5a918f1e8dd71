//! Finding about rules with many numeric parameters.

use super::{Finding, FindingKind};
use candlewick_engine::{BotSettings, IntentRow};

const MIN_NUMERIC_PARAMETERS: usize = 12;
/// Minimum trades per numeric parameter. Harrell recommends 10 to 20 (*Regression Modeling Strategies*, 2015, 4.4).
const MIN_TRADES_PER_PARAMETER: usize = 20;

pub(super) fn check_parameter_counts(
    numbers: &[usize],
    settled: &[&IntentRow],
    bots: &[BotSettings],
) -> Option<Finding> {
    numbers.iter().zip(bots).enumerate().find_map(|(index, (numbers, bot))| {
        let trades = settled.iter().filter(|row| row.approved.bot().index() == index).count();
        may_be_overfitted(*numbers, trades).then(|| {
            FindingKind::ManyNumbers.warning(format!(
                "The rule of {} has {numbers} numeric parameters but only {trades} trades, so the rule may be \
                 overfitted. Test the rule on candles that were not used to design it.",
                bot.name
            ))
        })
    })
}

const fn may_be_overfitted(numbers: usize, trades: usize) -> bool {
    numbers >= MIN_NUMERIC_PARAMETERS && trades > 0 && trades < numbers * MIN_TRADES_PER_PARAMETER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_trades_per_number_are_enough() {
        for (numbers, trades, expected) in
            [(4, 10, false), (12, 239, true), (12, 240, false), (300, 4_000, true), (40, 0, false)]
        {
            assert_eq!(may_be_overfitted(numbers, trades), expected, "{numbers} {trades}");
        }
    }
}

//! A limit in percent beside the amount that holds unless configured otherwise.

use crate::SessionSettings;
use crate::risk::RiskSettings;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::FromPrimitive;

/// A note where `risk.daily_loss_limit_percent` allows more than the default of `risk.daily_loss_limit`, which then holds: whoever
/// gives a percent may not think of it.
pub fn percent_beside_default(settings: &SessionSettings) -> Option<String> {
    let RiskSettings { daily_loss_limit: amount, daily_loss_limit_percent: percent, .. } = settings.risk;
    if percent <= 0.0 || amount != RiskSettings::default().daily_loss_limit {
        return None;
    }
    let share = settings.balance * Decimal::from_f64(percent)? / Decimal::ONE_HUNDRED;
    if share <= amount {
        return None;
    }
    let decimals = settings.money_scale.decimals();
    let [written, share] = [amount, share].map(|money| format!("{:.*}", decimals as usize, money));
    Some(format!(
        "risk.daily_loss_limit: the amount of {written}, which is also the default, is tighter than {percent} % of the balance ({share}), and the \
         tighter holds: set daily_loss_limit = 0 to have the percent alone"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{StakeSettings, testing};
    use candlewick_sdk::MoneyScale;

    fn note(balance: i64, change: impl Fn(&mut RiskSettings)) -> Option<String> {
        let mut risk = RiskSettings::default();
        change(&mut risk);
        percent_beside_default(&SessionSettings {
            money_scale: MoneyScale::default(),
            balance: Decimal::from(balance),
            risk,
            bots: vec![testing::bot("a", StakeSettings::default())],
            longer_share_percent: None,
        })
    }

    #[test]
    fn a_percent_that_the_default_amount_undercuts_is_named_with_the_cure() {
        let expected = "risk.daily_loss_limit: the amount of 100.00, which is also the default, is tighter than 10 % of the balance (1000.00), and the \
                        tighter holds: set daily_loss_limit = 0 to have the percent alone";
        assert_eq!(note(10_000, |risk| risk.daily_loss_limit_percent = 10.0).as_deref(), Some(expected));
    }

    #[test]
    fn a_percent_alone_a_tighter_one_and_an_amount_of_ones_own_need_no_note() {
        assert_eq!(note(10_000, |_| {}), None);
        // 10 % of 1,000 is the amount itself.
        assert_eq!(note(1_000, |risk| risk.daily_loss_limit_percent = 10.0), None);
        for amount in [0, 150] {
            let own = |risk: &mut RiskSettings| {
                (risk.daily_loss_limit, risk.daily_loss_limit_percent) = (Decimal::from(amount), 10.0);
            };
            assert_eq!(note(10_000, own), None, "{amount}");
        }
    }
}

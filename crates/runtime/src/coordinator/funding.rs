//! Funding of stakes. Contradictory records, or charges without a booking rule, halt the run.

use super::Coordinator;
use super::command::Step;
use crate::connect::without_noise;
use candlewick_broker::TradeReport;
use candlewick_engine::IntentId;
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;

impl Coordinator {
    pub(super) fn check_funding(&mut self, intent: IntentId, report: &TradeReport, step: &mut Step<'_>) {
        let scale = self.session.scale();
        let oddities = [
            contradiction(report, scale),
            charge("fee", report.funding.fee, scale),
            charge("commission", report.funding.commission, scale),
        ];
        for oddity in oddities.into_iter().flatten() {
            self.halt_at_oddity(format!("trade #{intent} {oddity}"), step);
        }
        let bonus = report.funding.bonus;
        if !bonus.is_zero() {
            let text = format!("trade #{intent}: a bonus wallet paid {} of its stake", money(bonus, scale));
            if self.doubts.is_new_oddity(&text, true) {
                step.warn(text);
            }
        }
    }
}

pub(super) fn reported_stake(report: &TradeReport) -> Option<Decimal> {
    report.amount.into_iter().chain(report.funding.paid).max()
}

fn contradiction(report: &TradeReport, scale: MoneyScale) -> Option<String> {
    let amount = report.amount?;
    let is_same = |other: Decimal| {
        let counted = |amount| without_noise(amount, scale).unwrap_or(amount);
        counted(other) == counted(amount)
    };
    let paid = report.funding.paid.filter(|paid| !paid.is_zero() && !is_same(*paid));
    let text = paid.map(|paid| {
        let (amount, paid) = (money(amount, scale), money(paid, scale));
        format!("has a stake of {amount}, but its wallets paid {paid}: the larger counts")
    });
    text.or_else(|| {
        let (amount, larger) = (money(amount, scale), money(report.funding.by_percent?, scale));
        Some(format!("has a stake of {amount}, but the percentages of its wallets come to {larger}"))
    })
}

/// Describes a charge. It cannot be booked, because the profit may or may not contain it.
fn charge(name: &str, amount: Decimal, scale: MoneyScale) -> Option<String> {
    let amount = (!amount.is_zero()).then(|| money(amount, scale))?;
    Some(format!("has a {name} of {amount}, and it is unknown whether its profit contains that"))
}

fn money(amount: Decimal, scale: MoneyScale) -> String {
    without_noise(amount, scale).map_or_else(
        || amount.normalize().to_string(),
        |exact| format!("{exact:.decimals$}", decimals = scale.decimals() as usize),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::Funding;

    #[test]
    fn a_record_that_contradicts_itself_is_named_and_the_larger_stake_counts() {
        let decimal = |text: &str| text.parse::<Decimal>().unwrap();
        for (paid, by_percent, expected, stake) in [
            (None, None, None, "10"),
            (Some("10.0000000001"), None, None, "10.0000000001"),
            (Some("0"), None, None, "10"),
            (
                Some("60"),
                None,
                Some("has a stake of 10.00, but its wallets paid 60.00: the larger counts"),
                "60",
            ),
            (
                Some("4"),
                None,
                Some("has a stake of 10.00, but its wallets paid 4.00: the larger counts"),
                "10",
            ),
            (
                Some("10"),
                Some("60"),
                Some("has a stake of 10.00, but the percentages of its wallets come to 60.00"),
                "10",
            ),
        ] {
            let funding = Funding {
                paid: paid.map(decimal),
                by_percent: by_percent.map(decimal),
                ..Funding::default()
            };
            let report = TradeReport { amount: Some(Decimal::TEN), funding, ..TradeReport::new("01JT") };
            let found = contradiction(&report, MoneyScale::default());
            assert_eq!(found.as_deref(), expected, "{paid:?} {by_percent:?}");
            assert_eq!(reported_stake(&report), Some(decimal(stake)));
        }
    }

    #[test]
    fn a_charge_is_named_with_its_amount() {
        let scale = MoneyScale::default();
        assert_eq!(charge("fee", Decimal::ZERO, scale), None);
        let named = charge("fee", Decimal::new(5, 1), scale);
        assert!(named.is_some_and(|text| text.starts_with("has a fee of 0.50, ")));
    }
}

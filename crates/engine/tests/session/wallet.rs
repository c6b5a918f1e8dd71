//! Differences between the wallet and the trades.

use crate::event::{NO_SKEW, at, candle, control, deposit, difference, lost, won};
use crate::script::Script;
use crate::test_session::TestSession;
use candlewick_engine::{Control, LimitUsage, Quantity, RiskSettings, Rule, StakeSettings};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Money};

const DAY: i64 = 24 * 3_600;

/// Returns the answer to a stake of 10.00 in minute 1 after these events: approved, or the rule.
fn answer(change: impl FnOnce(&mut RiskSettings), events: &[(i64, candlewick_engine::EventKind)]) -> String {
    let mut session = TestSession::new(&[Script::new("a").buys(&[1])], change);
    for (second, kind) in events {
        session.check(&[(at(*second, *kind), "")]);
    }
    session.handle(&candle(0, 1))
}

#[test]
fn shortage_counts_in_all_loss_limits_and_surplus_in_none() {
    let day = |risk: &mut RiskSettings| risk.daily_loss_limit = Decimal::from(100);
    let session = |risk: &mut RiskSettings| {
        (risk.daily_loss_limit, risk.session.loss_limit) = (Decimal::ZERO, Decimal::from(100));
    };
    let drawdown = |risk: &mut RiskSettings| {
        // 1 % of 10,000.00 is 100.00.
        (risk.daily_loss_limit, risk.max_drawdown_percent) = (Decimal::ZERO, 1.0);
    };
    let approved = "#1 a BUY 10.00";
    for (change, rule) in [
        (&day as &dyn Fn(&mut RiskSettings), "a DailyLossLimit"),
        (&session, "a SessionLossLimit"),
        (&drawdown, "a MaxDrawdown"),
    ] {
        for (amounts, expected) in [
            (&[-9_000][..], approved),
            (&[-9_001], rule),
            (&[-9_001, -8_999], approved),
            (&[-9_001, 0], approved),
            (&[90_000], approved),
        ] {
            let events: Vec<_> = (10..).zip(amounts.iter().map(|amount| difference(*amount))).collect();
            assert_eq!(answer(change, &events), expected, "{rule} {amounts:?}");
        }
    }
    // A surplus of 50.00 does not extend the limit after a loss of 95.00.
    let mut session = TestSession::new(&[Script::new("a").buys(&[1, 2])], |risk| {
        risk.daily_loss_limit = Decimal::from(100);
    });
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        (at(63, lost(1, 9_500)), ""),
        (at(64, difference(5_000)), ""),
        (candle(0, 2), "a DailyLossLimit"),
    ]);
}

#[test]
fn shares_refer_to_the_lower_of_ledger_and_wallet() {
    for (amount, stake) in [(0, "100.00"), (-400_000, "60.00"), (400_000, "100.00")] {
        let share = StakeSettings::Share { percent: 1.0 };
        let mut session = TestSession::new(&[Script::new("a").buys(&[1]).staking(share)], |risk| {
            (risk.daily_loss_limit, risk.max_drawdown_percent) = (Decimal::ZERO, 0.0);
        });
        session.check(&[(at(10, difference(amount)), ""), (candle(0, 1), &format!("#1 a BUY {stake}"))]);
    }
}

#[test]
fn rejects_stake_above_the_wallet_balance() {
    let all_off = |risk: &mut RiskSettings| {
        (risk.daily_loss_limit, risk.max_drawdown_percent) = (Decimal::ZERO, 0.0);
    };
    assert_eq!(answer(all_off, &[(10, difference(-999_000))]), "#1 a BUY 10.00");
    assert_eq!(answer(all_off, &[(10, difference(-999_001))]), "a InsufficientBalance");
}

/// Two readings show that 500.00 left the wallet. It counts as lost until it is booked as a withdrawal.
#[test]
fn booked_withdrawal_no_longer_counts_as_loss() {
    let limit = |risk: &mut RiskSettings| risk.daily_loss_limit = Decimal::from(100);
    assert_eq!(answer(limit, &[(10, difference(-50_000))]), "a DailyLossLimit");
    let booked = [(10, difference(-50_000)), (21, deposit(-50_000)), (21, difference(0))];
    assert_eq!(answer(limit, &booked), "#1 a BUY 10.00");
}

#[test]
fn only_growth_of_yesterdays_shortage_is_a_loss_of_today() {
    for (today, expected) in
        [(-50_000, "#1 a BUY 10.00"), (-59_000, "#1 a BUY 10.00"), (-59_001, "a DailyLossLimit")]
    {
        let mut session = TestSession::new(&[Script::new("a").buys(&[DAY / 60 + 1])], |risk| {
            risk.daily_loss_limit = Decimal::from(100);
        });
        session.check(&[
            (at(10, difference(-50_000)), ""),
            (at(DAY, NO_SKEW), "day 10000.00"),
            (at(DAY + 10, difference(today)), ""),
            (candle(0, DAY / 60 + 1), expected),
        ]);
        assert_eq!(session.session.ledger().day_equity(), Money::from_minor(950_000));
    }
}

#[test]
fn resume_accepts_a_difference_but_keeps_the_daily_loss() {
    let mut session = TestSession::new(&[Script::new("a").buys(&[1, 2])], |risk| {
        risk.daily_loss_limit = Decimal::from(100);
    });
    session.check_money(&[
        (at(10, difference(-9_500)), "", [1_000_000, 0]),
        (at(20, control(Control::Halt)), "", [1_000_000, 0]),
        (at(30, control(Control::Resume)), "", [990_500, 0]),
        (candle(0, 1), "a DailyLossLimit", [990_500, 0]),
    ]);
    let ledger = session.session.ledger();
    let figures = [ledger.wallet_difference(), ledger.peak_equity(), ledger.day_profit()].map(Money::minor);
    assert_eq!(figures, [0, 990_500, -9_500]);
    session.check(&[(at(70, difference(-9_500)), "")]);
    let used = session.session.limit_usage(Millis::new(70_000));
    let day = used.iter().find(|used| used.rule == Rule::DailyLossLimit);
    assert_eq!(day.map(|LimitUsage { used, .. }| *used), Some(Quantity::Money(Money::from_minor(19_000))));
}

#[test]
fn unpaid_win_does_not_raise_the_peak() {
    let mut session = TestSession::new(&[Script::new("a").buys(&[1])], |_| {});
    session.check(&[
        (candle(0, 1), "#1 a BUY 10.00 opened"),
        (at(63, difference(-1_850)), ""),
        (at(64, won(1, 850)), ""),
    ]);
    let ledger = session.session.ledger();
    assert_eq!((ledger.peak_equity().minor(), ledger.available_balance().minor()), (1_000_000, 999_000));
}

//! Tests of the wallet audit. Times are in seconds, amounts in minor units.

use super::*;
use ReadingOutcome::{Agrees, Confirmed, Differs, Settled};

const LAG: Millis = Millis::from_seconds(10);

fn minor(units: i64) -> Money {
    Money::from_minor(units)
}

#[derive(Default)]
struct Bench {
    audit: WalletAudit,
    under_way: InFlightMoney,
    bonus: Option<Money>,
    is_last: bool,
}

const NOTHING: InFlightMoney =
    InFlightMoney { amounts: Vec::new(), max_unknown_returns: Money::ZERO, is_settling: false };
const READ: WalletReading<'static> = WalletReading {
    wallet: Money::ZERO,
    bonus: None,
    free: Money::ZERO,
    in_flight: &NOTHING,
    sent: Millis::ZERO,
    lag: LAG,
    grace_period: Millis::from_seconds(300),
    is_last: false,
};

impl Bench {
    fn begun(free: i64) -> Self {
        let mut bench = Self::default();
        bench.ledger(0, free);
        bench.check(&[(0, free, Agrees)]);
        bench
    }

    fn ledger(&mut self, second: i64, free: i64) {
        self.audit.record_balance(minor(free), Millis::from_seconds(second));
    }

    fn read(&mut self, second: i64, wallet: i64) -> ReadingOutcome {
        let free = self.audit.ledger.map(|(free, _)| free).unwrap_or_default();
        let sent = Millis::from_seconds(second);
        let (under_way, is_last) = (&self.under_way, self.is_last);
        let (wallet, bonus) = (minor(wallet), self.bonus);
        let reading = WalletReading { wallet, bonus, free, in_flight: under_way, sent, is_last, ..READ };
        let result = self.audit.check(&reading);
        match result {
            Confirmed { step, may_be_of_trades: true } => self.audit.confirm(step),
            Confirmed { step, may_be_of_trades: false } => {
                self.audit.book(step);
                self.ledger(second, (free + step).minor());
            }
            Agrees | Differs { .. } | Settled { .. } => {}
        }
        result
    }

    fn check(&mut self, rows: &[(i64, i64, ReadingOutcome)]) {
        for (second, wallet, expected) in rows {
            assert_eq!(self.read(*second, *wallet), *expected, "after {second} s");
        }
    }
}

const fn differs(units: i64) -> ReadingOutcome {
    Differs { difference: Money::from_minor(units) }
}

const fn by_trades(units: i64) -> ReadingOutcome {
    Confirmed { step: Money::from_minor(units), may_be_of_trades: true }
}

const fn from_outside(units: i64) -> ReadingOutcome {
    Confirmed { step: Money::from_minor(units), may_be_of_trades: false }
}

#[test]
fn books_a_movement_on_the_second_reading() {
    let mut bench = Bench::begun(1_000);
    bench.check(&[
        (60, 1_050, differs(0)),
        (69, 1_050, differs(0)),
        (70, 1_050, from_outside(50)),
        (120, 1_050, Agrees),
        (180, 550, differs(-500)),
        (191, 550, from_outside(-500)),
        (240, 550, Agrees),
        (300, -9_999, differs(-10_549)),
        (311, 550, Agrees),
        (360, -9_999, differs(-10_549)),
        (371, -7_777, differs(-8_327)),
        (382, 550, Agrees),
    ]);
    assert_eq!(bench.audit.lag(LAG), LAG, "no lag was seen");
}

#[test]
fn unpaid_wins_are_a_shortage_during_frequent_trading() {
    // Every 5 s, 10.00 is staked. After 3 s, the ledger (but not the wallet) gets 18.50 back.
    let mut bench = Bench::begun(100_000);
    let mut confirmed = Vec::new();
    for trade in 0..60 {
        let (second, free) = (trade * 5, 100_000 + trade * 850);
        bench.ledger(second, free - 1_000);
        bench.ledger(second + 3, free + 850);
        if trade % 4 == 3
            && let Confirmed { may_be_of_trades, .. } = bench.read(second + 4, 100_000 - (trade + 1) * 1_000)
        {
            assert!(may_be_of_trades);
            confirmed.push(-bench.audit.confirmed.minor());
        }
    }
    assert!(confirmed.len() >= 6 && confirmed.iter().all(|short| *short >= 1_850), "{confirmed:?}");
    assert!(bench.audit.confirmed <= minor(-(60 - 2 - 4) * 1_850), "{:?}", bench.audit.confirmed);
    for second in [330, 341] {
        assert!(!matches!(bench.read(second, 40_000), Confirmed { may_be_of_trades: false, .. }));
    }
    bench.check(&[(4_000, 40_000, Agrees)]);
    assert_eq!(bench.audit.confirmed, minor(-60 * 1_850));
}

#[test]
fn small_loss_is_a_shortage_and_a_large_one_a_withdrawal() {
    let mut bench = Bench::begun(100_000);
    bench.ledger(30, 99_000);
    bench.check(&[(60, 98_950, differs(0)), (71, 98_950, by_trades(-50))]);
    // The stake of 10.00 returns with a profit of 8.50. Then 29.00 leaves, which is more than the trades moved.
    bench.ledger(90, 100_850);
    bench.check(&[
        (120, 97_900, differs(-2_950)),
        (131, 97_900, from_outside(-2_900)),
        (180, 97_900, Agrees),
    ]);
    assert_eq!(bench.audit.confirmed, minor(-50));
}

#[test]
fn large_single_loss_is_a_withdrawal_despite_trading() {
    let mut bench = Bench::begun(500_000);
    // Every 4 s, 100.00 is staked and 185.00 comes back. After 3 s, 600.00 leaves. Trades had moved 285.00 by the next
    // reading and 1,140.00 by the confirming one. Each reading proves less, because more wins may not be shown yet.
    let mut free = 500_000;
    let readings =
        [(4, differs(-41_500)), (8, differs(-41_500)), (12, differs(-41_500)), (16, from_outside(-60_000))];
    for (second, expected) in readings {
        bench.ledger(second - 2, free - 10_000);
        free += 8_500;
        bench.ledger(second - 1, free);
        assert_eq!(bench.read(second, free - 60_000), expected, "after {second} s");
    }
}

#[test]
fn reading_during_an_order_does_not_clear_a_suspect() {
    let mut bench = Bench::begun(500_000);
    bench.check(&[(60, 520_000, differs(0))]);
    bench.under_way.max_unknown_returns = minor(25_000);
    bench.check(&[(65, 520_000, differs(0))]);
    bench.under_way.max_unknown_returns = Money::ZERO;
    bench.check(&[(71, 520_000, from_outside(20_000))]);
}

#[test]
fn readings_during_a_doubt_do_not_give_the_amount() {
    let mut bench = Bench::begun(100_000);
    bench.ledger(1, 98_000);
    bench.under_way.max_unknown_returns = minor(20_000);
    bench.check(&[(40, 88_000, differs(0)), (41, 88_000, differs(0)), (50, 106_500, differs(0))]);
    bench.under_way.max_unknown_returns = Money::ZERO;
    bench.ledger(90, 90_000);
    bench.ledger(90, 108_500);
    bench.check(&[(91, 106_500, by_trades(-2_000))]);
}

#[test]
fn movement_is_the_amount_all_readings_allow() {
    let mut bench = Bench::begun(500_000);
    // 20.00 is staked, 19.99 comes back, and 100.01 leaves. If the return is not shown yet, only 80.02 is missing.
    bench.ledger(20, 498_000);
    bench.ledger(21, 499_999);
    bench.check(&[(22, 489_998, differs(-8_002))]);
    // Either a stake of 21.00 is not shown yet, or 79.01 is missing. The first reading rules out the latter.
    bench.ledger(30, 497_899);
    bench.check(&[(33, 489_998, from_outside(-10_001))]);
}

#[test]
fn outside_money_is_not_lag() {
    // 50.00 comes in ten times. Six of these make 300.00, but no combination makes 299.99.
    for (short, expected) in [(29_999, LAG), (30_000, Millis::from_seconds(40))] {
        let mut bench = Bench::begun(100_000);
        for second in 1..=10 {
            bench.ledger(second, 100_000 + second * 5_000);
        }
        bench.check(&[(30, 150_000 - short, differs(0)), (35, 150_000, Agrees)]);
        assert_eq!(bench.audit.lag(LAG), expected, "{short} short");
    }
}

#[test]
fn surplus_is_booked_after_a_long_quiet_period() {
    let mut bench = Bench::begun(100_000);
    bench.ledger(30, 101_800);
    bench.check(&[
        (60, 102_300, differs(0)),
        (71, 102_300, by_trades(500)),
        (320, 102_300, Agrees),
        (331, 102_300, Settled { surplus: minor(500) }),
    ]);
    let mut bench = Bench::begun(100_000);
    bench.ledger(30, 98_200);
    bench.check(&[(60, 100_000, differs(0)), (71, 100_000, by_trades(1_800)), (900, 100_000, Agrees)]);
    bench.check(&[(931, 100_000, Settled { surplus: minor(1_800) })]);
}

#[test]
fn late_payment_ends_the_shortage_and_counts_as_lag() {
    let mut bench = Bench::begun(1_000);
    bench.ledger(30, 1_018);
    bench.check(&[
        (35, 1_000, Agrees),
        (60, 1_000, differs(0)),
        (71, 1_000, by_trades(-18)),
        (120, 1_018, differs(-18)),
        (131, 1_018, by_trades(18)),
    ]);
    // The wallet did not show the change 41 s later, so the lag is twice that.
    assert_eq!(bench.audit.lag(LAG), Millis::from_seconds(82));
    bench.ledger(200, 1_036);
    bench.check(&[(260, 1_018, Agrees), (283, 1_018, differs(0)), (294, 1_018, by_trades(-18))]);
}

#[test]
fn released_stake_does_not_hide_lag() {
    let mut bench = Bench::begun(1_000);
    bench.ledger(1, 990);
    bench.under_way.amounts = vec![vec![minor(10)]];
    bench.check(&[(20, 1_000, Agrees)]);
    bench.under_way = InFlightMoney::default();
    bench.audit.record_event_balance(minor(990), minor(10), Millis::from_seconds(30));
    bench.check(&[(35, 1_000, Agrees), (60, 990, Agrees)]);
}

#[test]
fn returns_of_open_trades_are_no_surplus() {
    let mut bench = Bench::default();
    bench.ledger(0, 99_000);
    bench.under_way.amounts = vec![vec![minor(1_000), minor(1_850)]];
    bench.check(&[
        (60, 99_000, Agrees),
        (120, 100_000, Agrees),
        (180, 100_850, Agrees),
        // A return contains the stake as well as the profit.
        (240, 99_850, differs(0)),
        (251, 100_850, Agrees),
        (300, 98_999, differs(0)),
        (311, 98_999, by_trades(-1)),
    ]);
    // A trade in doubt with a stake of 20.00 may have returned up to three times that stake.
    bench.under_way.max_unknown_returns = minor(6_000);
    bench.check(&[(360, 106_849, Agrees), (420, 106_850, differs(-1)), (480, 98_000, differs(-1))]);
}

/// A bonus wallet with a balance of 50.00 pays 4.00 of a stake of 10.00.
fn paid_by_bonus() -> Bench {
    let mut bench = Bench { bonus: Some(minor(5_000)), ..Bench::default() };
    bench.ledger(0, 100_000);
    bench.check(&[(0, 100_000, Agrees)]);
    bench.ledger(30, 99_000);
    bench.bonus = Some(minor(4_600));
    bench.check(&[(60, 99_400, Agrees), (120, 99_400, Agrees)]);
    bench
}

#[test]
fn bonus_payment_of_a_stake_is_no_surplus() {
    let mut bench = paid_by_bonus();
    bench.ledger(150, 99_850);
    bench.bonus = Some(minor(4_600 + 340));
    bench.check(&[(180, 99_400 + 510, Agrees)]);
    // If the wallet gains 4.00 while the bonus wallet is unchanged, this is a surplus.
    bench.ledger(300, 99_850);
    bench.check(&[(320, 99_910 + 400, differs(0)), (331, 99_910 + 400, from_outside(400))]);
}

#[test]
fn bonus_payment_survives_a_restart() {
    let snapshot = serde_json::to_string(&paid_by_bonus().audit).unwrap();
    for (free, holds, wallet, paid) in [(99_000, 4_600, 99_400, 400), (100_000, 5_000, 100_000, 0)] {
        let audit = serde_json::from_str(&snapshot).unwrap();
        let mut next = Bench { audit, bonus: Some(minor(holds)), ..Bench::default() };
        next.ledger(400, free);
        next.check(&[(400, wallet, Agrees), (460, wallet, Agrees)]);
        assert_eq!(next.audit.bonus.paid, minor(paid));
    }
}

#[test]
fn last_reading_needs_no_confirmation() {
    let mut bench = Bench::begun(1_000);
    bench.ledger(5, 1_018);
    bench.is_last = true;
    bench.check(&[(14, 1_000, Agrees), (16, 1_000, by_trades(-18))]);
}

#[test]
fn detects_other_wallets() {
    let wallet = |id: &str, user: Option<&str>, currency: Option<&str>| {
        let (user, currency) = (user.map(str::to_owned), currency.map(str::to_owned));
        WalletIdentity { id: id.to_owned(), user, currency, ..WalletIdentity::default() }
    };
    let mut audit = WalletAudit::default();
    assert_eq!(audit.check_names(&[]), NameCheck::Known);
    let first = wallet("w1", Some("u1"), Some("USD"));
    assert!(matches!(audit.check_names(std::slice::from_ref(&first)), NameCheck::New(_)));
    assert_eq!(audit.check_names(std::slice::from_ref(&first)), NameCheck::Known);
    for other in [
        vec![wallet("w2", Some("u1"), Some("USD"))],
        vec![wallet("w1", Some("u2"), Some("USD"))],
        vec![wallet("w1", Some("u1"), Some("EUR"))],
        vec![first.clone(), wallet("w2", Some("u1"), Some("USD"))],
    ] {
        assert!(matches!(audit.check_names(&other), NameCheck::Other { .. }), "{other:?}");
    }
    let kept = serde_json::to_string(&audit).unwrap();
    let mut next: WalletAudit = serde_json::from_str(&kept).unwrap();
    assert_eq!(next.check_names(std::slice::from_ref(&first)), NameCheck::Known);
    let NameCheck::Other { known, found } = next.check_names(&[wallet("w2", None, None)]) else { panic!() };
    assert_eq!((known.as_str(), found.as_str()), ("w1 of user u1 in USD", "w2"));
}

#[test]
fn postpones_equal_stakes_separately() {
    let mut audit = WalletAudit::default();
    let stake = minor(-2_000);
    for (free, second) in [(100_000, 0), (98_000, 10), (96_000, 20)] {
        audit.record_balance(minor(free), Millis::from_seconds(second));
    }
    let now = Millis::from_seconds(90);
    audit.postpone_change(stake, now);
    audit.postpone_change(stake, now);
    assert_eq!(audit.changes_since(Millis::from_seconds(80)).collect::<Vec<_>>(), [stake, stake]);
}

#[test]
fn returned_stake_may_hide_behind_lag() {
    for (balances, second, expected) in [
        (&[100_000, 98_000, 100_000][..], 11, true),
        (&[100_000, 98_000, 101_700], 11, false),
        (&[100_000, 98_000], 11, false),
        (&[100_000, 98_000, 96_000, 99_700, 101_700], 11, true),
        (&[100_000, 98_000, 100_000], 14, false),
    ] {
        let mut audit = WalletAudit::default();
        for (second, free) in (0..).zip(balances) {
            audit.record_balance(minor(*free), Millis::from_seconds(second));
        }
        let (sent, lag) = (Millis::from_seconds(second), LAG + Millis::SECOND);
        let reading = WalletReading { sent, lag, ..READ };
        assert_eq!(audit.may_hide_changes(&reading), expected, "{balances:?} at {second} s");
    }
}

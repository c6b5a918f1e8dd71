mod others;

use super::testing::{doubt, listing, report};
use crate::resolver::{
    ClaimedTrades, EscalationReason, LagMeter, OrderAttempt, Resolution, ResolutionError, Resolver,
    ResolverContext, WalletView,
};
use candlewick_broker::{Account, ReportedValue, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;

/// The request is sent at 100 s and ends at 110 s. The deadline is 140.999 s + 120 s, the escalation 120 s later.
struct Scenario {
    resolver: Resolver,
    claimed: ClaimedTrades,
    in_flight: Vec<OrderAttempt>,
    answered: Vec<OrderAttempt>,
    refused: Vec<OrderAttempt>,
    wallet: Option<i64>,
    reserved: BTreeMap<IntentId, Millis>,
    has_unknown_pay: bool,
    has_stood: bool,
}

impl Scenario {
    fn new(doubts: &[OrderAttempt]) -> Self {
        let lag = LagMeter::new(Millis::from_seconds(120));
        let mut resolver = Resolver::new(Account::Demo, Millis::from_seconds(50), lag);
        for doubt in doubts {
            resolver.begin(doubt.clone(), Millis::from_seconds(110));
        }
        Self {
            resolver,
            claimed: ClaimedTrades::default(),
            in_flight: Vec::new(),
            answered: Vec::new(),
            refused: Vec::new(),
            wallet: Some(0),
            reserved: BTreeMap::new(),
            has_unknown_pay: false,
            has_stood: false,
        }
    }

    fn with_stake(doubts: &[OrderAttempt]) -> Self {
        Self { wallet: Some(1_000), ..Self::new(doubts) }
    }

    fn look_at(&mut self, listing: &TradeListing) -> Vec<String> {
        let view =
            |balance| WalletView { balance: Money::from_minor(balance), expected_balance: Money::ZERO };
        let reserved = self.reserved.iter().filter(|(_, until)| listing.ended < **until);
        let known = ResolverContext {
            refused: &self.refused,
            claimed: &self.claimed,
            in_flight: &self.in_flight,
            answered: &self.answered,
            reserved: &reserved.map(|(intent, _)| *intent).collect(),
            has_unknown_payment: self.has_unknown_pay,
            is_ledger_stable: self.has_stood,
            wallet: self.wallet.map(view),
            uncertainty: Millis::ZERO,
        };
        self.resolver.begin_poll(listing.ended);
        let resolutions = self.resolver.take_listing(listing, &known, listing.ended);
        for resolution in &resolutions {
            if let Resolution::NotOpened { intent, reserved_until } = resolution {
                self.reserved.insert(*intent, *reserved_until);
            }
        }
        resolutions.iter().map(shortened).collect()
    }

    fn take_for_nothing(&mut self, intent: u64) {
        self.resolver.give_up(IntentId::new(intent)).expect("it is in doubt");
    }

    #[track_caller]
    fn silent(&mut self, seconds: &[i64], trades: &[TradeReport]) {
        for second in seconds {
            self.look(*second, trades, &[]);
        }
    }

    #[track_caller]
    fn look(&mut self, second: i64, trades: &[TradeReport], expected: &[&str]) {
        let found = self.look_at(&listing(second * 1_000, trades.to_vec()));
        assert_eq!(found, expected, "after {second} s");
    }
}

fn shortened(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Adopt { intent, report } => format!("{intent} is {}", report.id),
        Resolution::AdoptLate { intent, report } => format!("{intent} is {} after all", report.id),
        Resolution::NotOpened { intent, reserved_until } => {
            format!("{intent} is nothing, {} s", reserved_until.get() / 1_000)
        }
        Resolution::Escalate { intent, why } => {
            let why = match why {
                EscalationReason::TooManyTrades { .. } => "too many",
                EscalationReason::TooFewTrades { .. } => "too few",
                EscalationReason::UnclearTrades { .. } => "unclear",
                EscalationReason::MayBeRefused { venue_ids, intents } => {
                    return format!("{intent}? {} may be of {intents:?}", venue_ids.join(" "));
                }
                EscalationReason::OtherTrades { venue_ids } => {
                    return format!("{intent}? others {}", venue_ids.join(" "));
                }
                EscalationReason::WalletUnexplained { .. } => "wallet",
                EscalationReason::WalletUnknown => "no wallet",
                EscalationReason::WalletUnsettled => "ends",
                EscalationReason::StakeTaken => "taken",
                EscalationReason::ListUnsteady { venue_ids } => {
                    return format!("{intent}? list {}", venue_ids.join(" "));
                }
            };
            format!("{intent}? {why}")
        }
        Resolution::Reinstate { intents, report } => format!("{} is of {intents:?}", report.id),
        Resolution::Unexplained { report } => format!("whose is {}?", report.id),
    }
}

fn trade(id: &str, second: i64) -> TradeReport {
    report(id, Millis::from_seconds(second))
}

fn twin(number: u64, sent_s: i64) -> OrderAttempt {
    let (sent, ended) = (Millis::from_seconds(sent_s), Millis::from_seconds(sent_s + 10));
    OrderAttempt { sent, ended, ..doubt(number) }
}

#[test]
fn escalates_a_second_candidate_once() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    let both = [trade("a", 101), trade("b", 102)];
    scenario.look(115, &both[..1], &[]);
    scenario.look(120, &both, &[]);
    assert!(scenario.resolver.is_searching());
    scenario.look(125, &both, &["1? too many"]);
    assert!(!scenario.resolver.is_searching());
    scenario.look(130, &both, &[]);
    scenario.claimed.insert("b".to_owned());
    scenario.look(135, &both, &[]);
    scenario.look(140, &both, &["1 is a"]);
}

#[test]
fn contradicting_wallet_keeps_the_doubt() {
    for (wallet, expected) in [(Some(0), "1? wallet"), (Some(999), "1? wallet"), (None, "1? no wallet")] {
        let mut scenario = Scenario::new(&[doubt(1)]);
        scenario.wallet = wallet;
        scenario.silent(&[261, 380], &[]);
        scenario.look(381, &[], &[expected]);
        scenario.look(391, &[], &[]);
        scenario.wallet = Some(1_000);
        scenario.look(401, &[], &["1 is nothing, 321 s"]);
    }
}

/// According to the rules, a trade with a stake of 10.00 returns nothing, 10.00, or stake and payout.
/// A faulty venue returns 20.00, as if neither stake had been taken.
#[test]
fn wallet_proves_nothing_during_unknown_payments() {
    for wallet in [0, 1_000, 1_800, 2_000] {
        let mut scenario = Scenario::new(&[doubt(1)]);
        scenario.wallet = Some(wallet);
        scenario.has_unknown_pay = true;
        scenario.silent(&[261, 271], &[]);
        // In the end the operator is notified, and the polls move to another second of the minute.
        scenario.look(381, &[], &["1? ends"]);
        scenario.look(391, &[], &[]);
        assert_eq!(scenario.resolver.next_poll(), Some(Millis::from_seconds(488)));
        scenario.has_unknown_pay = false;
        scenario.look(575, &[], if wallet == 1_000 { &["1 is nothing, 321 s"] } else { &[] });
    }
}

#[test]
fn waits_for_a_late_list() {
    let mut scenario = Scenario::with_stake(&[doubt(1)]);
    scenario.look(261, &[], &[]);
    scenario.look(265, &[trade("a", 105)], &[]);
    scenario.look(270, &[trade("a", 105)], &["1 is a"]);
    assert_eq!(scenario.resolver.lag.allowance(), Millis::from_seconds(312));
}

#[test]
fn trade_of_a_doubt_or_a_rejection_is_not_adopted() {
    // The second intent was rejected immediately.
    let either = "1? a may be of [IntentId(2)]";
    let at = |id: &str, ms: i64| report(id, Millis::new(ms));
    let (one, two) = ([at("a", 101_500)], [at("a", 100_500), at("b", 101_500)]);
    for (rejected_at, trades, expected) in
        [(101, &one[..], either), (101, &two[..], "a is of [IntentId(2)]"), (40, &one[..], "1 is a")]
    {
        let mut scenario = Scenario::new(&[doubt(1)]);
        let sent = Millis::from_seconds(rejected_at);
        scenario.refused.push(OrderAttempt { sent, ended: sent, ..doubt(2) });
        let said = [112_000, 120_000].map(|at| scenario.look_at(&listing(at, trades.to_vec()))).concat();
        assert_eq!(said, [expected], "rejected at {rejected_at} s");
    }
}

#[test]
fn trade_outside_the_window_is_unexplained() {
    let mut scenario = Scenario::with_stake(&[doubt(1)]);
    scenario.look(261, &[], &[]);
    scenario.look(271, &[], &["1 is nothing, 321 s"]);
    scenario.look(300, &[trade("b", 261)], &["whose is b?"]);
    assert!(scenario.resolver.next_poll().is_some());
    scenario.look(86_500, &[trade("a", 105), trade("b", 261)], &["whose is a?"]);
    assert_eq!(scenario.resolver.next_poll(), None);
}

#[test]
fn escalates_missing_twins_after_the_last_deadline() {
    let mut scenario = Scenario::with_stake(&[twin(1, 100), twin(2, 110)]);
    let trades = [trade("a", 111)];
    scenario.silent(&[125, 270], &trades);
    scenario.look(271, &trades, &["1? too few", "2? too few"]);
    assert_eq!(scenario.resolver.assign(IntentId::new(2), "a", &scenario.claimed), Ok(()));
    scenario.look(281, &trades, &[]);
    scenario.look(291, &trades, &["1 is nothing, 321 s"]);
}

#[test]
fn earlier_twins_trade_does_not_affect_the_later_one() {
    let mut scenario = Scenario::with_stake(&[twin(1, 100), twin(2, 110)]);
    let trades = [trade("a", 101)];
    scenario.look(125, &trades, &[]);
    scenario.look(130, &trades, &["1 is a"]);
    scenario.claimed.insert("a".to_owned());
    scenario.look(271, &trades, &[]);
    scenario.look(281, &trades, &["2 is nothing, 321 s"]);
}

#[test]
fn possibly_in_flight_trade_waits() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    scenario.in_flight = vec![OrderAttempt { ended: Millis::MAX, ..twin(2, 120) }];
    scenario.silent(&[122, 127], &[trade("a", 121)]);
    scenario.in_flight.clear();
    scenario.claimed.insert("a".to_owned());
    scenario.look(130, &[trade("a", 121)], &[]);
}

#[test]
fn unclear_trade_is_neither_adopted_nor_ignored() {
    let mut scenario = Scenario::with_stake(&[doubt(1)]);
    let unclear =
        TradeReport { direction: Some(ReportedValue::Unrecognised("CALL".into())), ..trade("a", 101) };
    scenario.silent(&[115, 125], std::slice::from_ref(&unclear));
    scenario.look(271, std::slice::from_ref(&unclear), &["1? unclear"]);
    scenario.look(281, &[trade("a", 101)], &["1 is a"]);
}

#[test]
fn incomplete_listings_escalate_in_the_end() {
    let mut scenario = Scenario::with_stake(&[doubt(1)]);
    let incomplete = |second: i64, trades: Vec<TradeReport>| TradeListing {
        is_complete: false,
        ..listing(second * 1_000, trades)
    };
    assert!(scenario.look_at(&incomplete(115, vec![trade("a", 101)])).is_empty());
    assert!(scenario.look_at(&incomplete(125, vec![trade("a", 101)])).is_empty());
    assert!(scenario.look_at(&incomplete(380, Vec::new())).is_empty());
    assert_eq!(scenario.look_at(&incomplete(381, Vec::new())), ["1? list a"]);
    assert_eq!(scenario.look_at(&incomplete(390, vec![trade("b", 102)])), ["1? list a b"]);
    assert!(scenario.look_at(&incomplete(395, vec![trade("b", 102)])).is_empty());
    assert!(scenario.look_at(&incomplete(391, Vec::new())).is_empty());
}

#[test]
fn reports_foreign_trades_once() {
    let mut scenario = Scenario::new(&[doubt(1)]);
    scenario.claimed.insert("claimed".to_owned());
    scenario.resolver.reported.extend(["recalled".to_owned()]);
    let other = |id: &str, change: fn(&mut TradeReport)| {
        let mut trade = trade(id, 101);
        trade.symbol = Some("ETHUSDT".to_owned());
        change(&mut trade);
        trade
    };
    let trades = [
        other("foreign", |_| {}),
        other("claimed", |_| {}),
        other("recalled", |_| {}),
        other("by-hand", |trade| trade.is_opened_with_token = Some(false)),
        other("real", |trade| trade.account = Some(Account::Real)),
        other("unknown", |trade| (trade.account, trade.is_opened_with_token) = (None, None)),
        other("old", |trade| trade.request_time = Some(Millis::new(49_999))),
    ];
    scenario.look(115, &trades, &["whose is foreign?", "whose is unknown?"]);
    scenario.look(120, &trades, &[]);
}

#[test]
fn operator_decides_only_intents_in_doubt() {
    let mut scenario = Scenario::new(&[doubt(1), twin(2, 300)]);
    scenario.claimed.insert("taken".to_owned());
    let Scenario { resolver, claimed, .. } = &mut scenario;
    let id = IntentId::new;
    assert_eq!(resolver.give_up(id(3)), Err(ResolutionError::NotInDoubt));
    assert_eq!(resolver.assign(id(3), "a", claimed), Err(ResolutionError::NotInDoubt));
    assert_eq!(resolver.assign(id(1), "taken", claimed), Err(ResolutionError::TradeTaken));
    assert_eq!(resolver.give_up(id(1)), Ok(Millis::from_seconds(321)));
    assert_eq!(resolver.give_up(id(1)), Err(ResolutionError::NotInDoubt));
    assert_eq!(resolver.assign(id(1), "a", claimed), Ok(()));
    assert_eq!(resolver.assign(id(2), "a", claimed), Err(ResolutionError::TradeTaken));
    assert_eq!(resolver.assign(id(2), "b", claimed), Ok(()));
}

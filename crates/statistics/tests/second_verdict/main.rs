//! An independent implementation of the documented verdict agrees with [`EdgeTest`] on all events.

mod described;
mod rates;

use candlewick_statistics::{EdgeTest, EdgeTestPlan, NotionalStake, TradeOutcome, Verdict};
use described::Described;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Known {
    Decided(f64),
    Ended(prop::sample::Index, TradeOutcome, f64),
}

fn known() -> impl Strategy<Value = Known> {
    let payout = || prop_oneof![4 => 0.5..1.0, 1 => 0.02..0.1, 1 => 1.0..1.6];
    let outcome = prop_oneof![
        5 => Just(TradeOutcome::Won),
        4 => Just(TradeOutcome::Lost),
        1 => Just(TradeOutcome::Draw),
        1 => Just(TradeOutcome::Cancelled),
    ];
    prop_oneof![
        payout().prop_map(Known::Decided),
        (any::<prop::sample::Index>(), outcome, payout())
            .prop_map(|(place, outcome, pays)| Known::Ended(place, outcome, pays)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn both_verdicts_agree_on_any_events(
        (alpha, beta, delta) in (0.02..0.4, 0.02..0.4, 0.01..0.6),
        weight in prop_oneof![Just(1.0), 0.05..1.0],
        events in prop::collection::vec(known(), 1..300),
    ) {
        let plan = EdgeTestPlan::new(alpha, beta, delta).unwrap();
        let mut test = EdgeTest::new(plan).with_weight(weight);
        let mut described = Described::new(alpha * weight, beta, delta);
        let mut open: Vec<(NotionalStake, usize)> = Vec::new();
        for event in events {
            match event {
                Known::Decided(payout) => open.push((test.on_open(payout).unwrap(), described.decide(payout))),
                Known::Ended(..) if open.is_empty() => continue,
                Known::Ended(place, outcome, pays) => {
                    let (stake, trade) = open.remove(place.index(open.len()));
                    test.settle(stake, outcome, pays);
                    described.end(trade, match outcome {
                        TradeOutcome::Won => Some(pays),
                        TradeOutcome::Lost => Some(-1.0),
                        TradeOutcome::Draw => Some(0.0),
                        TradeOutcome::Cancelled => None,
                    }, pays);
                }
            }
            // Rounding errors of 1e-16 grow over up to 300 products whose sums partly cancel.
            let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-10 * expected.max(1.0);
            prop_assert!(near(test.edge_account(), described.edge()), "{} {}", test.edge_account(), described.edge());
            prop_assert!(near(test.mirror_account(), described.mirror()), "{} {}", test.mirror_account(), described.mirror());
            let least = described.least_edge();
            prop_assert!(near(test.edge_account_minimum(), least), "{} {least}", test.edge_account_minimum());
            prop_assert_eq!(test.verdict() == Verdict::EdgeShown, described.is_shown);
            prop_assert_eq!(test.verdict() == Verdict::EdgeRejected, described.is_rejected);
            prop_assert_eq!(test.settled(), described.settled());
        }
    }
}

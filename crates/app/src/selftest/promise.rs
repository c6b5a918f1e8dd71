//! Promises about each test market, compared with the measured rates.

use super::Counts;
use super::test_market::{TestMarket, TestMarketKind};
use candlewick_statistics::{EdgeTestPlan, VerdictRates};

/// Tolerance of a measured share, in standard errors.
const ERRORS: f64 = 3.0;
/// Wider than `ERRORS`, because the win rate is checked in every market.
const WIN_RATE_ERRORS: f64 = 4.0;

#[derive(Clone, Debug, PartialEq)]
pub struct PromiseResult {
    pub promise: &'static str,
    pub measured: f64,
    pub allowed: (f64, f64),
}

impl PromiseResult {
    pub fn is_kept(&self) -> bool {
        (self.allowed.0..=self.allowed.1).contains(&self.measured)
    }
}

pub(super) fn hold(
    market: &TestMarket,
    counts: &Counts,
    trial: &VerdictRates,
    plan: EdgeTestPlan,
) -> Vec<PromiseResult> {
    let error = |rate: f64, count: u64| (rate * (1.0 - rate) / count.max(1) as f64).sqrt();
    let seldom = |promise, count, rate: f64| {
        let most = rate + ERRORS * error(rate, counts.paths);
        PromiseResult { promise, measured: counts.share(count), allowed: (0.0, most) }
    };
    // The trial's own chance is small beside that of the paths, of which there are fewer.
    let as_often = |promise, count, rate: f64| {
        let least = rate - ERRORS * error(rate.min(1.0 - 1.0 / counts.paths.max(2) as f64), counts.paths);
        PromiseResult { promise, measured: counts.share(count), allowed: (least.max(0.0), 1.0) }
    };
    let verdict = match market.kind {
        TestMarketKind::Null => seldom("edge shown at most at alpha", counts.shown, plan.alpha()),
        TestMarketKind::Delta => seldom("no edge said at most at beta", counts.rejected, plan.beta()),
        TestMarketKind::Edge => {
            as_often("edge shown as often as the verdict alone", counts.shown, trial.shown())
        }
        TestMarketKind::Worse => {
            as_often("no edge said as often as the verdict alone", counts.rejected, trial.rejected())
        }
    };
    // Bots in step win and lose together.
    let reach = WIN_RATE_ERRORS * error(market.chance, counts.decided / market.bots as u64);
    let win_rate = PromiseResult {
        promise: "trades win as was planted",
        measured: counts.win_rate(),
        allowed: (market.chance - reach, market.chance + reach),
    };
    let lost = PromiseResult {
        promise: "no trade is lost on the way",
        measured: counts.other as f64,
        allowed: (0.0, 0.0),
    };
    vec![verdict, win_rate, lost]
}

#[cfg(test)]
mod tests {
    use super::super::test_market::TestMarket;
    use super::*;
    use candlewick_statistics::PathRange;

    fn check(kind: TestMarketKind, counts: Counts, expected: [bool; 3]) {
        let market = TestMarket::all().into_iter().find(|market| market.kind == kind).unwrap();
        let range = PathRange { seed: 1, first_path: 0, paths: 200, trades: market.trades() };
        let trial = VerdictRates::simulate(EdgeTestPlan::default(), &market.stream().unwrap(), range);
        let kept = hold(&market, &counts, &trial, EdgeTestPlan::default());
        let found: Vec<bool> = kept.iter().map(PromiseResult::is_kept).collect();
        assert_eq!(found, expected, "{kind:?}: {kept:?}");
    }

    #[test]
    fn promises_are_broken_from_three_standard_errors_on() {
        // 400 paths: 5 % and 3 x 1.09 % are 8.27 %, 33 paths. 10,000 trades: 54.05 % and 4 x 0.498 %.
        let fair = Counts { paths: 400, shown: 33, rejected: 33, won: 5_405, decided: 10_000, other: 0 };
        check(TestMarketKind::Null, fair, [true, true, true]);
        check(TestMarketKind::Null, Counts { shown: 34, ..fair }, [false, true, true]);
        check(TestMarketKind::Null, Counts { won: 5_000, ..fair }, [true, false, true]);
        check(TestMarketKind::Null, Counts { other: 1, ..fair }, [true, true, false]);
        let delta = Counts { won: 5_622, ..fair };
        check(TestMarketKind::Delta, delta, [true, true, true]);
        check(TestMarketKind::Delta, Counts { rejected: 34, ..delta }, [false, true, true]);
        let edge = Counts { won: 5_905, ..fair };
        check(TestMarketKind::Edge, Counts { shown: 400, ..edge }, [true, true, true]);
        check(TestMarketKind::Edge, Counts { shown: 250, ..edge }, [false, true, true]);
        let worse = Counts { won: 5_000, ..fair };
        check(TestMarketKind::Worse, Counts { rejected: 400, ..worse }, [true, true, true]);
        check(TestMarketKind::Worse, Counts { rejected: 250, ..worse }, [false, true, true]);
    }
}

//! Settlements in trade reports.

use super::trade_watch::OpenTrade;
use candlewick_broker::TradeReport;
use candlewick_engine::{IntentId, Settled};
use candlewick_sdk::{Money, MoneyScale, Outcome, Payout};

/// Returns the settlement in a report, `None` while end or profit are unknown.
///
/// An unknown result never counts as a win or loss.
pub(crate) fn settlement_of(
    report: &TradeReport,
    intent: IntentId,
    trade: &OpenTrade,
    scale: MoneyScale,
) -> Option<Settled> {
    let outcome = report.progress.outcome()?;
    let profit = profit_of(report, trade.stake, scale)?;
    Some(Settled {
        intent,
        outcome,
        profit,
        open_time: report.open_time,
        open_price: report.open_price,
        close_time: report.close_time,
        close_price: report.close_price,
        payout: report.payout,
    })
}

/// Returns the profit of a finished trade: the venue's figure, or the outcome's rule if it is
/// missing.
pub(super) fn profit_of(report: &TradeReport, stake: Money, scale: MoneyScale) -> Option<Money> {
    let outcome = report.progress.outcome()?;
    let reported = report.profit.and_then(|profit| scale.rounded(profit).ok());
    reported.or_else(|| profit_by_rule(outcome, stake, report.payout))
}

/// Returns the profit that the rules give, `None` for a win with unknown payout.
pub fn profit_by_rule(outcome: Outcome, stake: Money, payout: Option<Payout>) -> Option<Money> {
    match outcome {
        Outcome::Won => payout.map(|payout| stake.profit_at(payout)),
        Outcome::Lost => Some(-stake),
        Outcome::Draw | Outcome::Cancelled => Some(Money::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::trade_watch::{Tracked, TradeWatch};
    use candlewick_broker::Progress;
    use candlewick_sdk::Millis;
    use candlewick_sdk::rust_decimal::Decimal;

    fn check(report: &TradeReport, expected: Option<(Outcome, i64)>) {
        let mut watch = TradeWatch::new(Millis::ZERO);
        let intent = IntentId::new(1);
        let stake = Money::from_minor(1_000);
        let trade = Tracked {
            venue_id: "01JT".to_owned(),
            stake,
            assumed_close: Millis::MINUTE,
            open_time: None,
            close_time: None,
            symbol: None,
            direction: None,
            payout: None,
        };
        watch.begin(intent, trade, Millis::ZERO);
        let settled = settlement_of(report, intent, watch.find(intent).unwrap(), MoneyScale::default());
        assert_eq!(settled.map(|settled| (settled.outcome, settled.profit.minor())), expected, "{report:?}");
    }

    fn over(outcome: Outcome) -> TradeReport {
        TradeReport { progress: Progress::Over(outcome), ..TradeReport::new("01JT") }
    }

    #[test]
    fn the_venues_profit_is_the_truth_and_its_absence_is_filled_by_rule() {
        let won = over(Outcome::Won);
        check(&TradeReport { profit: Some(Decimal::new(799, 2)), ..won.clone() }, Some((Outcome::Won, 799)));
        let payout = Payout::from_percent(80.into()).ok();
        check(&TradeReport { payout, ..won }, Some((Outcome::Won, 800)));
        check(&over(Outcome::Lost), Some((Outcome::Lost, -1_000)));
        check(&over(Outcome::Cancelled), Some((Outcome::Cancelled, 0)));
    }

    #[test]
    fn what_is_not_known_is_no_outcome() {
        for progress in
            [Progress::Running, Progress::OverUnreported, Progress::Unrecognised("REVERTED".to_owned())]
        {
            check(&TradeReport { progress, profit: Some(Decimal::ONE), ..TradeReport::new("01JT") }, None);
        }
        // A win of which neither profit nor payout is known.
        check(&over(Outcome::Won), None);
    }
}

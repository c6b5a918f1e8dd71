//! Settlements recomputed: the profit from stake and payout, the prices from the price records of their seconds.

use super::{Audit, Finding, named};
use candlewick_api::model::{LastPrice, PriceRecord};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis, Money, Outcome, Payout, Symbol};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Settlements that wait for their prices; beyond it the oldest is left out.
const MOST_WAITING: usize = 64;
/// A record this old says nothing of its moment.
const STALE: Millis = Millis::from_seconds(5);

/// A settled trade as the venue told it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settlement {
    pub(crate) intent: IntentId,
    pub(crate) symbol: Symbol,
    pub(crate) direction: Direction,
    pub(crate) stake: Money,
    pub(crate) payout: Option<Payout>,
    pub(crate) outcome: Outcome,
    pub(crate) profit: Money,
    pub(crate) open: Option<(Millis, f64)>,
    pub(crate) close: Option<(Millis, f64)>,
}

/// The price records of a settlement's two moments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recomputed {
    pub(crate) settlement: Settlement,
    pub(crate) open: Option<LastPrice>,
    pub(crate) close: Option<LastPrice>,
}

/// Settlements that are to be recomputed, one at a time.
#[derive(Debug, Default)]
pub(crate) struct SettlementAudit {
    waiting: VecDeque<Settlement>,
}

impl SettlementAudit {
    /// Takes a settlement of which nobody knows whether its prices were asked for: they are, once more perhaps.
    pub(crate) fn recall(&mut self, settlement: Settlement) {
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(settlement);
    }

    /// Takes a settlement: what is wrong with it by itself. Its prices are asked for later.
    pub(crate) fn take(&mut self, settlement: Settlement) -> Vec<Finding> {
        self.recall(settlement);
        let alarm = |problem: String| {
            Finding::alarm(
                Audit::Settlement,
                format!("{}settled wrongly: {problem}", named(settlement.intent)),
            )
        };
        [settlement.check_profit(), settlement.check_outcome()].into_iter().flatten().map(alarm).collect()
    }

    /// The next one whose prices are to be asked for.
    pub(crate) fn next(&mut self) -> Option<Settlement> {
        self.waiting.pop_front()
    }
}

impl Settlement {
    /// The moments whose records are asked for. A record is a bar of one second: an exit on a full second is the end of
    /// the bar before it.
    pub(crate) fn moments(&self) -> (Option<Millis>, Option<Millis>) {
        let exit = |at: Millis| if at.is_aligned_to(Millis::SECOND) { at - Millis::new(1) } else { at };
        (self.open.map(|(at, _)| at), self.close.map(|(at, _)| exit(at)))
    }

    /// A win earns the payout's share of the stake, rounded half to even.
    fn check_profit(&self) -> Option<String> {
        let expected = match self.outcome {
            Outcome::Won => self.stake.profit_at(self.payout?),
            Outcome::Lost => Money::ZERO - self.stake,
            Outcome::Draw | Outcome::Cancelled => Money::ZERO,
        };
        let (told, expected_minor) = (self.profit.minor(), expected.minor());
        (self.profit != expected)
            .then(|| format!("its profit is {told} minor units, by its payout {expected_minor}"))
    }

    /// The result follows from the venue's own two prices.
    fn check_outcome(&self) -> Option<String> {
        let ((_, open), (_, close)) = (self.open?, self.close?);
        let wins_when = match self.direction {
            Direction::Buy => Ordering::Greater,
            Direction::Sell => Ordering::Less,
        };
        let order = close.partial_cmp(&open)?;
        let is_sound = match self.outcome {
            Outcome::Won => order == wins_when,
            // With the rule that a draw loses, an equal price is a loss.
            Outcome::Lost => order != wins_when,
            Outcome::Draw => order == Ordering::Equal,
            Outcome::Cancelled => true,
        };
        (!is_sound).then(|| format!("a {} from {open} to {close} is {:?}", self.direction, self.outcome))
    }
}

impl Recomputed {
    /// How many prices had a record of their second, and which of them it does not contain.
    pub(crate) fn check(&self) -> (usize, Vec<Finding>) {
        let Settlement { intent, open, close, .. } = self.settlement;
        let (opened_by, closed_by) = self.settlement.moments();
        let mut checked = 0;
        let mut findings = Vec::new();
        for (name, price, moment, record) in
            [("open", open, opened_by, &self.open), ("close", close, closed_by, &self.close)]
        {
            let (Some((at, price)), Some(moment), Some(LastPrice::Record(record))) = (price, moment, record)
            else {
                continue;
            };
            if moment - record.time > STALE {
                continue;
            }
            checked += 1;
            if !contains(record, price) {
                let PriceRecord { low_price, high_price, time, .. } = record;
                let text = format!(
                    "{}has the {name} price {price} at {at}; the price record of {time} has {low_price} to {high_price}",
                    named(intent)
                );
                findings.push(Finding::alarm(Audit::Settlement, text));
            }
        }
        (checked, findings)
    }
}

/// Prices may be rounded in another way: a millionth beside the record is within it.
fn contains(record: &PriceRecord, price: f64) -> bool {
    record.low_price * (1.0 - 1e-6) <= price && price <= record.high_price * (1.0 + 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settlement() -> Settlement {
        Settlement {
            intent: IntentId::new(3),
            symbol: "BTCUSDT".parse().unwrap(),
            direction: Direction::Buy,
            stake: Money::from_minor(1_025),
            payout: Payout::from_percent(82.into()).ok(),
            outcome: Outcome::Won,
            // 8.405 to the even cent.
            profit: Money::from_minor(840),
            open: Some((Millis::new(5_999), 100.0)),
            close: Some((Millis::new(66_000), 100.5)),
        }
    }

    fn told(change: impl Fn(&mut Settlement)) -> Vec<String> {
        let mut settled = settlement();
        change(&mut settled);
        SettlementAudit::default().take(settled).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn profit_and_result_follow_from_payout_and_prices() {
        assert_eq!(told(|_| {}), [""; 0]);
        assert_eq!(
            told(|one| one.profit = Money::from_minor(841)),
            ["intent 3 settled wrongly: its profit is 841 minor units, by its payout 840"]
        );
        assert_eq!(told(|one| one.direction = Direction::Sell).len(), 1);
        assert_eq!(told(|one| (one.outcome, one.profit) = (Outcome::Draw, Money::ZERO)).len(), 1);
        let lost_at_par = |one: &mut Settlement| {
            (one.outcome, one.profit) = (Outcome::Lost, Money::from_minor(-1_025));
            one.close = Some((Millis::new(66_000), 100.0));
        };
        assert_eq!(told(lost_at_par), [""; 0]);
        assert_eq!(told(|one| one.payout = None), [""; 0], "an unknown payout proves nothing");
    }

    #[test]
    fn an_exit_on_a_full_second_is_the_end_of_the_bar_before_it() {
        assert_eq!(settlement().moments(), (Some(Millis::new(5_999)), Some(Millis::new(65_999))));
    }

    #[test]
    fn a_price_lies_within_the_record_of_its_second() {
        let record = |time: i64, low: f64, high: f64| {
            LastPrice::Record(PriceRecord {
                id: None,
                slot: None,
                pair: None,
                asset_type: None,
                time: Millis::new(time),
                volume: 0.0,
                open_price: low,
                close_price: high,
                high_price: high,
                low_price: low,
                created_at: None,
                updated_at: None,
            })
        };
        let check = |open, close| {
            let (checked, findings) = Recomputed { settlement: settlement(), open, close }.check();
            (checked, findings.len())
        };
        assert_eq!(check(Some(record(5_000, 99.9, 100.0)), Some(record(65_000, 100.5, 100.6))), (2, 0));
        assert_eq!(check(Some(record(5_000, 100.1, 100.2)), None), (1, 1));
        assert_eq!(
            check(Some(record(0, 1.0, 2.0)), Some(LastPrice::Future)),
            (0, 0),
            "an old record says nothing"
        );
    }
}

//! Settlements recomputed: the profit from stake and payout, the prices from the price records of their seconds.

use super::{Audit, Finding, named};
use candlewick_broker::{PriceAnswer, PriceRecord};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis, Money, Outcome, Payout, Symbol};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Settlements that wait for their prices; beyond it the oldest is left out.
const MAX_WAITING: usize = 64;
/// A record this old says nothing of its moment.
const STALE: Millis = Millis::from_seconds(5);

/// A settled trade as the venue reports it.
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
struct Recomputed {
    settlement: Settlement,
    open: Option<PriceAnswer>,
    close: Option<PriceAnswer>,
}

/// Settlements that are to be recomputed, one at a time.
#[derive(Debug, Default)]
pub(crate) struct SettlementAudit {
    waiting: VecDeque<Settlement>,
    /// The one whose prices are asked for, and how many of the two were.
    current: Option<(Recomputed, usize)>,
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum PriceCheck {
    /// The price record of this moment is to be asked for.
    Ask(Symbol, Millis),
    /// A settlement was checked: how many prices had a record, and which of them it does not contain.
    Checked(usize, Vec<Finding>),
    /// No settlement waits.
    Nothing,
}

impl SettlementAudit {
    /// Takes a settlement of which nobody knows whether its prices were asked for: they are, once more perhaps.
    pub(crate) fn recall(&mut self, settlement: Settlement) {
        if self.waiting.len() == MAX_WAITING {
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

    /// The next step: of the settlement that is being checked, or of the next.
    pub(crate) fn next_check(&mut self) -> PriceCheck {
        loop {
            let Some((recomputed, asked)) = &mut self.current else {
                let Some(settlement) = self.waiting.pop_front() else { return PriceCheck::Nothing };
                self.current = Some((Recomputed { settlement, open: None, close: None }, 0));
                continue;
            };
            let (opened, closed) = recomputed.settlement.moments();
            let moment = match asked {
                0 => opened,
                1 => closed,
                _ => {
                    let (checked, findings) = recomputed.check();
                    self.current = None;
                    return PriceCheck::Checked(checked, findings);
                }
            };
            match moment {
                Some(at) => return PriceCheck::Ask(recomputed.settlement.symbol, at),
                None => *asked += 1,
            }
        }
    }

    /// The record that was asked for; none when it could not be had.
    pub(crate) fn on_price(&mut self, answer: Option<PriceAnswer>) {
        let Some((recomputed, asked)) = &mut self.current else { return };
        if *asked == 0 {
            recomputed.open = answer;
        } else {
            recomputed.close = answer;
        }
        *asked += 1;
    }
}

impl Settlement {
    /// Whether a trade of this stake can have ended so at all, whatever it pays up to `max_payout_percent`: nobody loses more
    /// than the stake, and a win earns something.
    pub(crate) fn is_possible(&self, max_payout_percent: u32) -> bool {
        let (profit, stake) = (self.profit.minor(), self.stake.minor());
        match self.outcome {
            Outcome::Won => {
                let most = stake.saturating_mul(i64::from(max_payout_percent));
                profit >= 0 && profit.saturating_mul(100) <= most
            }
            Outcome::Lost => profit <= 0 && profit >= -stake,
            Outcome::Draw | Outcome::Cancelled => profit == 0,
        }
    }

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
        let (reported, expected_minor) = (self.profit.minor(), expected.minor());
        (self.profit != expected)
            .then(|| format!("its profit is {reported} minor units, by its payout {expected_minor}"))
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
    fn check(&self) -> (usize, Vec<Finding>) {
        let Settlement { intent, open, close, .. } = self.settlement;
        let (opened_by, closed_by) = self.settlement.moments();
        let mut checked = 0;
        let mut findings = Vec::new();
        for (name, price, moment, record) in
            [("open", open, opened_by, &self.open), ("close", close, closed_by, &self.close)]
        {
            let (Some((at, price)), Some(moment), Some(PriceAnswer::Record(record))) =
                (price, moment, record)
            else {
                continue;
            };
            if moment - record.time > STALE {
                continue;
            }
            checked += 1;
            if !contains(record, price) {
                let PriceRecord { time, prices, .. } = record;
                let (low, high) = (prices.low, prices.high);
                let text = format!(
                    "{}has the {name} price {price} at {at}; the price record of {time} has {low} to {high}",
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
    record.prices.low * (1.0 - 1e-6) <= price && price <= record.prices.high * (1.0 + 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Ohlcv;

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

    fn problems(change: impl Fn(&mut Settlement)) -> Vec<String> {
        let mut settled = settlement();
        change(&mut settled);
        SettlementAudit::default().take(settled).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn profit_and_result_follow_from_payout_and_prices() {
        assert_eq!(problems(|_| {}), [""; 0]);
        assert_eq!(
            problems(|one| one.profit = Money::from_minor(841)),
            ["intent 3 settled wrongly: its profit is 841 minor units, by its payout 840"]
        );
        assert_eq!(problems(|one| one.direction = Direction::Sell).len(), 1);
        assert_eq!(problems(|one| (one.outcome, one.profit) = (Outcome::Draw, Money::ZERO)).len(), 1);
        let lost_at_par = |one: &mut Settlement| {
            (one.outcome, one.profit) = (Outcome::Lost, Money::from_minor(-1_025));
            one.close = Some((Millis::new(66_000), 100.0));
        };
        assert_eq!(problems(lost_at_par), [""; 0]);
        assert_eq!(problems(|one| one.payout = None), [""; 0], "an unknown payout proves nothing");
    }

    #[test]
    fn no_trade_brings_more_than_the_highest_payout_or_costs_more_than_its_stake() {
        for (outcome, profit, expected) in [
            (Outcome::Won, 840, true),
            (Outcome::Won, 2_050, true),
            (Outcome::Won, 2_051, false),
            (Outcome::Won, -1, false),
            (Outcome::Lost, -1_025, true),
            (Outcome::Lost, -500, true),
            (Outcome::Lost, -1_026, false),
            (Outcome::Lost, 840, false),
            (Outcome::Draw, 0, true),
            (Outcome::Draw, 1, false),
            (Outcome::Cancelled, -1_025, false),
        ] {
            let settled = Settlement { outcome, profit: Money::from_minor(profit), ..settlement() };
            assert_eq!(settled.is_possible(200), expected, "{outcome:?} {profit}");
        }
    }

    #[test]
    fn an_exit_on_a_full_second_is_the_end_of_the_bar_before_it() {
        assert_eq!(settlement().moments(), (Some(Millis::new(5_999)), Some(Millis::new(65_999))));
    }

    #[test]
    fn both_prices_are_asked_for_one_settlement_after_the_other() {
        let mut audit = SettlementAudit::default();
        audit.recall(settlement());
        audit.recall(Settlement { open: None, ..settlement() });
        let (symbol, [open, close]) = (settlement().symbol, [5_999, 65_999].map(Millis::new));
        assert_eq!(audit.next_check(), PriceCheck::Ask(symbol, open));
        assert_eq!(audit.next_check(), PriceCheck::Ask(symbol, open), "it is not answered yet");
        audit.on_price(None);
        assert_eq!(audit.next_check(), PriceCheck::Ask(symbol, close));
        audit.on_price(Some(PriceAnswer::NotYet));
        assert_eq!(audit.next_check(), PriceCheck::Checked(0, Vec::new()));
        assert_eq!(audit.next_check(), PriceCheck::Ask(symbol, close));
        audit.on_price(None);
        assert_eq!(audit.next_check(), PriceCheck::Checked(0, Vec::new()));
        assert_eq!(audit.next_check(), PriceCheck::Nothing);
    }

    #[test]
    fn a_price_lies_within_the_record_of_its_second() {
        let record = |time: i64, low: f64, high: f64| {
            let prices = Ohlcv { open: low, high, low, close: high, volume: 0.0 };
            PriceAnswer::Record(PriceRecord { time: Millis::new(time), prices, recorded_time: None })
        };
        let check = |open, close| {
            let (checked, findings) = Recomputed { settlement: settlement(), open, close }.check();
            (checked, findings.len())
        };
        assert_eq!(check(Some(record(5_000, 99.9, 100.0)), Some(record(65_000, 100.5, 100.6))), (2, 0));
        assert_eq!(check(Some(record(5_000, 100.1, 100.2)), None), (1, 1));
        assert_eq!(
            check(Some(record(0, 1.0, 2.0)), Some(PriceAnswer::NotYet)),
            (0, 0),
            "an old record says nothing"
        );
    }
}

//! Audits settlements: compares profits with stakes and payouts, and prices with the venue's 1 s price records.

use super::profit::{ProfitRules, SettledProfit};
use super::{Audit, Finding};
use candlewick_broker::{PriceAnswer, PriceRecord};
use candlewick_engine::IntentId;
use candlewick_sdk::{Direction, Millis, Money, Outcome, Payout, Symbol, compare_prices};
use std::cmp::Ordering;
use std::collections::VecDeque;

const MAX_WAITING_SETTLEMENTS: usize = 64;
const MAX_RECORD_AGE: Millis = Millis::from_seconds(5);

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

#[derive(Clone, Debug, PartialEq)]
struct SettlementCheck {
    settlement: Settlement,
    open: Option<PriceAnswer>,
    close: Option<PriceAnswer>,
}

#[derive(Debug, Default)]
pub(crate) struct SettlementAudit {
    waiting: VecDeque<Settlement>,
    /// Settlement that is being checked, and the number of its prices requested so far (0 to 2).
    current: Option<(SettlementCheck, usize)>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum PriceCheck {
    Ask(Symbol, Millis),
    Checked(usize, Vec<Finding>),
    Nothing,
}

impl SettlementAudit {
    /// Queues a settlement for a price check. A restarted run may check the same settlement again.
    pub(crate) fn enqueue(&mut self, settlement: Settlement) {
        if self.waiting.len() == MAX_WAITING_SETTLEMENTS {
            self.waiting.pop_front();
        }
        self.waiting.push_back(settlement);
    }

    pub(crate) fn check(&mut self, settlement: Settlement, rules: ProfitRules) -> Vec<Finding> {
        self.enqueue(settlement);
        let of_profit = settlement.settled_profit().check(rules).map(|wrong| {
            // The halt already raises an alarm, so a note is sufficient here.
            let finding = if wrong.must_halt { Finding::note } else { Finding::alarm };
            finding(Audit::Settlement, wrong.text)
        });
        let of_outcome = settlement.check_outcome().map(|text| Finding::alarm(Audit::Settlement, text));
        of_profit.into_iter().chain(of_outcome).collect()
    }

    pub(crate) fn next_check(&mut self) -> PriceCheck {
        loop {
            let Some((recomputed, asked)) = &mut self.current else {
                let Some(settlement) = self.waiting.pop_front() else { return PriceCheck::Nothing };
                self.current = Some((SettlementCheck { settlement, open: None, close: None }, 0));
                continue;
            };
            let (opened, closed) = recomputed.settlement.price_times();
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
    pub(crate) const fn settled_profit(&self) -> SettledProfit {
        let Self { intent, stake, payout, outcome, profit, .. } = *self;
        SettledProfit { intent, stake, payout, outcome, profit }
    }

    /// Returns the times of the open and close price records. A close at a full second belongs to the previous record.
    pub(crate) fn price_times(&self) -> (Option<Millis>, Option<Millis>) {
        let exit = |at: Millis| if at.is_aligned_to(Millis::SECOND) { at - Millis::new(1) } else { at };
        (self.open.map(|(at, _)| at), self.close.map(|(at, _)| exit(at)))
    }

    fn check_outcome(&self) -> Option<String> {
        let ((_, open), (_, close)) = (self.open?, self.close?);
        let wins_when = match self.direction {
            Direction::Buy => Ordering::Greater,
            Direction::Sell => Ordering::Less,
        };
        let order = compare_prices(close, open);
        let is_sound = match self.outcome {
            Outcome::Won => order == wins_when,
            // An equal price also counts as a loss, because some venues settle draws as losses.
            Outcome::Lost => order != wins_when,
            Outcome::Draw => order == Ordering::Equal,
            Outcome::Cancelled => true,
        };
        let (intent, outcome, direction) = (self.intent, self.outcome, self.direction);
        let (moved, ends) = match order {
            Ordering::Equal => ("stayed", "is a draw"),
            _ if order == wins_when => (movement_verb(order), "wins"),
            _ => (movement_verb(order), "loses"),
        };
        (!is_sound).then(|| {
            format!(
                "trade #{intent} was reported {outcome}, but a {direction} whose price {moved} from {open} to {close} {ends}"
            )
        })
    }
}

impl SettlementCheck {
    fn check(&self) -> (usize, Vec<Finding>) {
        let Settlement { intent, open, close, .. } = self.settlement;
        let (opened_by, closed_by) = self.settlement.price_times();
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
            if moment - record.time > MAX_RECORD_AGE {
                continue;
            }
            checked += 1;
            if !contains(record, price) {
                let PriceRecord { time, prices, .. } = record;
                let (low, high) = (prices.low, prices.high);
                let text = format!(
                    "trade #{intent} has the {name} price {price} at {at}, but the price record at {time} ranges from {low} to {high}"
                );
                findings.push(Finding::alarm(Audit::Settlement, text));
            }
        }
        (checked, findings)
    }
}

const fn movement_verb(order: Ordering) -> &'static str {
    if order.is_gt() { "rose" } else { "fell" }
}

/// Returns whether the price is within the record's range. Allows a relative deviation of 1e-6 for rounding.
fn contains(record: &PriceRecord, price: f64) -> bool {
    record.prices.low * (1.0 - 1e-6) <= price && price <= record.prices.high * (1.0 + 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{MoneyScale, Ohlcv};

    fn settlement() -> Settlement {
        Settlement {
            intent: IntentId::new(3),
            symbol: "BTCUSDT".parse().unwrap(),
            direction: Direction::Buy,
            stake: Money::from_minor(1_025),
            payout: Payout::from_percent(82.into()).ok(),
            outcome: Outcome::Won,
            // The exact profit of 8.405 is rounded to the even cent.
            profit: Money::from_minor(840),
            open: Some((Millis::new(5_999), 100.0)),
            close: Some((Millis::new(66_000), 100.5)),
        }
    }

    fn rules() -> ProfitRules {
        ProfitRules { scale: MoneyScale::default(), max_payout_percent: 200 }
    }

    fn problems(change: impl Fn(&mut Settlement)) -> Vec<String> {
        let mut settled = settlement();
        change(&mut settled);
        SettlementAudit::default().check(settled, rules()).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn result_follows_from_prices() {
        assert_eq!(problems(|_| {}), [""; 0]);
        let sold = problems(|one| one.direction = Direction::Sell);
        assert_eq!(sold, ["trade #3 was reported WON, but a SELL whose price rose from 100 to 100.5 loses"]);
        let draw = problems(|one| (one.outcome, one.profit) = (Outcome::Draw, Money::ZERO));
        assert_eq!(draw, ["trade #3 was reported DRAW, but a BUY whose price rose from 100 to 100.5 wins"]);
        let lost_at_par = |one: &mut Settlement| {
            (one.outcome, one.profit) = (Outcome::Lost, Money::from_minor(-1_025));
            one.close = Some((Millis::new(66_000), 100.0));
        };
        assert_eq!(problems(lost_at_par), [""; 0]);
        assert_eq!(problems(|one| one.payout = None), [""; 0], "an unknown payout proves nothing");
    }

    #[test]
    fn exit_on_a_full_second_ends_the_previous_bar() {
        assert_eq!(settlement().price_times(), (Some(Millis::new(5_999)), Some(Millis::new(65_999))));
    }

    #[test]
    fn requests_both_prices_one_settlement_at_a_time() {
        let mut audit = SettlementAudit::default();
        audit.enqueue(settlement());
        audit.enqueue(Settlement { open: None, ..settlement() });
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
    fn finds_prices_outside_their_record() {
        let record = |time: i64, low: f64, high: f64| {
            let prices = Ohlcv { open: low, high, low, close: high, volume: 0.0 };
            PriceAnswer::Record(PriceRecord { time: Millis::new(time), prices, created_time: None })
        };
        let check = |open, close| {
            let (checked, findings) = SettlementCheck { settlement: settlement(), open, close }.check();
            (checked, findings.len())
        };
        assert_eq!(check(Some(record(5_000, 99.9, 100.0)), Some(record(65_000, 100.5, 100.6))), (2, 0));
        assert_eq!(check(Some(record(5_000, 100.1, 100.2)), None), (1, 1));
        let old = check(Some(record(0, 1.0, 2.0)), Some(PriceAnswer::NotYet));
        assert_eq!(old, (0, 0), "an old record says nothing");
    }
}

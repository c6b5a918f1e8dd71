//! The verdict on a run's edge: its trades told to the notional accounts in the order in which they became known.

use crate::{IntentRow, IntentState, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{EdgeTest, NotionalStake, TradeOutcome, VerdictPlan};
use std::collections::BTreeMap;

/// The payout that is staked on while none has been seen on a symbol: a high one, which bets little.
const UNSEEN_PAYOUT_FRACTION: f64 = 0.92;

/// What became known of a trade at a moment. At one moment settlements come first: they are known to what is decided then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    Settled,
    Answered,
    Decided,
}

/// Tells trades to a test, by their rows: each open at its decision, with the payout last seen on its symbol by then; each
/// settlement when it became known. Intents that never were trades are left out; a trade without a settlement stays lost.
///
/// The accounts stake at the decision because what is known later, the answer included, may say something of the trade itself.
/// A trade that pays more than was staked on is left out ([`EdgeTest::on_settled_paying`]).
pub fn judge<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, plan: VerdictPlan) -> EdgeTest {
    let rows: Vec<&IntentRow> = rows.into_iter().filter(|row| is_trade(row.state)).collect();
    let mut test = EdgeTest::new(plan);
    let mut payouts: BTreeMap<SymbolId, Payout> = BTreeMap::new();
    let mut stakes: Vec<Option<(NotionalStake, f64)>> = vec![None; rows.len()];
    for (_, news, place) in in_order(&rows) {
        let row = rows[place];
        let symbol = row.approved.symbol();
        match news {
            News::Decided => {
                let seen = payouts.get(&symbol).map_or(UNSEEN_PAYOUT_FRACTION, |seen| seen.to_fraction());
                // A payout of nothing can be no evidence.
                stakes[place] = test.on_open(seen).ok().map(|stake| (stake, seen));
            }
            News::Answered => payouts.extend(row.payout.map(|payout| (symbol, payout))),
            News::Settled => {
                if let (Some((stake, staked_on)), Some(outcome)) = (stakes[place].take(), row.outcome) {
                    let pays = row.payout.map_or(staked_on, Payout::to_fraction);
                    test.on_settled_paying(stake, to_trade_outcome(outcome), pays);
                }
            }
        }
    }
    test
}

/// What became known when, and of which row. Three lists that are each nearly in order, which the sort makes use of.
fn in_order(rows: &[&IntentRow]) -> Vec<(Millis, News, usize)> {
    let mut news = Vec::with_capacity(rows.len() * 3);
    let rows = || rows.iter().enumerate();
    news.extend(rows().map(|(place, row)| (row.approved.decision_time(), News::Decided, place)));
    news.extend(rows().filter_map(|(place, row)| Some((row.answered_at?, News::Answered, place))));
    news.extend(rows().filter_map(|(place, row)| Some((row.settled_at?, News::Settled, place))));
    news.sort();
    news
}

const fn is_trade(state: IntentState) -> bool {
    match state {
        IntentState::Open | IntentState::Settled => true,
        IntentState::InFlight
        | IntentState::InDoubt
        | IntentState::Rejected
        | IntentState::NotSent
        | IntentState::NotOpened => false,
    }
}

const fn to_trade_outcome(outcome: Outcome) -> TradeOutcome {
    match outcome {
        Outcome::Won => TradeOutcome::Won,
        Outcome::Lost => TradeOutcome::Lost,
        Outcome::Draw => TradeOutcome::Draw,
        Outcome::Cancelled => TradeOutcome::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Approved, BotId, Event, EventKind, IntentId, Opened, Settled, TradeBook};
    use candlewick_sdk::{Direction, ExpirationType, Expiry, Money, Reason};
    use candlewick_statistics::Verdict;

    /// Decided, answered and settled at these seconds, paying so many percent.
    struct Trade(i64, i64, Option<i64>, u32, Outcome);

    fn book(trades: &[Trade]) -> TradeBook {
        let mut book = TradeBook::default();
        let expiry =
            Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed };
        for (number, trade) in (1..).zip(trades) {
            let Trade(decided, answered, settled, percent, outcome) = *trade;
            let (intent, payout) = (IntentId::new(number), Payout::from_percent(percent.into()).ok());
            let terms = (Direction::Buy, expiry, Money::from_minor(100));
            let approved = Approved::recorded(
                intent,
                (BotId::FIRST, SymbolId::FIRST),
                terms,
                Millis::from_seconds(decided),
                Reason::new("r"),
            );
            book.see_action(&Action::Open(approved));
            let mut tell = |second: i64, kind: EventKind| {
                let at = Millis::from_seconds(second);
                book.see_event(&Event { at, received: at, kind });
            };
            let (open_time, close_time) = (None, None);
            let opened = Opened { intent, venue_id: None, open_time, open_price: None, close_time, payout };
            tell(answered, EventKind::Opened(opened));
            if let Some(at) = settled {
                let (open_price, close_price) = (None, None);
                let settled = Settled {
                    intent,
                    outcome,
                    profit: Money::ZERO,
                    open_time,
                    open_price,
                    close_time,
                    close_price,
                    payout,
                };
                tell(at, EventKind::Settled(settled));
            }
        }
        book
    }

    fn check(trades: &[Trade], edge: f64, mirror: f64) {
        let test = judge(book(trades).rows(), VerdictPlan::default());
        let found = (test.edge_account(), test.mirror_account());
        let is_near = (found.0 - edge).abs() < 1e-12 && (found.1 - mirror).abs() < 1e-12;
        assert!(is_near, "{found:?}, not {edge}, {mirror}");
    }

    #[test]
    fn stakes_are_taken_at_decisions_on_the_payout_that_was_seen_by_then() {
        let (high, mirror) = (0.04 / 0.92, 1.0 / 26.0);
        check(&[], 1.0, 1.0);
        // No payout was seen: little is staked, as on 92 %. It pays 80 %.
        let first = || Trade(0, 2, Some(70), 80, Outcome::Won);
        let (edge, against) = (1.0 + high * 0.8, 1.0 + mirror * (0.04 - 0.8) / 0.88);
        check(&[first()], edge, against);
        // What never settles stays lost; its payout was known at 60 s, and what settles at 70 s comes before 70 s.
        check(
            &[first(), Trade(1, 3, None, 80, Outcome::Won)],
            (1.0 - high) * (1.0 - high) + high * 1.8,
            (1.0 - mirror) * (1.0 - mirror) + mirror * (1.0 + (0.04 - 0.8) / 0.88),
        );
        // A trade that pays more than was seen is left out.
        check(&[first(), Trade(3, 4, Some(90), 81, Outcome::Lost)], edge, against);
    }

    #[test]
    fn a_long_run_of_wins_shows_an_edge_and_coins_at_85_reject_it() {
        let run = |won: fn(i64) -> bool| {
            let outcome = |wins| if wins { Outcome::Won } else { Outcome::Lost };
            let trade = |k: i64| Trade(k * 60, k * 60 + 2, Some(k * 60 + 55), 85, outcome(won(k)));
            let trades: Vec<Trade> = (0..2_000).map(trade).collect();
            judge(book(&trades).rows(), VerdictPlan::default()).verdict()
        };
        assert_eq!(run(|k| k % 3 != 0), Verdict::EdgeShown);
        assert_eq!(run(|k| k % 2 == 0), Verdict::EdgeRejected);
    }
}

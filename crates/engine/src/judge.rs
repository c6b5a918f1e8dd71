//! The verdict on an edge: trades told to the notional accounts in the order in which they became known.

use crate::{IntentId, IntentRow, IntentState, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{EdgeTest, NotionalStake, TradeOutcome, VerdictPlan};

/// The payout that is staked on while none has been seen on a symbol: a high one, which bets little.
const UNSEEN_PAYOUT_FRACTION: f64 = 0.92;

/// Trades that can be open together before a list has to grow.
const USUAL_OPEN_TRADES: usize = 16;

/// A verdict in the making, told of intents as they are decided, answered and settled.
///
/// The accounts stake at the decision, on the payout last seen on the symbol by then, because what is known later, the
/// answer included, may say something of the trade itself. A trade that pays more than was staked on is left out
/// ([`EdgeTest::on_settled_paying`]); so is an intent that never was a trade. One whose end is not known stays lost.
#[derive(Clone, Debug)]
pub struct Judge {
    test: EdgeTest,
    payouts: Vec<(SymbolId, Payout)>,
    open: Vec<Staked>,
}

#[derive(Clone, Debug)]
struct Staked {
    intent: IntentId,
    symbol: SymbolId,
    stake: NotionalStake,
    payout_fraction: f64,
}

impl Judge {
    /// Both accounts at 1.
    pub fn new(plan: VerdictPlan) -> Self {
        Self {
            test: EdgeTest::new(plan),
            payouts: Vec::with_capacity(1),
            open: Vec::with_capacity(USUAL_OPEN_TRADES),
        }
    }

    /// The accounts as they stand.
    pub const fn test(&self) -> &EdgeTest {
        &self.test
    }

    /// An intent was approved.
    pub fn on_decided(&mut self, intent: IntentId, symbol: SymbolId) {
        let payout_fraction = self.seen(symbol).map_or(UNSEEN_PAYOUT_FRACTION, Payout::to_fraction);
        // A payout of nothing can be no evidence.
        if let Ok(stake) = self.test.on_open(payout_fraction) {
            self.open.push(Staked { intent, symbol, stake, payout_fraction });
        }
    }

    /// The venue said what it pays on a symbol.
    pub fn on_answered(&mut self, symbol: SymbolId, payout: Payout) {
        match self.payouts.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, seen)) => *seen = payout,
            None => self.payouts.push((symbol, payout)),
        }
    }

    /// An intent did not become a trade.
    pub fn on_left_out(&mut self, intent: IntentId) {
        self.on_settled(intent, Outcome::Cancelled, None);
    }

    /// A trade ended; `payout` is what it paid on a win. One that is not known, or has ended before, changes nothing.
    pub fn on_settled(&mut self, intent: IntentId, outcome: Outcome, payout: Option<Payout>) {
        let Some(place) = self.open.iter().position(|open| open.intent == intent) else { return };
        let Staked { symbol, stake, payout_fraction, .. } = self.open.remove(place);
        let pays = payout.map_or(payout_fraction, Payout::to_fraction);
        self.test.settle(stake, to_trade_outcome(outcome), pays);
        if let (None, Some(payout)) = (self.seen(symbol), payout) {
            self.on_answered(symbol, payout);
        }
    }

    fn seen(&self, symbol: SymbolId) -> Option<Payout> {
        self.payouts.iter().find(|(known, _)| *known == symbol).map(|(_, payout)| *payout)
    }
}

/// A trade, or what was to be one, as a verdict sees it afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedTrade {
    /// What was traded: payouts belong to it.
    pub symbol: SymbolId,
    /// When it was decided.
    pub decided: Millis,
    /// When the venue answered, and so said what it pays.
    pub answered: Option<Millis>,
    /// What a win pays.
    pub payout: Option<Payout>,
    /// When its end became known, and how it ended; an intent that never was a trade is cancelled.
    pub ended: Option<(Millis, Outcome)>,
}

/// What became known of a trade at a moment. At one moment settlements come first: they are known to what is decided then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum News {
    Ended,
    Answered,
    Decided,
}

/// Tells intents to a verdict afterwards, by their rows: each at its decision, each end when it became known.
pub fn judge<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, plan: VerdictPlan) -> EdgeTest {
    let trades: Vec<JudgedTrade> = rows.into_iter().filter_map(JudgedTrade::of_row).collect();
    judge_trades(&trades, plan)
}

/// As [`judge`], of trades that are known from elsewhere.
pub fn judge_trades(trades: &[JudgedTrade], plan: VerdictPlan) -> EdgeTest {
    let mut judge = Judge::new(plan);
    for (_, news, place) in in_order(trades) {
        let JudgedTrade { symbol, payout, ended, .. } = trades[place];
        let intent = IntentId::new(place as u64 + 1);
        match (news, payout, ended) {
            (News::Decided, ..) => judge.on_decided(intent, symbol),
            (News::Answered, Some(payout), _) => judge.on_answered(symbol, payout),
            (News::Ended, _, Some((_, outcome))) => judge.on_settled(intent, outcome, payout),
            (News::Answered | News::Ended, ..) => {}
        }
    }
    judge.test
}

impl JudgedTrade {
    /// Of an intent's row; nothing of one that the venue was asked about in vain, because its row does not say when.
    pub fn of_row(row: &IntentRow) -> Option<Self> {
        let ended = match row.state {
            IntentState::NotOpened => return None,
            IntentState::Rejected | IntentState::NotSent => row.answered_at.zip(Some(Outcome::Cancelled)),
            IntentState::InFlight | IntentState::InDoubt | IntentState::Open | IntentState::Settled => {
                row.settled_at.zip(row.outcome)
            }
        };
        Some(Self {
            symbol: row.approved.symbol(),
            decided: row.approved.decision_time(),
            answered: row.answered_at,
            payout: row.payout,
            ended,
        })
    }
}

/// What became known when, and of which trade. Three lists that are each nearly in order, which the sort makes use of.
fn in_order(trades: &[JudgedTrade]) -> Vec<(Millis, News, usize)> {
    let mut news = Vec::with_capacity(trades.len() * 3);
    let trades = || trades.iter().enumerate();
    news.extend(trades().map(|(place, trade)| (trade.decided, News::Decided, place)));
    news.extend(trades().filter_map(|(place, trade)| Some((trade.answered?, News::Answered, place))));
    news.extend(trades().filter_map(|(place, trade)| Some((trade.ended?.0, News::Ended, place))));
    news.sort();
    news
}

/// An outcome as statistics count it.
pub const fn to_trade_outcome(outcome: Outcome) -> TradeOutcome {
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

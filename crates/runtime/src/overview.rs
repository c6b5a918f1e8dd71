//! Complete state of a run for display. A watcher that missed notices is up to date after the next overview.

use crate::audit::BookedResult;
use crate::control::RunState;
use crate::notice::Funds;
use candlewick_engine::{BotVerdict, EdgeVerdict, IntentId, IntentRow, IntentState, LimitUsage, TradeBook};
use candlewick_sdk::{Direction, Millis, Money, Outcome, Payout, Symbol};
use candlewick_statistics::{MeanBreakEven, Verdict};
use std::collections::BTreeMap;

pub(crate) const MAX_SETTLED_TRADES: usize = 50;

#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    pub state: RunState,
    pub funds: Funds,
    pub wallet: Option<Money>,
    pub day_profit: Money,
    pub unsettled: Vec<TradeOverview>,
    pub settled: Vec<TradeOverview>,
    pub bots: Vec<BotOverview>,
    pub refused: BTreeMap<&'static str, u64>,
    pub limits: Vec<LimitUsage>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeOverview {
    pub intent: IntentId,
    pub bot: usize,
    pub symbol: Symbol,
    pub direction: Direction,
    pub stake: Money,
    pub state: IntentState,
    pub decided: Millis,
    pub open_price: Option<f64>,
    pub close_time: Option<Millis>,
    pub close_price: Option<f64>,
    pub payout: Option<Payout>,
    pub outcome: Option<Outcome>,
    pub profit: Money,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BotOverview {
    pub won: u64,
    pub lost: u64,
    pub returned: u64,
    pub profit: Money,
    /// Win rate (0 to 1) at which the won and lost trades would break even if all stakes were equal.
    pub break_even: Option<f64>,
    pub edge: EdgeVerdict,
    /// Estimated number of further trades needed to prove an edge, assuming that the bot has one.
    pub estimated_remaining_trades: Option<u64>,
    pub evidence: f64,
    /// Value of `evidence` at which an edge is proven. `None` if no amount of evidence would suffice.
    pub needed_evidence: Option<f64>,
    pub evidence_against: f64,
    pub needed_evidence_against: f64,
}

impl TradeOverview {
    fn new(row: &IntentRow, symbols: &[Symbol]) -> Option<Self> {
        let terms = &row.approved;
        Some(Self {
            intent: terms.intent(),
            bot: terms.bot().index(),
            symbol: *symbols.get(terms.symbol().index())?,
            direction: terms.direction(),
            stake: terms.stake(),
            state: row.state,
            decided: terms.decision_time(),
            open_price: row.open_price,
            close_time: row.close_time,
            close_price: row.close_price,
            payout: row.payout,
            outcome: row.outcome,
            profit: row.profit,
        })
    }
}

pub(crate) fn collect_trade_overviews(
    book: &TradeBook,
    symbols: &[Symbol],
) -> (Vec<TradeOverview>, Vec<TradeOverview>) {
    let is_under_way = |row: &&IntentRow| {
        matches!(row.state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open)
    };
    let unsettled =
        book.rows().iter().filter(is_under_way).filter_map(|row| TradeOverview::new(row, symbols));
    let mut settled: Vec<&IntentRow> =
        book.rows().iter().rev().filter(|row| row.settled_at.is_some()).take(MAX_SETTLED_TRADES).collect();
    settled.sort_by_key(|row| std::cmp::Reverse(row.settled_at));
    let settled = settled.into_iter().filter_map(|row| TradeOverview::new(row, symbols));
    (unsettled.collect(), settled.collect())
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BotTallies(Vec<BotTally>);

#[derive(Clone, Copy, Debug, Default)]
struct BotTally {
    won: u64,
    lost: u64,
    returned: u64,
    profit: Money,
    needed: MeanBreakEven,
}

impl BotTally {
    const fn count_mut(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Won => &mut self.won,
            Outcome::Lost => &mut self.lost,
            Outcome::Draw | Outcome::Cancelled => &mut self.returned,
        }
    }
}

impl BotTallies {
    pub(crate) fn zeroed(bots: usize) -> Self {
        Self(vec![BotTally::default(); bots])
    }

    pub(crate) fn from_book(bots: usize, mut old: Self, book: &TradeBook) -> Self {
        old.0.resize(bots, BotTally::default());
        for row in book.rows() {
            old.add_trade(row);
        }
        old
    }

    #[cfg(test)]
    pub(crate) fn won(&self, bot: usize) -> u64 {
        self.0[bot].won
    }

    pub(crate) fn add_trade(&mut self, row: &IntentRow) {
        let bot = self.0.get_mut(row.approved.bot().index());
        let Some((bot, outcome)) = bot.zip(row.outcome) else { return };
        bot.profit += row.profit;
        *bot.count_mut(outcome) += 1;
        if let (Outcome::Won | Outcome::Lost, Some(payout)) = (outcome, row.payout) {
            // A payout of 0 has no break-even win rate.
            let _ = bot.needed.add(payout.to_fraction());
        }
    }

    pub(crate) fn correct(&mut self, before: &BookedResult, after: &BookedResult) {
        let Some(bot) = self.0.get_mut(before.bot.index()) else { return };
        bot.profit += after.profit - before.profit;
        let count = bot.count_mut(before.outcome);
        *count = count.saturating_sub(1);
        *bot.count_mut(after.outcome) += 1;
        let is_decided = |outcome| matches!(outcome, Outcome::Won | Outcome::Lost);
        let Some(payout) = before.payout else { return };
        let _ = match (is_decided(before.outcome), is_decided(after.outcome)) {
            (false, true) => bot.needed.add(payout.to_fraction()),
            (true, false) => bot.needed.remove(payout.to_fraction()),
            (true, true) | (false, false) => Ok(()),
        };
    }
}

impl BotOverview {
    pub(crate) fn collect<'a>(bots: impl Iterator<Item = &'a BotVerdict>, tallies: &BotTallies) -> Vec<Self> {
        let bots = bots.zip(&tallies.0).map(|(verdict, tally)| {
            let BotTally { won, lost, returned, profit, needed } = *tally;
            let test = verdict.edge_test();
            let about_more = match test.verdict() {
                Verdict::NotEnoughTrades { expected_more_trades: about_more } => about_more,
                Verdict::EdgeShown | Verdict::EdgeRejected => None,
            };
            Self {
                won,
                lost,
                returned,
                profit,
                break_even: needed.mean(),
                edge: verdict.edge(),
                estimated_remaining_trades: about_more,
                evidence: test.edge_account(),
                needed_evidence: Some(test.goal()).filter(|goal| goal.is_finite()),
                evidence_against: test.mirror_account(),
                needed_evidence_against: test.plan().beta().recip(),
            }
        });
        bots.collect()
    }
}

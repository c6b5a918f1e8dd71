//! How a run stands as a whole, for whoever shows it: complete by itself, so that a watcher who missed notices is right again
//! with the next one.

use crate::audit::Settling;
use crate::control::RunState;
use crate::notice::Funds;
use candlewick_engine::{BotVerdict, Edge, IntentId, IntentRow, IntentState, LimitUse, TradeBook};
use candlewick_sdk::{Direction, Millis, Money, Outcome, Payout, Symbol};
use candlewick_statistics::{MeanBreakEven, Verdict};
use std::collections::BTreeMap;

/// Settled trades that are shown at most, the latest.
pub(crate) const SETTLED: usize = 50;

/// How a run stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// What it does with signals, and what stands between it and its venue.
    pub state: RunState,
    /// Its money.
    pub funds: Funds,
    /// What the wallet held when it was last read.
    pub wallet: Option<Money>,
    /// Settled since the day began.
    pub day_profit: Money,
    /// Trades that are not over, as they were decided.
    pub unsettled: Vec<TradeOverview>,
    /// The trades that settled last, the latest first.
    pub settled: Vec<TradeOverview>,
    /// The bots, in their order.
    pub bots: Vec<BotOverview>,
    /// How often each rule refused in this run, by its name.
    pub refused: BTreeMap<&'static str, u64>,
    /// What is used of each limit that is on.
    pub limits: Vec<LimitUse>,
}

/// A trade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeOverview {
    /// Its number.
    pub intent: IntentId,
    /// The place of its bot.
    pub bot: usize,
    /// What is traded.
    pub symbol: Symbol,
    /// Which way.
    pub direction: Direction,
    /// What is staked.
    pub stake: Money,
    /// Where it stands.
    pub state: IntentState,
    /// When it was decided.
    pub decided: Millis,
    /// The price at which it opened.
    pub open_price: Option<f64>,
    /// When it closes or closed.
    pub close_time: Option<Millis>,
    /// The price at which it closed.
    pub close_price: Option<f64>,
    /// What a win pays.
    pub payout: Option<Payout>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Net profit; zero until it settles.
    pub profit: Money,
}

/// A bot: its trades, and how its verdict stands.
#[derive(Clone, Debug, PartialEq)]
pub struct BotOverview {
    /// Trades that were won.
    pub won: u64,
    /// Trades that were lost.
    pub lost: u64,
    /// Trades that were drawn or cancelled.
    pub returned: u64,
    /// What they earned together.
    pub profit: Money,
    /// The win rate, from 0 to 1, at which its decided trades would have earned nothing, each with the same
    /// stake.
    pub break_even: Option<f64>,
    /// What is known of its edge.
    pub edge: Edge,
    /// About so many more trades show an edge, if there is one.
    pub about_more: Option<u64>,
    /// The evidence for an edge, from 1.
    pub evidence: f64,
    /// What shows one; none where nothing can.
    pub needed: Option<f64>,
    /// The evidence against one, from 1.
    pub evidence_against: f64,
    /// What rules one out.
    pub needed_against: f64,
}

impl TradeOverview {
    fn of(row: &IntentRow, symbols: &[Symbol]) -> Option<Self> {
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

/// The trades of a book that are not over, and the latest that settled.
pub(crate) fn trades_of(book: &TradeBook, symbols: &[Symbol]) -> (Vec<TradeOverview>, Vec<TradeOverview>) {
    let is_under_way = |row: &&IntentRow| {
        matches!(row.state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open)
    };
    let unsettled = book.rows().iter().filter(is_under_way).filter_map(|row| TradeOverview::of(row, symbols));
    let mut settled: Vec<&IntentRow> =
        book.rows().iter().rev().filter(|row| row.settled_at.is_some()).take(SETTLED).collect();
    settled.sort_by_key(|row| std::cmp::Reverse(row.settled_at));
    let settled = settled.into_iter().filter_map(|row| TradeOverview::of(row, symbols));
    (unsettled.collect(), settled.collect())
}

/// What the settled trades of each bot came to so far, in the bots' order.
#[derive(Clone, Debug, Default)]
pub(crate) struct BotTallies(Vec<BotTally>);

#[derive(Clone, Copy, Debug, Default)]
struct BotTally {
    won: u64,
    lost: u64,
    returned: u64,
    profit: Money,
    /// The win rate that those won or lost needed that said what they pay, each with the same stake.
    needed: MeanBreakEven,
}

impl BotTally {
    const fn count_of(&mut self, outcome: Outcome) -> &mut u64 {
        match outcome {
            Outcome::Won => &mut self.won,
            Outcome::Lost => &mut self.lost,
            Outcome::Draw | Outcome::Cancelled => &mut self.returned,
        }
    }
}

impl BotTallies {
    /// Of so many bots without a trade.
    pub(crate) fn none(bots: usize) -> Self {
        Self(vec![BotTally::default(); bots])
    }

    /// Of so many bots, by what is old and the rows so far.
    pub(crate) fn of(bots: usize, mut old: Self, book: &TradeBook) -> Self {
        old.0.resize(bots, BotTally::default());
        for row in book.rows() {
            old.take(row);
        }
        old
    }

    /// How many trades of a bot were won.
    #[cfg(test)]
    pub(crate) fn won(&self, bot: usize) -> u64 {
        self.0[bot].won
    }

    /// Takes a trade that has settled, once; one that has not counts nothing.
    pub(crate) fn take(&mut self, row: &IntentRow) {
        let bot = self.0.get_mut(row.approved.bot().index());
        let Some((bot, outcome)) = bot.zip(row.outcome) else { return };
        bot.profit += row.profit;
        *bot.count_of(outcome) += 1;
        if let (Outcome::Won | Outcome::Lost, Some(payout)) = (outcome, row.payout) {
            // A payout of nothing has no break-even.
            let _ = bot.needed.add(payout.to_fraction());
        }
    }

    /// Puts the right result of a trade in the place of the one that was counted.
    pub(crate) fn correct(&mut self, before: &Settling, after: &Settling) {
        let Some(bot) = self.0.get_mut(before.bot.index()) else { return };
        bot.profit += after.profit - before.profit;
        let count = bot.count_of(before.outcome);
        *count = count.saturating_sub(1);
        *bot.count_of(after.outcome) += 1;
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
    /// Of all bots.
    pub(crate) fn of_all<'a>(
        verdicts: impl Iterator<Item = &'a BotVerdict>,
        tallies: &BotTallies,
    ) -> Vec<Self> {
        let bots = verdicts.zip(&tallies.0).map(|(verdict, tally)| {
            let BotTally { won, lost, returned, profit, needed } = *tally;
            let break_even = needed.mean();
            Self { won, lost, returned, profit, break_even, ..Self::without_trades(verdict) }
        });
        bots.collect()
    }

    fn without_trades(verdict: &BotVerdict) -> Self {
        let test = verdict.edge_test();
        let about_more = match test.verdict() {
            Verdict::NotEnoughTrades { about_more } => about_more,
            Verdict::EdgeShown | Verdict::EdgeRejected => None,
        };
        Self {
            won: 0,
            lost: 0,
            returned: 0,
            profit: Money::ZERO,
            break_even: None,
            edge: verdict.edge(),
            about_more,
            evidence: test.edge_account(),
            needed: Some(test.goal()).filter(|goal| goal.is_finite()),
            evidence_against: test.mirror_account(),
            needed_against: test.plan().beta().recip(),
        }
    }
}

//! Figures of a snapshot-based fold. Trades left in the journal are counted only once.

use super::super::{BotFigures, Curve, Model};
use candlewick_engine::{BotId, EdgeRow, IntentId, IntentRow, IntentState, TradeBook};
use candlewick_runtime::{JournalFold, OldTrade};
use candlewick_sdk::{Millis, Money, Outcome};

#[derive(Clone, Copy)]
struct Figure {
    intent: IntentId,
    bot: BotId,
    edge: EdgeRow,
    settled: Option<(Millis, Outcome, Money)>,
    by_person: bool,
}

pub(super) struct OldFigures {
    bots: Vec<BotFigures>,
    curve: Curve,
    profit: Money,
    counted: u32,
    rest: Vec<(Figure, IsInCurves)>,
    count: usize,
    end: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IsInCurves {
    Yes,
    No,
}

impl Figure {
    fn of_old(old: OldTrade) -> Self {
        let OldTrade { intent, bot, settled, edge, by_person, .. } = old;
        Self { intent, bot, edge, settled, by_person }
    }

    fn of_row(row: &IntentRow, book: &TradeBook) -> Self {
        let (intent, bot) = (row.approved.intent(), row.approved.bot());
        let ended = row.settled_at.zip(row.outcome).filter(|_| row.state == IntentState::Settled);
        let settled = ended.map(|(at, outcome)| (at, outcome, row.profit));
        Self { intent, bot, edge: EdgeRow::of(row), settled, by_person: book.is_settled_by_person(intent) }
    }

    fn settled_at(&self) -> Option<(Millis, IntentId)> {
        self.settled.map(|(at, ..)| (at, self.intent))
    }
}

impl OldFigures {
    pub(super) fn of(fold: &JournalFold, old: Vec<OldTrade>) -> Self {
        let (count, end) = (old.len(), old.last().map_or(0, |old| old.intent.number() + 1));
        let old: Vec<Figure> = old.into_iter().map(Figure::of_old).collect();
        let book = fold.past().book();
        let young = || book.rows().iter().map(|row| Figure::of_row(row, book));
        let counted = young().map(|young| young.edge.decided()).min();
        let counted = counted.or(old.iter().map(|old| old.edge.last() + 1).max()).unwrap_or(0);
        let first_settled = young().filter_map(|young| young.settled_at()).min();
        let is_before = |figure: &Figure| {
            figure.settled_at().is_some_and(|settled| first_settled.is_none_or(|first| settled < first))
        };
        let mut bots: Vec<BotFigures> =
            fold.first_intents().map(|first| BotFigures::since(first.number())).collect();
        count_edges(&mut bots, &old, (0, counted));
        let (mut curve, mut profit) = (Curve::new(), Money::ZERO);
        let settled: Vec<Figure> = old.iter().filter(|old| is_before(old)).copied().collect();
        count_settlements(&mut bots, &mut curve, &mut profit, settled);
        let rest = old.iter().map(|old| {
            let is_in_curves = if is_before(old) { IsInCurves::Yes } else { IsInCurves::No };
            (*old, is_in_curves)
        });
        let is_rest = |(old, is_in_curves): &(Figure, IsInCurves)| {
            let is_counted = old.settled.is_none() || *is_in_curves == IsInCurves::Yes;
            old.edge.last() >= counted || !is_counted
        };
        let rest = rest.filter(is_rest).collect();
        Self { bots, curve, profit, counted, rest, count, end }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Returns the number after the last intent left in the journal, 0 if there is none.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Updates the figures and curves of the model with all trades. The equity curve ends at the
    /// present equity. Deposits and withdrawals in between are known only once the whole journal is
    /// read.
    pub(super) fn count_with_young(&self, model: &mut Model) {
        let Model { fold, bots, trades, curve, .. } = model;
        for (place, (bot, verdict)) in bots.iter_mut().zip(fold.session.verdicts()).enumerate() {
            let first = verdict.first_intent().number();
            let old = self.bots.get(place).filter(|old| old.first_intent == first).cloned();
            let before = std::mem::replace(bot, old.unwrap_or_else(|| BotFigures::since(first)));
            if before.first_intent == first {
                bot.take_found(before);
            }
        }
        let rows = trades.book.rows().iter().map(|row| Figure::of_row(row, &trades.book));
        let young = rows.map(|young| (young, IsInCurves::No));
        let all: Vec<(Figure, IsInCurves)> = self.rest.iter().copied().chain(young).collect();
        let edges: Vec<Figure> = all.iter().map(|(figure, _)| *figure).collect();
        count_edges(bots, &edges, (self.counted, u32::MAX));
        let settled: Vec<Figure> = all
            .into_iter()
            .filter(|(_, is_in_curves)| *is_in_curves == IsInCurves::No)
            .map(|(figure, _)| figure)
            .collect();
        let profit = settled.iter().filter_map(|figure| figure.settled).map(|(.., profit)| profit);
        let begun = fold.session.ledger().equity() - profit.fold(self.profit, |sum, profit| sum + profit);
        *curve = self.curve.clone().raised(begun);
        count_settlements(bots, curve, &mut (begun + self.profit), settled);
        bots.iter_mut().filter(|bot| bot.settled() > 0).for_each(BotFigures::mark);
    }
}

fn count_edges(bots: &mut [BotFigures], figures: &[Figure], news: (u32, u32)) {
    let mut own: Vec<Vec<EdgeRow>> = bots.iter().map(|_| Vec::new()).collect();
    for figure in figures {
        let place = figure.bot.index();
        if bots.get(place).is_some_and(|bot| figure.intent.number() >= bot.first_intent) {
            own[place].push(figure.edge);
        }
    }
    for (bot, own) in bots.iter_mut().zip(&own) {
        bot.running.take(own, news);
    }
}

fn count_settlements(
    bots: &mut [BotFigures],
    curve: &mut Curve,
    equity: &mut Money,
    mut settled: Vec<Figure>,
) {
    settled.sort_by_key(Figure::settled_at);
    for figure in settled {
        let Some((at, outcome, profit)) = figure.settled else { continue };
        *equity += profit;
        curve.push(at, *equity);
        let bot = bots.get_mut(figure.bot.index());
        if let Some(bot) = bot.filter(|bot| figure.intent.number() >= bot.first_intent) {
            bot.said += u64::from(figure.by_person);
            bot.take(at, outcome, (profit, figure.edge.payout()));
        }
    }
}

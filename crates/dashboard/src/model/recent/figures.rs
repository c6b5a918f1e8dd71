//! What the trades of a fold come to: of those that it has left in the journal found once, of the others each time it has new lines.

use super::super::{BotFigures, Curve, Model};
use candlewick_engine::{BotId, EdgeRow, IntentId, IntentRow, IntentState, TradeBook};
use candlewick_runtime::{JournalFold, OldTrade};
use candlewick_sdk::{Millis, Money, Outcome};

/// What figures take of an intent.
#[derive(Clone, Copy)]
struct Figure {
    intent: IntentId,
    bot: BotId,
    edge: EdgeRow,
    settled: Option<(Millis, Outcome, Money)>,
    by_person: bool,
}

/// What old trades came to, as far as no younger one stands between them.
pub(super) struct OldFigures {
    /// By bot, without what was found of their edges.
    bots: Vec<BotFigures>,
    /// Equity after each settlement, from nothing.
    curve: Curve,
    /// What those of the curve brought.
    profit: Money,
    /// Of an edge everything before this number of the book's news is counted.
    counted: u32,
    /// Old trades of which something is not counted, and whether they are in the curves.
    rest: Vec<(Figure, IsInCurves)>,
    count: usize,
    end: u64,
}

/// Whether a settlement is in the curves already.
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

    /// Its place in a curve; none where it has none.
    fn settled_at(&self) -> Option<(Millis, IntentId)> {
        self.settled.map(|(at, ..)| (at, self.intent))
    }
}

impl OldFigures {
    /// Of the trades that a fold has left in the journal.
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

    /// How many trades were left in the journal.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// From this number on none was; 0 where none was at all.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Figures of the bots and their curves, with the trades of the model. The curve of equity is that of all trades, up to what it is now:
    /// what was paid in or out meanwhile is known once all is read.
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

/// What is known of each bot's edge from one number of the book's news to before another.
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

/// Trades that have settled, in the order in which they did: in the curve, which stands at `equity`, and in the figures of their bots.
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

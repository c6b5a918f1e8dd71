//! Edge verdicts. The edge test bets imaginary money on each trade, and the gains decide the verdict.

use crate::{IntentId, IntentRow, Renumbering, SymbolId, UpdateNumbers};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{
    ChangeDetector, DetectorStake, EdgeTest, EdgeTestPlan, NotionalStake, TradeOutcome, Verdict,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::iter;

/// Payout assumed for a symbol until its first payout is known. A high value keeps the bets of the edge test small.
pub(crate) const DEFAULT_PAYOUT_FRACTION: f64 = 0.92;

const TYPICAL_OPEN_TRADES: usize = 16;

/// A running verdict on an edge, updated by decisions, replies and settlements.
///
/// The edge test bets on each trade when it is decided. The bet assumes the symbol's latest known payout, because later
/// information, such as the reply, may depend on the trade itself. The settlement uses the actual payout
/// ([`EdgeTest::on_settled_with_payout`]). An intent without a trade does not count. An unknown result counts as lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judge {
    test: EdgeTest,
    payouts: Vec<(SymbolId, Payout)>,
    open: Vec<PlacedBet>,
    watch_trades: u64,
    watch: Option<Box<EdgeWatch>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlacedBet {
    intent: IntentId,
    symbol: SymbolId,
    stake: NotionalStake,
    /// Payout stated in the reply, or the payout used for the bet until the reply arrives.
    payout_fraction: f64,
}

impl Judge {
    /// Builds the verdict on a completed run from its rows, in the order of the book.
    /// Buffers only the updates to pending trades, instead of sorting all updates, which would dominate the run time.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, test: impl Into<EdgeTest>) -> Self {
        let mut judge = Self::new(test);
        let mut waiting: VecDeque<PendingUpdate> = VecDeque::with_capacity(TYPICAL_OPEN_TRADES);
        for (index, row) in rows.into_iter().enumerate() {
            let trade = JudgedTrade::from_row(row);
            while let Some(earlier) = waiting.pop_front_if(|waiting| waiting.order < row.sequence.decided) {
                judge.apply(earlier.kind, earlier.index, &earlier.trade);
            }
            judge.apply(UpdateKind::Decided, index, &trade);
            for (kind, order) in [
                (UpdateKind::Answered, row.sequence.answered),
                (UpdateKind::Ended, row.sequence.end_update()),
            ] {
                if order > 0 {
                    let before = waiting.iter().rposition(|other| other.order < order);
                    let position = before.map_or(0, |last| last + 1);
                    waiting.insert(position, PendingUpdate { order, kind, index, trade });
                }
            }
        }
        for PendingUpdate { kind, index, trade, .. } in waiting {
            judge.apply(kind, index, &trade);
        }
        judge
    }

    /// Creates a judge from a test or a plan. The judge has not seen any trades yet.
    pub fn new(test: impl Into<EdgeTest>) -> Self {
        let test = test.into();
        Self {
            watch_trades: test.plan().watch_trades(),
            test,
            payouts: Vec::with_capacity(1),
            open: Vec::with_capacity(TYPICAL_OPEN_TRADES),
            watch: None,
        }
    }

    pub(crate) fn renumber(&mut self, numbers: &Renumbering) {
        self.payouts.iter_mut().for_each(|(symbol, _)| *symbol = numbers.map_symbol(*symbol));
        self.open.iter_mut().for_each(|open| open.symbol = numbers.map_symbol(open.symbol));
    }

    /// Returns the edge test with the current values of its notional accounts.
    pub const fn test(&self) -> &EdgeTest {
        &self.test
    }

    pub(crate) fn set_weight(&mut self, weight: f64) {
        self.test.set_weight(weight);
    }

    pub(crate) const fn set_watch_trades(&mut self, watch_trades: u64) {
        self.watch_trades = watch_trades;
    }

    /// Returns the estimated time from which the shown edge no longer holds, `None` if the monitor has not raised an
    /// alarm. The edge has ended, or it was smaller from the start.
    pub fn no_longer_held_since(&self) -> Option<Millis> {
        self.watch.as_ref()?.no_longer_held_since()
    }

    /// Records the approval of an intent.
    pub fn on_decided(&mut self, intent: IntentId, symbol: SymbolId, at: Millis) {
        let payout_fraction = self.last_payout(symbol).map_or(DEFAULT_PAYOUT_FRACTION, Payout::to_fraction);
        // A trade with a payout of zero is not evidence.
        if let Ok(stake) = self.test.on_open(payout_fraction) {
            self.open.extend(iter::once_with(|| PlacedBet { intent, symbol, stake, payout_fraction }));
            if self.test.is_final() {
                self.watch_trade(intent, at);
            }
        }
    }

    #[cold]
    fn watch_trade(&mut self, intent: IntentId, at: Millis) {
        if self.watch.is_none() && self.test.verdict() == Verdict::EdgeShown {
            self.watch = EdgeWatch::new(self.test.plan(), self.watch_trades).map(Box::new);
        }
        if let Some(watch) = &mut self.watch {
            watch.on_decided(intent, at, self.test.overlap().variance_inflation());
        }
    }

    /// Records the payout stated in the venue's reply, which also becomes the symbol's latest payout.
    pub fn on_answered(&mut self, intent: IntentId, symbol: SymbolId, payout: Payout) {
        if let Some(open) = self.open.iter_mut().find(|open| open.intent == intent) {
            open.payout_fraction = payout.to_fraction();
        }
        self.record_payout(symbol, payout);
    }

    fn record_payout(&mut self, symbol: SymbolId, payout: Payout) {
        match self.payouts.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, seen)) => *seen = payout,
            None => self.payouts.push((symbol, payout)),
        }
    }

    /// Excludes an intent from the evidence, for example because it did not become a trade.
    pub fn on_excluded(&mut self, intent: IntentId) {
        self.on_settled(intent, Outcome::Cancelled, None);
    }

    /// Records the end of a trade. Unknown and already ended trades are ignored.
    /// A `payout` in the settlement overrides the payout of the reply.
    pub fn on_settled(&mut self, intent: IntentId, outcome: Outcome, payout: Option<Payout>) {
        let Some(index) = self.open.iter().position(|open| open.intent == intent) else { return };
        // Fast path: the list usually contains only this bet, and `remove` is a function call.
        let is_last = index + 1 == self.open.len();
        let taken = if is_last { self.open.pop() } else { Some(self.open.remove(index)) };
        let Some(PlacedBet { symbol, stake, payout_fraction, .. }) = taken else { return };
        let pays = payout.map_or(payout_fraction, Payout::to_fraction);
        self.test.settle(stake, to_trade_outcome(outcome), pays);
        if let Some(watch) = &mut self.watch {
            watch.on_settled(intent, to_trade_outcome(outcome), pays);
        }
        if let (None, Some(payout)) = (self.last_payout(symbol), payout) {
            self.record_payout(symbol, payout);
        }
    }

    pub(crate) fn apply(&mut self, kind: UpdateKind, index: usize, trade: &JudgedTrade) {
        let JudgedTrade { symbol, payout, ended, sequence, .. } = *trade;
        let intent = IntentId::new(index as u64 + 1);
        let answered = sequence.map_or(payout, |sequence| sequence.answered_payout);
        let settled = sequence.map_or(payout, |sequence| sequence.settled_payout);
        match (kind, answered, ended) {
            (UpdateKind::Decided, ..) => self.on_decided(intent, symbol, trade.decided),
            (UpdateKind::Answered, Some(payout), _) => self.on_answered(intent, symbol, payout),
            (UpdateKind::Ended, _, Some((_, outcome))) => self.on_settled(intent, outcome, settled),
            (UpdateKind::Answered | UpdateKind::Ended, ..) => {}
        }
    }

    fn last_payout(&self, symbol: SymbolId) -> Option<Payout> {
        self.payouts.iter().find(|(known, _)| *known == symbol).map(|(_, payout)| *payout)
    }
}

/// A trade or failed intent, as input for a verdict that is computed after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedTrade {
    /// Traded symbol. Payouts are tracked per symbol.
    pub symbol: SymbolId,
    /// Time of the decision.
    pub decided: Millis,
    /// Time of the venue's reply, which states the payout.
    pub answered: Option<Millis>,
    /// Payout of a win.
    pub payout: Option<Payout>,
    /// Time at which the outcome became known, and the outcome. Intents that never became a trade count as cancelled.
    pub ended: Option<(Millis, Outcome)>,
    /// Sequence numbers of the trade's updates. `None` if the trade is not from a book, so that its updates are ordered
    /// by time. In a list of trades, either all or none must have these numbers.
    pub sequence: Option<UpdateNumbers>,
}

/// The kind of an update to a trade. At equal times, settlements sort first, because decisions depend on settlements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UpdateKind {
    Ended,
    Answered,
    Decided,
}

struct PendingUpdate {
    order: u32,
    kind: UpdateKind,
    index: usize,
    trade: JudgedTrade,
}

/// An update to a trade: update number in the book, time, kind, and index of the trade.
pub(crate) type TimelineEntry = (Option<u32>, Millis, UpdateKind, usize);

/// Computes the verdict on the trades of a Session from the rows of its book.
/// `test` is a plan, or a test whose weight (its share of the error rate alpha) is already set.
pub fn judge<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, test: impl Into<EdgeTest>) -> EdgeTest {
    Judge::from_rows(rows, test).test
}

/// Computes the verdict like [`judge`], but for trades from any source.
/// Trades without update numbers are ordered by the times of their updates.
pub fn judge_trades(trades: &[JudgedTrade], test: impl Into<EdgeTest>) -> EdgeTest {
    build_judge(trades, test).test
}

/// Computes the verdict like [`judge_trades`], but returns the whole [`Judge`].
pub fn build_judge(trades: &[JudgedTrade], test: impl Into<EdgeTest>) -> Judge {
    let mut judge = Judge::new(test);
    for (_, _, kind, index) in build_timeline(trades) {
        judge.apply(kind, index, &trades[index]);
    }
    judge
}

impl JudgedTrade {
    /// Returns whether the intent did not become a trade.
    pub fn is_unopened(&self) -> bool {
        self.sequence.is_some_and(|sequence| sequence.left_out > 0 && sequence.settled == 0)
    }

    /// Builds the judged trade from a row of a book.
    /// A failed intent counts as cancelled even if its trade is found later: finding it may depend on its result.
    pub fn from_row(row: &IntentRow) -> Self {
        let (decided, sequence) = (row.approved.decision_time(), row.sequence);
        let ended = if sequence.left_out > 0 {
            Some((row.answered_at.unwrap_or(decided), Outcome::Cancelled))
        } else {
            row.settled_at.zip(row.outcome)
        };
        let (symbol, answered, payout) = (row.approved.symbol(), row.answered_at, row.payout);
        Self { symbol, decided, answered, payout, ended, sequence: Some(sequence) }
    }
}

/// Returns the updates to all trades in order. The sort is fast, because its input is three nearly sorted lists.
pub(crate) fn build_timeline(trades: &[JudgedTrade]) -> Vec<TimelineEntry> {
    let mut known = Vec::with_capacity(trades.len() * 3);
    let trades = || trades.iter().enumerate();
    known.extend(trades().map(|(index, trade)| {
        (trade.sequence.map(|sequence| sequence.decided), trade.decided, UpdateKind::Decided, index)
    }));
    known.extend(trades().filter_map(|(index, trade)| {
        let order = trade.sequence.map(|sequence| sequence.answered);
        // A declined order has neither a payout nor its own update number.
        let answered = trade.answered.filter(|_| order != Some(0))?;
        Some((order, answered, UpdateKind::Answered, index))
    }));
    known.extend(trades().filter_map(|(index, trade)| {
        let order = trade.sequence.map(UpdateNumbers::end_update);
        Some((order, trade.ended?.0, UpdateKind::Ended, index))
    }));
    known.sort();
    known
}

/// Converts an outcome to the type of the statistics crate.
pub const fn to_trade_outcome(outcome: Outcome) -> TradeOutcome {
    match outcome {
        Outcome::Won => TradeOutcome::Won,
        Outcome::Lost => TradeOutcome::Lost,
        Outcome::Draw => TradeOutcome::Draw,
        Outcome::Cancelled => TradeOutcome::Cancelled,
    }
}

/// The moment at which trades showed an edge. The verdict is final, even if later trades contradict it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeDetection {
    /// Time at which the outcome of the deciding trade became known.
    pub at: Millis,
    /// Number of won, lost and drawn trades up to and including the deciding trade.
    pub after_trades: u64,
    /// Trades that ended after the deciding trade, in the order in which they ended.
    pub later_trades: Vec<JudgedTrade>,
}

impl EdgeDetection {
    /// Finds the first trade that shows an edge, `None` if there is none. `test` must not contain any trades yet.
    pub fn find(trades: &[JudgedTrade], test: impl Into<EdgeTest>) -> Option<Self> {
        let known = build_timeline(trades);
        let mut judge = Judge::new(test);
        let is_shown = |(_, _, kind, index): &(_, _, UpdateKind, usize)| {
            judge.apply(*kind, *index, &trades[*index]);
            judge.test().is_final()
        };
        let last = known.iter().position(is_shown)?;
        let test = judge.test();
        let rest = known[last + 1..].iter().filter(|(_, _, kind, _)| *kind == UpdateKind::Ended);
        (test.verdict() == Verdict::EdgeShown).then(|| Self {
            at: known[last].1,
            after_trades: test.settled(),
            later_trades: rest.map(|(.., index)| trades[*index]).collect(),
        })
    }
}

/// A monitor that detects the loss of a shown edge, using only trades decided after the verdict.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct EdgeWatch {
    detector: ChangeDetector,
    open: Vec<(IntentId, DetectorStake)>,
}

impl EdgeWatch {
    fn new(plan: EdgeTestPlan, watch_trades: u64) -> Option<Self> {
        let detector = ChangeDetector::new(plan.delta(), watch_trades).ok()?;
        Some(Self { detector, open: Vec::new() })
    }

    fn on_decided(&mut self, intent: IntentId, at: Millis, variance_inflation: f64) {
        if self.detector.alarm().is_none() {
            self.open.push((intent, self.detector.on_open(at.get(), variance_inflation)));
        }
    }

    fn on_settled(&mut self, intent: IntentId, outcome: TradeOutcome, payout_fraction: f64) {
        let Some(index) = self.open.iter().position(|(open, _)| *open == intent) else { return };
        let (_, stake) = self.open.swap_remove(index);
        let _ = self.detector.on_settled(stake, outcome, payout_fraction);
    }

    fn no_longer_held_since(&self) -> Option<Millis> {
        self.detector.alarm().map(Millis::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, ApprovedTrade, BotId, Event, EventKind, OpenedTrade, TradeBook, TradeSettlement};
    use candlewick_sdk::{Direction, ExpirationType, Expiry, Money, Reason};
    use proptest::prelude::*;

    /// Seconds of decision, reply and settlement, payout in percent, and outcome.
    struct Trade(i64, i64, Option<i64>, u32, Outcome);

    fn book(trades: &[Trade]) -> TradeBook {
        let mut news: Vec<(i64, u8, usize)> = Vec::new();
        for (place, Trade(decided, answered, settled, ..)) in trades.iter().enumerate() {
            news.extend([(*decided, 2, place), (*answered, 1, place)]);
            news.extend(settled.map(|settled| (settled, 0, place)));
        }
        news.sort_unstable();
        let mut book = TradeBook::default();
        for (second, kind, place) in news {
            let Trade(.., percent, outcome) = trades[place];
            let (intent, at) = (IntentId::new(place as u64 + 1), Millis::from_seconds(second));
            let payout = Payout::from_percent(percent.into()).ok();
            let kind = match kind {
                0 => {
                    let settled = TradeSettlement::from_operator(intent, outcome, Money::ZERO);
                    EventKind::Settled(TradeSettlement { payout, ..settled })
                }
                1 => EventKind::Opened(opened(intent, payout)),
                _ => {
                    book.record_action(&Action::Open(approved(intent, at)));
                    continue;
                }
            };
            book.record_event(&Event { at, received: at, kind });
        }
        book
    }

    fn approved(intent: IntentId, at: Millis) -> ApprovedTrade {
        let expiry =
            Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed };
        let terms = (Direction::Buy, expiry, Money::from_minor(100));
        ApprovedTrade::from_record(intent, (BotId::FIRST, SymbolId::FIRST), terms, at, Reason::new("r"))
    }

    fn opened(intent: IntentId, payout: Option<Payout>) -> OpenedTrade {
        let (venue_id, open_time, open_price, close_time, taken) = (None, None, None, None, None);
        OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout, taken }
    }

    proptest! {
        #[test]
        fn verdict_of_rows_matches_that_of_their_sorted_updates(
            drawn in prop::collection::vec(((0_i64..9, 0_i64..5), prop::option::of(0_i64..40), 60_u32..93, 0_usize..4), 0..60),
        ) {
            let outcomes = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled];
            let mut now = 0;
            let trades = drawn.into_iter().map(|((wait, answer), end, percent, outcome)| {
                now += wait;
                let answered = now + 1 + answer;
                Trade(now, answered, end.map(|end| answered + 1 + end), percent, outcomes[outcome])
            });
            let book = book(&trades.collect::<Vec<_>>());
            let listed: Vec<JudgedTrade> = book.rows().iter().map(JudgedTrade::from_row).collect();
            let plan = EdgeTestPlan::default();
            prop_assert_eq!(judge(book.rows(), plan), judge_trades(&listed, plan));
        }
    }

    #[test]
    fn payout_of_the_settlement_overrides_that_of_the_reply() {
        let percent = |percent: i64| Payout::from_percent(percent.into()).ok();
        for (settled, pays) in [(None, 0.8), (percent(70), 0.7)] {
            let mut judge = Judge::new(EdgeTestPlan::default());
            let (first, second) = (IntentId::new(1), IntentId::new(2));
            judge.on_decided(first, SymbolId::FIRST, Millis::ZERO);
            judge.on_decided(second, SymbolId::FIRST, Millis::ZERO);
            judge.on_answered(first, SymbolId::FIRST, percent(80).unwrap());
            judge.on_answered(second, SymbolId::FIRST, percent(60).unwrap());
            judge.on_settled(first, Outcome::Won, settled);
            let mut test = EdgeTest::new(EdgeTestPlan::default());
            let [stake, _open] = [(); 2].map(|()| test.on_open(DEFAULT_PAYOUT_FRACTION).unwrap());
            test.settle(stake, TradeOutcome::Won, pays);
            assert_eq!(*judge.test(), test, "{settled:?}");
        }
    }

    fn trade(minute: i64, outcome: Outcome) -> JudgedTrade {
        let decided = Millis::from_seconds(60 * minute);
        JudgedTrade {
            symbol: SymbolId::FIRST,
            decided,
            answered: None,
            payout: Payout::from_percent(80.into()).ok(),
            ended: Some((Millis::from_seconds(60 * minute + 60), outcome)),
            sequence: None,
        }
    }

    #[test]
    fn finds_the_first_trade_after_which_an_edge_is_shown() {
        let outcomes = [[Outcome::Won; 60], [Outcome::Lost; 60]].concat();
        let mut trades: Vec<_> = (0..).zip(outcomes).map(|(at, outcome)| trade(at, outcome)).collect();
        trades.insert(3, trade(3, Outcome::Cancelled));
        let plan = EdgeTestPlan::default();
        let found = EdgeDetection::find(&trades, plan).unwrap();
        let verdict = |count| crate::judge_trades(&trades[..count], plan).verdict();
        let first = (1..=trades.len()).find(|count| verdict(*count) == Verdict::EdgeShown).unwrap();
        assert_eq!(found.after_trades, first as u64 - 1, "one was cancelled");
        assert_eq!(found.at, trades[first - 1].ended.unwrap().0);
        assert_eq!(found.later_trades, trades[first..]);
    }

    #[test]
    fn finds_no_edge_if_ruled_out_or_undecided() {
        for count in [1, 500] {
            let lost: Vec<_> = (0..count).map(|minute| trade(minute, Outcome::Lost)).collect();
            assert_eq!(EdgeDetection::find(&lost, EdgeTestPlan::default()), None, "{count}");
        }
    }
}

//! The verdict on an edge: notional accounts that bet on each trade, in the order in which trades became known.

use crate::edge_watch::EdgeWatch;
use crate::{EventSequence, IntentId, IntentRow, Renumbering, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{EdgeTest, NotionalStake, TradeOutcome, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::iter;

/// The payout that is staked on while none has been seen on a symbol: a high one, which bets little. A trade may pay more.
pub(crate) const UNSEEN_PAYOUT_FRACTION: f64 = 0.92;

/// Trades that can be open together before a list has to grow.
const USUAL_OPEN_TRADES: usize = 16;

/// A verdict in the making: it follows intents as they are decided, answered and settled.
///
/// The accounts stake at the decision, on the payout last seen on the symbol by then, because what is known later, the
/// answer included, may say something of the trade itself. A trade counts whatever it turns out to pay
/// ([`EdgeTest::on_settled_paying`]). An intent that never was a trade does not; one whose end is not known stays lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judge {
    test: EdgeTest,
    payouts: Vec<(SymbolId, Payout)>,
    open: Vec<Staked>,
    /// The plan's, or that of a later run.
    watch_trades: u64,
    /// Once an edge was shown.
    watch: Option<Box<EdgeWatch>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Staked {
    intent: IntentId,
    symbol: SymbolId,
    stake: NotionalStake,
    /// What a win pays: as the trade's own answer said, until then as it was staked on.
    payout_fraction: f64,
}

impl Judge {
    /// As it stands after a run, by the run's rows, which are in the order of their book.
    ///
    /// It keeps those of trades that are under way only: a list of all that became known takes longer to write and to sort
    /// than all the rest.
    pub fn after<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, test: impl Into<EdgeTest>) -> Self {
        let mut judge = Self::new(test);
        let mut waiting: VecDeque<Waiting> = VecDeque::with_capacity(USUAL_OPEN_TRADES);
        for (place, row) in rows.into_iter().enumerate() {
            let trade = JudgedTrade::of_row(row);
            while let Some(earlier) = waiting.pop_front_if(|waiting| waiting.order < row.sequence.decided) {
                judge.apply(earlier.news, earlier.place, &earlier.trade);
            }
            judge.apply(News::Decided, place, &trade);
            for (news, order) in
                [(News::Answered, row.sequence.answered), (News::Ended, row.sequence.ended())]
            {
                if order > 0 {
                    let before = waiting.iter().rposition(|other| other.order < order);
                    let position = before.map_or(0, |last| last + 1);
                    waiting.insert(position, Waiting { order, news, place, trade });
                }
            }
        }
        for Waiting { news, place, trade, .. } in waiting {
            judge.apply(news, place, &trade);
        }
        judge
    }

    /// A test that has seen no trade, or that of a plan: both accounts at 1.
    pub fn new(test: impl Into<EdgeTest>) -> Self {
        let test = test.into();
        Self {
            watch_trades: test.plan().watch_trades(),
            test,
            payouts: Vec::with_capacity(1),
            open: Vec::with_capacity(USUAL_OPEN_TRADES),
            watch: None,
        }
    }

    /// The same by the numbers of another Session.
    pub(crate) fn renumber(&mut self, numbers: &Renumbering) {
        self.payouts.iter_mut().for_each(|(symbol, _)| *symbol = numbers.symbol(*symbol));
        self.open.iter_mut().for_each(|open| open.symbol = numbers.symbol(open.symbol));
    }

    /// The accounts as they stand.
    pub const fn test(&self) -> &EdgeTest {
        &self.test
    }

    /// Lets it spend this share of alpha.
    pub(crate) fn set_weight(&mut self, weight: f64) {
        self.test.set_weight(weight);
    }

    /// Watches with another mean number of trades to a false alarm, unless it does already.
    pub(crate) const fn set_watch_trades(&mut self, watch_trades: u64) {
        self.watch_trades = watch_trades;
    }

    /// Since which decision the edge that was shown is not supported any more (it ended, or was smaller all along), once the
    /// watch says so.
    pub fn no_longer_held_since(&self) -> Option<Millis> {
        self.watch.as_ref()?.no_longer_held_since()
    }

    /// An intent was approved.
    pub fn on_decided(&mut self, intent: IntentId, symbol: SymbolId, at: Millis) {
        let payout_fraction = self.seen(symbol).map_or(UNSEEN_PAYOUT_FRACTION, Payout::to_fraction);
        // A payout of nothing can be no evidence.
        if let Ok(stake) = self.test.on_open(payout_fraction) {
            self.open.extend(iter::once_with(|| Staked { intent, symbol, stake, payout_fraction }));
            if self.test.is_final() {
                self.watch(intent, at);
            }
        }
    }

    #[cold]
    fn watch(&mut self, intent: IntentId, at: Millis) {
        if self.watch.is_none() && self.test.verdict() == Verdict::EdgeShown {
            self.watch = EdgeWatch::new(self.test.plan(), self.watch_trades).map(Box::new);
        }
        if let Some(watch) = &mut self.watch {
            watch.on_decided(intent, at, self.test.overlap().variance_inflation());
        }
    }

    /// The venue said what a trade pays, and so what it pays on the symbol.
    pub fn on_answered(&mut self, intent: IntentId, symbol: SymbolId, payout: Payout) {
        if let Some(open) = self.open.iter_mut().find(|open| open.intent == intent) {
            open.payout_fraction = payout.to_fraction();
        }
        self.see(symbol, payout);
    }

    fn see(&mut self, symbol: SymbolId, payout: Payout) {
        match self.payouts.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, seen)) => *seen = payout,
            None => self.payouts.push((symbol, payout)),
        }
    }

    /// An intent did not become a trade.
    pub fn on_left_out(&mut self, intent: IntentId) {
        self.on_settled(intent, Outcome::Cancelled, None);
    }

    /// A trade ended; `payout` is what it paid on a win, where that is said again: else its answer's counts. A trade that is
    /// not known, or has ended before, changes nothing.
    pub fn on_settled(&mut self, intent: IntentId, outcome: Outcome, payout: Option<Payout>) {
        let Some(place) = self.open.iter().position(|open| open.intent == intent) else { return };
        // Nearly always it is the only one: to take it out of a list is a call.
        let is_last = place + 1 == self.open.len();
        let taken = if is_last { self.open.pop() } else { Some(self.open.remove(place)) };
        let Some(Staked { symbol, stake, payout_fraction, .. }) = taken else { return };
        let pays = payout.map_or(payout_fraction, Payout::to_fraction);
        self.test.settle(stake, to_trade_outcome(outcome), pays);
        if let Some(watch) = &mut self.watch {
            watch.on_settled(intent, to_trade_outcome(outcome), pays);
        }
        if let (None, Some(payout)) = (self.seen(symbol), payout) {
            self.see(symbol, payout);
        }
    }

    /// Counts something that became known of the trade in this place.
    pub(crate) fn apply(&mut self, news: News, place: usize, trade: &JudgedTrade) {
        let JudgedTrade { symbol, payout, ended, sequence, .. } = *trade;
        let intent = IntentId::new(place as u64 + 1);
        let answered = sequence.map_or(payout, |sequence| sequence.answered_payout);
        let settled = sequence.map_or(payout, |sequence| sequence.settled_payout);
        match (news, answered, ended) {
            (News::Decided, ..) => self.on_decided(intent, symbol, trade.decided),
            (News::Answered, Some(payout), _) => self.on_answered(intent, symbol, payout),
            (News::Ended, _, Some((_, outcome))) => self.on_settled(intent, outcome, settled),
            (News::Answered | News::Ended, ..) => {}
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
    /// In which order among all trades of its book the Session was handed what is known of it: that beats the moments. None of
    /// trades that are known from elsewhere.
    pub sequence: Option<EventSequence>,
}

/// What became known of a trade. At one moment settlements come first: they are known to what is decided then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum News {
    Ended,
    Answered,
    Decided,
}

/// What is still to be counted of a trade that is under way, and its number in the book's order.
struct Waiting {
    order: u32,
    news: News,
    place: usize,
    trade: JudgedTrade,
}

/// Something that became known: where in its book's order, when, what, and of which trade.
pub(crate) type Known = (Option<u32>, Millis, News, usize);

/// Counts intents in a verdict afterwards, by their rows: in the order in which the Session was handed them, so that it is
/// the verdict that the Session came to. `test` is a plan, or a test with a share of alpha.
pub fn judge<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, test: impl Into<EdgeTest>) -> EdgeTest {
    Judge::after(rows, test).test
}

/// As [`judge`], of trades that may be known from elsewhere: then each counts at its decision, and each end when it became
/// known.
pub fn judge_trades(trades: &[JudgedTrade], test: impl Into<EdgeTest>) -> EdgeTest {
    judge_of(trades, test).test
}

/// As [`judge_trades`]: a judge that has counted all of them.
pub fn judge_of(trades: &[JudgedTrade], test: impl Into<EdgeTest>) -> Judge {
    let mut judge = Judge::new(test);
    for (_, _, news, place) in in_order(trades) {
        judge.apply(news, place, &trades[place]);
    }
    judge
}

impl EventSequence {
    /// As written down: the numbers of the decision, of the answer, of having turned out to be no trade and of the
    /// settlement, 0 for what did not happen; and what answer and settlement said that a win pays.
    pub const fn recorded(
        [decided, answered, left_out, settled]: [u32; 4],
        [answered_payout, settled_payout]: [Option<Payout>; 2],
    ) -> Self {
        Self { decided, answered, left_out, settled, answered_payout, settled_payout }
    }

    /// What the answer said that a win pays.
    pub const fn answered_payout(self) -> Option<Payout> {
        self.answered_payout
    }

    /// Those numbers.
    pub const fn numbers(self) -> [u32; 4] {
        [self.decided, self.answered, self.left_out, self.settled]
    }
}

impl JudgedTrade {
    /// Whether it turned out to be no trade.
    pub fn was_none(&self) -> bool {
        self.sequence.is_some_and(|sequence| sequence.left_out > 0 && sequence.settled == 0)
    }

    /// Of an intent's row. What was left out stays so, even when it turns out to be a trade after all: its end may have been
    /// known by then.
    pub fn of_row(row: &IntentRow) -> Self {
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

/// Three lists that are each nearly in order, which the sort makes use of.
pub(crate) fn in_order(trades: &[JudgedTrade]) -> Vec<Known> {
    let mut known = Vec::with_capacity(trades.len() * 3);
    let trades = || trades.iter().enumerate();
    known.extend(trades().map(|(place, trade)| {
        (trade.sequence.map(|sequence| sequence.decided), trade.decided, News::Decided, place)
    }));
    known.extend(trades().filter_map(|(place, trade)| {
        let order = trade.sequence.map(|sequence| sequence.answered);
        // An answer that refused it says nothing of payouts, and has no place of its own.
        let answered = trade.answered.filter(|_| order != Some(0))?;
        Some((order, answered, News::Answered, place))
    }));
    known.extend(trades().filter_map(|(place, trade)| {
        let order = trade.sequence.map(EventSequence::ended);
        Some((order, trade.ended?.0, News::Ended, place))
    }));
    known.sort();
    known
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
    use candlewick_statistics::{EdgeTestPlan, Verdict};
    use proptest::prelude::*;

    /// Decided, answered and settled at these seconds, paying so many percent.
    struct Trade(i64, i64, Option<i64>, u32, Outcome);

    /// A book that records them in the order of time; at one moment of ends first, and of decisions last.
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
                0 => EventKind::Settled(ended(intent, outcome, payout)),
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

    fn approved(intent: IntentId, at: Millis) -> Approved {
        let expiry =
            Expiry { close_type: "01:00".parse().unwrap(), expiration_type: ExpirationType::TimeFixed };
        let terms = (Direction::Buy, expiry, Money::from_minor(100));
        Approved::recorded(intent, (BotId::FIRST, SymbolId::FIRST), terms, at, Reason::new("r"))
    }

    fn opened(intent: IntentId, payout: Option<Payout>) -> Opened {
        Opened {
            intent,
            venue_id: None,
            open_time: None,
            open_price: None,
            close_time: None,
            payout,
            taken: None,
        }
    }

    fn ended(intent: IntentId, outcome: Outcome, payout: Option<Payout>) -> Settled {
        let (open_time, open_price, close_time, close_price) = (None, None, None, None);
        let profit = Money::ZERO;
        Settled { intent, outcome, profit, open_time, open_price, close_time, close_price, payout }
    }

    proptest! {
        #[test]
        fn rows_are_judged_as_a_sorted_list_of_all_that_became_known_of_them(
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
            let listed: Vec<JudgedTrade> = book.rows().iter().map(JudgedTrade::of_row).collect();
            let plan = EdgeTestPlan::default();
            prop_assert_eq!(judge(book.rows(), plan), judge_trades(&listed, plan));
        }
    }

    /// What a test is told: a decision by the payout seen, and an end by its place among the decisions.
    enum Told {
        Decided(f64),
        Won(usize, f64),
        Lost(usize, f64),
    }

    #[track_caller]
    fn check(trades: &[Trade], told: &[Told]) {
        let (mut test, mut stakes) = (EdgeTest::new(EdgeTestPlan::default()), Vec::new());
        for told in told {
            match told {
                Told::Decided(seen) => stakes.push(Some(test.on_open(*seen).unwrap())),
                Told::Won(place, pays) => {
                    test.settle(stakes[*place].take().unwrap(), TradeOutcome::Won, *pays);
                }
                Told::Lost(place, pays) => {
                    test.settle(stakes[*place].take().unwrap(), TradeOutcome::Lost, *pays);
                }
            }
        }
        assert_eq!(judge(book(trades).rows(), EdgeTestPlan::default()), test);
    }

    #[test]
    fn stakes_are_taken_at_decisions_on_the_payout_that_was_seen_by_then() {
        use Told::{Decided, Lost, Won};
        check(&[], &[]);
        // No payout was seen: little is staked, as on 92 %. It pays 80 %.
        let first = || Trade(0, 2, Some(70), 80, Outcome::Won);
        check(&[first()], &[Decided(0.92), Won(0, 0.8)]);
        // What never settles stays lost.
        check(&[first(), Trade(1, 3, None, 80, Outcome::Won)], &[Decided(0.92), Decided(0.92), Won(0, 0.8)]);
        // A trade that pays more than was seen counts; it was decided when 80 had been seen.
        check(
            &[first(), Trade(3, 4, Some(60), 81, Outcome::Lost)],
            &[Decided(0.92), Decided(0.8), Lost(1, 0.81), Won(0, 0.8)],
        );
    }

    #[test]
    fn a_trade_pays_what_its_settlement_says_and_where_that_is_silent_what_its_answer_said() {
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
            let stakes = [
                test.on_open(UNSEEN_PAYOUT_FRACTION).unwrap(),
                test.on_open(UNSEEN_PAYOUT_FRACTION).unwrap(),
            ];
            let [stake, _open] = stakes;
            test.settle(stake, TradeOutcome::Won, pays);
            assert_eq!(*judge.test(), test, "{settled:?}");
        }
    }

    #[test]
    fn a_long_run_of_wins_shows_an_edge_and_coins_at_85_reject_it() {
        let run = |won: fn(i64) -> bool| {
            let outcome = |wins| if wins { Outcome::Won } else { Outcome::Lost };
            let trade = |k: i64| Trade(k * 60, k * 60 + 2, Some(k * 60 + 55), 85, outcome(won(k)));
            let trades: Vec<Trade> = (0..2_000).map(trade).collect();
            judge(book(&trades).rows(), EdgeTestPlan::default()).verdict()
        };
        assert_eq!(run(|k| k % 3 != 0), Verdict::EdgeShown);
        assert_eq!(run(|k| k % 2 == 0), Verdict::EdgeRejected);
    }
}

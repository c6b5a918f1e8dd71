//! When and why a run ends: no more opens, what is open tracked to its settlement, within patience.

use crate::control::SignalTally;
use crate::{Audit, RuntimeError, RuntimeSettings, Stop, Tally};
use candlewick_engine::{
    BotVerdict, IntentId, IntentRow, IntentState, Rule, SecondTrade, Session, TradeBook, VenueId,
};
use candlewick_sdk::{Millis, Money};
use serde::Serialize;
use std::collections::BTreeMap;

/// The end of a run, as far as it is decided.
#[derive(Debug)]
pub(crate) struct Ending {
    /// Venue time at which the candles end and the run with them.
    until: Option<Millis>,
    patience: Millis,
    interrupt_patience: Millis,
    stopping: Option<Stopping>,
    /// A limit that only a person can lift has been reached.
    limit: Option<Rule>,
}

/// A run that opens no more.
#[derive(Clone, Copy, Debug)]
struct Stopping {
    why: Stop,
    since: Millis,
}

/// What is under way when the end is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    /// When the last open trade closes; none when none is open.
    pub(crate) last_close: Option<Millis>,
    /// Whether an event waits, or an open waits for the journal.
    pub(crate) is_waiting: bool,
    /// Whether an open left and is not answered.
    pub(crate) is_opening: bool,
    /// Whether what became of an open is looked for, and nobody was asked yet.
    pub(crate) has_doubt: bool,
}

/// What an order to stop means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// From now on nothing is opened.
    Stops,
    /// It stops already, and patience is bounded from now on.
    Hastens,
    /// Nothing.
    Nothing,
}

/// What the venue has when a run ends, and nobody knows how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Whose it is.
    pub intent: IntentId,
    /// What it is.
    pub kind: UnfinishedKind,
    /// The venue's name of the trade, where it is known.
    pub venue_id: Option<VenueId>,
    /// What it stakes.
    pub stake: Money,
    /// When it closes, as far as is known.
    pub close_time: Option<Millis>,
}

/// What is unfinished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedKind {
    /// A trade that has not settled.
    Open,
    /// An intent that may or may not be a trade.
    InDoubt,
    /// A second trade of one request.
    SecondTrade,
}

impl Unfinished {
    /// Everything of a Session and its book, of earlier runs as well.
    pub(crate) fn all_of(session: &Session, book: &TradeBook) -> Vec<Self> {
        let of_row = |row: &IntentRow| {
            let kind = match row.state {
                IntentState::Open => UnfinishedKind::Open,
                IntentState::InFlight | IntentState::InDoubt => UnfinishedKind::InDoubt,
                IntentState::Settled
                | IntentState::Rejected
                | IntentState::NotSent
                | IntentState::NotOpened => {
                    return None;
                }
            };
            let (intent, stake) = (row.approved.intent(), row.approved.stake());
            Some(Self { intent, kind, venue_id: book.venue_id(row), stake, close_time: row.close_time })
        };
        let of_second = |trade: &SecondTrade| {
            let SecondTrade { intent, venue_id, stake } = *trade;
            let kind = UnfinishedKind::SecondTrade;
            Self { intent, kind, venue_id: Some(venue_id), stake, close_time: None }
        };
        let rows = book.rows().iter().filter_map(of_row);
        rows.chain(session.second_trades().iter().map(of_second)).collect()
    }
}

/// A wallet that holds another amount than the trades explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletDifference {
    /// Wallet minus explained balance.
    pub amount: Money,
    /// The difference in a sentence.
    pub text: String,
}

impl WalletDifference {
    pub(crate) fn of(amount: Money, describe: impl FnOnce(Money) -> String) -> Option<Self> {
        (amount != Money::ZERO).then(|| Self { amount, text: describe(amount) })
    }
}

/// What a run leaves behind.
pub struct Finished {
    /// Why it ended.
    pub stop: Stop,
    /// Its intents and refusals.
    pub book: TradeBook,
    /// The first intent of the run.
    pub first_intent: IntentId,
    /// How many of its intents the book lacks: they were over, and were forgotten (`runtime.remember_s`).
    pub forgotten: u64,
    /// Free balance at the end.
    pub free: Money,
    /// Stakes of intents that are not over, and of second trades.
    pub open_stakes: Money,
    /// What the venue has and nobody knows the end of.
    pub unfinished: Vec<Unfinished>,
    /// What the wallet held when it was last read.
    pub wallet: Option<Money>,
    /// How far that is from what the trades explain, `None` if it agrees.
    pub wallet_difference: Option<WalletDifference>,
    /// That the wallet could not be compared with the trades at the end, in a sentence; `None` if it was.
    pub missing_wallet: Option<String>,
    /// Candles that the Session was handed.
    pub candles: u64,
    /// Rows of the venue that were no candles.
    pub rejected_rows: u64,
    /// What was audited how often, and with how many findings.
    pub audits: BTreeMap<Audit, Tally>,
    /// The hash of the run's journal.
    pub journal_hash: String,
    /// Reason of the halt in force at its end.
    pub halted: Option<String>,
    /// Venue time of that halt, `None` if it is not known.
    pub halted_at: Option<Millis>,
    /// The verdict on each bot, in the bots' order.
    pub verdicts: Vec<BotVerdict>,
    /// What all trades of several bots together may spend of alpha; 0 where they are not judged.
    pub weight_of_all_bots: f64,
    /// What came from outside; none where nothing did.
    pub signals: Option<Box<SignalTally>>,
    /// Notices that were dropped because a watcher did not read them in time.
    pub dropped_notices: u64,
    /// Why the journal's end may not be durable, if it may not: the next start finds out at the venue what it misses.
    pub not_durable: Option<RuntimeError>,
}

impl std::fmt::Debug for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finished").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl Ending {
    pub(crate) fn new(settings: &RuntimeSettings, until: Option<Millis>) -> Self {
        let (patience, interrupt_patience) = patience_of(settings);
        Self { until, patience, interrupt_patience, stopping: None, limit: None }
    }

    /// The settings were read again.
    pub(crate) fn set_patience(&mut self, settings: &RuntimeSettings) {
        (self.patience, self.interrupt_patience) = patience_of(settings);
    }

    /// A limit that only a person can lift is reached.
    pub(crate) fn reach_limit(&mut self, rule: Rule) {
        self.limit = self.limit.or(Some(rule));
    }

    /// What an order to stop means. A signal to a run that is stopping already bounds its patience; anything else changes
    /// nothing any more.
    pub(crate) fn stop(&mut self, why: Stop, now: Millis) -> Meaning {
        let meaning = match self.stopping {
            None => Meaning::Stops,
            Some(_) if why.is_signal() => Meaning::Hastens,
            Some(_) => return Meaning::Nothing,
        };
        self.stopping = Some(Stopping { why, since: now });
        meaning
    }

    /// Why the run is to stop by itself: a limit, or the end of the candles. The last instant belongs to the run: `is_due`
    /// says whether anything of it is still to come.
    pub(crate) fn due(&self, now: Millis, is_due: impl Fn(Millis) -> bool) -> Option<Stop> {
        let reached = |until: &Millis| now >= *until && !is_due(*until);
        self.limit.map(Stop::Limit).or_else(|| self.until.filter(reached).map(Stop::DataEnds))
    }

    pub(crate) const fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// Whether a person, or the system, has said so: a second time ends the run at once.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stopping.is_some_and(|stopping| stopping.why.is_signal())
    }

    /// When a stopping run no longer waits for its trades.
    pub(crate) fn patience_ends(&self, under_way: UnderWay) -> Option<Millis> {
        let Stopping { why, since } = self.stopping?;
        let ends = under_way.last_close.unwrap_or(since).max(since) + self.patience;
        Some(if why.is_signal() { ends.min(since + self.interrupt_patience) } else { ends })
    }

    /// Why the run is over, once it is. An open on its way is always waited for: it has a deadline of its own.
    pub(crate) fn ended(&self, under_way: UnderWay, now: Millis) -> Option<Stop> {
        let (stopping, ends) = (self.stopping?, self.patience_ends(under_way)?);
        let is_quiet = under_way.last_close.is_none() && !under_way.is_waiting && !under_way.has_doubt;
        let is_over = is_quiet || now >= ends;
        (is_over && !under_way.is_opening).then_some(stopping.why)
    }

    /// When the end is to be looked at again without any input.
    pub(crate) fn wakes_at(&self, under_way: UnderWay, now: Millis) -> Option<Millis> {
        // What is over already, and only waits for an answer, is no reason to wake.
        let ends = self.patience_ends(under_way).filter(|at| *at > now);
        let until = self.until.filter(|at| *at > now && self.stopping.is_none());
        ends.into_iter().chain(until).min()
    }
}

/// How long a stopping run waits for its trades, and how long an interrupted one.
fn patience_of(settings: &RuntimeSettings) -> (Millis, Millis) {
    let seconds = |count: u32| Millis::from_seconds(i64::from(count));
    (seconds(settings.stop_patience_s), seconds(settings.interrupt_patience_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: UnderWay =
        UnderWay { last_close: None, is_waiting: false, is_opening: false, has_doubt: false };

    fn ending() -> Ending {
        let settings =
            RuntimeSettings { stop_patience_s: 30, interrupt_patience_s: 90, ..RuntimeSettings::default() };
        Ending::new(&settings, None)
    }

    /// Stopped so at 100 s, with a trade that closes at `close` s: when patience ends.
    fn check(why: Stop, close: Option<i64>, expected: i64) {
        let mut ending = ending();
        let at = Millis::from_seconds;
        assert_eq!(ending.stop(why, at(100)), Meaning::Stops);
        let under_way = UnderWay { last_close: close.map(at), ..QUIET };
        assert_eq!(ending.patience_ends(under_way), Some(at(expected)), "{why:?} {close:?}");
        let is_over = |second| ending.ended(under_way, at(second)).is_some();
        assert_eq!((is_over(expected - 1), is_over(expected)), (close.is_none(), true));
    }

    #[test]
    fn patience_ends_after_the_last_close_or_earlier_after_a_signal() {
        check(Stop::TimeUp, None, 130);
        check(Stop::TimeUp, Some(150), 180);
        check(Stop::TimeUp, Some(600), 630);
        check(Stop::Interrupted, Some(600), 190);
        check(Stop::Terminated, Some(110), 140);
    }

    #[test]
    fn an_open_on_its_way_is_waited_for() {
        let mut ending = ending();
        ending.stop(Stop::Interrupted, Millis::ZERO);
        let under_way = UnderWay { is_opening: true, ..QUIET };
        assert_eq!(ending.ended(under_way, Millis::DAY), None);
        assert_eq!(ending.ended(QUIET, Millis::ZERO), Some(Stop::Interrupted));
    }

    #[test]
    fn a_doubt_is_waited_for_within_the_patience() {
        let mut ending = ending();
        ending.stop(Stop::TimeUp, Millis::ZERO);
        let under_way = UnderWay { has_doubt: true, ..QUIET };
        let at = Millis::from_seconds;
        assert_eq!(ending.ended(under_way, at(29)), None);
        assert_eq!(ending.ended(under_way, at(30)), Some(Stop::TimeUp));
        assert_eq!(ending.ended(QUIET, at(29)), Some(Stop::TimeUp));
    }

    #[test]
    fn only_a_signal_changes_a_run_that_is_stopping() {
        let mut ending = ending();
        assert_eq!(ending.stop(Stop::TimeUp, Millis::ZERO), Meaning::Stops);
        assert_eq!(ending.stop(Stop::TimeUp, Millis::SECOND), Meaning::Nothing);
        assert!(!ending.is_interrupted());
        assert_eq!(ending.stop(Stop::Interrupted, Millis::SECOND), Meaning::Hastens);
        assert!(ending.is_interrupted());
    }

    #[test]
    fn the_last_instant_belongs_to_the_run() {
        let until = Some(Millis::MINUTE);
        let ending = Ending::new(&RuntimeSettings::default(), until);
        assert_eq!(ending.due(Millis::MINUTE, |_| true), None);
        assert_eq!(ending.due(Millis::MINUTE, |_| false), Some(Stop::DataEnds(Millis::MINUTE)));
        assert_eq!(ending.due(Millis::MINUTE - Millis::new(1), |_| false), None);
    }
}

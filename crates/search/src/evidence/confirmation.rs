//! Confirmations: tests of sets of bots on sealed days, each of which reveals a single bit.
//!
//! A test gets its number before the replay, and the number is used up whatever happens afterwards. The number alone
//! determines the error rate, which the sets of the test share. A test of the same sets on the same days repeats the
//! earlier one, so neither a second run nor later candles use up another number.

use super::{
    Answer, Entry, Evidence, EvidenceLedger, LedgerError, SeenDays, Test, TestResult, day_of, start_of,
    test_weight,
};
use blake3::Hasher;
use candlewick_engine::{JudgedTrade, judge_trades};
use candlewick_sdk::{CandleSeries, Millis};
use candlewick_statistics::{EdgeTestPlan, MAX_PLANNED_TRADES, TradePlan, Verdict};
use chrono::NaiveDate;
use serde_json::json;
use std::ops::Range;

/// Edge for which [`SetForecast`] states the power, in percentage points of win rate above break-even.
pub const FORECAST_EDGE_POINTS: f64 = 5.0;
const FORECAST_SEED: u64 = 1;
const FORECAST_PATHS: u64 = 1_000;

/// One set of bots that a confirmation tests as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct TestedSet {
    /// Trades of all its bots, in the order of decisions. Trades outside of the tested days do not count.
    pub trades: Vec<JudgedTrade>,
}

#[derive(Clone, Debug)]
pub struct ConfirmationRequest {
    /// Hash of everything that is tested, except the candles.
    pub identity: String,
    pub plan: EdgeTestPlan,
    /// Number of tested sets.
    pub sets: usize,
    /// All candles of the test. Their end is the end of the test.
    pub candles: Vec<CandleSeries>,
    pub end: Millis,
    pub now: Millis,
    /// Whether the days become explored days even if no edge is shown.
    pub reveal: bool,
}

/// A test before its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTest {
    /// 1-based number of the test.
    pub number: usize,
    pub days: Range<NaiveDate>,
    /// Last answer of the test that this one repeats, if any.
    pub earlier: Option<TestResult>,
}

/// Answer of a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    pub number: usize,
    pub answer: Answer,
    pub is_repeat: bool,
    pub days: Range<NaiveDate>,
    /// Whether each set shows an edge; empty if the replay failed.
    pub shown: Vec<bool>,
    /// Seen days before the test. Trades on them were not judged.
    pub seen: SeenDays,
}

/// Forecast for one set of a confirmation.
#[derive(Clone, Debug, PartialEq)]
pub struct SetForecast {
    pub name: String,
    /// Expected number of trades on the tested days.
    pub trades: u64,
    /// Probability that the test shows an edge of [`FORECAST_EDGE_POINTS`]; `None` without trades on explored candles.
    pub power: Option<f64>,
}

/// Error of a confirmation before its test begins, or of its ledger.
#[derive(Debug, thiserror::Error)]
pub enum ConfirmationError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("no candles are sealed yet")]
    NothingSealed,
    #[error("the candles have no whole day after the sealed day {sealed_from}")]
    NoTestableDays { sealed_from: NaiveDate },
    #[error("the candles end on {end}, but this test was already made until {until}")]
    ShorterCandles { end: NaiveDate, until: NaiveDate },
}

/// Tests sets of bots on sealed days. Every answer is durable before it is returned.
///
/// `replay` runs the sets on the given days. If it returns `None`, the answer is *not shown*.
///
/// # Errors
///
/// Fails if no sealed day can be tested, if an earlier test had more candles, or if the ledger cannot be used. A test
/// whose process ends during `replay` has used up its number.
pub fn confirm(
    ledger: &EvidenceLedger,
    request: &ConfirmationRequest,
    replay: impl FnOnce(&Range<NaiveDate>) -> Option<Vec<TestedSet>>,
) -> Result<Confirmation, ConfirmationError> {
    let (planned, seen) = ledger.update(request.now, |evidence| {
        let planned = PlannedTest::new(evidence, request)?;
        let begun = match &planned.earlier {
            Some(_) => Entry::Repeated { number: planned.number },
            None => Entry::Begun { identity: request.identity.clone(), from: planned.days.start },
        };
        Ok::<_, ConfirmationError>((vec![begun], (planned, evidence.seen.clone())))
    })?;
    let sets = replay(&planned.days);
    let (entries, confirmation) = request.answer(&planned, seen, sets.as_deref());
    ledger.update(request.now, |_| Ok((entries, confirmation)))
}

/// Returns the plan with the error rate of each of the `sets` sets of test `number`.
pub fn share_plan(plan: EdgeTestPlan, number: usize, sets: usize) -> EdgeTestPlan {
    let alpha = plan.alpha() * test_weight(number) / sets.max(1) as f64;
    let shared = EdgeTestPlan::new(alpha, plan.beta(), plan.delta());
    shared.expect("a share of a valid error rate is valid").with_watch_trades(plan.watch_trades())
}

/// Returns whether a trade is evidence: neither its decision nor its end is on a seen day.
pub fn is_unseen(trade: &JudgedTrade, seen: &SeenDays) -> bool {
    let end = trade.ended.map_or(trade.decided, |(at, _)| at);
    !seen.contains(day_of(trade.decided)) && !seen.contains(day_of(end))
}

impl PlannedTest {
    /// Plans the next test. Whether it repeats an earlier one depends on identity and candles only, never on trades.
    pub fn new(evidence: &Evidence, request: &ConfirmationRequest) -> Result<Self, ConfirmationError> {
        let sealed_from = evidence.sealed_from.ok_or(ConfirmationError::NothingSealed)?;
        let end = day_of(request.end);
        let days = evidence.testable_days(request.end);
        let days = days.ok_or(ConfirmationError::NoTestableDays { sealed_from })?;
        let answered = || evidence.find_tests(&request.identity, days.start);
        let is_same = |(_, result): &(&Test, &TestResult)| {
            result.until <= days.end && result.candles == request.hash_candles(result.until)
        };
        let earlier = answered().find(is_same);
        let longer = answered().map(|(_, result)| result.until).find(|until| *until > days.end);
        match (earlier, longer) {
            (None, Some(until)) => Err(ConfirmationError::ShorterCandles { end, until }),
            (earlier, _) => Ok(Self {
                number: earlier.map_or(evidence.tests.len() + 1, |(test, _)| test.number),
                days,
                earlier: earlier.map(|(_, result)| result.clone()),
            }),
        }
    }
}

impl ConfirmationRequest {
    /// Returns the answer, and the entries that record it.
    ///
    /// A repeat whose earlier trades have changed is *not shown*, now and later. Nothing else tells it from other repeats,
    /// because whether trades on sealed candles are equal would be a second bit.
    fn answer(
        &self,
        planned: &PlannedTest,
        seen: SeenDays,
        sets: Option<&[TestedSet]>,
    ) -> (Vec<Entry>, Confirmation) {
        let PlannedTest { number, ref days, ref earlier } = *planned;
        let tested = sets.map_or_else(
            || vec![Vec::new(); self.sets],
            |sets| sets.iter().map(|set| unseen_trades(set, &seen, days)).collect(),
        );
        let is_changed = earlier
            .as_ref()
            .is_some_and(|earlier| self.hash_trades(&tested, earlier.until) != earlier.trades);
        let is_repeat = earlier.is_some();
        // Without later days, the answer stays the same.
        let repeated = earlier.as_ref().filter(|earlier| days.end <= earlier.until);
        let is_final = is_changed || repeated.is_some_and(|earlier| earlier.answer == Answer::NotShown);
        let plan = share_plan(self.plan, number, self.sets);
        let is_shown = |trades: &Vec<JudgedTrade>| {
            !is_final && judge_trades(trades, plan).verdict() == Verdict::EdgeShown
        };
        let shown: Vec<bool> = tested.iter().map(is_shown).collect();
        let answer = if shown.contains(&true) { Answer::Shown } else { Answer::NotShown };
        let trades = self.hash_trades(&tested, days.end);
        // No trades have the hash of a hash.
        let trades =
            if is_changed { finish(blake3::Hasher::new().update(trades.as_bytes())) } else { trades };
        let candles = self.hash_candles(days.end);
        let mut entries = vec![Entry::Answered { number, answer, until: days.end, candles, trades }];
        if answer == Answer::Shown || self.reveal && sets.is_some() {
            let by = "confirm".to_owned();
            entries.push(Entry::Seen { from: days.start, until: days.end, by });
            entries.push(Entry::Sealed { from: days.end });
        }
        (entries, Confirmation { number, answer, is_repeat, days: days.clone(), shown, seen })
    }

    /// Hashes the candles that closed before `until`.
    pub fn hash_candles(&self, until: NaiveDate) -> String {
        let mut hasher = Hasher::new();
        for series in &self.candles {
            hasher.update(series.series().to_string().as_bytes());
            let closed = series.within(Millis::new(i64::MIN)..start_of(until));
            for candle in closed.iter().flat_map(CandleSeries::candles) {
                hasher.update(&candle.time().get().to_le_bytes());
                for number in [candle.open(), candle.high(), candle.low(), candle.close(), candle.volume()] {
                    hasher.update(&number.to_le_bytes());
                }
            }
        }
        finish(&hasher)
    }

    /// Hashes the trades as they were known at the start of `until`. The candles are part of the hash, so that trades
    /// cannot be guessed from it.
    fn hash_trades(&self, sets: &[Vec<JudgedTrade>], until: NaiveDate) -> String {
        let (mut hasher, end) = (Hasher::new(), start_of(until));
        hasher.update(self.identity.as_bytes());
        hasher.update(self.hash_candles(until).as_bytes());
        for number in [self.plan.alpha(), self.plan.beta(), self.plan.delta()] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(&sets.len().to_le_bytes());
        for (index, trades) in sets.iter().enumerate() {
            for trade in trades.iter().filter(|trade| trade.decided < end) {
                let answered = trade.answered.filter(|at| *at < end).map(|at| (at, trade.payout));
                let ended = trade.ended.filter(|(at, _)| *at < end);
                let known = json!([index, trade.symbol.index(), trade.decided, answered, ended]);
                hasher.update(known.to_string().as_bytes());
            }
        }
        finish(&hasher)
    }
}

fn finish(hasher: &Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Returns the trades of a set that were decided on unseen days of the test, as they were known at its end.
fn unseen_trades(set: &TestedSet, seen: &SeenDays, days: &Range<NaiveDate>) -> Vec<JudgedTrade> {
    let tested = start_of(days.start)..start_of(days.end);
    let known = |trade: &JudgedTrade| JudgedTrade {
        answered: trade.answered.filter(|at| *at < tested.end),
        ended: trade.ended.filter(|(at, _)| *at < tested.end),
        ..*trade
    };
    let is_tested = |trade: &&JudgedTrade| tested.contains(&trade.decided) && is_unseen(trade, seen);
    set.trades.iter().filter(is_tested).map(known).collect()
}

impl SetForecast {
    /// Forecasts a set with this expected number of trades, judged by `plan`. `payout_fraction` is their mean payout.
    pub fn new(name: &str, trades: u64, (payout_fraction, plan): (Option<f64>, EdgeTestPlan)) -> Self {
        let power = payout_fraction.and_then(|payout_fraction| {
            let edge = TradePlan::new(payout_fraction, FORECAST_EDGE_POINTS, plan.alpha(), 0.5).ok()?;
            let most = trades.min(MAX_PLANNED_TRADES);
            Some(edge.simulate_verdicts(plan, FORECAST_SEED, FORECAST_PATHS, most).ok()?.edge_shown_share())
        });
        Self { name: name.to_owned(), trades, power }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::SymbolId;
    use candlewick_sdk::{Candle, Interval, Ohlcv, Outcome, Payout, Series};
    use candlewick_statistics::EdgeTest;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const SEALED: i64 = 80;
    const FIRST: i64 = SEALED + 1;

    struct Fixture {
        _folder: tempfile::TempDir,
        ledger: EvidenceLedger,
    }

    impl Fixture {
        fn new(entries: Vec<Entry>) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let ledger = EvidenceLedger::new(folder.path().join("evidence.jsonl"));
            ledger.update(Millis::ZERO, |_| Ok::<_, LedgerError>((entries, ()))).unwrap();
            Self { _folder: folder, ledger }
        }

        fn sealed() -> Self {
            Self::new(vec![Entry::Sealed { from: day(SEALED) }])
        }

        fn confirm(&self, identity: &str, end: i64, run: Option<Vec<TestedSet>>) -> Confirmation {
            let sets = run.as_ref().map_or(1, Vec::len);
            confirm(&self.ledger, &ConfirmationRequest { sets, ..request(identity, end) }, |_| run).unwrap()
        }

        fn evidence(&self) -> Evidence {
            self.ledger.read().unwrap()
        }
    }

    fn day(number: i64) -> NaiveDate {
        day_of(Millis::DAY * number)
    }

    fn request(identity: &str, end: i64) -> ConfirmationRequest {
        ConfirmationRequest {
            identity: identity.to_owned(),
            plan: EdgeTestPlan::default(),
            sets: 1,
            candles: candles(end, 1.0),
            end: Millis::DAY * end,
            now: Millis::ZERO,
            reveal: false,
        }
    }

    fn candles(end: i64, price: f64) -> Vec<CandleSeries> {
        let interval: Interval = "1h".parse().unwrap();
        let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
        let candle = |hour: i64| Candle::new(Millis::HOUR * hour, interval, numbers).unwrap();
        let series = Series { symbol: "EURUSD".parse().unwrap(), interval };
        let candles: Vec<Candle> = (FIRST * 24..end * 24).map(candle).collect();
        CandleSeries::new(series, candles).into_iter().collect()
    }

    /// Six trades of three hours on each day from the first testable day on. The last one ends on the next day.
    fn trades(count: i64, outcome: Outcome) -> Vec<JudgedTrade> {
        let trade = |index: i64| {
            let decided = Millis::DAY * FIRST + Millis::HOUR * (2 + 4 * index);
            let (symbol, payout) = (SymbolId::FIRST, Payout::from_percent(80.into()).ok());
            let ended = Some((decided + Millis::HOUR * 3, outcome));
            JudgedTrade { symbol, decided, answered: Some(decided), payout, ended, sequence: None }
        };
        (0..count).map(trade).collect()
    }

    /// Fewest wins in a row that show an edge in the first test of a single set.
    fn fewest_wins() -> i64 {
        let plan = share_plan(EdgeTestPlan::default(), 1, 1);
        let is_shown =
            |count: &i64| judge_trades(&trades(*count, Outcome::Won), plan).verdict() == Verdict::EdgeShown;
        (1..1_000).find(is_shown).unwrap()
    }

    #[expect(clippy::unnecessary_wraps, reason = "a replay may fail")]
    fn run(sets: &[Vec<JudgedTrade>]) -> Option<Vec<TestedSet>> {
        Some(sets.iter().map(|trades| TestedSet { trades: trades.clone() }).collect())
    }

    #[test]
    fn first_test_begins_before_its_replay() {
        let fixture = Fixture::sealed();
        let answer = confirm(&fixture.ledger, &request("a", 91), |days| {
            assert_eq!(*days, day(FIRST)..day(91));
            let tests = fixture.evidence().tests;
            assert_eq!((tests.len(), tests[0].is_pending, &tests[0].result), (1, true, &None));
            run(&[trades(40, Outcome::Lost)])
        });
        let expected = Confirmation {
            number: 1,
            answer: Answer::NotShown,
            is_repeat: false,
            days: day(FIRST)..day(91),
            shown: vec![false],
            seen: SeenDays::default(),
        };
        assert_eq!(answer.unwrap(), expected);
        let evidence = fixture.evidence();
        let result = evidence.tests[0].result.as_ref().unwrap();
        assert_eq!((result.answer, result.until), (Answer::NotShown, day(91)));
        assert_eq!((evidence.sealed_from, evidence.seen), (Some(day(SEALED)), SeenDays::default()));
    }

    #[test]
    fn repeats_keep_the_number_unless_earlier_candles_change() {
        let lost = || run(&[trades(40, Outcome::Lost)]);
        for (end, price, number) in [(91, 1.0, 1), (95, 1.0, 1), (91, 1.5, 2), (95, 1.5, 2)] {
            let fixture = Fixture::sealed();
            fixture.confirm("a", 91, lost());
            let asked = ConfirmationRequest { candles: candles(end, price), ..request("a", end) };
            let again = confirm(&fixture.ledger, &asked, |_| lost()).unwrap();
            assert_eq!((again.number, again.is_repeat), (number, number == 1), "{end} {price}");
            let tests = fixture.evidence().tests;
            assert_eq!((tests.len(), tests[number - 1].result.as_ref().unwrap().until), (number, day(end)));
            assert_eq!(fixture.confirm("b", 91, lost()).number, number + 1);
            let shorter =
                confirm(&fixture.ledger, &request("a", 90), |_| unreachable!("nothing is replayed"));
            assert!(matches!(shorter, Err(ConfirmationError::ShorterCandles { .. })), "{shorter:?}");
        }
    }

    #[test]
    fn changed_trades_are_never_shown_and_look_like_other_repeats() {
        let lost = || trades(40, Outcome::Lost);
        let won = trades(fewest_wins() * 2, Outcome::Won);
        let answers = |second: Vec<JudgedTrade>| {
            let fixture = Fixture::sealed();
            let first = fixture.confirm("a", 91, run(&[lost()]));
            let second = fixture.confirm("a", 91, run(&[second]));
            let third = fixture.confirm("a", 95, run(std::slice::from_ref(&won)));
            assert!(fixture.ledger.read().unwrap().tests[0].result.as_ref().unwrap().trades.len() == 32);
            [first, second, third]
        };
        assert_eq!(answers(lost()), answers(won.clone()));
        assert!(answers(won.clone()).iter().all(|answer| answer.answer == Answer::NotShown));
    }

    #[test]
    fn later_days_complete_open_trades_and_can_show_the_edge() {
        let fixture = Fixture::sealed();
        let all = trades(fewest_wins(), Outcome::Won);
        // The last trade, which decides, is on the last day or later.
        let end = FIRST + (all.len() as i64 - 1) / 6;
        let cut = Millis::DAY * end;
        let mut known: Vec<JudgedTrade> = all.iter().filter(|trade| trade.decided < cut).copied().collect();
        for trade in &mut known {
            trade.ended = trade.ended.filter(|(at, _)| *at < cut);
        }
        assert!(known.last().unwrap().ended.is_none(), "a trade is open at the end");
        let first = fixture.confirm("a", end, run(&[known]));
        assert_eq!((first.number, first.answer), (1, Answer::NotShown));
        let second = fixture.confirm("a", end + 1, run(&[all]));
        assert_eq!((second.number, second.answer, second.is_repeat), (1, Answer::Shown, true));
    }

    #[test]
    fn test_without_an_answer_uses_up_its_number() {
        let fixture = Fixture::sealed();
        let kill = |identity: &str| {
            let killed = || {
                confirm(&fixture.ledger, &request(identity, 91), |_| std::panic::resume_unwind(Box::new(0)))
            };
            assert!(catch_unwind(AssertUnwindSafe(killed)).is_err());
        };
        kill("a");
        let lost = || run(&[trades(9, Outcome::Lost)]);
        assert_eq!(fixture.confirm("a", 91, lost()).number, 2);
        assert_eq!(fixture.confirm("a", 91, lost()).number, 2);
        kill("a");
        let after = fixture.confirm("a", 91, lost());
        assert_eq!((after.number, after.is_repeat), (3, false));
    }

    #[test]
    fn failed_replay_is_not_shown_and_repeats_like_any_other() {
        let fixture = Fixture::sealed();
        for end in [91, 91, 95] {
            let failed = fixture.confirm("a", end, None);
            assert_eq!((failed.number, failed.answer, failed.shown), (1, Answer::NotShown, vec![false]));
        }
        let lost = run(&[trades(60, Outcome::Lost)]);
        assert_eq!(fixture.confirm("a", 95, lost).number, 1);
        // In the ledger, a failure looks like a replay without trades.
        let hash = |run: Option<Vec<TestedSet>>| {
            let fixture = Fixture::sealed();
            fixture.confirm("a", 95, run);
            fixture.evidence().tests[0].result.as_ref().unwrap().trades.clone()
        };
        assert_eq!(hash(None), hash(run(&[Vec::new()])));
    }

    #[test]
    fn sets_share_the_error_rate_of_their_test() {
        for (number, sets, threshold) in [(1, 1, 25.0), (1, 3, 75.0), (2, 1, 200.0), (3, 2, 1_200.0)] {
            let goal = EdgeTest::new(share_plan(EdgeTestPlan::default(), number, sets)).goal();
            assert!((goal - threshold).abs() < 1e-6, "{goal}, not {threshold}");
        }
        let (won, lost) = (trades(fewest_wins(), Outcome::Won), trades(9, Outcome::Lost));
        let two = Fixture::sealed().confirm("a", 91, run(&[won.clone(), lost.clone()]));
        assert_eq!((two.answer, two.shown), (Answer::NotShown, vec![false; 2]));
        let more = trades(fewest_wins() * 2, Outcome::Won);
        let two = Fixture::sealed().confirm("a", 91, run(&[more, lost.clone()]));
        assert_eq!((two.answer, two.shown), (Answer::Shown, vec![true, false]));
        let fixture = Fixture::sealed();
        fixture.confirm("a", 91, run(&[lost]));
        let second = fixture.confirm("b", 91, run(std::slice::from_ref(&won)));
        assert_eq!((second.number, second.answer), (2, Answer::NotShown));
        assert_eq!(Fixture::sealed().confirm("b", 91, run(&[won])).answer, Answer::Shown);
    }

    #[test]
    fn shown_and_revealed_days_are_spent() {
        for (outcome, reveal) in [(Outcome::Won, false), (Outcome::Lost, true)] {
            let fixture = Fixture::sealed();
            let asked = ConfirmationRequest { reveal, ..request("a", 91) };
            let answer = confirm(&fixture.ledger, &asked, |_| run(&[trades(60, outcome)])).unwrap();
            assert_eq!(answer.answer == Answer::Shown, outcome == Outcome::Won);
            let evidence = fixture.evidence();
            assert!(evidence.seen.covers(&(day(FIRST)..day(91))) && !evidence.seen.contains(day(91)));
            assert_eq!(evidence.sealed_from, Some(day(91)));
            let next = confirm(&fixture.ledger, &asked, |_| unreachable!("no day is left"));
            assert!(matches!(next, Err(ConfirmationError::NoTestableDays { .. })), "{next:?}");
        }
    }

    #[test]
    fn trades_on_seen_days_do_not_count() {
        let seen =
            |from: i64, until: i64| Entry::Seen { from: day(from), until: day(until), by: "x".to_owned() };
        for (from, until, answer) in [(90, 91, Answer::Shown), (FIRST, 90, Answer::NotShown)] {
            let fixture = Fixture::new(vec![Entry::Sealed { from: day(SEALED) }, seen(from, until)]);
            let won = run(&[trades(60, Outcome::Won)]);
            assert_eq!(fixture.confirm("a", 91, won).answer, answer, "{from} to {until}");
        }
        // The days become seen between two runs, so the second run judges other trades.
        let fixture = Fixture::sealed();
        let lost = || run(&[trades(40, Outcome::Lost)]);
        fixture.confirm("a", 91, lost());
        let add = |_: &Evidence| Ok::<_, LedgerError>((vec![seen(FIRST, 83)], ()));
        fixture.ledger.update(Millis::ZERO, add).unwrap();
        let again = fixture.confirm("a", 91, lost());
        assert_eq!((again.number, again.answer), (1, Answer::NotShown));
    }

    #[test]
    fn refuses_to_begin_without_a_whole_sealed_day() {
        let begin = |fixture: &Fixture, end: i64| {
            confirm(&fixture.ledger, &request("a", end), |_| unreachable!("nothing is replayed")).unwrap_err()
        };
        let nothing = Fixture::new(Vec::new());
        assert!(matches!(begin(&nothing, 91), ConfirmationError::NothingSealed));
        let sealed = Fixture::sealed();
        assert!(matches!(begin(&sealed, FIRST), ConfirmationError::NoTestableDays { .. }));
        assert!(nothing.evidence().tests.is_empty() && sealed.evidence().tests.is_empty());
    }

    #[test]
    fn power_grows_with_the_number_of_trades() {
        let plan = share_plan(EdgeTestPlan::default(), 1, 1);
        let power = |trades| SetForecast::new("a", trades, (Some(0.85), plan)).power.unwrap();
        assert!(power(50) < 0.1 && power(500) < power(1_000) && power(5_000) > 0.95);
        assert_eq!(SetForecast::new("a", 500, (None, plan)).power, None);
    }
}

//! What a report says of the edge: the verdict, what it rests on, and why a good one may be withheld.

use crate::analysis::Finding;
use crate::break_even_payout::MAX_PERCENT;
use crate::page::VerdictText;
use crate::shown::{ShownLine, interval_words};
use candlewick_engine::{BotSettings, IntentRow, Judge, JudgedTrade, TradeBook, edge_sequence, judge};
use candlewick_records::{
    EdgeIntervals, NO_LONGER_HELD, TradingMode, no_longer_held_words, threshold, threshold_words,
    verdict_name, verdict_words, withheld_words,
};
use candlewick_sdk::{Millis, Outcome};
use candlewick_simulator::SimulationSettings;
use candlewick_statistics::{EdgeTest, Verdict};
use serde::Serialize;

/// Cancellations for gaps in the data, beyond which an edge is not believed.
const MAX_CANCELLED: f64 = 0.01;

/// No venue has paid these trades.
const ASSUMED_PAYOUT: &str = "on assumed payout";
/// The prices are not those that the venue would have had.
const HYPOTHESIS: &str = "hypothesis";
/// Nobody counted what was tried.
const UNCOUNTED: &str = "variants not counted";
/// How a trade ended nobody but a person says.
const PERSONS_WORD: &str = "trades settled by a person left out";
/// Past candles that a simulated venue plays: of a run on them nobody knows of how many it was chosen.
const PAST_CANDLES: &str =
    "the venue plays past candles: a backtest of them counts what was tried, and corrects for it";
/// All of these.
const LABELS: [&str; 4] = [ASSUMED_PAYOUT, HYPOTHESIS, UNCOUNTED, PERSONS_WORD];
/// Said of all trades together where nothing of alpha is left for them.
const NOT_TOGETHER: &str =
    "each bot is judged by itself: all together are not what they were when alpha was shared out";

/// What a run's results rest on, as far as the run itself knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caveats {
    /// Why *edge shown* is not said of it.
    pub withholding: Vec<String>,
    /// What is assumed or left out: one of [`LABELS`] each.
    pub labels: Vec<&'static str>,
    /// How many variants were tried, this one included; 0 where they are not counted.
    pub variants: u64,
}

/// What is known of the candles of a replay.
#[derive(Clone, Copy, Debug)]
pub struct ReplayBasis {
    /// Whether expiries may be shorter than the candles that price them.
    pub may_be_coarse: bool,
    /// Whether all candles were fetched from the configured venue.
    pub has_venue_prices: bool,
}

impl Caveats {
    /// Of a run over stored candles. Payouts are always assumed: candles do not hold them.
    pub fn of_replay(basis: ReplayBasis, simulation: &SimulationSettings, bots: &[BotSettings]) -> Self {
        let mut withholding = Vec::new();
        if basis.may_be_coarse {
            withholding.push("expiries may be shorter than the candles".to_owned());
        }
        withholding.extend(assumed_too_well(simulation, bots));
        let mut labels = vec![ASSUMED_PAYOUT];
        if !basis.has_venue_prices {
            labels.push(HYPOTHESIS);
        }
        Self { withholding, labels, ..Self::default() }
    }

    /// That so many variants were tried, or why nobody knows how many: what is not known cannot be corrected for.
    pub fn count(&mut self, variants: u64, unknown: Option<&str>) {
        self.variants = variants;
        self.withholding.extend(unknown.map(|why| format!("variants unknown: {why}")));
    }

    /// That variants are not counted.
    pub fn leave_uncounted(&mut self) {
        self.labels.push(UNCOUNTED);
    }

    /// Of a live run, by what its trades are worth, and of these: what is simulated is assumed, and a person's word is no
    /// evidence.
    pub fn of_trading(
        trading: Option<TradingMode>,
        (simulation, bots): (&SimulationSettings, &[BotSettings]),
        book: &TradeBook,
    ) -> Self {
        let of_simulated =
            |labels| Self { withholding: assumed_too_well(simulation, bots), labels, ..Self::default() };
        let mut caveats = match trading {
            None | Some(TradingMode::Demo | TradingMode::Real) => Self::default(),
            Some(TradingMode::Paper) => of_simulated(vec![ASSUMED_PAYOUT]),
            Some(TradingMode::Sandbox) => {
                let mut caveats = of_simulated(vec![ASSUMED_PAYOUT, HYPOTHESIS]);
                caveats.withholding.push(PAST_CANDLES.to_owned());
                caveats
            }
        };
        if book.rows().iter().any(|row| book.is_settled_by_person(row.approved.intent())) {
            caveats.labels.push(PERSONS_WORD);
        }
        caveats
    }
}

/// A venue better than any that there is.
fn assumed_too_well(simulation: &SimulationSettings, bots: &[BotSettings]) -> Vec<String> {
    haste(simulation).into_iter().chain(generosity(simulation, bots)).collect()
}

/// Nor is a payout that no venue pays: at more than the stake a coin earns money.
fn generosity(simulation: &SimulationSettings, bots: &[BotSettings]) -> Option<String> {
    let assumed = bots.iter().map(|bot| simulation.payout_of(bot.symbol));
    let highest = assumed.max()?.to_percent();
    (highest > MAX_PERCENT)
        .then(|| format!("a payout of {highest} % is assumed, and above {MAX_PERCENT} % a coin toss earns"))
}

/// A latency that nobody has is no ground for an edge.
fn haste(simulation: &SimulationSettings) -> Option<String> {
    let (latency, usual) = (simulation.latency_ms, SimulationSettings::default().latency_ms);
    (simulation.recorded_latency.is_none() && latency < usual)
        .then(|| format!("a latency of {latency} ms is below the usual {usual} ms"))
}

/// The verdict on some trades, with what it rests on.
#[derive(Debug, Serialize)]
pub struct EdgeLine {
    /// `edge_shown`, `edge_rejected`, `edge_no_longer_held` or `not_enough_trades`.
    #[serde(skip)]
    pub verdict: &'static str,
    /// Trades that the accounts rest on.
    judged_trades: u64,
    /// About so many more trades show an edge of `delta`, if there is one.
    about_more_trades: Option<u64>,
    /// The edge that is looked for, as a return per unit of stake.
    delta: f64,
    /// How probable it may be to show an edge that is not there.
    #[serde(skip)]
    alpha: f64,
    /// The evidence for an edge: what an account that bets on one has become, from 1.
    account_for: f64,
    /// What shows the edge: `1 / (alpha x weight)`, since all bots share one alpha; null where nothing can.
    threshold_for: Option<f64>,
    /// The evidence against an edge of `delta`, likewise.
    account_against: f64,
    /// What rules it out: `1 / beta`.
    threshold_against: f64,
    /// Groups of trades that overlap in time.
    clusters: u64,
    /// By how much overlap inflates the variance of the sum of returns.
    variance_inflation: f64,
    /// Why *edge shown* is not said.
    withheld: Vec<String>,
    labels: Vec<&'static str>,
    /// Since which decision a shown edge of `delta` or more is not supported any more: it ended, or was smaller all along.
    /// Null while it is, or was not shown.
    no_longer_held_since: Option<Millis>,
    /// After which trade an edge was shown, and how the trades since did; null where it was not, or earlier trades are not here.
    shown: Option<ShownLine>,
    /// Where the edge and the win rate lie.
    #[serde(flatten)]
    intervals: EdgeIntervals,
}

impl EdgeLine {
    /// What an account says, and whether it may be said of a run with these trades.
    pub fn of<'a>(
        test: &EdgeTest,
        rows: impl IntoIterator<Item = &'a IntentRow> + Clone,
        caveats: &Caveats,
    ) -> Self {
        let mut withheld = Vec::new();
        let (mut verdict, about_more_trades) = verdict_name(test);
        // Of a bot whose earlier trades are not here there is no interval beside its account.
        let trades = rows.clone().into_iter().map(JudgedTrade::of_row);
        let ended = trades.filter(|trade| !trade.was_none()).filter_map(|trade| Some(trade.ended?.1));
        let ended: Vec<Outcome> = ended.collect();
        let counted = ended.iter().filter(|outcome| **outcome != Outcome::Cancelled).count() as u64;
        let is_whole = counted == test.settled();
        let intervals =
            if is_whole { EdgeIntervals::of(&edge_sequence(rows.clone())) } else { EdgeIntervals::default() };
        let (mut since, mut shown) = (None, None);
        if test.verdict() == Verdict::EdgeShown {
            let again = EdgeTest::new(test.plan()).weighing(test.weight());
            since = Judge::after(rows.clone(), again).no_longer_held_since();
            let trades: Vec<JudgedTrade> = rows.clone().into_iter().map(JudgedTrade::of_row).collect();
            shown = if is_whole { ShownLine::of_judged(&trades, test) } else { None };
            withheld = caveats.reasons_to_withhold(test, ended.into_iter(), |test| judge(rows, test));
        }
        if !withheld.is_empty() {
            verdict = "not_enough_trades";
        }
        let line = Self::new(test, (verdict, about_more_trades), withheld, caveats.labels.clone());
        Self { shown, intervals, ..line }.ended(since)
    }

    fn new(
        test: &EdgeTest,
        (verdict, about_more_trades): (&'static str, Option<u64>),
        withheld: Vec<String>,
        labels: Vec<&'static str>,
    ) -> Self {
        Self {
            verdict,
            judged_trades: test.settled(),
            about_more_trades,
            delta: test.plan().delta(),
            alpha: test.plan().alpha(),
            account_for: test.edge_account(),
            threshold_for: threshold(test),
            account_against: test.mirror_account(),
            threshold_against: test.plan().beta().recip(),
            clusters: test.overlap().clusters(),
            variance_inflation: test.overlap().variance_inflation(),
            withheld,
            labels,
            no_longer_held_since: None,
            shown: None,
            intervals: EdgeIntervals::default(),
        }
    }

    /// As a watch over trades before these may know: since when the edge that was shown no longer holds.
    #[must_use]
    pub fn ended(self, since: Option<Millis>) -> Self {
        let verdict = match (since, self.verdict) {
            (Some(_), _) if self.withheld.is_empty() => NO_LONGER_HELD,
            (None, NO_LONGER_HELD) => "edge_shown",
            (_, verdict) => verdict,
        };
        Self { no_longer_held_since: since, verdict, ..self }
    }

    /// Whether the trades show an edge that may not be believed.
    pub const fn is_withheld(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// Where the edge and the win rate lie.
    pub const fn intervals(&self) -> EdgeIntervals {
        self.intervals
    }

    /// As a page shows it; the money beside it is not known here.
    pub(super) fn to_text(&self) -> VerdictText {
        VerdictText {
            name: self.verdict,
            words: self.words(),
            withheld: self.withheld.clone(),
            labels: self.labels.clone(),
            judged_trades: self.judged_trades,
            account_for: self.account_for,
            account_against: self.account_against,
            thresholds: [self.threshold_for, Some(self.threshold_against)],
            intervals: self.intervals,
            ..VerdictText::default()
        }
    }

    /// The verdict in words.
    pub fn words(&self) -> String {
        let size = format!("{:.0} % of the stake", self.delta * 100.0);
        let mut words = match (self.verdict, self.about_more_trades) {
            ("edge_shown", _) => {
                self.shown.map_or_else(|| verdict_words(self.verdict, None), |shown| shown.words())
            }
            ("edge_rejected", _) => {
                let error = 100.0 / self.threshold_against;
                format!("no edge: {size} or more is ruled out (error rate {error:.0} %)")
            }
            (NO_LONGER_HELD, _) => {
                let since = self.no_longer_held_since.map(no_longer_held_words).unwrap_or_default();
                format!("{since}: shown before, and one of {size} or more is not supported any more")
            }
            _ if !self.withheld.is_empty() => withheld_words(&self.withheld, self.no_longer_held_since),
            _ if self.threshold_for.is_none() => NOT_TOGETHER.to_owned(),
            (_, Some(more)) => {
                format!("not enough trades yet (about {more} more, if the true edge is {size})")
            }
            (_, None) => "not enough trades yet".to_owned(),
        };
        let caveats: Vec<&str> = self.labels.iter().map(|label| caveat_of(label)).collect();
        if !caveats.is_empty() {
            words.push_str(". Caveats: ");
            words.push_str(&caveats.join("; "));
        }
        words
    }

    /// The verdict in a few words, with the number of trades behind it.
    pub fn brief(&self) -> String {
        let name = match self.verdict {
            _ if !self.withheld.is_empty() && self.no_longer_held_since.is_some() => {
                "edge shown, withheld, no longer held".to_owned()
            }
            _ if !self.withheld.is_empty() => "edge shown, withheld".to_owned(),
            "edge_rejected" => "no edge".to_owned(),
            other => other.replace('_', " "),
        };
        format!("{name} ({})", self.judged_trades)
    }

    /// The evidence for an edge, and what shows one.
    pub fn evidence(&self) -> String {
        format!("{:.2} of {}", self.account_for, threshold_words(self.threshold_for))
    }

    /// What the evidence and its mark are, in a line below them.
    pub(super) fn evidence_words(&self) -> String {
        let mark = 1.0 / self.alpha;
        format!(
            "evidence begins at 1 and grows with trades that return more than nothing. The mark behind \"of\" shows an edge: {mark:.0} for a bot \
             alone, which luck reaches in at most {:.0} of 100 runs; several bots share that luck, so that theirs is higher",
            self.alpha * 100.0
        )
    }

    /// Why a verdict that is decided and the interval beside it do not say the same, where they do not.
    pub(crate) fn interval_words(&self) -> Option<&'static str> {
        interval_words(self.verdict, self.intervals.edge_sequence_95, self.delta)
    }

    /// That the trades since do not support the edge that was shown, be it withheld or not.
    pub(crate) fn finding(&self) -> Option<Finding> {
        self.shown.filter(|_| self.no_longer_held_since.is_none())?.finding()
    }

    /// How the trades overlap, where they do.
    pub fn overlap(&self) -> Option<String> {
        let inflation = self.variance_inflation;
        (inflation > 1.0 + 1e-9).then(|| format!("{} clusters, variance x{inflation:.2}", self.clusters))
    }
}

/// A label as people read it.
pub(crate) fn caveat_of(label: &str) -> &str {
    match label {
        ASSUMED_PAYOUT => "payout assumed",
        HYPOTHESIS => "prices not from this venue",
        UNCOUNTED => "variants unknown, since they are not counted",
        PERSONS_WORD => "trades whose end a person said are left out",
        other => other,
    }
}

impl Caveats {
    /// As they were written down. A label that is not known to be harmless is not.
    pub(crate) fn recorded(mut withholding: Vec<String>, named: Vec<String>, variants: u64) -> Self {
        let mut labels = Vec::new();
        for name in named {
            match LABELS.into_iter().find(|label| *label == name) {
                Some(label) => labels.push(label),
                None => withholding.push(name),
            }
        }
        Self { withholding, labels, variants }
    }

    /// Why *edge shown* is not said of a test that shows one, of trades that ended so. `judge_again` judges the same trades by
    /// a test that has seen none.
    pub(crate) fn reasons_to_withhold(
        &self,
        test: &EdgeTest,
        ended: impl Iterator<Item = Outcome>,
        judge_again: impl FnOnce(EdgeTest) -> EdgeTest,
    ) -> Vec<String> {
        let mut reasons = self.withholding.clone();
        reasons.extend(gaps(ended));
        reasons.extend(luck(test, self.variants, judge_again));
        reasons
    }
}

/// The best of many variants does well by luck: the account that shows an edge of one has to do as many times better
/// (Bonferroni's correction, which holds for any number of variants that resemble each other in any way).
fn luck(test: &EdgeTest, variants: u64, judge_again: impl FnOnce(EdgeTest) -> EdgeTest) -> Option<String> {
    if variants < 2 {
        return None;
    }
    let corrected = EdgeTest::new(test.plan()).weighing(test.weight() / variants as f64);
    (judge_again(corrected).verdict() != Verdict::EdgeShown)
        .then(|| format!("of {variants} variants that were tried one may do so well by luck"))
}

/// Trades that gaps in the data called off may hide losses.
fn gaps(ended: impl Iterator<Item = Outcome>) -> Option<String> {
    let outcomes: Vec<Outcome> = ended.collect();
    let cancelled = outcomes.iter().filter(|outcome| **outcome == Outcome::Cancelled).count();
    let share = cancelled as f64 / outcomes.len().max(1) as f64;
    (share > MAX_CANCELLED).then(|| format!("{:.1} % of the trades were cancelled for gaps", share * 100.0))
}

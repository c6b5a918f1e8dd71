//! What a report says of the edge: the verdict, what it rests on, and why a good one may be withheld.

use crate::page::VerdictText;
use candlewick_engine::{IntentRow, judge};
use candlewick_records::{TradingMode, verdict_name};
use candlewick_sdk::Outcome;
use candlewick_simulator::SimulationSettings;
use candlewick_statistics::{EdgeTest, EdgeTestPlan, Verdict};
use serde::Serialize;

/// Cancellations for gaps in the data, beyond which an edge is not believed.
const MAX_CANCELLED: f64 = 0.01;

/// No venue has paid these trades.
const ASSUMED_PAYOUT: &str = "on assumed payout";
/// The prices are not those that the venue would have had.
const HYPOTHESIS: &str = "hypothesis";

/// What a run's results rest on, as far as the run itself knows.
#[derive(Clone, Debug, Default)]
pub struct Caveats {
    /// Why *edge shown* is not said of it.
    pub withholding: Vec<String>,
    /// What is assumed: [`ASSUMED_PAYOUT`], [`HYPOTHESIS`].
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
    pub fn of_replay(basis: ReplayBasis, simulation: &SimulationSettings) -> Self {
        let mut withholding = Vec::new();
        if basis.may_be_coarse {
            withholding.push("expiries may be shorter than the candles".to_owned());
        }
        withholding.extend(haste(simulation));
        let mut labels = vec![ASSUMED_PAYOUT];
        if !basis.has_venue_prices {
            labels.push(HYPOTHESIS);
        }
        Self { withholding, labels, ..Self::default() }
    }

    /// Of a live run, by what its trades are worth: what is simulated is assumed.
    pub fn of_trading(trading: Option<TradingMode>, simulation: &SimulationSettings) -> Self {
        let labels = match trading {
            None | Some(TradingMode::Demo | TradingMode::Real) => return Self::default(),
            Some(TradingMode::Paper) => vec![ASSUMED_PAYOUT],
            Some(TradingMode::Sandbox) => vec![ASSUMED_PAYOUT, HYPOTHESIS],
        };
        Self { withholding: haste(simulation).into_iter().collect(), labels, ..Self::default() }
    }
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
    /// `edge_shown`, `edge_rejected` or `not_enough_trades`.
    #[serde(skip)]
    pub verdict: &'static str,
    /// Trades that the accounts rest on.
    judged_trades: u64,
    /// About so many more trades show an edge of `delta`, if there is one.
    about_more_trades: Option<u64>,
    /// The edge that is looked for, as a return per unit of stake.
    delta: f64,
    /// The evidence for an edge: what an account that bets on one has become, from 1; 20 shows the edge.
    account_for: f64,
    /// The evidence against an edge of `delta`, likewise; 20 rules it out.
    account_against: f64,
    /// Groups of trades that overlap in time.
    clusters: u64,
    /// By how much overlap inflates the variance of the sum of returns.
    variance_inflation: f64,
    /// Why *edge shown* is not said.
    withheld: Vec<String>,
    labels: Vec<&'static str>,
    /// What the accounts must reach to decide.
    #[serde(skip)]
    thresholds: [f64; 2],
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
        if test.verdict() == Verdict::EdgeShown {
            withheld.clone_from(&caveats.withholding);
            withheld.extend(gaps(rows.clone()));
            withheld.extend(luck(rows, test.plan(), caveats.variants));
        }
        if !withheld.is_empty() {
            verdict = "not_enough_trades";
        }
        Self::new(test, (verdict, about_more_trades), withheld, caveats.labels.clone())
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
            account_for: test.edge_account(),
            account_against: test.mirror_account(),
            clusters: test.overlap().clusters(),
            variance_inflation: test.overlap().variance_inflation(),
            withheld,
            labels,
            thresholds: [test.plan().alpha(), test.plan().beta()].map(f64::recip),
        }
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
            thresholds: self.thresholds,
            ..VerdictText::default()
        }
    }

    /// The verdict in words.
    pub fn words(&self) -> String {
        let size = format!("{:.0} % of the stake", self.delta * 100.0);
        let mut words = match (self.verdict, self.about_more_trades) {
            ("edge_shown", _) => "edge shown".to_owned(),
            ("edge_rejected", _) => {
                let error = 100.0 / self.thresholds[1];
                format!("no edge: {size} or more is ruled out (error rate {error:.0} %)")
            }
            _ if !self.withheld.is_empty() => {
                format!("edge shown, but withheld: {}", self.withheld.join("; "))
            }
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
            _ if !self.withheld.is_empty() => "edge shown, withheld".to_owned(),
            "edge_rejected" => "no edge".to_owned(),
            other => other.replace('_', " "),
        };
        format!("{name} ({})", self.judged_trades)
    }

    /// How the trades overlap, where they do.
    pub fn overlap(&self) -> Option<String> {
        let inflation = self.variance_inflation;
        (inflation > 1.0 + 1e-9).then(|| format!("{} clusters, variance x{inflation:.2}", self.clusters))
    }
}

/// A label as people read it.
fn caveat_of(label: &str) -> &str {
    match label {
        ASSUMED_PAYOUT => "payout assumed",
        HYPOTHESIS => "prices not from this venue",
        other => other,
    }
}

/// The best of many variants does well by luck: the account that shows an edge of one has to do as many times better
/// (Bonferroni's correction, which holds for any number of variants that resemble each other in any way).
fn luck<'a>(
    rows: impl IntoIterator<Item = &'a IntentRow>,
    plan: EdgeTestPlan,
    variants: u64,
) -> Option<String> {
    if variants < 2 {
        return None;
    }
    let corrected = EdgeTestPlan::new(plan.alpha() / variants as f64, plan.beta(), plan.delta()).ok()?;
    (judge(rows, corrected).verdict() != Verdict::EdgeShown)
        .then(|| format!("of {variants} variants that were tried one may do so well by luck"))
}

/// Trades that gaps in the data called off may hide losses.
fn gaps<'a>(rows: impl IntoIterator<Item = &'a IntentRow>) -> Option<String> {
    let outcomes: Vec<Outcome> = rows.into_iter().filter_map(|row| row.outcome).collect();
    let cancelled = outcomes.iter().filter(|outcome| **outcome == Outcome::Cancelled).count();
    let share = cancelled as f64 / outcomes.len().max(1) as f64;
    (share > MAX_CANCELLED).then(|| format!("{:.1} % of the trades were cancelled for gaps", share * 100.0))
}

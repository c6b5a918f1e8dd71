//! What a report says of the edge: the verdict, what it rests on, and why a good one may be withheld.

use candlewick_engine::{IntentRow, judge};
use candlewick_sdk::Outcome;
use candlewick_statistics::{EdgeTest, Verdict, VerdictPlan};
use serde::Serialize;

/// Cancellations for gaps in the data, beyond which an edge is not believed.
const MOST_CANCELLED: f64 = 0.01;

/// What a run's results rest on, as far as the run itself knows.
#[derive(Debug, Default)]
pub(crate) struct Caveats {
    /// Why *edge shown* is not said of it.
    pub(crate) withholding: Vec<String>,
    /// What is assumed: `on assumed payout`.
    pub(crate) labels: Vec<&'static str>,
}

/// The verdict on some trades, with what it rests on.
#[derive(Debug, Serialize)]
pub(super) struct EdgeLine {
    #[serde(skip)]
    pub(super) verdict: &'static str,
    /// About so many more trades show an edge of `delta`, if there is one.
    about_more_trades: Option<u64>,
    /// The edge that is looked for, as a return per unit of stake.
    delta: f64,
    /// What the account that bets on an edge has become; it began with 1, and 20 shows the edge.
    account_for: f64,
    /// The same of the account that bets against an edge of `delta`; 20 rules it out.
    account_against: f64,
    /// Groups of trades that overlap in time.
    clusters: u64,
    /// By how much overlap inflates the variance of the sum of returns.
    variance_inflation: f64,
    /// Why *edge shown* is not said.
    withheld: Vec<String>,
    labels: Vec<&'static str>,
}

impl EdgeLine {
    pub(super) fn of<'a>(rows: impl IntoIterator<Item = &'a IntentRow> + Clone, caveats: &Caveats) -> Self {
        let test = judge(rows.clone(), VerdictPlan::default());
        let mut withheld = caveats.withholding.clone();
        withheld.extend(gaps(rows));
        let (verdict, about_more_trades) = match test.verdict() {
            Verdict::EdgeShown if withheld.is_empty() => ("edge_shown", None),
            Verdict::EdgeShown => ("not_enough_trades", None),
            Verdict::EdgeRejected => ("edge_rejected", None),
            Verdict::NotEnoughTrades { about_more } => ("not_enough_trades", about_more),
        };
        if test.verdict() != Verdict::EdgeShown {
            withheld.clear();
        }
        Self::new(&test, (verdict, about_more_trades), withheld, caveats.labels.clone())
    }

    fn new(
        test: &EdgeTest,
        (verdict, about_more_trades): (&'static str, Option<u64>),
        withheld: Vec<String>,
        labels: Vec<&'static str>,
    ) -> Self {
        Self {
            verdict,
            about_more_trades,
            delta: test.plan().delta(),
            account_for: test.edge_account(),
            account_against: test.mirror_account(),
            clusters: test.overlap().clusters(),
            variance_inflation: test.overlap().variance_inflation(),
            withheld,
            labels,
        }
    }

    /// The verdict in words.
    pub(super) fn words(&self) -> String {
        let size = format!("{:.0} % of the stake", self.delta * 100.0);
        let mut words = match (self.verdict, self.about_more_trades) {
            ("edge_shown", _) => "edge shown".to_owned(),
            ("edge_rejected", _) => format!("edge rejected: one of {size} or more is ruled out"),
            _ if !self.withheld.is_empty() => {
                format!("edge shown, but withheld: {}", self.withheld.join("; "))
            }
            (_, Some(more)) => {
                format!("not enough trades yet (about {more} more, if the true edge is {size})")
            }
            (_, None) => "not enough trades yet".to_owned(),
        };
        for label in &self.labels {
            words.push_str(", ");
            words.push_str(label);
        }
        words
    }

    /// How the trades overlap, where they do.
    pub(super) fn overlap(&self) -> Option<String> {
        let inflation = self.variance_inflation;
        (inflation > 1.0 + 1e-9).then(|| format!("{} clusters, variance x{inflation:.2}", self.clusters))
    }
}

/// Trades that gaps in the data called off may hide losses.
fn gaps<'a>(rows: impl IntoIterator<Item = &'a IntentRow>) -> Option<String> {
    let outcomes: Vec<Outcome> = rows.into_iter().filter_map(|row| row.outcome).collect();
    let cancelled = outcomes.iter().filter(|outcome| **outcome == Outcome::Cancelled).count();
    let share = cancelled as f64 / outcomes.len().max(1) as f64;
    (share > MOST_CANCELLED).then(|| format!("{:.1} % of the trades were cancelled for gaps", share * 100.0))
}

//! Verdict of a report, with its evidence and the reasons for withholding it.

use super::caveats::{Caveats, caveat_text};
use crate::analysis::Finding;
use crate::shown::{EdgeDetectionLine, explain_interval};
use candlewick_engine::{IntentRow, Judge, JudgedTrade, edge_sequence, judge};
use candlewick_records::{
    EDGE_NO_LONGER_HELD, EdgeIntervals, count_text, edge_threshold, format_utc, no_longer_held_text,
    threshold_text, verdict_name, verdict_text, withheld_verdict_text,
};
use candlewick_sdk::{Millis, Outcome};
use candlewick_statistics::{EdgeTest, Verdict};
use serde::Serialize;

const NO_JOINT_VERDICT: &str = "no joint verdict, because the bots changed since alpha was divided among them; see the verdict of each bot";

#[derive(Debug, Serialize)]
pub struct EdgeLine {
    #[serde(skip)]
    pub verdict: &'static str,
    pub(crate) judged_trades: u64,
    about_more_trades: Option<u64>,
    /// Tested edge, as the mean return per unit of stake.
    delta: f64,
    #[serde(skip)]
    alpha: f64,
    pub(crate) account_for: f64,
    pub(crate) threshold_for: Option<f64>,
    pub(crate) account_against: f64,
    pub(crate) threshold_against: f64,
    clusters: u64,
    variance_inflation: f64,
    pub(crate) withheld: Vec<String>,
    labels: Vec<&'static str>,
    no_longer_held_since: Option<Millis>,
    shown: Option<EdgeDetectionLine>,
    #[serde(flatten)]
    pub intervals: EdgeIntervals,
}

impl EdgeLine {
    pub fn new<'a>(
        test: &EdgeTest,
        rows: impl IntoIterator<Item = &'a IntentRow> + Clone,
        caveats: &Caveats,
    ) -> Self {
        let mut withheld = Vec::new();
        let (mut verdict, about_more_trades) = verdict_name(test);
        // The intervals agree with the test only if all of the bot's trades are available.
        let trades = rows.clone().into_iter().map(JudgedTrade::from_row);
        let ended = trades.filter(|trade| !trade.is_unopened()).filter_map(|trade| Some(trade.ended?.1));
        let ended: Vec<Outcome> = ended.collect();
        let counted = ended.iter().filter(|outcome| **outcome != Outcome::Cancelled).count() as u64;
        let is_whole = counted == test.settled();
        let intervals = if is_whole {
            EdgeIntervals::from_sequence(&edge_sequence(rows.clone()))
        } else {
            EdgeIntervals::default()
        };
        let (mut since, mut shown) = (None, None);
        if test.verdict() == Verdict::EdgeShown {
            let again = EdgeTest::new(test.plan()).with_weight(test.weight());
            since = Judge::from_rows(rows.clone(), again).no_longer_held_since();
            let trades: Vec<JudgedTrade> = rows.clone().into_iter().map(JudgedTrade::from_row).collect();
            shown = if is_whole { EdgeDetectionLine::from_judged(&trades, test) } else { None };
            withheld = caveats.reasons_to_withhold(test, ended.into_iter(), |test| judge(rows, test));
        }
        if !withheld.is_empty() {
            verdict = "not_enough_trades";
        }
        Self {
            verdict,
            judged_trades: test.settled(),
            about_more_trades,
            delta: test.plan().delta(),
            alpha: test.plan().alpha(),
            account_for: test.edge_account(),
            threshold_for: edge_threshold(test),
            account_against: test.mirror_account(),
            threshold_against: test.plan().beta().recip(),
            clusters: test.overlap().clusters(),
            variance_inflation: test.overlap().variance_inflation(),
            withheld,
            labels: caveats.labels.clone(),
            no_longer_held_since: None,
            shown,
            intervals,
        }
        .with_edge_end(since)
    }

    /// Sets the time since which trades no longer support the edge; `None` if they still do.
    #[must_use]
    pub fn with_edge_end(self, since: Option<Millis>) -> Self {
        let verdict = match (since, self.verdict) {
            (Some(_), _) if self.withheld.is_empty() => EDGE_NO_LONGER_HELD,
            (None, EDGE_NO_LONGER_HELD) => "edge_shown",
            (_, verdict) => verdict,
        };
        Self { no_longer_held_since: since, verdict, ..self }
    }

    pub fn describe(&self) -> String {
        let size = format!("{:.0} % of the stake", self.delta * 100.0);
        let ended = self.no_longer_held_since.map(format_utc);
        let mut words = match (self.verdict, self.about_more_trades) {
            ("edge_shown", _) => {
                self.shown.map_or_else(|| verdict_text(self.verdict, None), |shown| shown.describe())
            }
            ("edge_rejected", _) => {
                let error = 100.0 / self.threshold_against;
                format!("no edge. An edge of {size} or more is ruled out ({error:.0} % error rate)")
            }
            (EDGE_NO_LONGER_HELD, _) => {
                let since = no_longer_held_text(&ended.unwrap_or_default());
                format!("{since}: later trades no longer support an edge of {size} or more")
            }
            _ if !self.withheld.is_empty() => withheld_verdict_text(&self.withheld, ended.as_deref()),
            _ if self.threshold_for.is_none() => NO_JOINT_VERDICT.to_owned(),
            (_, Some(more)) => {
                let more = count_text(more, "more", "more");
                format!("not enough trades yet (about {more} if the true edge is {size})")
            }
            (_, None) => "not enough trades yet".to_owned(),
        };
        let caveats: Vec<&str> = self.labels.iter().map(|label| caveat_text(label)).collect();
        if !caveats.is_empty() {
            words = format!("{words}. Caveats: {}", caveats.join("; "));
        }
        words
    }

    pub fn summary(&self) -> String {
        let name = match self.verdict {
            _ if !self.withheld.is_empty() && self.no_longer_held_since.is_some() => {
                "exploratory, edge withheld and no longer held".to_owned()
            }
            _ if !self.withheld.is_empty() => "exploratory, edge withheld".to_owned(),
            "edge_rejected" => "no edge".to_owned(),
            other => other.replace('_', " "),
        };
        format!("{name} ({})", count_text(self.judged_trades, "trade", "trades"))
    }

    pub fn evidence(&self) -> String {
        format!("{:.2} of {}", self.account_for, threshold_text(self.threshold_for))
    }

    pub(super) fn evidence_text(&self, thresholds: &[Option<f64>]) -> String {
        let (mark, error) = (1.0 / self.alpha, self.alpha * 100.0);
        let shared = match thresholds {
            [Some(first), rest @ ..] if !rest.is_empty() && rest.iter().all(|one| *one == Some(*first)) => {
                let (bots, needed) = (thresholds.len(), threshold_text(Some(*first)));
                format!("; {bots} bots share this error rate, so each bot needs {needed}")
            }
            [_, _, ..] => "; several bots share this error rate, so each bot needs more evidence".to_owned(),
            _ => String::new(),
        };
        format!(
            "Evidence starts at 1; wins raise the evidence, losses lower it. Evidence of {mark:.0} shows an edge for a \
             single bot ({error:.0} % error rate){shared}"
        )
    }

    pub(crate) fn explain_interval(&self) -> Option<&'static str> {
        explain_interval(self.verdict, self.intervals.edge_sequence_95, self.delta)
    }

    pub(crate) fn finding(&self) -> Option<Finding> {
        self.shown.filter(|_| self.no_longer_held_since.is_none())?.finding()
    }

    pub fn overlap_text(&self) -> Option<String> {
        let Self { clusters, variance_inflation: factor, .. } = self;
        let groups = count_text(*clusters, "group", "groups");
        (*factor > 1.0 + 1e-9)
            .then(|| format!("{groups} of overlapping trades; variance multiplied by {factor:.2}"))
    }
}

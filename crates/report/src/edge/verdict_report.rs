//! Verdict on trades, for all bots together and per bot, as text and JSON.

use super::{Counts, Sample};
use crate::analysis::Finding;
use crate::figure::{format_number, format_percent, prefixed_lines};
use crate::run::caveat_text;
use crate::shown::explain_interval;
use candlewick_records::{EXPLORATORY, table, table_text, threshold_text};
use candlewick_statistics::EdgeTestPlan;
use serde::Serialize;
use std::fmt;

#[derive(Debug, Serialize)]
pub struct VerdictReport {
    pub alpha: f64,
    pub beta: f64,
    pub delta: f64,
    pub all: Sample,
    pub bots: Vec<Sample>,
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl VerdictReport {
    pub fn new(plan: EdgeTestPlan, all: Sample, bots: Vec<Sample>) -> Self {
        let findings = std::iter::once(&all).chain(&bots).filter_map(Sample::finding).collect();
        let notices = Vec::new();
        Self { alpha: plan.alpha(), beta: plan.beta(), delta: plan.delta(), all, bots, findings, notices }
    }

    #[must_use]
    pub fn with_findings(mut self, findings: Vec<Finding>, notices: Vec<String>) -> Self {
        self.findings.extend(findings);
        self.findings.sort_by_key(|finding| finding.severity);
        self.notices.extend(notices);
        self
    }

    fn samples(&self) -> impl Iterator<Item = &Sample> {
        std::iter::once(&self.all).chain(&self.bots)
    }

    fn render_intervals(&self) -> String {
        let known = self.samples().filter_map(|sample| {
            Some([sample_label(sample), sample.intervals.edge_text()?, sample.intervals.win_rate_text()?])
        });
        let rows: Vec<[String; 3]> = known.collect();
        let header = ["95 % interval (anytime-valid)", "edge, % of stake", "win rate"];
        if rows.is_empty() { String::new() } else { format!("\n\n{}", table_text(header, rows)) }
    }

    fn render_fixed_sample(&self) -> String {
        let mut header = vec!["fixed sample of independent trades".to_owned()];
        header.extend(self.samples().map(sample_label));
        let mut lines = table(header);
        let mut add = |name: &str, figure: &dyn Fn(&Sample) -> Option<String>| {
            let cells = self.samples().map(|sample| figure(sample).unwrap_or_else(|| "-".to_owned()));
            let row: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
            lines.add_row(row);
        };
        let range = |[low, high]: [f64; 2]| format!("{} to {}", format_percent(low), format_percent(high));
        add("win rate", &|sample| sample.independent.win_rate.map(format_percent));
        add("break-even", &|sample| sample.independent.break_even.map(format_percent));
        add("win rate, 95 % interval (Wilson)", &|sample| sample.independent.wilson_95.map(range));
        add("win rate, 95 % interval (Clopper-Pearson)", &|sample| {
            sample.independent.clopper_pearson_95.map(range)
        });
        add("p-value against break-even", &|sample| sample.independent.p_value.map(|p| format!("{p:.4}")));
        add("SPRT", &|sample| sample.independent.sprt.map(|answer| answer.replace('_', " ")));
        add("mean return, % of stake", &|sample| sample.independent.mean_return.map(format_percent));
        add("groups of overlapping trades", &|sample| sample.clusters.map(format_number));
        add("variance inflation", &|sample| sample.variance_inflation.map(|factor| format!("x{factor:.2}")));
        lines.render()
    }
}

impl fmt::Display for VerdictReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for headline in self.findings.iter().filter(|finding| finding.is_headline()) {
            writeln!(f, "{}\n", headline.text)?;
        }
        let header = ["", "verdict", "evidence for", "against", "won", "lost", "drawn", "cancelled", "open"];
        let account = |account: Option<f64>, threshold: Option<f64>| {
            account.map_or("-".to_owned(), |account| format!("{account:.3} of {}", threshold_text(threshold)))
        };
        let is_explored = |sample: &Sample| sample.verdict == Some(EXPLORATORY);
        let row = |sample: &Sample| {
            let Counts { won, lost, draw, cancelled, unsettled } = sample.counts;
            let mut row = vec![sample_label(sample), sample.describe()];
            row.push(account(sample.account_for, sample.threshold_for));
            row.push(account(sample.account_against, sample.threshold_against));
            row.extend([won, lost, draw, cancelled, unsettled].map(format_number));
            row
        };
        let meaning = if self.all.verdict.is_some() {
            format!(
                "Evidence starts at 1. The number after \"of\" is its threshold. At the threshold, evidence \
                 for shows an edge, and evidence against rules out an edge of {} of the stake or more. The \
                 error rate of {} covers all bots and their restarts.{}",
                format_percent(self.delta),
                format_percent(self.alpha),
                if self.samples().any(is_explored) { " Exploratory trades cannot show an edge." } else { "" }
            )
        } else {
            "A verdict needs the order of the trades. Pass --trades or --journal.".to_owned()
        };
        let caveats: Vec<&str> = self.all.labels.iter().map(|label| caveat_text(label)).collect();
        let caveats = caveats.join("; ");
        let caveats = if caveats.is_empty() { caveats } else { format!("\nCaveats: {caveats}.") };
        writeln!(f, "{}", table_text(header, self.samples().map(row)))?;
        for sample in self.samples() {
            if let Some(shown) = sample.describe_detection() {
                writeln!(f, "{}: {shown}.", sample_label(sample))?;
            }
        }
        write!(f, "{meaning}{caveats}{}", self.render_intervals())?;
        let all = explain_interval(
            self.all.verdict.unwrap_or_default(),
            self.all.intervals.edge_sequence_95,
            self.delta,
        );
        if let Some(words) = all {
            write!(f, "\n{words}.")?;
        }
        write!(f, "\n{}\n{}", Finding::render_all(&self.findings), self.render_fixed_sample())?;
        f.write_str(&prefixed_lines("\nnote: ", &self.notices))
    }
}

fn sample_label(sample: &Sample) -> String {
    sample.bot.clone().unwrap_or_else(|| "all trades".to_owned())
}

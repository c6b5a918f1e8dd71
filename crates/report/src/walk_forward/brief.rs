//! Summary of a walk-forward for the report of a guided search.

use super::{HoldOut, WalkForwardReport, WindowLine};
use crate::analysis::FindingKind;
use crate::figure::{minute, percent};
use crate::page::DataTable;
use crate::value::short;
use candlewick_records::counted;
use candlewick_search::sweep::Figures;

impl WalkForwardReport {
    pub(crate) const fn verdict(&self) -> &'static str {
        self.verdict
    }

    pub(crate) fn verdict_words(&self) -> String {
        self.edge.words()
    }

    pub(crate) fn is_withheld(&self) -> bool {
        self.edge.is_withheld()
    }

    pub(crate) fn did_not_last(&self) -> bool {
        self.has_finding(FindingKind::EdgeDidNotLast)
    }

    pub(crate) fn loses_money(&self) -> bool {
        self.has_finding(FindingKind::StakesLoseMoney)
    }

    fn has_finding(&self, kind: FindingKind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    pub(crate) fn headlines(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|finding| finding.is_headline()).map(|finding| finding.text.as_str())
    }

    pub(crate) fn tested(&self) -> Option<&Figures> {
        self.out_of_sample.as_ref().map(|joined| &joined.figures)
    }

    pub(crate) const fn hold_out(&self) -> Option<&HoldOut> {
        self.hold_out.as_ref()
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notices
    }

    pub(crate) fn brief(&self) -> String {
        let windows = counted(self.windows.len(), "window", "windows");
        match self.tested() {
            None => format!("{windows}: nothing was traded, since no set had enough trades in a training"),
            Some(figures) => format!(
                "{windows}, {} on their tests: win rate {} where {} is needed, {:+.2} in all",
                counted(usize::try_from(figures.trades).unwrap_or(usize::MAX), "trade", "trades"),
                percent(figures.win_rate),
                percent(figures.break_even),
                figures.pnl
            ),
        }
    }

    pub(crate) fn window_table(&self) -> DataTable {
        let mut header = ["test from", "to"].map(str::to_owned).to_vec();
        header.extend(self.parameters.iter().cloned());
        header.extend(["win rate in training", "on the test", "needed", "trades", "pnl"].map(str::to_owned));
        let row = |line: &WindowLine| {
            let mut row = vec![minute(line.test.from), minute(line.test.to)];
            match &line.chosen {
                None => row.extend((0..self.parameters.len() + 5).map(|_| "-".to_owned())),
                Some(chosen) => {
                    let named = self.parameters.iter().filter_map(|name| chosen.parameters.get(name));
                    row.extend(named.map(short));
                    let tested = &chosen.out_of_sample;
                    row.extend([
                        percent(chosen.in_sample.win_rate),
                        percent(tested.win_rate),
                        percent(tested.break_even),
                        tested.trades.to_string(),
                        format!("{:+.2}", tested.pnl),
                    ]);
                }
            }
            row
        };
        DataTable { header, rows: self.windows.iter().map(row).collect() }
    }
}

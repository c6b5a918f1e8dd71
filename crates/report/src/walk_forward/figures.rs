//! Rendering of a walk-forward report as text and as CSV.

use super::{ChosenSetLine, TestTotals, VerifiedSets, WalkForwardReport, WalkForwardSummary, WindowLine};
use crate::analysis::{Finding, FindingKind};
use crate::figure::{
    format_json_value, format_minute, format_number, format_percent, p_value_text, prefixed_lines,
};
use crate::page::DataTable;
use candlewick_records::{count_text, table_text};
use candlewick_sdk::to_csv_cell;
use candlewick_search::sweep::Figures;
use serde_json::Value;
use std::fmt;
use std::io::{self, Write};

const EFFICIENCY_NOTE: &str = "Efficiency is the test expectancy divided by the in-sample expectancy: at 1, the test kept \
                               the whole profit; at 0, it kept nothing; below 0, it lost money. In the total, each window \
                               counts in proportion to its test trades. A dash (-) means no in-sample profit or no test trade.";

impl fmt::Display for WalkForwardSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        for headline in report.headlines() {
            writeln!(f, "{headline}\n")?;
        }
        let rows = report.windows.iter().map(|line| window_row(line, report));
        let windows = table_text(window_header(report), rows);
        let figures = report.figures().into_iter().map(|(name, value)| [name.to_owned(), value]);
        writeln!(f, "{windows}\n\n{}", table_text(["out of sample, all windows", ""], figures))?;
        if let Some(words) = report.edge.explain_interval() {
            writeln!(f, "\n{words}.")?;
        }
        if report.out_of_sample.is_some() {
            writeln!(f, "\n{EFFICIENCY_NOTE}")?;
        }
        f.write_str(&Finding::render_all(&report.findings))?;
        let trials: usize = report.windows.iter().map(|line| line.trials).sum();
        let seconds = self.elapsed_ms as f64 / 1_000.0;
        let windows = count_text(report.windows.len(), "window", "windows");
        write!(f, "\n{} in {windows}; {seconds:.1} s", count_text(trials, "trial", "trials"))?;
        if self.resumed > 0 {
            write!(f, ", {} resumed", count_text(self.resumed, "trial", "trials"))?;
        }
        let VerifiedSets { verified, chosen } = self.verified;
        if verified < chosen {
            write!(f, "\nnote: the {verified} most frequent of {chosen} chosen sets were verified")?;
        }
        f.write_str(&prefixed_lines("wrote ", self.files.iter().map(|file| file.display())))?;
        f.write_str(&prefixed_lines("note: ", &report.notices))
    }
}

fn window_header(report: &WalkForwardReport) -> Vec<String> {
    let mut header = ["test from", "to"].map(str::to_owned).to_vec();
    header.extend(report.parameters.iter().cloned());
    header.extend(["in sample", "on test"].map(|part| format!("{} {part}", report.objective_kind.title())));
    let figures = "win rate in sample|win rate on test|break-even|trades|profit|efficiency|neighbours";
    header.extend(figures.split('|').map(str::to_owned));
    header
}

fn window_row(line: &WindowLine, report: &WalkForwardReport) -> Vec<String> {
    let mut row = vec![format_minute(line.test.from), format_minute(line.test.to)];
    let Some(chosen) = &line.chosen else {
        row.extend((0..report.parameters.len() + 9).map(|_| "-".to_owned()));
        return row;
    };
    row.extend(chosen.values(&report.parameters));
    let score = |score: f64| report.objective_kind.format_score(score);
    row.extend([score(chosen.score), chosen.out_of_sample_score.map_or("-".to_owned(), score)]);
    row.extend(chosen.result_cells());
    row.extend([format_ratio(chosen.efficiency), chosen.robustness.describe()]);
    row
}

impl ChosenSetLine {
    fn values(&self, parameters: &[String]) -> impl Iterator<Item = String> {
        parameters.iter().filter_map(|name| self.parameters.get(name)).map(format_json_value)
    }

    /// Returns the in-sample win rate, followed by the out-of-sample win rate, break-even, trades and profit.
    fn result_cells(&self) -> [String; 5] {
        let tested = &self.out_of_sample;
        let [before, rate, needed] =
            [self.in_sample.win_rate, tested.win_rate, tested.break_even].map(format_percent);
        [before, rate, needed, format_number(tested.trades), format_number(format!("{:+.2}", tested.pnl))]
    }
}

impl WalkForwardReport {
    fn figures(&self) -> Vec<(&'static str, String)> {
        let mut figures = vec![("verdict", self.edge.describe())];
        if let Some(TestTotals { win_rate_interval, figures: all, .. }) = &self.out_of_sample {
            let counts = [all.trades, all.won, all.lost, all.draw, all.cancelled];
            let [trades, won, lost, draw, cancelled] = counts.map(format_number);
            let counts = format!("{trades}: {won} won, {lost} lost, {draw} drawn, {cancelled} cancelled");
            figures.push(("trades", counts));
            let needed = format_percent(all.break_even);
            figures.push(("win rate", format!("{} (break-even {needed})", format_percent(all.win_rate))));
            let intervals = self.edge.intervals;
            let ends = [
                ("win rate, 95 % interval (anytime-valid)", intervals.win_rate_text()),
                ("edge, 95 % interval (anytime-valid)", intervals.edge_text()),
            ];
            figures.extend(ends.into_iter().filter_map(|(name, words)| Some((name, words?))));
            if let Some(interval) = win_rate_interval {
                let ends =
                    format!("{} to {}", format_percent(interval.lower), format_percent(interval.upper));
                figures.push(("win rate, 95 % interval (fixed sample of independent trades)", ends));
            }
            figures.push(("p-value (independent trades)", p_value_text(all.p_value)));
            figures.push(("profit and loss", format_number(format!("{:+.2}", all.pnl))));
            figures.extend(self.curve.clone().map(|curve| ("equity curve", curve)));
            figures.push(("max drawdown", format_number(format!("{:.2}", all.max_drawdown))));
            figures.push(("max drawdown, % of peak", format!("{:.2} %", all.max_drawdown_percent)));
            figures.push(("longest losing streak", all.longest_losing_streak.to_string()));
        } else {
            figures.push(("trades", "none: no set had enough trades in any window".to_owned()));
        }
        figures.extend(self.edge.overlap_text().map(|overlap| ("overlap", overlap)));
        figures.push(("efficiency", format_ratio(self.efficiency)));
        let robustness = &self.robustness;
        if let Some(share) = robustness.share {
            let falls = [robustness.counts.mean_fall, robustness.counts.worst_fall];
            let drop = |fall: f64| self.objective_kind.format_score(fall).trim_start_matches('+').to_owned();
            let [mean, worst] = falls.map(|fall| fall.map_or("-".to_owned(), drop));
            let text = format!(
                "{} beat break-even in sample ({}); a neighbour's {} is lower by {mean} on average and {worst} at worst",
                robustness.describe(),
                format_percent(share),
                self.objective
            );
            figures.push(("neighbouring parameter sets", text));
        }
        figures
    }
}

fn format_ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
}

impl WalkForwardReport {
    pub(crate) fn has_finding(&self, kind: FindingKind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    pub(crate) fn headlines(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|finding| finding.is_headline()).map(|finding| finding.text.as_str())
    }

    pub(crate) fn tested_figures(&self) -> Option<&Figures> {
        self.out_of_sample.as_ref().map(|joined| &joined.figures)
    }

    pub(crate) fn summary(&self) -> String {
        let windows = count_text(self.windows.len(), "window", "windows");
        match self.tested_figures() {
            None => format!("{windows}: no trades, because no set had enough trades in sample"),
            Some(figures) => format!(
                "{windows}, {} out of sample: win rate {} (break-even {}), profit {}",
                count_text(usize::try_from(figures.trades).unwrap_or(usize::MAX), "trade", "trades"),
                format_percent(figures.win_rate),
                format_percent(figures.break_even),
                format_number(format!("{:+.2}", figures.pnl))
            ),
        }
    }

    pub(crate) fn window_table(&self) -> DataTable {
        let (mut header, scores) = (window_header(self), 2 + self.parameters.len());
        let mut rows: Vec<_> = self.windows.iter().map(|line| window_row(line, self)).collect();
        // The page omits the scores, the efficiency and the neighbours.
        for row in rows.iter_mut().chain([&mut header]) {
            row.truncate(row.len() - 2);
            row.drain(scores..scores + 2);
        }
        DataTable { header, rows }
    }
}

type NamedFigure = (&'static str, fn(&Figures) -> Option<f64>);

const FIGURES: [NamedFigure; 14] = [
    ("trades", |f| Some(f.trades as f64)),
    ("won", |f| Some(f.won as f64)),
    ("lost", |f| Some(f.lost as f64)),
    ("draw", |f| Some(f.draw as f64)),
    ("cancelled", |f| Some(f.cancelled as f64)),
    ("unsettled", |f| Some(f.unsettled as f64)),
    ("win_rate", |f| f.win_rate),
    ("break_even", |f| f.break_even),
    ("p_value", |f| f.p_value),
    ("pnl", |f| Some(f.pnl)),
    ("expectancy", |f| f.expectancy),
    ("sharpe", |f| f.sharpe),
    ("max_drawdown", |f| Some(f.max_drawdown)),
    ("longest_losing_streak", |f| Some(f.longest_losing_streak as f64)),
];

pub fn write_windows(report: &WalkForwardReport, writer: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    let names = |names: &str| names.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut header = names("window,training_from,training_to,test_from,test_to,trials,counting");
    header.extend(report.parameters.iter().cloned());
    header.extend(names("score,out_of_sample_score,efficiency,neighbours,neighbours_beat_break_even"));
    header.extend(names("neighbours_mean_fall,neighbours_worst_fall"));
    for sample in ["in_sample", "out_of_sample"] {
        header.extend(FIGURES.iter().map(|(name, _)| format!("{sample}_{name}")));
    }
    let safe = |cells: &[String]| cells.iter().map(|cell| to_csv_cell(cell).into_owned()).collect::<Vec<_>>();
    csv.write_record(safe(&header))?;
    for (number, line) in (1..).zip(&report.windows) {
        let mut record: Vec<String> = vec![i32::to_string(&number)];
        let moments = [line.training.from, line.training.to, line.test.from, line.test.to];
        record.extend(moments.map(|at| at.to_string()));
        record.extend([line.trials, line.counting].map(|count| count.to_string()));
        match &line.chosen {
            Some(chosen) => record.extend(csv_cells(chosen, &report.parameters)),
            None => record.resize(header.len(), String::new()),
        }
        csv.write_record(safe(&record))?;
    }
    csv.flush()
}

fn csv_cells(chosen: &ChosenSetLine, parameters: &[String]) -> Vec<String> {
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values = parameters.iter().map(|name| chosen.parameters.get(name).map(plain).unwrap_or_default());
    let counts = chosen.robustness.counts;
    let mut cells: Vec<String> = values.collect();
    cells.extend([Some(chosen.score), chosen.out_of_sample_score, chosen.efficiency].map(number));
    cells.extend([counts.neighbours, counts.beat_break_even].map(|count| count.to_string()));
    cells.extend([counts.mean_fall, counts.worst_fall].map(number));
    for figures in [&chosen.in_sample, &chosen.out_of_sample] {
        cells.extend(FIGURES.iter().map(|(_, figure)| number(figure(figures))));
    }
    cells
}

//! The windows as CSV, one line each.

use super::{ChosenLine, WalkForwardReport};
use candlewick_sdk::visible_cell;
use candlewick_search::sweep::Figures;
use serde_json::Value;
use std::io::{self, Write};

type Named = (&'static str, fn(&Figures) -> Option<f64>);

const FIGURES: [Named; 14] = [
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
    let mut header = ["window", "training_from", "training_to", "test_from", "test_to", "trials", "counting"]
        .map(str::to_owned)
        .to_vec();
    header.extend(report.parameters.iter().cloned());
    let choice = [
        "score",
        "out_of_sample_score",
        "efficiency",
        "neighbours",
        "neighbours_beat_break_even",
        "neighbours_mean_fall",
        "neighbours_worst_fall",
    ];
    header.extend(choice.map(str::to_owned));
    for sample in ["in_sample", "out_of_sample"] {
        header.extend(FIGURES.iter().map(|(name, _)| format!("{sample}_{name}")));
    }
    let safe =
        |cells: &[String]| cells.iter().map(|cell| visible_cell(cell).into_owned()).collect::<Vec<_>>();
    csv.write_record(safe(&header))?;
    for (number, line) in (1..).zip(&report.windows) {
        let mut record: Vec<String> = vec![i32::to_string(&number)];
        let moments = [line.training.from, line.training.to, line.test.from, line.test.to];
        record.extend(moments.map(|at| at.to_string()));
        record.extend([line.trials, line.counting].map(|count| count.to_string()));
        match &line.chosen {
            Some(chosen) => record.extend(cells(chosen, &report.parameters)),
            None => record.resize(header.len(), String::new()),
        }
        csv.write_record(safe(&record))?;
    }
    csv.flush()
}

fn cells(chosen: &ChosenLine, parameters: &[String]) -> Vec<String> {
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

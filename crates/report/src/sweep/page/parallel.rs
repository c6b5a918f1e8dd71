//! Parallel axes: each set is a line through one axis per parameter and one for the score.

use super::ruler::Shade;
use super::{rulers, short};
use crate::markup::escaped;
use candlewick_search::sweep::{Objective, Space, TrialRow};
use std::io::{self, Write};

/// Maximum number of lines. With more, draws the best and an even selection of the rest.
const MAX_LINES: usize = 1_500;
const BEST_LINES: usize = 100;
const TOP: f64 = 30.0;
const HEIGHT: f64 = 380.0;
const GAP: f64 = 160.0;
const LEFT: f64 = 60.0;

/// `rows` are sorted from best to worst.
pub(super) fn draw(
    rows: &[&TrialRow],
    space: &Space,
    objective: Objective,
    shade: &Shade,
    writer: &mut impl Write,
) -> io::Result<()> {
    let rulers = rulers(rows, space);
    let width = LEFT * 2.0 + GAP * rulers.len() as f64;
    let height = TOP + HEIGHT + 20.0;
    write!(
        writer,
        "<div class=\"wide\"><svg id=\"lines\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">"
    )?;
    let shown = chosen(rows);
    if shown.len() < rows.len() {
        write!(
            writer,
            "<text x=\"0\" y=\"{height}\">{} of {} lines are drawn</text>",
            shown.len(),
            rows.len()
        )?;
    }
    // The best last, so that they lie on top.
    for row in shown.iter().rev() {
        let Some(score) = row.score else { continue };
        let of_set = rulers.iter().zip(row.candidate.iter()).map(|(ruler, setting)| ruler.at(setting));
        let places: Vec<f64> = of_set.chain([shade.at(score)]).collect();
        let points: Vec<String> =
            places.iter().enumerate().map(|(axis, at)| format!("{:.1},{:.1}", x(axis), y(*at))).collect();
        let places: Vec<String> = places.iter().map(|at| format!("{at:.4}")).collect();
        write!(
            writer,
            "<polyline points=\"{}\" stroke=\"{}\" data-at=\"{}\"><title>{}</title></polyline>",
            points.join(" "),
            shade.colour(score),
            places.join(" "),
            label_of(row, space, score)
        )?;
    }
    let (low, high) = shade.ends();
    let of_scores = [0.0, 0.5, 1.0].map(|at| (at, short(low + at * (high - low)))).to_vec();
    let named = rulers.iter().map(|ruler| (ruler.name.clone(), ruler.labels(20)));
    for (axis, (name, labels)) in named.chain([(objective.to_string(), of_scores)]).enumerate() {
        let (left, bottom) = (x(axis), TOP + HEIGHT);
        write!(writer, "<text class=\"name middle\" x=\"{left}\" y=\"14\">{name}</text>")?;
        write!(writer, "<line class=\"axis\" x1=\"{left}\" y1=\"{TOP}\" x2=\"{left}\" y2=\"{bottom}\"/>")?;
        for (at, label) in labels {
            write!(
                writer,
                "<text class=\"end\" x=\"{}\" y=\"{:.1}\">{label}</text>",
                left - 6.0,
                y(at) + 4.0
            )?;
        }
        write!(
            writer,
            "<rect class=\"brush\" x=\"{}\" y=\"0\" width=\"12\" height=\"0\"/>\
             <rect class=\"grip\" data-axis=\"{axis}\" x=\"{}\" y=\"{TOP}\" width=\"24\" height=\"{HEIGHT}\"/>",
            left - 6.0,
            left - 12.0
        )?;
    }
    writeln!(writer, "</svg></div>")
}

fn x(axis: usize) -> f64 {
    LEFT + GAP * axis as f64
}

fn y(at: f64) -> f64 {
    TOP + HEIGHT * (1.0 - at)
}

fn chosen<'a>(rows: &[&'a TrialRow]) -> Vec<&'a TrialRow> {
    if rows.len() <= MAX_LINES {
        return rows.to_vec();
    }
    let (best, rest) = rows.split_at(BEST_LINES);
    let every = rest.len().div_ceil(MAX_LINES - BEST_LINES);
    best.iter().chain(rest.iter().step_by(every)).copied().collect()
}

fn label_of(row: &TrialRow, space: &Space, score: f64) -> String {
    let set = space
        .axes()
        .iter()
        .zip(row.candidate.iter())
        .map(|(axis, setting)| format!("{} {setting}", axis.name()));
    escaped(&format!("trial {}: {}; {}", row.trial, set.collect::<Vec<_>>().join(", "), short(score)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_search::sweep::{Outcome, Setting};

    #[test]
    fn of_many_sets_the_best_and_some_of_all_others_are_drawn() {
        let row = |trial| TrialRow {
            trial,
            candidate: [Setting::Whole(1)].into(),
            rung: 0,
            share: 1.0,
            outcome: Outcome::Refused(String::new()),
            score: None,
        };
        let rows: Vec<TrialRow> = (0..5_000).map(row).collect();
        let shown: Vec<u64> = chosen(&rows.iter().collect::<Vec<_>>()).iter().map(|row| row.trial).collect();
        assert!(shown.len() <= MAX_LINES && shown.len() > MAX_LINES / 2, "{}", shown.len());
        assert!(shown[..100].iter().copied().eq(0..100) && shown.iter().any(|trial| *trial > 4_900));
    }
}

//! The HTML page of a sweep: heat maps of parameter pairs, and a parallel-coordinates chart of all trials.

mod ruler;

use super::format_statistics;
use crate::markup::escape_html;
use candlewick_records::count_text;
use candlewick_search::sweep::{Objective, SelectionBias, Space, TrialEnd, TrialRow, rank_rows};
use ruler::{ColourScale, Ruler};
use std::collections::BTreeMap;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const MAX_PAIRED_PARAMETERS: usize = 4;

pub fn write_sweep_page(
    rows: &[TrialRow],
    space: &Space,
    (objective, luck): (Objective, Option<&SelectionBias>),
    notices: &[String],
    mut out: impl Write,
) -> io::Result<()> {
    let last = rows.iter().map(|row| row.rung).max().unwrap_or_default();
    let counting: Vec<&TrialRow> =
        rank_rows(rows).into_iter().filter(|row| row.score.is_some() && row.rung == last).collect();
    let refused = rows.iter().filter(|row| matches!(row.outcome, TrialEnd::Refused(_))).count();
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sweep</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\">\
         <style>{STYLE}</style></head><body><h1>Sweep by {objective}</h1>\
         <p>{} sets: {} with a score (drawn below), {refused} rejected by the strategy. The best of many is partly luck: \
         look for wide areas of one colour, not for the brightest spot.</p>",
        rows.len(),
        counting.len()
    )?;
    for notice in notices {
        write!(out, "<p>Note: {}.</p>", escape_html(notice))?;
    }
    if let Some(luck) = luck {
        write_bias(luck, &mut out)?;
    }
    if let Some(shade) = ColourScale::new(objective, counting.iter().filter_map(|row| row.score)) {
        shade.draw_legend(&mut out)?;
        writeln!(
            out,
            "<h2>All sets</h2><p>Drag along an axis to filter by its values; click the axis to reset.</p>"
        )?;
        draw_lines(&counting, space, &shade, &mut out)?;
        let paired = space.axes().len().min(MAX_PAIRED_PARAMETERS);
        if paired > 1 {
            writeln!(
                out,
                "<h2>Parameter pairs</h2><p>The colour of a cell is the mean score of its sets.</p>"
            )?;
        }
        for across in 0..paired {
            for up in across + 1..paired {
                draw_heat_map(&counting, space, (across, up), &shade, &mut out)?;
            }
        }
    } else {
        writeln!(out, "<p>No set has a score: the objective is undefined, or there are too few trades.</p>")?;
    }
    write!(out, "<script>{SCRIPT}</script></body></html>")
}

fn write_bias(luck: &SelectionBias, mut out: impl Write) -> io::Result<()> {
    write!(
        out,
        "<h2>Luck of the best set</h2><p><strong>Best of {}: {}.</strong></p><table><tr><th></th>\
         <th>probability</th></tr>",
        count_text(luck.sets, "set", "sets"),
        luck.interpretation()
    )?;
    for (name, found) in format_statistics(luck) {
        write!(out, "<tr><td>{name}</td><td>{found}</td></tr>")?;
    }
    writeln!(
        out,
        "</table><p class=\"small\">Based on returns per unit of stake in {} equal time slices; the longest trade spans up \
         to {}. A probability is unknown if there are too few candles.</p>",
        luck.parts,
        count_text(luck.purged_parts, "slice", "slices")
    )
}

fn build_rulers(rows: &[&TrialRow], space: &Space) -> Vec<Ruler> {
    let axes = space.axes().iter().enumerate();
    axes.map(|(place, axis)| Ruler::from_axis(axis, rows.iter().map(|row| &row.candidate[place]))).collect()
}

fn format_short(number: f64) -> String {
    let digits = if number.abs() >= 1_000.0 {
        0
    } else if number.abs() >= 10.0 {
        2
    } else {
        4
    };
    let text = format!("{number:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

const MAP_LEFT: f64 = 90.0;
const MAP_BOTTOM: f64 = 45.0;
const MAP_SIDE: f64 = 360.0;

#[derive(Default)]
struct Cell {
    sum: f64,
    best: f64,
    count: u32,
}

fn draw_heat_map(
    rows: &[&TrialRow],
    space: &Space,
    (across, up): (usize, usize),
    shade: &ColourScale,
    out: &mut impl Write,
) -> io::Result<()> {
    let rulers = build_rulers(rows, space);
    let (x, y) = (&rulers[across], &rulers[up]);
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for row in rows {
        let Some(score) = row.score else { continue };
        let place = (x.cell_index(&row.candidate[across]), y.cell_index(&row.candidate[up]));
        let cell = cells.entry(place).or_default();
        cell.best = if cell.count == 0 { score } else { cell.best.max(score) };
        cell.sum += score;
        cell.count += 1;
    }
    let (wide, high) = (MAP_SIDE / x.cell_count() as f64, MAP_SIDE / y.cell_count() as f64);
    let (width, height) = (MAP_LEFT + MAP_SIDE + 10.0, MAP_SIDE + MAP_BOTTOM + 10.0);
    write!(out, "<svg class=\"map\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">")?;
    for ((column, line), cell) in &cells {
        let (left, top) = (MAP_LEFT + *column as f64 * wide, 5.0 + MAP_SIDE - (*line + 1) as f64 * high);
        let mean = cell.sum / f64::from(cell.count);
        write!(
            out,
            "<rect class=\"cell\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{wide:.2}\" height=\"{high:.2}\" fill=\"{}\">\
             <title>mean {}, best {}, of {} sets</title></rect>",
            shade.colour(mean),
            shade.label(mean),
            shade.label(cell.best),
            cell.count
        )?;
    }
    draw_labels(x, y, out)?;
    writeln!(out, "</svg>")
}

fn draw_labels(x: &Ruler, y: &Ruler, out: &mut impl Write) -> io::Result<()> {
    for (at, label) in x.labels(10) {
        let left = MAP_LEFT + at * MAP_SIDE;
        write!(out, "<text class=\"middle\" x=\"{left:.2}\" y=\"{}\">{label}</text>", MAP_SIDE + 22.0)?;
    }
    for (at, label) in y.labels(18) {
        let top = 9.0 + MAP_SIDE * (1.0 - at);
        write!(out, "<text class=\"end\" x=\"{}\" y=\"{top:.2}\">{label}</text>", MAP_LEFT - 6.0)?;
    }
    let (middle, below, centre) = (MAP_LEFT + MAP_SIDE / 2.0, MAP_SIDE + 42.0, MAP_SIDE / 2.0);
    write!(
        out,
        "<text class=\"name middle\" x=\"{middle}\" y=\"{below}\">{}</text>\
         <text class=\"name middle\" transform=\"translate(14 {centre}) rotate(-90)\">{}</text>",
        x.name, y.name
    )
}

/// Maximum number of lines (one per set). If there are more, the best sets and an even sample of the rest are drawn.
const MAX_LINES: usize = 1_500;
const BEST_LINES: usize = 100;
const AXIS_TOP: f64 = 30.0;
const AXIS_HEIGHT: f64 = 380.0;
const AXIS_GAP: f64 = 160.0;
const AXIS_LEFT: f64 = 60.0;

fn draw_lines(
    rows: &[&TrialRow],
    space: &Space,
    shade: &ColourScale,
    out: &mut impl Write,
) -> io::Result<()> {
    let rulers = build_rulers(rows, space);
    let width = AXIS_LEFT * 2.0 + AXIS_GAP * rulers.len() as f64;
    let height = AXIS_TOP + AXIS_HEIGHT + 20.0;
    write!(
        out,
        "<div class=\"wide\"><svg id=\"lines\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">"
    )?;
    let shown = sample(rows);
    if shown.len() < rows.len() {
        write!(out, "<text x=\"0\" y=\"{height}\">{} of {} lines are drawn</text>", shown.len(), rows.len())?;
    }
    // The best sets are drawn last, so that they are on top.
    for row in shown.iter().rev() {
        let Some(score) = row.score else { continue };
        let of_set = rulers.iter().zip(row.candidate.iter()).map(|(ruler, setting)| ruler.position(setting));
        let places: Vec<f64> = of_set.chain([shade.position(score)]).collect();
        let point = |(axis, at): (usize, &f64)| format!("{:.1},{:.1}", axis_x(axis), axis_y(*at));
        let points: Vec<String> = places.iter().enumerate().map(point).collect();
        let places: Vec<String> = places.iter().map(|at| format!("{at:.4}")).collect();
        write!(
            out,
            "<polyline points=\"{}\" stroke=\"{}\" data-at=\"{}\"><title>{}</title></polyline>",
            points.join(" "),
            shade.colour(score),
            places.join(" "),
            trial_label(row, space, &shade.label(score))
        )?;
    }
    let label = |at: f64| (at, shade.label(shade.low + at * (shade.high - shade.low)));
    let scores = (shade.objective.to_string(), [0.0, 0.5, 1.0].map(label).to_vec());
    let named = rulers.iter().map(|ruler| (ruler.name.clone(), ruler.labels(20)));
    for (axis, (name, labels)) in named.chain([scores]).enumerate() {
        let (left, bottom) = (axis_x(axis), AXIS_TOP + AXIS_HEIGHT);
        write!(out, "<text class=\"name middle\" x=\"{left}\" y=\"14\">{name}</text>")?;
        write!(out, "<line class=\"axis\" x1=\"{left}\" y1=\"{AXIS_TOP}\" x2=\"{left}\" y2=\"{bottom}\"/>")?;
        for (at, label) in labels {
            write!(
                out,
                "<text class=\"end\" x=\"{}\" y=\"{:.1}\">{label}</text>",
                left - 6.0,
                axis_y(at) + 4.0
            )?;
        }
        write!(
            out,
            "<rect class=\"brush\" x=\"{}\" y=\"0\" width=\"12\" height=\"0\"/>\
             <rect class=\"grip\" data-axis=\"{axis}\" x=\"{}\" y=\"{AXIS_TOP}\" width=\"24\" height=\"{AXIS_HEIGHT}\"/>",
            left - 6.0,
            left - 12.0
        )?;
    }
    writeln!(out, "</svg></div>")
}

fn axis_x(axis: usize) -> f64 {
    AXIS_LEFT + AXIS_GAP * axis as f64
}

fn axis_y(at: f64) -> f64 {
    AXIS_TOP + AXIS_HEIGHT * (1.0 - at)
}

fn sample<'a>(rows: &[&'a TrialRow]) -> Vec<&'a TrialRow> {
    if rows.len() <= MAX_LINES {
        return rows.to_vec();
    }
    let (best, rest) = rows.split_at(BEST_LINES);
    let every = rest.len().div_ceil(MAX_LINES - BEST_LINES);
    best.iter().chain(rest.iter().step_by(every)).copied().collect()
}

fn trial_label(row: &TrialRow, space: &Space, score: &str) -> String {
    let set = space
        .axes()
        .iter()
        .zip(row.candidate.iter())
        .map(|(axis, setting)| format!("{} {setting}", axis.name()));
    escape_html(&format!("trial {}: {}; {score}", row.trial, set.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::BotSettings;
    use candlewick_sdk::{Registry, StrategyEntry};
    use candlewick_search::sweep::{Figures, Setting};
    use rsi_reversal::RsiReversal;
    use serde_json::json;

    fn figures() -> Figures {
        serde_json::from_value(serde_json::json!({
            "trades": 10, "won": 6, "lost": 4, "draw": 0, "cancelled": 0, "unsettled": 0, "refused": 0,
            "win_rate": 0.6, "break_even": 0.5, "edge_lower": 0.1, "p_value": 0.1, "pnl": 3.0, "expectancy": 0.1,
            "sharpe": 1.0, "max_drawdown": 1.0, "max_drawdown_percent": 0.1, "longest_losing_streak": 2
        }))
        .unwrap()
    }

    fn space(names: [&str; 2]) -> Space {
        let mut entry: StrategyEntry =
            Registry::default().with::<RsiReversal>().unwrap().entries()[0].clone();
        let mut parameter = entry.parameters[0].clone();
        (parameter.kind, parameter.minimum, parameter.maximum) = ("integer".to_owned(), Some(0.0), Some(2.0));
        parameter.default = json!(1);
        entry.parameters = names
            .map(|name| candlewick_sdk::parameters::Parameter { name: name.to_owned(), ..parameter.clone() })
            .to_vec();
        let bot = json!({"name": "a", "symbol": "AAA", "interval": "1m", "strategy": "rsi-reversal", "close_type": "01:00"});
        let bot: BotSettings = serde_json::from_value(bot).unwrap();
        Space::new(&entry, &bot, &names.map(|name| format!("{name}=0,1,2")), &[]).unwrap()
    }

    fn page(rows: &[TrialRow], names: [&str; 2]) -> String {
        let mut bytes = Vec::new();
        let space = space(names);
        let luck = SelectionBias::new(rows, 0.8, 1);
        write_sweep_page(rows, &space, (Objective::Edge, luck.as_ref()), &[], &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn row(trial: u64, fast: i64, slow: i64, score: Option<f64>) -> TrialRow {
        let candidate = [Setting::Whole(fast), Setting::Whole(slow)].into();
        let outcome = TrialEnd::Figures(Box::new(figures()));
        TrialRow { trial, candidate, rung: 0, share: 1.0, outcome, score }
    }

    #[test]
    fn draws_sets_with_a_score_and_loads_nothing() {
        let rows = [row(0, 0, 1, Some(0.5)), row(1, 0, 2, Some(-0.25)), row(2, 2, 2, None)];
        let page = page(&rows, ["fast", "slow"]);
        assert_eq!(page.matches("<polyline").count(), 2);
        assert_eq!(page.matches("class=\"cell\"").count(), 2);
        assert!(page.contains("3 sets: 2 with a score") && page.contains("Best of 3 sets"), "{page}");
        for loading in ["http", "src=", "url(", "import", "@font"] {
            assert!(!page.contains(loading), "{loading}");
        }
    }

    #[test]
    fn escapes_names_and_reports_sweep_without_scores() {
        let named = page(&[row(0, 0, 1, Some(0.5))], ["<script>alert(1)</script>", "a\"b"]);
        assert!(!named.contains("<script>alert") && !named.contains("a\"b"), "{named}");
        assert!(page(&[row(0, 0, 1, None)], ["fast", "slow"]).contains("No set has a score"));
    }

    #[test]
    fn draws_the_best_and_a_selection_of_many_sets() {
        let rows: Vec<TrialRow> = (0..5_000).map(|trial| row(trial, 1, 1, None)).collect();
        let shown: Vec<u64> = sample(&rows.iter().collect::<Vec<_>>()).iter().map(|row| row.trial).collect();
        assert!(shown.len() <= MAX_LINES && shown.len() > MAX_LINES / 2, "{}", shown.len());
        assert!(shown[..100].iter().copied().eq(0..100) && shown.iter().any(|trial| *trial > 4_900));
    }
}

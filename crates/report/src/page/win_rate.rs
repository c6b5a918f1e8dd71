//! Page section: rolling win rate with break-even line and the range of chance.

use super::chart::{ACCENT, Axis, Chart, Charts, Column, Layer, Pane, QUIET, as_table, line, packed};
use super::{DataTable, RunPage};
use crate::analysis::{RollingWinRate, settled_rows};
use crate::figure::{minute, or_dash, percent};
use candlewick_sdk::Millis;
use std::io;

/// Rates are packed in 1/1000 of a percent.
const PARTS: f64 = 1_000.0;
const MOST_ROWS: usize = 16;

pub(super) fn section(page: &RunPage<'_>, charts: &mut Charts) -> io::Result<String> {
    let head = "<section id=\"win-rate\"><h2>Rolling win rate</h2>";
    let Some(rolling) = RollingWinRate::of(&settled_rows(page.trades.book)) else {
        return Ok(format!(
            "{head}<p class=\"none\">Fewer than 20 trades were decided: too few for a rolling win rate.</p></section>"
        ));
    };
    let window = rolling.window;
    let points = &rolling.points;
    let whole = |rate: f64| (rate * 100.0 * PARTS).round() as i64;
    let needed: Option<Vec<f64>> = points.iter().map(|point| point.break_even).collect();
    let mut columns: Vec<(Vec<i64>, f64)> = vec![
        (points.iter().map(|point| point.at.get()).collect(), 1.0),
        (points.iter().map(|point| whole(point.rate)).collect(), PARTS),
    ];
    let column = |number| -> Column { packed("rolling", number) };
    let mut layers = Vec::new();
    if let Some(needed) = &needed {
        let beside =
            |side: f64| needed.iter().map(|rate| whole(rate + side * rolling.chance(*rate))).collect();
        let exact = needed.iter().map(|rate| whole(*rate)).collect();
        columns.extend([(exact, PARTS), (beside(-1.0), PARTS), (beside(1.0), PARTS)]);
        let name = "within chance of break-even (95 %)".to_owned();
        layers.push(Layer::Band { name, x: column(0), low: column(3), high: column(4) });
        layers.push(Layer::Line {
            name: "break-even".to_owned(),
            colour: QUIET,
            is_stepped: false,
            is_dashed: true,
            is_filled: false,
            x: column(0),
            y: column(2),
        });
    }
    layers.push(line(&format!("win rate of the last {window} decided trades"), ACCENT, column(0), column(1)));
    charts.pack("rolling", &columns)?;
    let pane = Pane { title: "Win rate".to_owned(), height: 220, decimals: 1, unit: " %", layers };
    let span = page.trades.span;
    let axis = Axis::Time { from: span.start.get(), to: span.end.get() };
    let words = match &needed {
        Some(_) => {
            "The band is where 95 of 100 such windows lie by chance if trades win exactly as often as break-even asks and are \
             independent; a curve that leaves it now and then shows nothing yet."
        }
        None => "The payout of some trades is unknown, and with it what it takes to break even.",
    };
    let label = format!("Win rate of the last {window} decided trades over time, with the break-even rate");
    Ok(format!(
        "{head}<p>{words}</p>{}{}</section>",
        charts.add("win-rate", &label, &Chart { axis, panes: vec![pane] }),
        as_table("Rolling win rate as a table", &table(&rolling))
    ))
}

fn table(rolling: &RollingWinRate) -> DataTable {
    let step = rolling.points.len().div_ceil(MOST_ROWS).max(1);
    let last = rolling.points.len().saturating_sub(1) % step;
    let row = |at: Millis, rate: f64, needed: Option<f64>| {
        vec![minute(at), percent(rate), or_dash(needed, percent)]
    };
    let chosen = rolling.points.iter().skip(last).step_by(step);
    DataTable {
        header: ["until, UTC", "win rate", "break-even"].map(str::to_owned).into(),
        rows: chosen.map(|point| row(point.at, point.rate, point.break_even)).collect(),
    }
}

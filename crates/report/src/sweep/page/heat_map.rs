//! Heat map of two parameters, colored by the mean score of each cell's sets.

use super::ruler::{Ruler, Shade};
use super::{rulers, short};
use candlewick_search::sweep::{Space, TrialRow};
use std::collections::BTreeMap;
use std::io::{self, Write};

const LEFT: f64 = 90.0;
const BELOW: f64 = 45.0;
const SIDE: f64 = 360.0;

#[derive(Default)]
struct Cell {
    sum: f64,
    best: f64,
    count: u32,
}

pub(super) fn draw(
    rows: &[&TrialRow],
    space: &Space,
    (across, up): (usize, usize),
    shade: &Shade,
    writer: &mut impl Write,
) -> io::Result<()> {
    let rulers = rulers(rows, space);
    let (x, y) = (&rulers[across], &rulers[up]);
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for row in rows {
        let Some(score) = row.score else { continue };
        let cell = cells.entry((x.cell(&row.candidate[across]), y.cell(&row.candidate[up]))).or_default();
        cell.best = if cell.count == 0 { score } else { cell.best.max(score) };
        cell.sum += score;
        cell.count += 1;
    }
    let (wide, high) = (SIDE / x.cells() as f64, SIDE / y.cells() as f64);
    let (width, height) = (LEFT + SIDE + 10.0, SIDE + BELOW + 10.0);
    write!(writer, "<svg class=\"map\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">")?;
    for ((column, line), cell) in &cells {
        let (left, top) = (LEFT + *column as f64 * wide, 5.0 + SIDE - (*line + 1) as f64 * high);
        let mean = cell.sum / f64::from(cell.count);
        write!(
            writer,
            "<rect class=\"cell\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{wide:.2}\" height=\"{high:.2}\" fill=\"{}\">\
             <title>mean {}, best {}, of {} sets</title></rect>",
            shade.colour(mean),
            short(mean),
            short(cell.best),
            cell.count
        )?;
    }
    draw_labels(x, y, writer)?;
    writeln!(writer, "</svg>")
}

fn draw_labels(x: &Ruler, y: &Ruler, writer: &mut impl Write) -> io::Result<()> {
    for (at, label) in x.labels(10) {
        let left = LEFT + at * SIDE;
        write!(writer, "<text class=\"middle\" x=\"{left:.2}\" y=\"{}\">{label}</text>", SIDE + 22.0)?;
    }
    for (at, label) in y.labels(18) {
        let top = 9.0 + SIDE * (1.0 - at);
        write!(writer, "<text class=\"end\" x=\"{}\" y=\"{top:.2}\">{label}</text>", LEFT - 6.0)?;
    }
    let (middle, below, centre) = (LEFT + SIDE / 2.0, SIDE + 42.0, SIDE / 2.0);
    write!(
        writer,
        "<text class=\"name middle\" x=\"{middle}\" y=\"{below}\">{}</text>\
         <text class=\"name middle\" transform=\"translate(14 {centre}) rotate(-90)\">{}</text>",
        x.name, y.name
    )
}

//! Declarative charts, which the script of the page draws. Colors are names of CSS variables.

use super::packed::PackedNumbers;
use crate::markup::escape_html;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io;

pub(super) const ACCENT_COLOUR: &str = "--accent";
pub(super) const LOSS_COLOUR: &str = "--bad";
pub(super) const MUTED_COLOUR: &str = "--quiet";

#[derive(Serialize)]
pub(super) struct Chart {
    pub(super) axis: Axis,
    pub(super) panes: Vec<Pane>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Axis {
    // Start and end in milliseconds since 1970. All charts with a time axis show the same time range.
    Time { from: i64, to: i64 },
    Number { title: String },
}

#[derive(Serialize)]
pub(super) struct Pane {
    pub(super) title: String,
    /// Height of the chart pane in pixels.
    pub(super) height: u32,
    pub(super) decimals: u32,
    pub(super) unit: &'static str,
    pub(super) layers: Vec<Layer>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Layer {
    Line(Line),
    Band { name: String, x: Column, low: Column, high: Column },
    Level { name: String, value: f64 },
    Upright { name: String, at: f64 },
    // `counts[i]` is the number of values between `edges[i]` and `edges[i + 1]`.
    Bars { name: String, edges: Vec<f64>, counts: Vec<u64> },
    Points { name: String, x: Vec<f64>, y: Vec<f64>, own: Vec<bool> },
    Prices,
}

#[derive(Serialize)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) is_stepped: bool,
    pub(super) is_dashed: bool,
    pub(super) is_filled: bool,
    pub(super) x: Column,
    pub(super) y: Column,
}

impl Line {
    pub(super) fn new(name: &str, colour: &'static str, x: Column, y: Column) -> Self {
        let name = name.to_owned();
        Self { name, colour, is_stepped: false, is_dashed: false, is_filled: false, x, y }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Column {
    Plain(Vec<f64>),
    Packed { points: &'static str, column: usize },
}

#[derive(Default)]
pub(super) struct Charts {
    specified: Map<String, Value>,
    points: Map<String, Value>,
    pub(super) elements: Vec<(String, String)>,
}

impl Charts {
    pub(super) fn add(&mut self, name: &str, label: &str, chart: &Chart) -> String {
        // This cannot fail, because strings, numbers and lists of them always convert to JSON.
        self.specified.insert(name.to_owned(), serde_json::to_value(chart).unwrap_or_default());
        let keys = match chart.axis {
            Axis::Time { .. } => " Arrow keys step through values, Shift+arrows pan, + and - zoom, 0 resets.",
            Axis::Number { .. } => " Arrow keys step through values.",
        };
        format!(
            "<div class=\"chart\" data-chart=\"{name}\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"{}.{keys}\"></canvas></div>",
            escape_html(label)
        )
    }

    pub(super) fn pack(&mut self, name: &'static str, columns: &[(Vec<i64>, f64)]) -> io::Result<()> {
        let count = columns.first().map_or(0, |(column, _)| column.len());
        let units: Vec<f64> = columns.iter().map(|(_, unit)| *unit).collect();
        let mut numbers = PackedNumbers::default();
        for (column, _) in columns {
            let mut before = 0;
            for number in column {
                numbers.add(number - before);
                before = *number;
            }
        }
        let element = format!("points-{name}");
        self.points.insert(name.to_owned(), json!({ "id": element, "count": count, "units": units }));
        self.elements.push((element, numbers.to_base64()?));
        Ok(())
    }

    pub(super) fn to_value(&self) -> Value {
        json!({ "charts": self.specified, "points": self.points })
    }
}

pub(super) const fn packed_column(points: &'static str, column: usize) -> Column {
    Column::Packed { points, column }
}

pub(super) fn render_table_details(summary: &str, table: &super::DataTable) -> String {
    let mut text = String::from("<details class=\"data\">");
    let _ = write!(text, "<summary>{}</summary>{}</details>", escape_html(summary), table.to_markup());
    text
}

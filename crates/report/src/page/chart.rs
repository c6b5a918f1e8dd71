//! The charts of a page: what each shows, as the page's script draws it (`script/`). A colour is the name of a style variable
//! (`--accent`), so that it follows the theme.

use super::packed::Numbers;
use crate::markup::escaped;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io;

/// The colour of what is shown itself.
pub(super) const ACCENT: &str = "--accent";
/// Of what is bad.
pub(super) const BAD: &str = "--bad";
/// Of what is only there to compare with.
pub(super) const QUIET: &str = "--quiet";

/// What is seen over one axis.
#[derive(Serialize)]
pub(super) struct Chart {
    pub(super) axis: Axis,
    /// From top to bottom.
    pub(super) panes: Vec<Pane>,
}

/// The axis below a chart.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Axis {
    /// Milliseconds since the epoch. Charts with it show the same time.
    Time { from: i64, to: i64 },
    /// Numbers, with what they are.
    Number { title: String },
}

/// A drawing with an axis of values of its own.
#[derive(Serialize)]
pub(super) struct Pane {
    pub(super) title: String,
    /// Pixels.
    pub(super) height: u32,
    pub(super) decimals: u32,
    /// What stands behind each value: ` %` or nothing.
    pub(super) unit: &'static str,
    pub(super) layers: Vec<Layer>,
}

/// What a pane shows, the first at the back.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Layer {
    /// A line through points, or from each point level to the next.
    Line {
        name: String,
        colour: &'static str,
        is_stepped: bool,
        is_dashed: bool,
        /// To 0.
        is_filled: bool,
        x: Column,
        y: Column,
    },
    /// What lies between two lines.
    Band { name: String, x: Column, low: Column, high: Column },
    /// A value at all places.
    Level { name: String, value: f64 },
    /// A place, marked from top to bottom.
    Upright { name: String, at: f64 },
    /// Counts from `edges[i]` to `edges[i + 1]`.
    Bars { name: String, edges: Vec<f64>, counts: Vec<u64> },
    /// Single points; the script gives those that are `own` a larger mark.
    Points { name: String, x: Vec<f64>, y: Vec<f64>, own: Vec<bool> },
    /// The candles of the chosen series, with the trades on them.
    Prices,
}

/// Numbers of a layer.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Column {
    Plain(Vec<f64>),
    /// In packed points.
    Packed {
        points: &'static str,
        column: usize,
    },
}

/// The charts of a page by their names, and their packed points.
#[derive(Default)]
pub(super) struct Charts {
    specified: Map<String, Value>,
    points: Map<String, Value>,
    /// Letters by the names of their elements.
    pub(super) elements: Vec<(String, String)>,
}

impl Charts {
    /// Adds a chart; the markup of its place. `label` says what it shows to those who cannot see it.
    pub(super) fn add(&mut self, name: &str, label: &str, chart: &Chart) -> String {
        // Strings, numbers and lists of them are always JSON.
        self.specified.insert(name.to_owned(), serde_json::to_value(chart).unwrap_or_default());
        let keys = match chart.axis {
            Axis::Time { .. } => " Arrow keys read values, with Shift they move; + and - zoom, 0 shows all.",
            Axis::Number { .. } => " Arrow keys read values.",
        };
        format!(
            "<div class=\"chart\" data-chart=\"{name}\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"{}.{keys}\"></canvas></div>",
            escaped(label)
        )
    }

    /// Packs the columns of some points; each is whole numbers that are so many units of one.
    ///
    /// # Errors
    /// None that memory has not.
    pub(super) fn pack(&mut self, name: &'static str, columns: &[(Vec<i64>, f64)]) -> io::Result<()> {
        let count = columns.first().map_or(0, |(column, _)| column.len());
        let units: Vec<f64> = columns.iter().map(|(_, unit)| *unit).collect();
        let mut numbers = Numbers::default();
        for (column, _) in columns {
            let mut before = 0;
            for number in column {
                numbers.add(number - before);
                before = *number;
            }
        }
        let element = format!("points-{name}");
        self.points.insert(name.to_owned(), json!({ "id": element, "count": count, "units": units }));
        self.elements.push((element, numbers.to_letters()?));
        Ok(())
    }

    /// All of them, for the script.
    pub(super) fn to_value(&self) -> Value {
        json!({ "charts": self.specified, "points": self.points })
    }
}

/// A plain line.
pub(super) fn line(name: &str, colour: &'static str, x: Column, y: Column) -> Layer {
    let name = name.to_owned();
    Layer::Line { name, colour, is_stepped: false, is_dashed: false, is_filled: false, x, y }
}

/// A column of packed points.
pub(super) const fn packed(points: &'static str, column: usize) -> Column {
    Column::Packed { points, column }
}

/// The same as a table, for whoever opens it.
pub(super) fn as_table(summary: &str, table: &super::DataTable) -> String {
    let mut text = String::from("<details class=\"data\">");
    let _ = write!(text, "<summary>{}</summary>{}</details>", escaped(summary), table.to_markup());
    text
}

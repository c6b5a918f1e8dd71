//! The drawings of a page: traces and axes as the `plotly` crate writes them, drawn by the page's script in the colours of
//! its theme. A colour is the name of a style variable (`--accent`), which the script replaces by its value.

use plotly::common::{Anchor, Line};
use plotly::layout::{Axis, AxisType, Legend};
use plotly::{Layout, Plot, Scatter};
use serde_json::{Map, Value};

/// The colour of what is shown itself.
pub(super) const ACCENT: &str = "--accent";
/// Of what is bad.
pub(super) const BAD: &str = "--bad";
/// Of what is only there to compare with.
pub(super) const QUIET: &str = "--quiet";

/// The drawings by the names of their places.
#[derive(Default)]
pub(super) struct Plots(Map<String, Value>);

impl Plots {
    /// Adds a drawing; the markup of its place, so many pixels high. `label` says what it shows to those who cannot see it.
    pub(super) fn add(&mut self, name: &'static str, (label, height): (&str, u32), plot: &Plot) -> String {
        // What the crate writes is JSON.
        let specified = serde_json::from_str(&plot.to_json()).unwrap_or_default();
        self.0.insert(name.to_owned(), specified);
        format!(
            "<div class=\"plot\" data-plot=\"{name}\" role=\"img\" aria-label=\"{label}\" style=\"height:{height}px\"></div>"
        )
    }

    /// All of them, for the script.
    pub(super) fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

/// A line through points in time.
pub(super) fn curve(points: &[(i64, f64)], name: &str) -> Box<Scatter<i64, f64>> {
    let (times, values) = points.iter().copied().unzip();
    Scatter::new(times, values).name(name)
}

/// A line of this colour.
pub(super) fn line(colour: &'static str, width: f64) -> Line {
    Line::new().color(colour).width(width)
}

/// An axis of time.
pub(super) fn time_axis() -> Axis {
    Axis::new().type_(AxisType::Date)
}

/// A layout whose legend lies above the drawing.
pub(super) fn layout() -> Layout {
    let above = Legend::new().x(0.0).y(1.02).x_anchor(Anchor::Left).y_anchor(Anchor::Bottom);
    Layout::new().legend(above.orientation(plotly::common::Orientation::Horizontal))
}

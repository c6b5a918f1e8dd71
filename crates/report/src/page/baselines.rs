//! What the same trades would have earned in other directions.

use super::figure::signed_percent;
use super::plots::{ACCENT, Plots, QUIET, layout};
use super::{DataTable, RunPage};
use plotly::common::Marker;
use plotly::layout::Axis;
use plotly::{Bar, Plot};

pub(super) fn section(page: &RunPage<'_>, plots: &mut Plots) -> String {
    let head = "<section id=\"baselines\"><h2>Against other directions</h2>";
    let Some(found) = &page.analysis.baselines else {
        return format!(
            "{head}<p class=\"none\">Nothing to compare: no trade was decided, or the prices were moved against each \
             trade's own direction.</p></section>"
        );
    };
    let means = [
        ("this run", found.own),
        ("randomised directions", found.shifted),
        ("always BUY", found.always_buy),
        ("always SELL", found.always_sell),
    ];
    let mut plot = Plot::new();
    let (names, values): (Vec<&str>, Vec<f64>) =
        means.iter().map(|(name, mean)| (*name, mean * 100.0)).unzip();
    let colours = vec![ACCENT, QUIET, QUIET, QUIET];
    let bars = Bar::new(names, values).marker(Marker::new().color_array(colours));
    plot.add_trace(bars.hover_template("%{x}: %{y:.2f} %<extra></extra>"));
    plot.set_layout(layout().y_axis(Axis::new().title("expectancy, % of stake")).show_legend(false));
    let drawn = plots.add("baselines", ("Return per stake of this run and of other directions", 260), &plot);
    let rows = means.map(|(name, mean)| vec![name.to_owned(), signed_percent(mean)]);
    let table_data =
        DataTable { header: vec!["directions".to_owned(), "expectancy".to_owned()], rows: rows.into() };
    let luck = match found.p_value {
        Some(p) => format!(
            "Of {} runs with the directions shifted in a circle within each symbol, a share of {p:.3} did as well as this \
             one or better.",
            found.runs
        ),
        None => "Nearly all trades have one direction, so shifting them shows nothing.".to_owned(),
    };
    format!(
        "{head}<p>The same moments, traded in other directions. {luck}</p><div class=\"beside\">{drawn}{}</div></section>",
        table_data.to_markup()
    )
}

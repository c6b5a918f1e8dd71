//! How much of the result hangs on the venue's settings: a curve for each that is a number, a table for every one.

use super::figure::{or_dash, percent, signed_money, signed_percent};
use super::plots::{ACCENT, Plots, QUIET, layout, line};
use super::{DataTable, RunPage};
use crate::analysis::{Curve, SensitivityPoint, VenueSetting};
use crate::markup::escaped;
use plotly::common::{DashType, Marker, Mode};
use plotly::layout::Axis;
use plotly::{Plot, Scatter};
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>, plots: &mut Plots) -> String {
    let mut text = String::from("<section id=\"sensitivity\"><h2>Sensitivity to the venue</h2>");
    let Some(sensitivity) = &page.analysis.sensitivity else {
        let _ = write!(text, "<p class=\"none\">{}</p></section>", escaped(page.without_sensitivity));
        return text;
    };
    text.push_str("<p>The same run on other settings of the venue, one changed at a time; ");
    let _ = match sensitivity.break_even_payout_percent {
        Some(payout) => write!(text, "the break-even payout is {payout:.2} %.</p>"),
        None => write!(text, "at no payout between 60 and 92 % does it break even.</p>"),
    };
    text.push_str("<div class=\"tables\">");
    for curve in &sensitivity.curves {
        let (name, heading, unit) = words(curve.setting);
        let _ = write!(text, "<figure><h3>By {heading}</h3>");
        if curve.points.iter().filter(|point| point.value.is_some()).count() > 2 {
            text.push_str(&plots.add(
                name,
                (&format!("Return per stake by {heading}"), 240),
                &plot(curve, unit),
            ));
        }
        let rows = curve.points.iter().map(|point| row(point, page)).collect();
        let header = [heading, "trades", "win rate", "break-even", "per stake", "pnl"].map(str::to_owned);
        let _ = write!(text, "{}</figure>", DataTable { header: header.into(), rows }.to_markup());
    }
    text.push_str("</div></section>");
    text
}

const fn words(setting: VenueSetting) -> (&'static str, &'static str, &'static str) {
    match setting {
        VenueSetting::LatencyMs => ("latency", "latency", "latency, ms"),
        VenueSetting::PayoutPercent => ("payout", "payout", "payout, %"),
        VenueSetting::Path => ("path", "price path", ""),
        VenueSetting::Stress => ("stress", "stress", ""),
    }
}

fn row(point: &SensitivityPoint, page: &RunPage<'_>) -> Vec<String> {
    let own = if point.is_own { " (this run)" } else { "" };
    vec![
        format!("{}{own}", point.label),
        point.trades.to_string(),
        or_dash(point.win_rate, percent),
        or_dash(point.break_even, percent),
        or_dash(point.return_per_unit, signed_percent),
        signed_money(point.pnl, page.trades.scale),
    ]
}

fn plot(curve: &Curve, unit: &str) -> Plot {
    let known = |point: &SensitivityPoint| Some((point.value?, point.return_per_unit? * 100.0, point.is_own));
    let points: Vec<(f64, f64, bool)> = curve.points.iter().filter_map(known).collect();
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y, _)| (*x, *y)).unzip();
    let own: Vec<(f64, f64)> =
        points.iter().filter(|(.., is_own)| *is_own).map(|(x, y, _)| (*x, *y)).collect();
    let mut plot = Plot::new();
    if let (Some(first), Some(last)) = (xs.first(), xs.last()) {
        let zero = Scatter::new(vec![*first, *last], vec![0.0, 0.0]).mode(Mode::Lines);
        plot.add_trace(zero.line(line(QUIET, 1.0).dash(DashType::Dot)).name("break-even").show_legend(false));
    }
    let template = "%{x}: %{y:.2f} %<extra></extra>";
    plot.add_trace(
        Scatter::new(xs, ys)
            .mode(Mode::LinesMarkers)
            .line(line(ACCENT, 1.6))
            .hover_template(template)
            .name("return"),
    );
    let (own_x, own_y) = own.into_iter().unzip();
    let mark = Marker::new().color(ACCENT).size(12);
    plot.add_trace(
        Scatter::<f64, f64>::new(own_x, own_y)
            .mode(Mode::Markers)
            .marker(mark)
            .hover_template(template)
            .name("this run"),
    );
    let axis = |title: &str| Axis::new().title(title);
    plot.set_layout(layout().show_legend(false).x_axis(axis(unit)).y_axis(axis("expectancy, % of stake")));
    plot
}

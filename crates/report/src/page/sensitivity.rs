//! Page section: sensitivity to venue settings, with curves for numeric settings and tables.

use super::chart::{ACCENT, Axis, Chart, Charts, Column, Layer, Pane, line};
use super::{DataTable, RunPage};
use crate::analysis::{Curve, SensitivityPoint, VenueSetting};
use crate::break_even_payout::break_even_payout_words;
use crate::figure::{or_dash, percent, signed_money, signed_percent};
use crate::markup::escaped;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>, charts: &mut Charts) -> String {
    let mut text = String::from("<section id=\"sensitivity\"><h2>Sensitivity to the venue</h2>");
    let Some(sensitivity) = &page.analysis.sensitivity else {
        let _ = write!(text, "<p class=\"none\">{}</p></section>", escaped(page.without_sensitivity));
        return text;
    };
    text.push_str("<p>The same run on other settings of the venue, one changed at a time; ");
    let _ = match sensitivity.break_even_payout_percent {
        Some(payout) => write!(text, "break-even payout: {}.</p>", break_even_payout_words(payout)),
        None => write!(text, "at no payout between 60 and 92 % does it break even.</p>"),
    };
    text.push_str("<div class=\"tables\">");
    for curve in &sensitivity.curves {
        let (name, heading, unit) = words(curve.setting);
        let _ = write!(text, "<figure><h3>By {heading}</h3>");
        if curve.points.iter().filter(|point| point.value.is_some()).count() > 2 {
            text.push_str(&charts.add(name, &format!("Expectancy by {heading}"), &chart(curve, unit)));
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

fn chart(curve: &Curve, unit: &str) -> Chart {
    let known = |point: &SensitivityPoint| Some((point.value?, point.return_per_unit? * 100.0, point.is_own));
    let points: Vec<(f64, f64, bool)> = curve.points.iter().filter_map(known).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y, _)| (*x, *y)).unzip();
    let own = points.iter().map(|(.., is_own)| *is_own).collect();
    let layers = vec![
        Layer::Level { name: "break-even".to_owned(), value: 0.0 },
        line("", ACCENT, Column::Plain(x.clone()), Column::Plain(y.clone())),
        Layer::Points { name: "expectancy (this run is large)".to_owned(), x, y, own },
    ];
    let title = "Expectancy, % of stake".to_owned();
    let pane = Pane { title, height: 190, decimals: 2, unit: " %", layers };
    Chart { axis: Axis::Number { title: unit.to_owned() }, panes: vec![pane] }
}

//! The balance and how far it was below its peak, over time: all settled trades, thinned without losing an extreme.

use super::RunPage;
use super::figure::{minute, or_dash, span};
use super::plots::{ACCENT, BAD, Plots, QUIET, curve, layout, line, time_axis};
use super::thin::thinned;
use crate::analysis::{DrawdownFigures, EquityPoint, settled_rows};
use candlewick_sdk::Millis;
use plotly::Plot;
use plotly::common::{DashType, Fill, LineShape, Mode};
use plotly::layout::Axis;
use std::fmt::Write as _;

/// Points that a curve is drawn with at most.
const MAX_POINTS: usize = 3_000;

pub(super) fn section(page: &RunPage<'_>, plots: &mut Plots) -> String {
    let text = format!("<section id=\"equity\"><h2>Balance and drawdown</h2><p>{}</p>", deepest(page));
    let points = balances(page);
    if points.len() < 2 {
        return text + "<p class=\"none\">No trade has settled.</p></section>";
    }
    let drawn = plots.add(
        "equity",
        ("The balance over time, and its distance from its peak", 420),
        &plot(&points, page.trades.span.end),
    );
    format!("{text}{drawn}</section>")
}

/// The balance at the start and after each settlement.
fn balances(page: &RunPage<'_>) -> Vec<EquityPoint> {
    let (scale, span) = (page.trades.scale, page.trades.span);
    let mut now = page.trades.balance;
    let mut points = vec![EquityPoint { at: span.start, balance: scale.to_f64(now) }];
    let settled = settled_rows(page.trades.book);
    points.extend(settled.into_iter().map(|row| {
        now += row.profit;
        EquityPoint { at: row.settled_at.unwrap_or(span.end), balance: scale.to_f64(now) }
    }));
    points
}

fn plot(points: &[EquityPoint], until: Millis) -> Plot {
    let balances: Vec<f64> = points.iter().map(|point| point.balance).collect();
    let mut peak = f64::MIN;
    let falls: Vec<f64> = balances
        .iter()
        .map(|balance| {
            peak = peak.max(*balance);
            balance - peak
        })
        .collect();
    let drawn = |values: &[f64]| -> Vec<(i64, f64)> {
        thinned(values, MAX_POINTS).into_iter().map(|place| (points[place].at.get(), values[place])).collect()
    };
    let (mut balances, mut falls) = (drawn(&balances), drawn(&falls));
    // After the last trade nothing changes, which is worth seeing, too.
    for curve in [&mut balances, &mut falls] {
        let last = curve[curve.len() - 1];
        curve.push((until.get().max(last.0), last.1));
    }
    let start = balances[0].1;
    let ends = [balances[0].0, balances[balances.len() - 1].0].map(|at| (at, start));
    let mut plot = Plot::new();
    plot.add_trace(
        curve(&ends, "start").mode(Mode::Lines).line(line(QUIET, 1.0).dash(DashType::Dot)).show_legend(false),
    );
    plot.add_trace(
        curve(&balances, "balance").mode(Mode::Lines).line(line(ACCENT, 1.6).shape(LineShape::Hv)),
    );
    plot.add_trace(
        curve(&falls, "below its peak")
            .mode(Mode::Lines)
            .line(line(BAD, 1.2).shape(LineShape::Hv))
            .fill(Fill::ToZeroY)
            .y_axis("y2"),
    );
    plot.set_layout(
        layout()
            .x_axis(time_axis().anchor("y2"))
            .y_axis(Axis::new().domain(&[0.36, 1.0]).title("balance").tick_format(",~f"))
            .y_axis2(Axis::new().domain(&[0.0, 0.28]).title("drawdown").tick_format(",~f")),
    );
    plot
}

/// The max. drawdown by amount, and that in percent of its peak where it is another one.
fn deepest(page: &RunPage<'_>) -> String {
    let metrics = &page.analysis.metrics;
    let Some(by_amount) = &metrics.drawdown else {
        return "The balance was never below an earlier peak.".to_owned();
    };
    let decimals = page.trades.scale.decimals() as usize;
    let words = |found: &DrawdownFigures| {
        format!(
            "{:.decimals$}, {:.2} % of the peak of {} UTC. It took {} to the bottom, and {}.",
            found.amount,
            found.percent,
            minute(found.peak_at),
            or_dash(found.fall_ms, span),
            found.recovery_ms.map_or_else(
                || "the balance was not back at that peak by the end".to_owned(),
                |length| format!("{} back to that peak", span(length))
            )
        )
    };
    let mut text = format!("The max. drawdown was {}", words(by_amount));
    if let Some(by_percent) = metrics.drawdown_by_percent.as_ref().filter(|found| *found != by_amount) {
        let _ = write!(text, " The max. drawdown in percent of its peak was {}", words(by_percent));
    }
    text
}

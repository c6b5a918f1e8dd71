//! Page section: histograms of returns per trade and per day.

use super::chart::{Axis, Chart, Charts, Layer, Pane, as_table};
use super::{DataTable, RunPage};
use crate::analysis::{Bin, Bins, histogram, settled_rows};
use candlewick_backtest::metric::unit_return;
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>, charts: &mut Charts) -> String {
    let mut text = String::from("<section id=\"returns\"><h2>Returns</h2>");
    let settled = settled_rows(page.trades.book);
    if settled.is_empty() {
        return text + "<p class=\"none\">No trade has settled.</p></section>";
    }
    let returns: Vec<f64> =
        settled.iter().filter_map(|row| unit_return(row)).map(|part| part * 100.0).collect();
    let mut days: BTreeMap<i64, Money> = BTreeMap::new();
    for row in &settled {
        let day = row.settled_at.map_or(0, |at| at.get().div_euclid(Millis::DAY.get()));
        *days.entry(day).or_default() += row.profit;
    }
    let profits: Vec<f64> = days.values().map(|profit| page.trades.scale.to_f64(*profit)).collect();
    text.push_str(
        "<p>How often a trade and a day ended where. The dotted line is the mean.</p><div class=\"tables\">",
    );
    let mean = page.analysis.metrics.expectancy.as_ref().map(|found| found.return_per_unit * 100.0);
    let trades = Shown {
        name: "returns-of-trades",
        heading: "Of a trade",
        title: "Trades",
        across: "return, % of stake",
        counted: "trades",
        decimals: 0,
    };
    text.push_str(&trades.figure(&histogram(&returns, Bins::AroundZero), mean, charts));
    if profits.len() > 1 {
        let mean = profits.iter().sum::<f64>() / profits.len() as f64;
        let days = Shown {
            name: "returns-of-days",
            heading: "Of a day with trades, UTC",
            title: "Days",
            across: "profit",
            counted: "days",
            decimals: page.trades.scale.decimals() as usize,
        };
        text.push_str(&days.figure(&histogram(&profits, Bins::BesideZero), Some(mean), charts));
    } else {
        text.push_str(
            "<figure><h3>Of a day</h3><p class=\"none\">All trades settled on one day.</p></figure>",
        );
    }
    text.push_str("</div></section>");
    text
}

struct Shown {
    name: &'static str,
    heading: &'static str,
    title: &'static str,
    across: &'static str,
    counted: &'static str,
    decimals: usize,
}

impl Shown {
    fn figure(&self, bins: &[Bin], mean: Option<f64>, charts: &mut Charts) -> String {
        let Self { name, heading, title, across, counted, decimals } = self;
        let mut text = format!("<figure><h3>{heading}</h3>");
        let Some(last) = bins.last() else {
            return text + "<p class=\"none\">Nothing is known of it.</p></figure>";
        };
        let edges = bins.iter().map(|bin| bin.from).chain([last.to]).collect();
        let counts = bins.iter().map(|bin| bin.count).collect();
        let mut layers = vec![Layer::Bars { name: (*counted).to_owned(), edges, counts }];
        layers.extend(mean.map(|at| Layer::Upright { name: format!("mean {at:+.2}"), at }));
        let pane = Pane { title: (*title).to_owned(), height: 210, decimals: 0, unit: "", layers };
        let chart = Chart { axis: Axis::Number { title: (*across).to_owned() }, panes: vec![pane] };
        text.push_str(&charts.add(name, &format!("Histogram: {counted} by {across}"), &chart));
        let places = decimals
            + usize::from(
                bins.iter().any(|bin| (bin.from * 10_f64.powi(*decimals as i32)).fract().abs() > 1e-6),
            );
        let row = |bin: &Bin| {
            vec![format!("{:+.places$} to {:+.places$}", bin.from, bin.to), bin.count.to_string()]
        };
        let rows = bins.iter().filter(|bin| bin.count > 0).map(row).collect();
        let table = DataTable { header: vec![(*across).to_owned(), (*counted).to_owned()], rows };
        let _ = write!(text, "{}</figure>", as_table("As a table", &table));
        text
    }
}

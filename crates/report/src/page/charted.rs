//! Page sections with charts: equity, win rate, returns and sensitivity.

use super::chart::{
    ACCENT_COLOUR, Axis, Chart, Charts, Column, LOSS_COLOUR, Layer, Line, MUTED_COLOUR, Pane, packed_column,
    render_table_details,
};
use super::{DataTable, RunPage};
use crate::analysis::{
    Bin, BinAlignment, DrawdownFigures, RollingPoint, RollingWinRate, SensitivityCurve, SensitivityPoint,
    VenueSetting, histogram, settled_rows, worst_drawdowns,
};
use crate::figure::{
    break_even_payout_text, capitalise, format_minute, format_money, format_number, format_percent,
    format_signed_money, format_signed_percent, format_span, or_dash,
};
use crate::markup::escape_html;
use crate::sensitivity::setting_name;
use candlewick_backtest::metric::unit_return;
use candlewick_sdk::{Millis, Money};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

const MAX_EQUITY_ROWS: i64 = 24;
const MAX_DRAWDOWN_ROWS: usize = 5;
const NO_DRAWDOWN: &str = "No drawdown: the balance never fell below an earlier peak.";

struct Balance {
    at: Millis,
    amount: Money,
    peak: Money,
}

pub(super) fn equity_section(page: &RunPage<'_>, charts: &mut Charts) -> io::Result<String> {
    let mut text = "<section id=\"equity\"><h2>Equity and prices</h2>".to_owned();
    let balances = balances(page);
    let (has_settled, has_candles) = (balances.len() > 1, !page.candles.is_empty());
    if has_settled {
        let _ = write!(text, "<p>{}</p>", max_drawdown_text(page));
    } else {
        text.push_str("<p class=\"none\">No trade has settled; the balance is unchanged.</p>");
    }
    let mut panes = if has_settled { panes(page, &balances, charts)? } else { Vec::new() };
    if has_candles {
        panes.push(pane("Price", 320, 0, vec![Layer::Prices]));
    }
    if panes.is_empty() {
        return Ok(text + "<p class=\"none\">No candles.</p></section>");
    }
    if has_candles && !page.rows.is_empty() {
        text.push_str(
            "<p class=\"note\">Drag to pan, scroll or pinch to zoom, double-click to reset. ▲ is BUY, ▼ is SELL; \
             filled marks are wins, hollow marks are losses. When zoomed out, each bar covers several candles and \
             shows the number of their trades: wins upwards, losses downwards.</p>",
        );
    }
    text.push_str("<div class=\"controls\" id=\"controls\"></div>");
    let (from, to) = (page.trades.span.start.get(), page.trades.span.end.get());
    let label = match (has_settled, has_candles) {
        (true, true) => "Equity curve, drawdown and prices with every trade, over time",
        (true, false) => "Equity curve and drawdown over time",
        (false, _) => "Prices over time",
    };
    text.push_str(&charts.add("equity", label, &Chart { axis: Axis::Time { from, to }, panes }));
    text.push_str("<p class=\"status\" id=\"status\"></p>");
    if has_settled {
        text.push_str(&render_table_details("Equity as a table", &equity_table(page, &balances)));
    }
    text.push_str("</section>");
    Ok(text)
}

fn panes(page: &RunPage<'_>, balances: &[Balance], charts: &mut Charts) -> io::Result<Vec<Pane>> {
    let scale = page.trades.scale;
    let decimals = scale.decimals();
    let unit = 10_f64.powi(decimals.cast_signed());
    let times = balances.iter().map(|one| one.at.get()).collect();
    let money =
        |read: &dyn Fn(&Balance) -> Money| (balances.iter().map(|one| read(one).minor()).collect(), unit);
    charts.pack("equity", &[(times, 1.0), money(&|one| one.amount), money(&|one| one.amount - one.peak)])?;
    let stepped = |name: &str, colour, column, is_filled| {
        let line = Line::new(name, colour, packed_column("equity", 0), packed_column("equity", column));
        Layer::Line(Line { is_stepped: true, is_filled, ..line })
    };
    let start = Layer::Level { name: "start".to_owned(), value: scale.to_f64(page.trades.balance) };
    Ok(vec![
        pane("Balance", 190, decimals, vec![start, stepped("balance", ACCENT_COLOUR, 1, false)]),
        pane("Drawdown", 90, decimals, vec![stepped("drawdown", LOSS_COLOUR, 2, true)]),
    ])
}

fn pane(title: &str, height: u32, decimals: u32, layers: Vec<Layer>) -> Pane {
    Pane { title: title.to_owned(), height, decimals, unit: "", layers }
}

pub(super) fn drawdowns_section(page: &RunPage<'_>) -> String {
    let head = "<section id=\"drawdowns\"><h2>Worst drawdowns</h2>";
    let falls = worst_drawdowns(&page.trades, MAX_DRAWDOWN_ROWS);
    if falls.is_empty() {
        return format!("{head}<p class=\"none\">{NO_DRAWDOWN}</p></section>");
    }
    let row = |(number, fall): (usize, &DrawdownFigures)| {
        vec![
            number.to_string(),
            format_money(fall.amount, page.trades.scale),
            format!("{:.2} %", fall.percent),
            format_minute(fall.peak_at),
            or_dash(fall.trough_at, format_minute),
            fall.recovered_at.map_or_else(|| "not yet".to_owned(), format_minute),
            or_dash(fall.fall_ms, format_span),
            or_dash(fall.recovery_ms, format_span),
        ]
    };
    let header = "no.|amount|% of peak|peak, UTC|trough, UTC|recovered, UTC|duration|recovery";
    let table = DataTable::new(header.split('|'), (1..).zip(&falls).map(row).collect());
    format!(
        "{head}<p>The largest drawdowns by amount. Duration is from peak to trough.</p>{}</section>",
        table.to_markup()
    )
}

/// Returns the balance at the start of the run, after each settlement and at the end of the run.
fn balances(page: &RunPage<'_>) -> Vec<Balance> {
    let span = page.trades.span;
    let (mut amount, mut peak) = (page.trades.balance, page.trades.balance);
    let mut all = vec![Balance { at: span.start, amount, peak }];
    for row in settled_rows(page.trades.book) {
        amount += row.profit;
        peak = peak.max(amount);
        all.push(Balance { at: row.settled_at.unwrap_or(span.end), amount, peak });
    }
    if all.len() > 1 {
        let last = all[all.len() - 1].at;
        all.push(Balance { at: span.end.max(last), amount, peak });
    }
    all
}

fn equity_table(page: &RunPage<'_>, balances: &[Balance]) -> DataTable {
    let scale = page.trades.scale;
    let day = |at: Millis| at.get().div_euclid(Millis::DAY.get());
    let (first, last) = (day(page.trades.span.start), balances.last().map_or(0, |one| day(one.at)));
    let length = (last - first).div_euclid(MAX_EQUITY_ROWS) + 1;
    let settled = &balances[1.min(balances.len())..balances.len().saturating_sub(1).max(1)];
    let mut rows = Vec::new();
    let mut before = &balances[0];
    for from in (first..=last).step_by(usize::try_from(length).unwrap_or(1)) {
        let until = Millis::new((from + length) * Millis::DAY.get());
        let own = |one: &&Balance| one.at < until && day(one.at) >= from;
        let at_end = settled.iter().rfind(own).unwrap_or(before);
        rows.push(vec![
            format_minute(Millis::new(from * Millis::DAY.get())).chars().take(10).collect(),
            format_number(settled.iter().filter(own).count()),
            format_signed_money(scale.to_f64(at_end.amount - before.amount), scale),
            format_money(scale.to_f64(at_end.amount), scale),
            format_money(scale.to_f64(at_end.peak - at_end.amount), scale),
        ]);
        before = at_end;
    }
    let from = if length == 1 { "day, UTC".to_owned() } else { format!("{length} days from, UTC") };
    DataTable::new([from.as_str(), "trades", "profit", "balance", "drawdown"], rows)
}

fn max_drawdown_text(page: &RunPage<'_>) -> String {
    let metrics = &page.analysis.metrics;
    let Some(by_amount) = &metrics.drawdown else {
        return NO_DRAWDOWN.to_owned();
    };
    let words = |found: &DrawdownFigures| {
        format!(
            "{} ({:.2} % of the peak at {} UTC). The fall to the trough took {}; {}.",
            format_money(found.amount, page.trades.scale),
            found.percent,
            format_minute(found.peak_at),
            or_dash(found.fall_ms, format_span),
            found.recovery_ms.map_or_else(
                || "the balance did not recover by the end".to_owned(),
                |length| format!("the recovery took {}", format_span(length))
            )
        )
    };
    let mut text = format!("The max drawdown was {}", words(by_amount));
    if let Some(by_percent) = metrics.drawdown_by_percent.as_ref().filter(|found| *found != by_amount) {
        let _ = write!(text, " The largest drawdown relative to its peak was {}", words(by_percent));
    }
    text
}

/// Scale of packed win rates: integer units per percent.
const PACK_SCALE: f64 = 1_000.0;
const MAX_ROLLING_ROWS: usize = 16;

pub(super) fn win_rate_section(page: &RunPage<'_>, charts: &mut Charts) -> io::Result<String> {
    let head = "<section id=\"win-rate\"><h2>Rolling win rate</h2>";
    let Some(rolling) = RollingWinRate::from_settled(&settled_rows(page.trades.book)) else {
        return Ok(format!(
            "{head}<p class=\"none\">Fewer than 20 trades won or lost: too few for a rolling win rate.</p></section>"
        ));
    };
    let window = rolling.window;
    let points = &rolling.points;
    let whole = |rate: f64| (rate * 100.0 * PACK_SCALE).round() as i64;
    let needed: Option<Vec<f64>> = points.iter().map(|point| point.break_even).collect();
    let mut columns: Vec<(Vec<i64>, f64)> = vec![
        (points.iter().map(|point| point.at.get()).collect(), 1.0),
        (points.iter().map(|point| whole(point.rate)).collect(), PACK_SCALE),
    ];
    let column = |number| -> Column { packed_column("rolling", number) };
    let mut layers = Vec::new();
    if let Some(needed) = &needed {
        let band_edge =
            |side: f64| needed.iter().map(|rate| whole(rate + side * rolling.half_width_95(*rate))).collect();
        let exact = needed.iter().map(|rate| whole(*rate)).collect();
        columns.extend([(exact, PACK_SCALE), (band_edge(-1.0), PACK_SCALE), (band_edge(1.0), PACK_SCALE)]);
        let name = "95 % range at break-even".to_owned();
        layers.push(Layer::Band { name, x: column(0), low: column(3), high: column(4) });
        let line = Line::new("break-even", MUTED_COLOUR, column(0), column(2));
        layers.push(Layer::Line(Line { is_dashed: true, ..line }));
    }
    let name = format!("win rate of the last {window} decided trades");
    layers.push(Layer::Line(Line::new(&name, ACCENT_COLOUR, column(0), column(1))));
    charts.pack("rolling", &columns)?;
    let pane = Pane { title: "Win rate, %".to_owned(), height: 220, decimals: 1, unit: " %", layers };
    let span = page.trades.span;
    let axis = Axis::Time { from: span.start.get(), to: span.end.get() };
    let words = match &needed {
        Some(_) => {
            "If independent trades win exactly at the break-even rate, 95 % of the windows are within the band. \
             A curve that occasionally leaves the band is not evidence of a different win rate."
        }
        None => "The break-even rate is unknown, because the payout of some trades is unknown.",
    };
    let label = format!("Win rate of the last {window} decided trades over time, with the break-even rate");
    Ok(format!(
        "{head}<p>{words}</p>{}{}</section>",
        charts.add("win-rate", &label, &Chart { axis, panes: vec![pane] }),
        render_table_details("Rolling win rate as a table", &rolling_table(&rolling))
    ))
}

fn rolling_table(rolling: &RollingWinRate) -> DataTable {
    let step = rolling.points.len().div_ceil(MAX_ROLLING_ROWS).max(1);
    let last = rolling.points.len().saturating_sub(1) % step;
    let chosen = rolling.points.iter().skip(last).step_by(step);
    let row = |point: &RollingPoint| {
        vec![format_minute(point.at), format_percent(point.rate), or_dash(point.break_even, format_percent)]
    };
    DataTable::new(["until, UTC", "win rate", "break-even"], chosen.map(row).collect())
}

pub(super) fn returns_section(page: &RunPage<'_>, charts: &mut Charts) -> String {
    let mut text = String::from("<section id=\"returns\"><h2>Returns</h2>");
    let settled = settled_rows(page.trades.book);
    if settled.is_empty() {
        return text + "<p class=\"none\">No trade has settled.</p></section>";
    }
    let returns: Vec<_> = settled.iter().filter_map(|row| unit_return(row)).map(|one| one * 100.0).collect();
    let mut days: BTreeMap<i64, Money> = BTreeMap::new();
    for row in &settled {
        let day = row.settled_at.map_or(0, |at| at.get().div_euclid(Millis::DAY.get()));
        *days.entry(day).or_default() += row.profit;
    }
    let profits: Vec<f64> = days.values().map(|profit| page.trades.scale.to_f64(*profit)).collect();
    text.push_str(
        "<p>Distribution of results per trade and per day. The dashed line is the mean.</p><div class=\"tables\">",
    );
    let mean = page.analysis.metrics.expectancy.as_ref().map(|found| found.return_per_unit * 100.0);
    let trades = HistogramSpec {
        name: "returns-of-trades",
        heading: "Per trade",
        across: "return, % of stake",
        unit: " %",
        counted: "trades",
        decimals: 0,
    };
    text.push_str(&trades.figure(&histogram(&returns, BinAlignment::AroundZero), mean, charts));
    if profits.len() > 1 {
        let mean = profits.iter().sum::<f64>() / profits.len() as f64;
        let days = HistogramSpec {
            name: "returns-of-days",
            heading: "Per trading day, UTC",
            across: "profit",
            unit: "",
            counted: "days",
            decimals: page.trades.scale.decimals() as usize,
        };
        text.push_str(&days.figure(&histogram(&profits, BinAlignment::EdgeAtZero), Some(mean), charts));
    } else {
        text.push_str(
            "<figure><h3>Per day</h3><p class=\"none\">All trades settled on one day.</p></figure>",
        );
    }
    text.push_str("</div></section>");
    text
}

struct HistogramSpec {
    name: &'static str,
    heading: &'static str,
    across: &'static str,
    unit: &'static str,
    counted: &'static str,
    decimals: usize,
}

impl HistogramSpec {
    fn figure(&self, bins: &[Bin], mean: Option<f64>, charts: &mut Charts) -> String {
        let Self { name, heading, across, unit, counted, decimals } = self;
        let mut text = format!("<figure><h3>{heading}</h3>");
        let Some(last) = bins.last() else {
            return text + "<p class=\"none\">No data.</p></figure>";
        };
        let edges = bins.iter().map(|bin| bin.from).chain([last.to]).collect();
        let counts = bins.iter().map(|bin| bin.count).collect();
        let mut layers = vec![Layer::Bars { name: (*counted).to_owned(), edges, counts }];
        let label = |at: f64| format!("mean {}{unit}", format_number(format!("{at:+.2}")));
        layers.extend(mean.map(|at| Layer::Upright { name: label(at), at }));
        let pane = Pane { title: capitalise(counted), height: 210, decimals: 0, unit: "", layers };
        let chart = Chart { axis: Axis::Number { title: (*across).to_owned() }, panes: vec![pane] };
        text.push_str(&charts.add(name, &format!("Histogram: {counted} by {across}"), &chart));
        let places = decimals
            + usize::from(
                bins.iter().any(|bin| (bin.from * 10_f64.powi(*decimals as i32)).fract().abs() > 1e-6),
            );
        let row = |bin: &Bin| {
            let [from, to] = [bin.from, bin.to].map(|end| format_number(format!("{end:+.places$}")));
            vec![format!("{from} to {to}"), format_number(bin.count)]
        };
        let rows = bins.iter().filter(|bin| bin.count > 0).map(row).collect();
        let table = DataTable::new([*across, *counted], rows);
        let _ = write!(text, "{}</figure>", render_table_details("As a table", &table));
        text
    }
}

pub(super) fn sensitivity_section(page: &RunPage<'_>, charts: &mut Charts) -> String {
    let mut text = String::from("<section id=\"sensitivity\"><h2>Sensitivity to the venue</h2>");
    let Some(sensitivity) = &page.analysis.sensitivity else {
        let _ = write!(text, "<p class=\"none\">{}</p></section>", escape_html(page.no_sensitivity_reason));
        return text;
    };
    text.push_str("<p>The run was repeated with other venue settings, one change at a time. ");
    let _ = match sensitivity.break_even_payout_percent {
        Some(payout) => write!(text, "Break-even payout: {}.</p>", break_even_payout_text(payout)),
        None => write!(text, "Break-even payout: none between 60 and 92 %.</p>"),
    };
    text.push_str("<div class=\"tables\">");
    for curve in &sensitivity.curves {
        let heading = setting_name(curve.setting);
        let _ = write!(text, "<figure><h3>By {heading}</h3>");
        if curve.points.iter().filter(|point| point.value.is_some()).count() > 2 {
            let chart = curve_chart(curve, heading);
            text.push_str(&charts.add(heading, &format!("Expectancy by {heading}"), &chart));
        }
        let rows = curve.points.iter().map(|point| point_row(point, page)).collect();
        let header = [heading, "trades", "win rate", "break-even", "expectancy", "profit"];
        let _ = write!(text, "{}</figure>", DataTable::new(header, rows).to_markup());
    }
    text.push_str("</div></section>");
    text
}

fn point_row(point: &SensitivityPoint, page: &RunPage<'_>) -> Vec<String> {
    let own = if point.is_own { " (this run)" } else { "" };
    vec![
        format!("{}{own}", point.label),
        format_number(point.trades),
        or_dash(point.win_rate, format_percent),
        or_dash(point.break_even, format_percent),
        or_dash(point.return_per_unit, format_signed_percent),
        format_signed_money(point.pnl, page.trades.scale),
    ]
}

fn curve_chart(curve: &SensitivityCurve, heading: &str) -> Chart {
    let known = |point: &SensitivityPoint| Some((point.value?, point.return_per_unit? * 100.0, point.is_own));
    let points: Vec<(f64, f64, bool)> = curve.points.iter().filter_map(known).collect();
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().map(|(x, y, _)| (*x, *y)).unzip();
    let own = points.iter().map(|(.., is_own)| *is_own).collect();
    let layers = vec![
        Layer::Level { name: "break-even".to_owned(), value: 0.0 },
        Layer::Line(Line::new("", ACCENT_COLOUR, Column::Plain(x.clone()), Column::Plain(y.clone()))),
        Layer::Points { name: "expectancy (large dot: this run)".to_owned(), x, y, own },
    ];
    let title = "Expectancy, % of stake".to_owned();
    let pane = Pane { title, height: 190, decimals: 2, unit: " %", layers };
    let unit = if curve.setting == VenueSetting::LatencyMs { "ms" } else { "%" };
    Chart { axis: Axis::Number { title: format!("{heading}, {unit}") }, panes: vec![pane] }
}

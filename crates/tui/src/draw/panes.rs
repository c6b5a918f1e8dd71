//! Header and panes of the view: trades, bots and verdicts, limits and rejections, equity, and log.

use super::{Scene, bordered_block};
use crate::keys::Pane;
use crate::look::{
    Palette, format_age, format_clock_time, format_countdown, format_date_time, format_percent,
    format_signed, phase_label, progress_bar,
};
use crate::view::{LogLine, Tone, View};
use candlewick_engine::{EdgeVerdict, IntentState, LimitUsage, Quantity, Rule};
use candlewick_records::{count_text, describe_halt, threshold_text, verdict_text};
use candlewick_runtime::control::{Phase, SlowestCandle};
use candlewick_runtime::{BotOverview, TradeOverview};
use candlewick_sdk::{Direction, Money, Outcome, compare_prices, format_price};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Sparkline, Table, Wrap};
use std::cmp::Ordering;

pub(super) const HEADER_HEIGHT: u16 = 3;

pub(super) fn draw_header(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    frame.render_widget(Paragraph::new(vec![phase_line(scene), money_line(scene), status_line(scene)]), area);
    let time = format!("{} UTC ", format_clock_time(scene.now));
    let width = (time.len() as u16).min(area.width);
    let right = Rect { x: area.right() - width, width, height: 1, ..area };
    frame.render_widget(Line::styled(time, Palette::BOLD), right);
}

fn phase_line(scene: Scene<'_>) -> Line<'_> {
    let Scene { view, now, palette, .. } = scene;
    let state = view.overview.as_ref().map(|overview| &overview.state);
    let phase = view.phase();
    let words = phase.map_or("STARTING", phase_label);
    let (words, colour) = match phase {
        Some(Phase::Trading) if state.is_some_and(|state| state.all_blocked) => ("BLOCKED", palette.warn()),
        None => (words, Style::new()),
        Some(Phase::Trading) => (words, palette.good()),
        Some(Phase::Halted | Phase::Suspended) => (words, palette.bad()),
        Some(Phase::Stopping) => (words, palette.warn()),
    };
    let mut spans = vec![
        Span::styled(format!(" {words} "), Palette::REVERSED.patch(colour)),
        Span::raw(format!("  {}  ", view.facts.wallet)),
    ];
    let heard = state.and_then(|state| state.heard);
    let heard = heard.map_or_else(
        || "no contact yet".to_owned(),
        |at| format!("last contact {} ago", format_age(at, now)),
    );
    spans.push(Span::styled(heard, Palette::DIM));
    let market = state.and_then(|state| state.market.as_ref());
    if let Some(slowest) = market.and_then(|market| market.slowest_candle) {
        spans.push(Span::styled(format!("  {}", describe_delay(slowest)), Palette::DIM));
    }
    Line::from(spans)
}

fn describe_delay(slowest: SlowestCandle) -> String {
    let SlowestCandle { symbol, interval, delay_ms, has_come } = slowest;
    let seconds = delay_ms.get() as f64 / 1_000.0;
    let what = if has_come { "slowest" } else { "awaiting" };
    format!("{what} {symbol} {interval}, {seconds:.1} s")
}

fn money_line(scene: Scene<'_>) -> Line<'_> {
    let Scene { view, palette, .. } = scene;
    let Some(overview) = &view.overview else { return Line::raw(" balance unknown") };
    let (scale, funds) = (view.facts.scale, overview.funds);
    let equity = funds.free + funds.open_stakes;
    let fall = funds.peak - equity;
    let share = if funds.peak > Money::ZERO { fall.minor() as f64 / funds.peak.minor() as f64 } else { 0.0 };
    Line::from(vec![
        Span::raw(" balance "),
        Span::styled(scale.format(funds.free), Palette::BOLD),
        Span::raw(format!("  open stakes {}  today ", scale.format(funds.open_stakes))),
        Span::styled(
            format_signed(scale, overview.day_profit),
            palette.for_sign(overview.day_profit.minor()),
        ),
        Span::raw(format!("  drawdown {} ({})", scale.format(fall), format_percent(share))),
    ])
}

fn status_line(scene: Scene<'_>) -> Line<'_> {
    let Scene { view, palette, .. } = scene;
    let state = view.overview.as_ref().map(|overview| &overview.state);
    let mut parts: Vec<String> = Vec::new();
    if let Some(state) = state {
        let visible = |text: &String| candlewick_sdk::escape_hidden(text).into_owned();
        let reason = state
            .reason
            .as_ref()
            .map(|reason| format!("{}: {}", phase_label(state.phase).to_lowercase(), visible(reason)));
        parts.extend(reason);
        if !state.in_doubt.is_empty() {
            let doubts: Vec<String> = state.in_doubt.iter().map(|intent| format!("#{intent}")).collect();
            parts.push(format!("unknown status: {}", doubts.join(" ")));
        }
        parts.extend(state.troubles.iter().map(visible));
    }
    parts.extend(view.stop_notice.clone());
    if !parts.is_empty() {
        return Line::styled(format!(" {}", parts.join("; ")), palette.bad());
    }
    match &view.alarm {
        Some((at, text)) => Line::styled(format!(" {} {text}", format_clock_time(*at)), palette.bad()),
        None => Line::styled(format!(" {}", view.facts.venue), Palette::DIM),
    }
}

const TRADE_COLUMNS: [Constraint; 7] = [
    Constraint::Length(5),
    Constraint::Min(8),
    Constraint::Min(8),
    Constraint::Length(4),
    Constraint::Length(9),
    Constraint::Length(20),
    Constraint::Length(17),
];

pub(super) fn open_trades_height(view: &View, most: usize) -> u16 {
    view.unsettled_count().clamp(1, most) as u16 + 2
}

pub(super) fn draw_trades(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let open = open_trades_height(scene.view, 100).min(area.height / 2);
    let [unsettled, settled] = Layout::vertical([Constraint::Length(open), Constraint::Fill(1)]).areas(area);
    draw_open_trades(frame, unsettled, scene);
    draw_settled_trades(frame, settled, scene);
}

pub(super) fn draw_open_trades(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let trades = scene.view.overview.as_ref().map_or(&[][..], |overview| &overview.unsettled);
    let rows = trades.iter().map(|trade| trade_row(trade, scene, open_cells(trade, scene))).collect();
    draw_trade_table(frame, area, format!(" Open trades: {} ", trades.len()), rows);
}

fn draw_trade_table(frame: &mut Frame<'_>, area: Rect, title: String, rows: Vec<Row<'_>>) {
    let block = bordered_block(title);
    if rows.is_empty() {
        frame.render_widget(Paragraph::new(Line::styled(" none", Palette::DIM)).block(block), area);
    } else {
        frame.render_widget(Table::new(rows, TRADE_COLUMNS).block(block), area);
    }
}

pub(super) fn draw_settled_trades(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let trades = scene.view.overview.as_ref().map_or(&[][..], |overview| &overview.settled);
    let from = scene.ui.scroll.min(trades.len().saturating_sub(1));
    let rows =
        trades[from..].iter().map(|trade| trade_row(trade, scene, settled_cells(trade, scene))).collect();
    draw_trade_table(frame, area, " Settled trades ".to_owned(), rows);
}

fn trade_row<'a>(trade: &TradeOverview, scene: Scene<'_>, last: [Cell<'a>; 2]) -> Row<'a> {
    let view = scene.view;
    let [prices, end] = last;
    Row::new([
        Cell::new(format!("#{}", trade.intent)),
        Cell::new(view.facts.bot_name(trade.bot).to_owned()),
        Cell::new(trade.symbol.to_string()),
        Cell::new(trade.direction.to_string()),
        Cell::new(Text::from(view.facts.scale.format(trade.stake)).right_aligned()),
        prices,
        end,
    ])
}

fn open_cells<'a>(trade: &TradeOverview, scene: Scene<'_>) -> [Cell<'a>; 2] {
    let Scene { view, now, palette, .. } = scene;
    let price = view.price(trade.symbol);
    let (prices, style) = match (trade.open_price, price) {
        (Some(entry), Some(price)) => {
            let style = match (compare_prices(price, entry), trade.direction) {
                (Ordering::Equal, _) => Style::new(),
                (Ordering::Greater, Direction::Buy) | (Ordering::Less, Direction::Sell) => palette.good(),
                (Ordering::Greater, Direction::Sell) | (Ordering::Less, Direction::Buy) => palette.bad(),
            };
            (format!("{} → {}", format_price(entry), format_price(price)), style)
        }
        (Some(entry), None) => (format_price(entry), Style::new()),
        (None, _) => (String::new(), Style::new()),
    };
    let end = match (trade.state, trade.close_time) {
        (IntentState::InDoubt, _) => Cell::new("unknown status").style(palette.bad()),
        (IntentState::Open, Some(close)) if close <= now => Cell::new("awaiting result").style(Palette::DIM),
        (IntentState::Open, Some(close)) => {
            Cell::new(format!("{} in {}", format_clock_time(close), format_countdown(close, now)))
        }
        (IntentState::Open, None) => Cell::new("open"),
        _ => Cell::new("sent").style(Palette::DIM),
    };
    [Cell::new(prices).style(style), end]
}

fn settled_cells<'a>(trade: &TradeOverview, scene: Scene<'_>) -> [Cell<'a>; 2] {
    let Scene { view, palette, .. } = scene;
    let style = palette.for_sign(trade.profit.minor());
    let outcome = trade.outcome.map(Outcome::as_str).unwrap_or_default().to_lowercase();
    let profit = format!("{outcome} {}", format_signed(view.facts.scale, trade.profit));
    // The date is shown if there is enough room.
    let prices = match (scene.ui.pane, trade.open_price, trade.close_price) {
        (Pane::Trades, ..) => trade.close_time.map(format_date_time).unwrap_or_default(),
        (_, Some(entry), Some(exit)) => format!("{} → {}", format_price(entry), format_price(exit)),
        _ => String::new(),
    };
    [Cell::new(prices), Cell::new(profit).style(style)]
}

const LINES_PER_BOT: u16 = 5;

pub(super) fn bots_height(view: &View) -> u16 {
    view.facts.bots.len().min(50) as u16 * LINES_PER_BOT + 2
}

pub(super) fn draw_bots(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let view = scene.view;
    let mut lines = Vec::new();
    for (place, facts) in view.facts.bots.iter().enumerate() {
        let bot = view.overview.as_ref().and_then(|overview| overview.bots.get(place));
        lines.push(Line::from(vec![
            Span::styled(format!(" {} ", facts.name), Palette::BOLD),
            Span::styled(facts.about.clone(), Palette::DIM),
        ]));
        if let Some(bot) = bot {
            lines.extend(bot_lines(bot, scene));
        }
    }
    draw_lines(frame, area, scene, Pane::Bots, lines);
}

fn draw_lines(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>, pane: Pane, lines: Vec<Line<'_>>) {
    let title = if pane == Pane::Bots { " Bots and verdicts " } else { " Limits and rejections " };
    let scroll = if scene.ui.pane == pane { scene.ui.scroll } else { 0 };
    let from = scroll.min(lines.len().saturating_sub(1)) as u16;
    let text = Paragraph::new(lines).block(bordered_block(title)).scroll((from, 0));
    let text = if pane == Pane::Limits { text.wrap(Wrap { trim: false }) } else { text };
    frame.render_widget(text, area);
}

fn bot_lines<'a>(bot: &BotOverview, scene: Scene<'_>) -> [Line<'a>; 4] {
    let Scene { view, palette, .. } = scene;
    let decided = bot.won + bot.lost;
    let returned = if bot.returned > 0 { format!(", {} returned", bot.returned) } else { String::new() };
    let trades = count_text(decided + bot.returned, "trade", "trades");
    let rate =
        if decided > 0 { format_percent(bot.won as f64 / decided as f64) } else { "unknown".to_owned() };
    let needed =
        bot.break_even.map(|needed| format!(", break-even {}", format_percent(needed))).unwrap_or_default();
    let (style, verdict): (Style, String) = match bot.edge {
        EdgeVerdict::Open => {
            (palette.warn(), verdict_text("not_enough_trades", bot.estimated_remaining_trades))
        }
        EdgeVerdict::Shown => (palette.good(), verdict_text("edge_shown", None)),
        EdgeVerdict::Rejected => (palette.bad(), verdict_text("edge_rejected", None)),
        EdgeVerdict::NoLongerHeld => (palette.bad(), "edge no longer held".to_owned()),
    };
    let evidence = format!(
        "   evidence {:.2} of {} for an edge, {:.2} of {} against",
        bot.evidence,
        threshold_text(bot.needed_evidence),
        bot.evidence_against,
        threshold_text(Some(bot.needed_evidence_against)),
    );
    [
        Line::from(vec![
            Span::raw(format!("   {trades}: {} won, {} lost{returned}, ", bot.won, bot.lost)),
            Span::styled(format_signed(view.facts.scale, bot.profit), palette.for_sign(bot.profit.minor())),
        ]),
        Line::raw(format!("   win rate {rate}{needed}")),
        Line::styled(format!("   {verdict}"), style),
        Line::styled(evidence, Palette::DIM),
    ]
}

const WARNING_SHARE: f64 = 0.8;

pub(super) fn draw_limits(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, palette, .. } = scene;
    let mut lines = Vec::new();
    let Some(overview) = &view.overview else {
        frame.render_widget(bordered_block(" Limits "), area);
        return;
    };
    let columns = usize::from(area.width.saturating_sub(62)).clamp(8, 30);
    lines.extend(overview.limits.iter().map(|limit| limit_line(limit, columns, scene)));
    if overview.limits.is_empty() {
        lines.push(Line::styled(" no limits enabled", palette.warn()));
    }
    let blocked = overview.state.blocked.iter();
    lines.extend(blocked.map(|one| Line::styled(format!(" {}", one.describe()), palette.warn())));
    let halt = overview.state.halt.iter();
    lines.extend(halt.map(|halt| Line::styled(format!(" {}", describe_halt(halt)), palette.bad())));
    lines.push(Line::raw(""));
    let refused: Vec<String> =
        overview.refused.iter().map(|(rule, count)| format!("{} {count}", rule_label(rule))).collect();
    let refused = if refused.is_empty() { "none".to_owned() } else { refused.join(", ") };
    let doubts: Vec<String> = overview.state.in_doubt.iter().map(|intent| format!("#{intent}")).collect();
    let doubts = if doubts.is_empty() { "none".to_owned() } else { doubts.join(", ") };
    let wallet = overview.wallet.map_or("unknown".to_owned(), |wallet| view.facts.scale.format(wallet));
    let findings: u64 = overview.state.audits.values().map(|tally| tally.findings).sum();
    for (label, text) in [
        ("rejected", refused),
        ("unknown", doubts),
        ("wallet", format!("{wallet} at last poll; audit findings: {findings}")),
        ("requests", view.facts.request_summary.clone()),
        ("venue", view.facts.venue.clone()),
        ("journal", view.facts.journal.clone()),
    ] {
        lines.push(Line::from(vec![Span::styled(format!(" {label:<9}"), Palette::BOLD), Span::raw(text)]));
    }
    draw_lines(frame, area, scene, Pane::Limits, lines);
}

fn limit_line<'a>(limit: &LimitUsage, columns: usize, scene: Scene<'_>) -> Line<'a> {
    let Scene { view, palette, .. } = scene;
    let (share, text) = match (limit.used, limit.limit) {
        (Quantity::Money(used), Quantity::Money(most)) => {
            let [shown, limit] = [used, most].map(|money| view.facts.scale.format(money));
            (used.minor() as f64 / most.minor().max(1) as f64, format!("{shown} of {limit}"))
        }
        (Quantity::Count(used), Quantity::Count(most)) => {
            (used as f64 / most.max(1) as f64, format!("{used} of {most}"))
        }
        _ => (0.0, String::new()),
    };
    let style = if share >= 1.0 {
        palette.bad()
    } else if share >= WARNING_SHARE {
        palette.warn()
    } else {
        palette.good()
    };
    Line::from(vec![
        Span::raw(format!(" {:<30} ", strip_details(&limit.rule.describe()))),
        Span::styled(progress_bar(share, columns), style),
        Span::raw(format!(" {text}")),
    ])
}

fn strip_details(text: &str) -> String {
    text.split(" (").next().unwrap_or_default().to_owned()
}

fn rule_label(name: &str) -> String {
    let rule = Rule::ALL.into_iter().find(|rule| rule.as_str() == name);
    rule.map_or_else(|| name.to_owned(), |rule| strip_details(&rule.describe()))
}

pub(super) fn draw_equity(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, palette, .. } = scene;
    let scale = view.facts.scale;
    let (Some(first), Some(last)) = (view.equity.first(), view.equity.last()) else {
        frame.render_widget(bordered_block(" Equity "), area);
        return;
    };
    let (low, high) =
        view.equity.iter().fold((*first, *first), |(low, high), at| (low.min(*at), high.max(*at)));
    let title = format!(
        " Equity {} ({} in this run), lowest {}, highest {} ",
        scale.format(*last),
        format_signed(scale, *last - *first),
        scale.format(low),
        scale.format(high)
    );
    let bars = equity_bars(&view.equity, low, usize::from(area.width.saturating_sub(2)));
    let style = palette.accent();
    frame.render_widget(Sparkline::default().data(&bars).style(style).block(bordered_block(title)), area);
}

fn equity_bars(equity: &[Money], low: Money, columns: usize) -> Vec<u64> {
    let height = |at: &Money| (at.minor().saturating_sub(low.minor())).unsigned_abs() + 1;
    if equity.len() <= columns {
        return equity.iter().map(height).collect();
    }
    let last_of = |column: usize| ((column + 1) * equity.len() / columns).saturating_sub(1);
    (0..columns).filter_map(|column| equity.get(last_of(column)).map(height)).collect()
}

pub(super) fn draw_log(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>, back: usize) {
    let log = &scene.view.log;
    let rows = usize::from(area.height.saturating_sub(2));
    let back = back.min(log.len().saturating_sub(rows));
    let end = log.len() - back;
    let lines: Vec<Line<'_>> =
        log.range(end.saturating_sub(rows)..end).map(|line| log_line(line, scene)).collect();
    let title = if back > 0 { format!(" Log, {back} lines back ") } else { " Log ".to_owned() };
    frame.render_widget(Paragraph::new(lines).block(bordered_block(title)), area);
}

fn log_line<'a>(line: &'a LogLine, scene: Scene<'_>) -> Line<'a> {
    let palette = scene.palette;
    let style = match line.tone {
        Tone::Plain => Style::new(),
        Tone::Dim => Palette::DIM,
        Tone::Good => palette.good(),
        Tone::Bad => palette.bad(),
        Tone::Note => palette.warn(),
    };
    let time = line.at.map_or_else(|| " ".to_owned(), |at| format!(" {} ", format_date_time(at)));
    Line::from(vec![Span::styled(time, Palette::DIM), Span::styled(line.text.as_str(), style)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_ends_with_the_last_value_in_any_width() {
        let equity: Vec<Money> = (0..10).map(Money::from_minor).collect();
        assert_eq!(equity_bars(&equity, Money::ZERO, 20), (1..=10).collect::<Vec<u64>>());
        assert_eq!(equity_bars(&equity, Money::ZERO, 5), [2, 4, 6, 8, 10]);
        assert_eq!(equity_bars(&equity, Money::ZERO, 3), [3, 6, 10]);
        assert!(equity_bars(&equity, Money::ZERO, 0).is_empty());
    }
}

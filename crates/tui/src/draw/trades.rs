//! Open trades with countdowns, and recently settled trades.

use super::{Scene, framed};
use crate::palette::Palette;
use crate::view::View;
use crate::words::{clock_time, countdown, date_time, signed};
use candlewick_engine::IntentState;
use candlewick_runtime::TradeOverview;
use candlewick_sdk::{Direction, Outcome, compare_prices, price_text};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use std::cmp::Ordering;

const WIDTHS: [Constraint; 7] = [
    Constraint::Length(5),
    Constraint::Min(8),
    Constraint::Min(8),
    Constraint::Length(4),
    Constraint::Length(9),
    Constraint::Length(20),
    Constraint::Length(17),
];

pub(super) fn open_height(view: &View, most: usize) -> u16 {
    view.unsettled().clamp(1, most) as u16 + 2
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let open = open_height(scene.view, 100).min(area.height / 2);
    let [unsettled, settled] = Layout::vertical([Constraint::Length(open), Constraint::Fill(1)]).areas(area);
    draw_open(frame, unsettled, scene);
    draw_settled(frame, settled, scene);
}

pub(super) fn draw_open(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let trades = scene.view.overview.as_ref().map_or(&[][..], |overview| &overview.unsettled);
    let block = framed(format!(" Open trades: {} ", trades.len()));
    if trades.is_empty() {
        frame.render_widget(Paragraph::new(Line::styled(" none", Palette::DIM)).block(block), area);
        return;
    }
    let rows = trades.iter().map(|trade| row(trade, scene, open_cells(trade, scene)));
    frame.render_widget(Table::new(rows, WIDTHS).block(block), area);
}

pub(super) fn draw_settled(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let trades = scene.view.overview.as_ref().map_or(&[][..], |overview| &overview.settled);
    let block = framed(" Last settlements ");
    if trades.is_empty() {
        frame.render_widget(Paragraph::new(Line::styled(" none yet", Palette::DIM)).block(block), area);
        return;
    }
    let from = scene.ui.scroll.min(trades.len() - 1);
    let rows = trades[from..].iter().map(|trade| row(trade, scene, settled_cells(trade, scene)));
    frame.render_widget(Table::new(rows, WIDTHS).block(block), area);
}

fn row<'a>(trade: &TradeOverview, scene: Scene<'_>, last: [Cell<'a>; 2]) -> Row<'a> {
    let view = scene.view;
    let [prices, end] = last;
    Row::new([
        Cell::new(format!("#{}", trade.intent)),
        Cell::new(view.bot_name(trade.bot).to_owned()),
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
            (format!("{} → {}", price_text(entry), price_text(price)), style)
        }
        (Some(entry), None) => (price_text(entry), Style::new()),
        (None, _) => (String::new(), Style::new()),
    };
    let end = match (trade.state, trade.close_time) {
        (IntentState::InDoubt, _) => Cell::new("in doubt").style(palette.bad()),
        (IntentState::Open, Some(close)) if close <= now => Cell::new("awaits its end").style(Palette::DIM),
        (IntentState::Open, Some(close)) => {
            Cell::new(format!("{} in {}", clock_time(close), countdown(close, now)))
        }
        (IntentState::Open, None) => Cell::new("open"),
        _ => Cell::new("sent").style(Palette::DIM),
    };
    [Cell::new(prices).style(style), end]
}

fn settled_cells<'a>(trade: &TradeOverview, scene: Scene<'_>) -> [Cell<'a>; 2] {
    let Scene { view, palette, .. } = scene;
    let style = palette.signed(trade.profit.minor());
    let outcome = match trade.outcome {
        Some(Outcome::Won) => "won",
        Some(Outcome::Lost) => "lost",
        Some(Outcome::Draw) => "draw",
        Some(Outcome::Cancelled) => "cancelled",
        None => "",
    };
    let profit = format!("{outcome} {}", signed(view.facts.scale, trade.profit));
    // A day that is over is named where there is room for it.
    let closed = trade
        .close_time
        .map(|at| if scene.ui.pane == crate::Pane::Trades { date_time(at) } else { clock_time(at) });
    let prices = match (trade.open_price, trade.close_price) {
        (Some(entry), Some(exit)) => format!("{} → {}", price_text(entry), price_text(exit)),
        _ => String::new(),
    };
    let prices = if scene.ui.pane == crate::Pane::Trades { closed.unwrap_or_default() } else { prices };
    [Cell::new(prices), Cell::new(profit).style(style)]
}

//! Layout of the full-screen view, which adapts to the size of the window.

mod panes;

use crate::keys::{Pane, Ui};
use crate::look::{Palette, phase_label};
use crate::view::View;
use candlewick_sdk::Millis;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

/// Minimum width and height in characters. A smaller window shows only a summary.
const MIN_SIZE: (u16, u16) = (40, 8);
const TWO_COLUMN_WIDTH: u16 = 144;
const RIGHT_COLUMN_WIDTH: u16 = 62;

#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) view: &'a View,
    pub(crate) ui: &'a Ui,
    pub(crate) now: Millis,
    pub(crate) palette: Palette,
}

pub fn draw(frame: &mut Frame<'_>, view: &View, ui: &Ui, now: Millis, palette: Palette) {
    let scene = Scene { view, ui, now, palette };
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        return draw_small_window(frame, area, scene);
    }
    let [top, tabs, body, bottom] = Layout::vertical([
        Constraint::Length(panes::HEADER_HEIGHT),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    panes::draw_header(frame, top, scene);
    draw_tabs(frame, tabs, scene);
    match ui.pane {
        Pane::Run if area.width >= TWO_COLUMN_WIDTH => draw_wide(frame, body, scene),
        Pane::Run => draw_narrow(frame, body, scene),
        Pane::Trades => panes::draw_trades(frame, body, scene),
        Pane::Bots => panes::draw_bots(frame, body, scene),
        Pane::Limits => panes::draw_limits(frame, body, scene),
        Pane::Log => panes::draw_log(frame, body, scene, ui.scroll),
    }
    draw_bottom_line(frame, bottom, scene);
    if ui.is_help_open {
        draw_help(frame, area);
    }
}

fn draw_small_window(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, .. } = scene;
    let phase = view.phase().map_or("STARTING", phase_label);
    let balance = view.overview.as_ref().map(|overview| view.facts.scale.format(overview.funds.free));
    let text = format!("{phase} {} {} open", balance.unwrap_or_default(), view.unsettled_count());
    let lines = vec![
        Line::styled(text, Palette::BOLD),
        Line::raw("window too small"),
        Line::raw(scene.ui.question.map(|question| question.prompt(view)).unwrap_or_default()),
    ];
    frame.render_widget(Paragraph::new(lines), area);
}

fn draw_narrow(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let open = panes::open_trades_height(scene.view, 6);
    let has_room = area.height >= 16;
    let column = Layout::vertical([
        Constraint::Length(if has_room { 5 } else { 0 }),
        Constraint::Length(open.min(area.height)),
        Constraint::Fill(1),
        Constraint::Length(if area.height >= 13 { 6 } else { 0 }),
    ])
    .areas(area);
    draw_column(frame, column, scene);
}

fn draw_column(frame: &mut Frame<'_>, [curve, unsettled, settled, log]: [Rect; 4], scene: Scene<'_>) {
    panes::draw_equity(frame, curve, scene);
    panes::draw_open_trades(frame, unsettled, scene);
    panes::draw_settled_trades(frame, settled, scene);
    panes::draw_log(frame, log, scene, 0);
}

fn draw_wide(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let [left, right] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(RIGHT_COLUMN_WIDTH)]).areas(area);
    let column = Layout::vertical([
        Constraint::Length(if area.height >= 24 { 9 } else { 5 }),
        Constraint::Length(panes::open_trades_height(scene.view, 10)),
        Constraint::Fill(1),
        Constraint::Percentage(30),
    ])
    .areas(left);
    draw_column(frame, column, scene);
    let [verdicts, rest] = Layout::vertical([
        Constraint::Length(panes::bots_height(scene.view).min(right.height / 2)),
        Constraint::Fill(1),
    ])
    .areas(right);
    panes::draw_bots(frame, verdicts, scene);
    panes::draw_limits(frame, rest, scene);
}

fn draw_tabs(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let mut spans = Vec::new();
    for ((number, pane), name) in (1..).zip(Pane::ALL).zip(Pane::NAMES) {
        let text = format!(" {number} {name} ");
        let style = if pane == scene.ui.pane { Palette::REVERSED } else { Palette::DIM };
        spans.push(Span::styled(text, style));
    }
    if scene.view.missed_notices > 0 {
        let text = format!("  {} messages skipped: the terminal did not keep up", scene.view.missed_notices);
        spans.push(Span::styled(text, scene.palette.warn()));
    }
    frame.render_widget(Line::from(spans), area);
}

fn draw_bottom_line(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, ui, palette, .. } = scene;
    let line = match (&ui.question, &ui.message) {
        (Some(question), _) => Line::styled(format!(" {}", question.prompt(view)), Palette::REVERSED),
        (None, Some(answer)) => Line::styled(format!(" {answer}"), palette.warn()),
        (None, None) => Line::styled(" q quit  h halt  r resume  tab panes  ↑↓ scroll  ? help", Palette::DIM),
    };
    frame.render_widget(line, area);
}

const HELP_LINES: [(&str, &str); 9] = [
    ("tab, ← →, 1-5", "switch panes"),
    ("↑ ↓", "scroll"),
    ("h", "halt: no new trades; open trades continue"),
    ("r", "resume: open new trades again"),
    ("q", "quit: no new trades, wait for open trades"),
    ("q again", "quit immediately"),
    ("Ctrl-C", "like q, with exit code 130"),
    ("Ctrl-L", "redraw"),
    ("any key", "close this help"),
];

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    let height = (HELP_LINES.len() as u16 + 4).min(area.height);
    let width = 66.min(area.width);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let mut lines: Vec<Line<'_>> = HELP_LINES
        .iter()
        .map(|(key, what)| {
            Line::from(vec![Span::styled(format!(" {key:<15}"), Palette::BOLD), Span::raw(*what)])
        })
        .collect();
    lines.push(Line::raw(""));
    lines.push(Line::styled(" h and r work like `candlewick halt` and `candlewick resume`.", Palette::DIM));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" Keys ")), place);
}

pub(crate) fn bordered_block<'a>(title: impl Into<Line<'a>>) -> Block<'a> {
    Block::bordered().title(title).border_style(Palette::DIM)
}

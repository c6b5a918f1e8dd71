//! Log pane, with the latest line at the bottom.

use super::{Scene, framed};
use crate::event_words::{LogLine, Tone};
use crate::palette::Palette;
use crate::words::date_time;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    draw_from(frame, area, scene, scene.ui.scroll);
}

pub(super) fn draw_tail(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    draw_from(frame, area, scene, 0);
}

fn draw_from(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>, back: usize) {
    let log = &scene.view.log;
    let rows = usize::from(area.height.saturating_sub(2));
    // The first page is as far back as it goes.
    let back = back.min(log.len().saturating_sub(rows));
    let end = log.len() - back;
    let lines: Vec<Line<'_>> =
        log.range(end.saturating_sub(rows)..end).map(|line| line_of(line, scene)).collect();
    let title = if back > 0 { format!(" Log, {back} lines back ") } else { " Log ".to_owned() };
    frame.render_widget(Paragraph::new(lines).block(framed(title)), area);
}

fn line_of<'a>(line: &'a LogLine, scene: Scene<'_>) -> Line<'a> {
    let palette = scene.palette;
    let style = match line.tone {
        Tone::Plain => ratatui::style::Style::new(),
        Tone::Dim => Palette::DIM,
        Tone::Good => palette.good(),
        Tone::Bad => palette.bad(),
        Tone::Note => palette.note(),
    };
    let time = line.at.map_or_else(|| " ".to_owned(), |at| format!(" {} ", date_time(at)));
    Line::from(vec![Span::styled(time, Palette::DIM), Span::styled(line.text.as_str(), style)])
}

//! Header: phase, wallet, venue time, data age, slowest candle, balance, day and drawdown.

use super::Scene;
use crate::palette::Palette;
use crate::words::{age, clock_time, percent, phase_words, signed};
use candlewick_runtime::control::{Phase, SlowestCandle};
use candlewick_sdk::Money;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub(super) const HEIGHT: u16 = 3;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let lines = vec![phase_line(scene), money_line(scene), trouble_line(scene)];
    frame.render_widget(Paragraph::new(lines), area);
    let time = format!("{} UTC ", clock_time(scene.now));
    let width = (time.len() as u16).min(area.width);
    let right = Rect { x: area.right() - width, width, height: 1, ..area };
    frame.render_widget(Line::styled(time, Palette::BOLD), right);
}

fn phase_line(scene: Scene<'_>) -> Line<'_> {
    let Scene { view, now, palette, .. } = scene;
    let phase = view.phase();
    let colour = match phase {
        None => Style::new(),
        Some(Phase::Trading) => palette.good(),
        Some(Phase::Halted | Phase::Suspended) => palette.bad(),
        Some(Phase::Stopping) => palette.note(),
    };
    let state = view.overview.as_ref().map(|overview| &overview.state);
    let is_blocked = phase == Some(Phase::Trading) && state.is_some_and(|state| state.all_blocked);
    let words = if is_blocked { "BLOCKED" } else { phase.map_or("STARTING", phase_words) };
    let colour = if is_blocked { palette.note() } else { colour };
    let mut spans = vec![
        Span::styled(format!(" {words} "), Palette::REVERSED.patch(colour)),
        Span::raw(format!("  {}  ", view.facts.wallet)),
    ];
    let heard = view.overview.as_ref().map(|overview| overview.state.heard);
    spans.push(match heard {
        None | Some(None) => Span::styled("venue not heard yet", Palette::DIM),
        Some(Some(at)) => Span::styled(format!("venue heard {} ago", age(at, now)), Palette::DIM),
    });
    let market = view.overview.as_ref().and_then(|overview| overview.state.market.as_ref());
    if let Some(slowest) = market.and_then(|market| market.slowest_candle) {
        spans.push(Span::styled(format!("  {}", late_words(slowest)), Palette::DIM));
    }
    Line::from(spans)
}

/// Describes the slowest candle, short enough for 80 columns.
fn late_words(slowest: SlowestCandle) -> String {
    let SlowestCandle { symbol, interval, delay_ms, has_come } = slowest;
    let seconds = delay_ms.get() as f64 / 1_000.0;
    let what = if has_come { "slowest" } else { "awaits" };
    format!("{what} {symbol} {interval}, {seconds:.1} s")
}

fn money_line(scene: Scene<'_>) -> Line<'_> {
    let Scene { view, palette, .. } = scene;
    let Some(overview) = &view.overview else { return Line::raw(" balance not known yet") };
    let (scale, funds) = (view.facts.scale, overview.funds);
    let equity = funds.free + funds.open_stakes;
    let fall = funds.peak - equity;
    let share = if funds.peak > Money::ZERO { fall.minor() as f64 / funds.peak.minor() as f64 } else { 0.0 };
    Line::from(vec![
        Span::raw(" balance "),
        Span::styled(scale.format(funds.free), Palette::BOLD),
        Span::raw(format!("  open stakes {}  today ", scale.format(funds.open_stakes))),
        Span::styled(signed(scale, overview.day_profit), palette.signed(overview.day_profit.minor())),
        Span::raw(format!("  drawdown {} ({})", scale.format(fall), percent(share))),
    ])
}

fn trouble_line(scene: Scene<'_>) -> Line<'_> {
    let Scene { view, palette, .. } = scene;
    let state = view.overview.as_ref().map(|overview| &overview.state);
    let mut parts: Vec<String> = Vec::new();
    if let Some(state) = state {
        let visible = |text: &String| candlewick_sdk::visible(text).into_owned();
        let reason = state
            .reason
            .as_ref()
            .map(|reason| format!("{}: {}", phase_words(state.phase).to_lowercase(), visible(reason)));
        parts.extend(reason);
        if !state.in_doubt.is_empty() {
            let doubts: Vec<String> = state.in_doubt.iter().map(|intent| format!("#{intent}")).collect();
            parts.push(format!("in doubt: {}", doubts.join(" ")));
        }
        parts.extend(state.troubles.iter().map(visible));
    }
    parts.extend(view.stopping.clone());
    if !parts.is_empty() {
        return Line::styled(format!(" {}", parts.join("; ")), palette.bad());
    }
    match &view.alarm {
        Some((at, text)) => Line::styled(format!(" {} {text}", clock_time(*at)), palette.bad()),
        None => Line::styled(format!(" {}", view.facts.venue), Palette::DIM),
    }
}

//! Limits pane: limit usage, rejections, venue requests and the journal.

use super::{Scene, framed};
use crate::palette::Palette;
use crate::words::bar;
use candlewick_engine::{LimitUse, Quantity, Rule};
use candlewick_records::describe_halt;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

const NEARLY: f64 = 0.8;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, ui, palette, .. } = scene;
    let mut lines = Vec::new();
    let Some(overview) = &view.overview else {
        frame.render_widget(framed(" Limits "), area);
        return;
    };
    let columns = usize::from(area.width.saturating_sub(62)).clamp(8, 30);
    lines.extend(overview.limits.iter().map(|limit| limit_line(limit, columns, scene)));
    if overview.limits.is_empty() {
        lines.push(Line::styled(" no limit is on", palette.note()));
    }
    let blocked = overview.state.blocked.iter();
    lines.extend(blocked.map(|one| Line::styled(format!(" {}", one.describe()), palette.note())));
    let halt = overview.state.halt.iter();
    lines.extend(halt.map(|halt| Line::styled(format!(" {}", describe_halt(halt)), palette.bad())));
    lines.push(Line::raw(""));
    let refused: Vec<String> =
        overview.refused.iter().map(|(rule, count)| format!("{} {count}", rule_words(rule))).collect();
    let refused = if refused.is_empty() { "nothing yet".to_owned() } else { refused.join(", ") };
    let doubts: Vec<String> = overview.state.in_doubt.iter().map(|intent| format!("#{intent}")).collect();
    let doubts = if doubts.is_empty() { "none".to_owned() } else { doubts.join(", ") };
    let wallet = overview.wallet.map_or("not read yet".to_owned(), |wallet| view.facts.scale.format(wallet));
    let findings: u64 = overview.state.audits.values().map(|tally| tally.findings).sum();
    for (label, text) in [
        ("refused", refused),
        ("in doubt", doubts),
        ("wallet", format!("{wallet} when last read; audits found {findings}")),
        ("requests", view.facts.requests.clone()),
        ("venue", view.facts.venue.clone()),
        ("journal", view.facts.journal.clone()),
    ] {
        lines.push(Line::from(vec![Span::styled(format!(" {label:<9}"), Palette::BOLD), Span::raw(text)]));
    }
    let from =
        (ui.scroll * usize::from(ui.pane == crate::Pane::Limits)).min(lines.len().saturating_sub(1)) as u16;
    let block = framed(" Limits and refusals ");
    frame
        .render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(block).scroll((from, 0)), area);
}

fn limit_line<'a>(limit: &LimitUse, columns: usize, scene: Scene<'_>) -> Line<'a> {
    let Scene { view, palette, .. } = scene;
    let (share, text) = match (limit.used, limit.most) {
        (Quantity::Money(used), Quantity::Money(most)) => {
            let format = |money| view.facts.scale.format(money);
            (
                used.minor() as f64 / most.minor().max(1) as f64,
                format!("{} of {}", format(used), format(most)),
            )
        }
        (Quantity::Count(used), Quantity::Count(most)) => {
            (used as f64 / most.max(1) as f64, format!("{used} of {most}"))
        }
        _ => (0.0, String::new()),
    };
    let style = if share >= 1.0 {
        palette.bad()
    } else if share >= NEARLY {
        palette.note()
    } else {
        palette.good()
    };
    Line::from(vec![
        Span::raw(format!(" {:<30} ", short(&limit.rule.words()))),
        Span::styled(bar(share, columns), style),
        Span::raw(format!(" {text}")),
    ])
}

fn short(words: &str) -> String {
    words.split(" (").next().unwrap_or_default().to_owned()
}

fn rule_words(name: &str) -> String {
    let rule = Rule::ALL.into_iter().find(|rule| rule.as_str() == name);
    rule.map_or_else(|| name.to_owned(), |rule| short(&rule.words()))
}

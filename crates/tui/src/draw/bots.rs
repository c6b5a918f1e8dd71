//! Bots pane: configuration, results and verdicts.

use super::{Scene, framed};
use crate::palette::Palette;
use crate::view::View;
use crate::words::{percent, signed};
use candlewick_engine::Edge;
use candlewick_records::{counted, threshold_words, verdict_words};
use candlewick_runtime::BotOverview;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

const LINES_OF_BOT: u16 = 5;

pub(super) fn height(view: &View) -> u16 {
    view.facts.bots.len().min(50) as u16 * LINES_OF_BOT + 2
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, ui, .. } = scene;
    let mut lines = Vec::new();
    for (place, facts) in view.facts.bots.iter().enumerate() {
        let bot = view.overview.as_ref().and_then(|overview| overview.bots.get(place));
        lines.push(Line::from(vec![
            Span::styled(format!(" {} ", facts.name), Palette::BOLD),
            Span::styled(facts.about.clone(), Palette::DIM),
        ]));
        if let Some(bot) = bot {
            lines.extend(lines_of(bot, scene));
        }
    }
    let from =
        (ui.scroll * usize::from(ui.pane == crate::Pane::Bots)).min(lines.len().saturating_sub(1)) as u16;
    let block = framed(" Bots and verdicts ");
    frame.render_widget(Paragraph::new(lines).block(block).scroll((from, 0)), area);
}

fn lines_of<'a>(bot: &BotOverview, scene: Scene<'_>) -> [Line<'a>; 4] {
    let Scene { view, palette, .. } = scene;
    let decided = bot.won + bot.lost;
    let returned = if bot.returned > 0 { format!(", {} returned", bot.returned) } else { String::new() };
    let trades = counted(decided + bot.returned, "trade", "trades");
    let rate =
        if decided > 0 { percent(bot.won as f64 / decided as f64) } else { "not known yet".to_owned() };
    let needed = bot.break_even.map(|needed| format!(", break-even {}", percent(needed))).unwrap_or_default();
    let (style, verdict): (Style, String) = match bot.edge {
        Edge::Open => (palette.note(), verdict_words("not_enough_trades", bot.about_more)),
        Edge::Shown => (palette.good(), verdict_words("edge_shown", None)),
        Edge::Rejected => (palette.bad(), verdict_words("edge_rejected", None)),
        Edge::NoLongerHeld => (palette.bad(), "edge no longer held".to_owned()),
    };
    let evidence = format!(
        "   evidence for an edge {:.2} of {}, against one {:.2} of {}",
        bot.evidence,
        threshold_words(bot.needed),
        bot.evidence_against,
        threshold_words(Some(bot.needed_against)),
    );
    [
        Line::from(vec![
            Span::raw(format!("   {trades}: {} won, {} lost{returned}, ", bot.won, bot.lost)),
            Span::styled(signed(view.facts.scale, bot.profit), palette.signed(bot.profit.minor())),
        ]),
        Line::raw(format!("   win rate {rate}{needed}")),
        Line::styled(format!("   {verdict}"), style),
        Line::styled(evidence, Palette::DIM),
    ]
}

//! Equity curve as a bar chart between its minimum and maximum.

use super::{Scene, framed};
use crate::words::signed;
use candlewick_sdk::Money;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Sparkline;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: Scene<'_>) {
    let Scene { view, palette, .. } = scene;
    let scale = view.facts.scale;
    let (Some(first), Some(last)) = (view.equity.first(), view.equity.last()) else {
        frame.render_widget(framed(" Equity "), area);
        return;
    };
    let (low, high) =
        view.equity.iter().fold((*first, *first), |(low, high), at| (low.min(*at), high.max(*at)));
    let title = format!(
        " Equity {} ({} in this run), {} to {} ",
        scale.format(*last),
        signed(scale, *last - *first),
        scale.format(low),
        scale.format(high)
    );
    let columns = usize::from(area.width.saturating_sub(2));
    let bars = bars(&view.equity, low, columns);
    let style = palette.accent();
    frame.render_widget(Sparkline::default().data(&bars).style(style).block(framed(title)), area);
}

fn bars(equity: &[Money], low: Money, columns: usize) -> Vec<u64> {
    let height = |at: &Money| (at.minor().saturating_sub(low.minor())).unsigned_abs() + 1;
    if equity.len() <= columns {
        return equity.iter().map(height).collect();
    }
    let last_of = |column: usize| ((column + 1) * equity.len() / columns).saturating_sub(1);
    (0..columns).filter_map(|column| equity.get(last_of(column)).map(height)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_ends_with_the_last_value_however_few_columns_there_are() {
        let equity: Vec<Money> = (0..10).map(Money::from_minor).collect();
        assert_eq!(bars(&equity, Money::ZERO, 20), (1..=10).collect::<Vec<u64>>());
        assert_eq!(bars(&equity, Money::ZERO, 5), [2, 4, 6, 8, 10]);
        assert_eq!(bars(&equity, Money::ZERO, 3), [3, 6, 10]);
        assert!(bars(&equity, Money::ZERO, 0).is_empty());
    }
}

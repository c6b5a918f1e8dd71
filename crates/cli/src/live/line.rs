//! Line layout of the screen: time, label, and text with a hanging indent.

use crate::terminal::coloured_line;
use crate::wrap::wrapped_beside;
use anstyle::{AnsiColor, Style};
use candlewick_records::time_text;
use candlewick_sdk::Millis;

pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const NOTE: Style = AnsiColor::Yellow.on_default();
pub(super) const BOLD: Style = Style::new().bold();

const LABEL: usize = 8;
pub(super) const BEFORE: usize = "MM-DD hh:mm:ss  ".len() + LABEL + 1;

pub(super) fn dated(at: Millis, (style, label): (Style, &str), text: &str, columns: Option<usize>) -> String {
    let time = time_text(at, "%m-%d %H:%M:%S");
    let text = coloured_line(text);
    let text = wrapped_beside(&text, BEFORE - LABEL + label.len().max(LABEL), columns);
    format!("{DIM}{time}{DIM:#}  {style}{label:<LABEL$}{style:#} {text}")
}

pub(super) fn clock_time(at: Millis) -> String {
    time_text(at, "%H:%M:%S")
}

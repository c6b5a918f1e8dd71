//! Entries spread over several lines: pair, time, direction and expiry, one per line.

use super::columns::{Cells, Column, ListBots};
use super::lines::is_like_entry;
use super::plain::plain;
use super::sense::struck_out;
use super::shown::{Shown, recognised, shown_in};

const LINES: std::ops::RangeInclusive<usize> = 3..=6;
const WHOLE: [&[Column]; 4] =
    [&[Column::Symbol, Column::Bot], &[Column::Time], &[Column::Direction], &[Column::Expiry]];

pub(super) struct Block {
    pub(super) text: String,
    pub(super) cells: Box<Cells>,
    pub(super) columns: Vec<Column>,
    pub(super) count: usize,
}

/// Returns the entry formed by the lines up to the next blank one.
///
/// `None` if one of them is an entry by itself, a comment or struck out, or if a part is missing or
/// occurs twice.
pub(super) fn block_of(lines: &[(u64, &str)], bots: &ListBots<'_>) -> Option<Block> {
    let follows = |pair: &[(u64, &str)]| pair[0].0 + 1 == pair[1].0;
    let count = 1 + lines.windows(2).take_while(|pair| follows(pair)).count();
    let own = lines.get(..count).filter(|_| LINES.contains(&count))?;
    let is_left_out = |text: &str| text.starts_with('#') || struck_out(text).is_some();
    if own.iter().any(|(_, text)| is_left_out(text) || is_like_entry(&recognised(&plain(text), bots))) {
        return None;
    }
    let plain_lines: Vec<String> = own.iter().map(|(_, text)| plain(text)).collect();
    let Ok(Shown::Entry(cells, columns)) = shown_in(&plain_lines, bots) else { return None };
    let is_whole = WHOLE.iter().all(|one| one.iter().any(|column| columns.contains(column)));
    let text = own.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(" ");
    is_whole.then_some(Block { text, cells, columns, count })
}

//! An entry over several lines, as many channels write it: the pair, the time, the direction and the expiry, each on a line of its own.

use super::columns::{Cells, Column, ListBots};
use super::lines::is_like_entry;
use super::plain::plain;
use super::sense::struck_out;
use super::shown::{Shown, recognised, shown_in};

/// The fewest and the most lines of one.
const LINES: std::ops::RangeInclusive<usize> = 3..=6;
/// What has to stand in them, each exactly once.
const WHOLE: [&[Column]; 4] =
    [&[Column::Symbol, Column::Bot], &[Column::Time], &[Column::Direction], &[Column::Expiry]];

/// An entry that the lines from the first on are, up to the next blank one.
pub(super) struct Block {
    /// All of them, as one line.
    pub(super) text: String,
    pub(super) cells: Box<Cells>,
    pub(super) columns: Vec<Column>,
    /// How many they are.
    pub(super) count: usize,
}

/// The entry of the lines that begin here, each with its number, where nothing stands in them but one entry that has all four; none where one
/// of them is an entry by itself, is left out or struck, or where anything stands in them twice.
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

//! Text tables that fit the width of the terminal. The text of all cells is sanitized.

use candlewick_sdk::escape_hidden;
use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};
use std::fmt;
use std::sync::atomic::{AtomicU16, Ordering};
use unicode_width::UnicodeWidthStr;

const LINES_PER_ROW: std::ops::RangeInclusive<usize> = 2..=3;
/// Terminal width that applies to all tables of this process. The value 0 means no limit.
static TERMINAL_COLUMNS: AtomicU16 = AtomicU16::new(0);

pub fn fit_tables_to(columns: u16) {
    TERMINAL_COLUMNS.store(columns, Ordering::Relaxed);
}

#[derive(Debug)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

pub fn table(header: impl IntoIterator<Item = impl ToString>) -> Table {
    Table { header: sanitize(header), rows: Vec::new() }
}

pub fn table_text(
    header: impl IntoIterator<Item = impl ToString>,
    rows: impl IntoIterator<Item = impl IntoIterator<Item = impl ToString>>,
) -> String {
    let mut table = table(header);
    rows.into_iter().for_each(|row| table.add_row(row));
    table.render()
}

impl Table {
    pub fn add_row(&mut self, row: impl IntoIterator<Item = impl ToString>) {
        self.rows.push(sanitize(row));
    }

    pub fn render(&self) -> String {
        match TERMINAL_COLUMNS.load(Ordering::Relaxed) {
            0 => self.plain_table().trim_fmt(),
            width => self.render_to_width(width),
        }
    }

    /// Renders the shortest layout that fits: plain rows, wrapped cells, folded rows or one value per line.
    fn render_to_width(&self, width: u16) -> String {
        let plain = self.plain_table().trim_fmt();
        if fits_width(&plain, width) {
            return plain;
        }
        let mut folded = LINES_PER_ROW.map(|lines| self.folded_table(lines).trim_fmt());
        let folded = folded.find(|text| fits_width(text, width));
        let fitting = self.render_wrapped(width).into_iter().chain(folded);
        fitting.min_by_key(|text| text.lines().count()).unwrap_or_else(|| self.render_list(width))
    }

    fn plain_table(&self) -> comfy_table::Table {
        build_table(self.header.clone(), self.rows.iter().cloned())
    }

    /// Wraps cells at word boundaries. In tables with two columns, long words may be split.
    fn render_wrapped(&self, width: u16) -> Option<String> {
        let columns = self.header.len();
        let room = usize::from(width).checked_sub(columns * 3 - 1)?;
        let cells =
            |column: usize| self.rows.iter().chain([&self.header]).filter_map(move |row| row.get(column));
        let widest = |column: usize| cells(column).map(|cell| cell.width()).max().unwrap_or_default();
        let longest_word = |column: usize| {
            let words = cells(column).flat_map(|cell| cell.split(' '));
            words.map(UnicodeWidthStr::width).max().unwrap_or_default()
        };
        let mut words: Vec<usize> = (0..columns).map(longest_word).collect();
        if let [name, value] = words.as_mut_slice() {
            *name = (*name).min(room / 2);
            *value = (*value).min(room - *name);
        }
        let bounds: Vec<(usize, usize)> =
            words.into_iter().enumerate().map(|(column, word)| (word, widest(column))).collect();
        let widths = |limit: usize| bounds.iter().map(move |(word, widest)| limit.clamp(*word, *widest));
        let limit = (0..=room).rev().find(|limit| widths(*limit).sum::<usize>() <= room)?;
        let mut table = self.plain_table();
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        let exactly = |width: usize| {
            ColumnConstraint::Absolute(Width::Fixed(u16::try_from(width + 2).unwrap_or(u16::MAX)))
        };
        table.set_constraints(widths(limit).map(exactly));
        Some(table.trim_fmt())
    }

    fn folded_table(&self, lines: usize) -> comfy_table::Table {
        let columns = self.header.len().saturating_sub(1).div_ceil(lines);
        let fold = |row: &Vec<String>| -> Vec<String> {
            let cell = |at: usize| row.get(at).map_or("", String::as_str);
            let stacked = |column: usize| {
                let parts: Vec<&str> =
                    (0..lines).map(|line| cell(1 + line * columns + column)).take(lines).collect();
                parts.join("\n")
            };
            [cell(0).to_owned()].into_iter().chain((0..columns).map(stacked)).collect()
        };
        build_table(fold(&self.header), self.rows.iter().map(fold))
    }

    fn render_list(&self, width: u16) -> String {
        let list = |row: &Vec<String>| {
            let mut list = comfy_table::Table::new();
            list.load_style(TableStyle::new());
            list.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            self.header.iter().zip(row).for_each(|(name, cell)| {
                list.add_row([name, cell]);
            });
            list.trim_fmt()
        };
        self.rows.iter().map(list).collect::<Vec<_>>().join("\n\n")
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

fn build_table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    table.set_header(header);
    table.add_rows(rows);
    table
}

fn fits_width(text: &str, width: u16) -> bool {
    text.lines().all(|line| line.width() <= usize::from(width))
}

fn sanitize(cells: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    cells.into_iter().map(|cell| escape_hidden(&cell.to_string()).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::is_hidden;

    #[test]
    fn sanitizes_hostile_cells() {
        let hostile = ["\u{1b}]0;title\u{7}", "two\nlines", "\u{202e}back", "\u{9b}2J", "a\tb"];
        let mut rows = table(["bot\n", "x", "x", "x", "x"]);
        rows.add_row(hostile);
        let text = rows.render();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.chars().any(|letter| letter != '\n' && is_hidden(letter)), "{text:?}");
        for told in ["\\u{1b}]0;title\\u{7}", "two\\nlines", "\\u{202e}back", "\\u{9b}2J", "a\\tb"] {
            assert!(text.contains(told), "{text}");
        }
    }

    fn split_words(text: &str) -> Vec<&str> {
        let mut words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with('─')).collect();
        words.sort_unstable();
        words
    }

    #[test]
    fn fits_any_terminal_without_loss() {
        let trade =
            ["17", "btc-rsi", "BTCUSDT", "BUY", "10.00", "2026-01-05T02:31:00.000Z", "94136.76", "LOST"];
        let mut trades = table(["intent", "bot", "symbol", "", "amount", "decided", "open", "result"]);
        (0..3).for_each(|_| trades.add_row(trade));
        let mut bots = table(["", "verdict", "evidence for", "won", "lost", "cancelled"]);
        for bot in ["all trades", "eur-cross", "gbp-rsi"] {
            bots.add_row([bot, "not enough trades yet (about 6477 more)", "0.441 of 80", "9", "14", "0"]);
        }
        let mut pairs = table(["status", ""]);
        pairs.add_row(["journal", &format!("sqlite://{}", "x".repeat(90))]);
        pairs.add_row(["bots", "one and another and a third one that trades nothing"]);
        for (table, widths) in [(&trades, 66..160), (&bots, 60..160), (&pairs, 40..160)] {
            let plain = table.render();
            for width in widths {
                let text = table.render_to_width(width);
                let is_within = |line: &str| line.chars().count() <= usize::from(width);
                assert!(text.lines().all(is_within), "{width}\n{text}");
                let is_truncated = text.contains("xxx\n");
                assert!(is_truncated || split_words(&text) == split_words(&plain), "{width}\n{text}");
            }
            assert_eq!(table.render_to_width(160), plain);
        }
        for (width, first) in [(66, "intent bot symbol amount"), (30, "intent 17")] {
            let text = trades.render_to_width(width);
            let line = text.lines().next().unwrap_or_default();
            assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), first, "{text}");
        }
        assert_eq!(trades.render_to_width(66).lines().count(), 9);
    }
}

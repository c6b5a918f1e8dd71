//! The look of every table that people read, and the door of all its texts.

use candlewick_sdk::visible;
use comfy_table::{LineStyle, TableStyle};
use std::fmt;

/// A table. Whatever a cell holds stands in one line and moves nothing.
#[derive(Debug)]
pub struct Table(comfy_table::Table);

/// An empty table with this header: no lines but one below the header.
pub fn table(header: impl IntoIterator<Item = impl ToString>) -> Table {
    let mut table = comfy_table::Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    table.set_header(shown(header));
    Table(table)
}

impl Table {
    /// Adds a row.
    pub fn add_row(&mut self, row: impl IntoIterator<Item = impl ToString>) {
        self.0.add_row(shown(row));
    }

    /// As text, without blanks at the ends of lines.
    pub fn trim_fmt(&self) -> String {
        self.0.trim_fmt()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn shown(cells: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    cells.into_iter().map(|cell| visible(&cell.to_string()).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::is_hidden;

    #[test]
    fn no_cell_breaks_its_line_or_moves_anything() {
        let hostile = ["\u{1b}]0;title\u{7}", "two\nlines", "\u{202e}back", "\u{9b}2J", "a\tb"];
        let mut rows = table(["bot\n", "x", "x", "x", "x"]);
        rows.add_row(hostile);
        let text = rows.trim_fmt();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.chars().any(|letter| letter != '\n' && is_hidden(letter)), "{text:?}");
        for told in ["\\u{1b}]0;title\\u{7}", "two\\nlines", "\\u{202e}back", "\\u{9b}2J", "a\\tb"] {
            assert!(text.contains(told), "{text}");
        }
    }
}

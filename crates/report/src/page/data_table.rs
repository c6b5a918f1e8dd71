//! A table of text.

use crate::markup::escaped;
use std::fmt::Write as _;

/// A table: its header, and rows of as many cells. The first cell of each row names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTable {
    /// What stands over the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl DataTable {
    /// As markup; numbers stand at the right.
    pub(super) fn to_markup(&self) -> String {
        let mut text = String::from("<div class=\"wide\"><table><thead><tr>");
        for (place, name) in self.header.iter().enumerate() {
            let is_of_numbers =
                self.rows.first().and_then(|row| row.get(place)).is_some_and(|cell| is_number(cell));
            let class = if place > 0 && is_of_numbers { " class=\"number\"" } else { "" };
            let _ = write!(text, "<th scope=\"col\"{class}>{}</th>", escaped(name));
        }
        text.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            text.push_str("<tr>");
            for (place, cell) in row.iter().enumerate() {
                let (tag, scope) = if place == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                let class = if place > 0 && is_number(cell) { " class=\"number\"" } else { "" };
                let _ = write!(text, "<{tag}{scope}{class}>{}</{tag}>", escaped(cell));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        text
    }
}

fn is_number(cell: &str) -> bool {
    let mut letters = cell.trim_start_matches(['+', '-', '−']).chars();
    letters.next().is_some_and(|first| first.is_ascii_digit())
}

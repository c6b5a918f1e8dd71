//! A table of text.

use crate::markup::escaped;
use candlewick_records::table;
use std::fmt::Write as _;

/// Maximum number of columns side by side on a phone. Wider rows are stacked, each cell with its
/// column's name.
const MOST_BESIDE: usize = 4;
/// Maximum number of columns side by side on a tablet.
const MOST_ON_TABLET: usize = 7;

/// A table with rows as long as its header. The first cell of each row names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl DataTable {
    pub(crate) fn to_text(&self) -> String {
        let mut lines = table(&self.header);
        for row in &self.rows {
            lines.add_row(row);
        }
        lines.trim_fmt()
    }

    pub(super) fn to_markup(&self) -> String {
        let class_of = |place: usize| if self.is_of_numbers(place) { " class=\"number\"" } else { "" };
        let mut text = format!(
            "<div class=\"wide\"><table{}><thead><tr>",
            match self.header.len() {
                columns if columns <= MOST_BESIDE => "",
                columns if columns <= MOST_ON_TABLET => " class=\"stacks\"",
                _ => " class=\"stacks long\"",
            }
        );
        for (place, name) in self.header.iter().enumerate() {
            let _ = write!(text, "<th scope=\"col\"{}>{}</th>", class_of(place), escaped(name));
        }
        text.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            text.push_str("<tr>");
            for (place, cell) in row.iter().enumerate() {
                let (tag, scope) = if place == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                let name = self.header.get(place).map(|name| escaped(name)).filter(|_| place > 0);
                let name = name.map(|name| format!(" data-name=\"{name}\"")).unwrap_or_default();
                let _ = write!(text, "<{tag}{scope}{name}{}>{}</{tag}>", class_of(place), escaped(cell));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        text
    }

    fn is_of_numbers(&self, place: usize) -> bool {
        let numbers =
            self.rows.iter().filter_map(|row| row.get(place)).filter(|cell| is_number(cell)).count();
        place > 0 && numbers * 2 > self.rows.len()
    }
}

fn is_number(cell: &str) -> bool {
    let mut letters = cell.trim_start_matches(['+', '-', '−']).chars();
    letters.next().is_some_and(|first| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_numbers_stands_at_the_right_with_what_stands_for_one() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = vec![row(["1", "+2.5", "not yet"]), row(["2", "–", "a"]), row(["3", "-4", "5"])];
        let table = DataTable { header: row(["no.", "amount", "back"]), rows }.to_markup();
        assert_eq!(table.matches("class=\"number\"").count(), 4, "{table}");
        assert!(
            table.contains("<td data-name=\"amount\" class=\"number\">–</td><td data-name=\"back\">a</td>"),
            "{table}"
        );
    }
}

//! Self-contained HTML document. Its content security policy allows only the embedded script and style.

use crate::look::STYLE;
use crate::markup::{escape_html, escape_json_for_script};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use candlewick_records::table_text;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Write};

const SCRIPT: &str = concat!(
    include_str!("script/format.js"),
    include_str!("script/packed.js"),
    include_str!("script/window.js"),
    include_str!("script/axis.js"),
    include_str!("script/layers.js"),
    include_str!("script/prices.js"),
    include_str!("script/chart.js"),
    include_str!("script/input.js"),
    include_str!("script/list.js"),
    include_str!("script/page.js"),
);
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath \
                    d='M8 1v14' stroke='%230a7f5a' stroke-width='2'/%3E%3Crect x='4' y='4' width='8' height='8' \
                    fill='%230a7f5a'/%3E%3C/svg%3E";

pub(super) struct Document<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: String,
    pub(super) links: &'a [(&'static str, &'static str)],
    pub(super) sections: &'a [String],
    pub(super) data: &'a [(&'static str, &'a Value)],
    pub(super) packed_elements: &'a [(String, String)],
}

impl Document<'_> {
    pub(super) fn write(&self, mut out: impl Write) -> io::Result<()> {
        let policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            csp_hash(SCRIPT),
            csp_hash(STYLE)
        );
        let title = escape_html(self.title);
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
             <link rel=\"icon\" href=\"{ICON}\"><style>{STYLE}</style></head><body>\
             <header><div><h1>{title}</h1><p>{}</p></div><button type=\"button\" id=\"theme\">Dark</button></header><nav aria-label=\"Sections\">",
            escape_html(&self.subtitle)
        )?;
        for (id, name) in self.links {
            write!(out, "<a href=\"#{id}\">{name}</a>")?;
        }
        write!(
            out,
            "</nav><noscript><p class=\"none\">The charts and the list of trades need JavaScript; the rest works without it.</p></noscript>\
             <main>"
        )?;
        for section in self.sections {
            out.write_all(section.as_bytes())?;
        }
        out.write_all(b"</main>")?;
        for (id, value) in self.data {
            write!(
                out,
                "<script type=\"application/json\" id=\"{id}\">{}</script>",
                escape_json_for_script(value)
            )?;
        }
        for (id, letters) in self.packed_elements {
            write!(out, "<script type=\"text/plain\" id=\"{id}\">{letters}</script>")?;
        }
        write!(out, "<script>{SCRIPT}</script></body></html>")
    }
}

fn csp_hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// Maximum number of columns of a table on a phone. In wider tables, the cells of a row are stacked.
const MAX_PHONE_COLUMNS: usize = 4;
const MAX_TABLET_COLUMNS: usize = 7;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTable {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl DataTable {
    pub(crate) fn new(header: impl IntoIterator<Item = impl Into<String>>, rows: Vec<Vec<String>>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn to_text(&self) -> String {
        table_text(&self.header, &self.rows)
    }

    pub(super) fn to_markup(&self) -> String {
        let class_of = |place: usize| if self.is_numeric_column(place) { " class=\"number\"" } else { "" };
        let mut text = format!(
            "<div class=\"wide\"><table{}><thead><tr>",
            match self.header.len() {
                columns if columns <= MAX_PHONE_COLUMNS => "",
                columns if columns <= MAX_TABLET_COLUMNS => " class=\"stacks\"",
                _ => " class=\"stacks long\"",
            }
        );
        for (place, name) in self.header.iter().enumerate() {
            let _ = write!(text, "<th scope=\"col\"{}>{}</th>", class_of(place), escape_html(name));
        }
        text.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            text.push_str("<tr>");
            for (place, cell) in row.iter().enumerate() {
                let (tag, scope) = if place == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
                let name = self.header.get(place).map(|name| escape_html(name)).filter(|_| place > 0);
                let name = name.map(|name| format!(" data-name=\"{name}\"")).unwrap_or_default();
                let _ = write!(text, "<{tag}{scope}{name}{}>{}</{tag}>", class_of(place), escape_html(cell));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        text
    }

    fn is_numeric_column(&self, place: usize) -> bool {
        let numbers = self.rows.iter().filter_map(|row| row.get(place)).filter(|one| is_number(one)).count();
        place > 0 && numbers * 2 > self.rows.len()
    }
}

/// Returns whether a cell is short and starts with a number. Longer cells are sentences.
fn is_number(cell: &str) -> bool {
    let unsigned = cell.trim_start_matches(['+', '-', '−']);
    cell.len() < 30 && unsigned.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_and_style_are_small_and_safe_to_embed() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
        assert!(SCRIPT.len() < 250_000 && STYLE.len() < 50_000, "{} and {} bytes", SCRIPT.len(), STYLE.len());
        let ways = "innerHTML outerHTML insertAdjacentHTML document.write eval( Function( DOMParser";
        assert!(ways.split(' ').all(|way| !SCRIPT.contains(way)));
    }

    #[test]
    fn policy_names_script_by_its_hash() {
        // The expected hash is from `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        assert_eq!(csp_hash("alert(1)"), "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=");
    }

    #[test]
    fn aligns_columns_of_numbers_with_their_placeholders() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = vec![row(["1", "+2.5", "not yet"]), row(["2", "–", "a"]), row(["3", "-4", "5"])];
        let table = DataTable { header: row(["no.", "amount", "back"]), rows }.to_markup();
        assert_eq!(table.matches("class=\"number\"").count(), 4, "{table}");
        let cells = "<td data-name=\"amount\" class=\"number\">–</td><td data-name=\"back\">a</td>";
        assert!(table.contains(cells), "{table}");
    }
}

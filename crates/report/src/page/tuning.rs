//! The page of a guided search: conclusion, next steps and the findings of each step.

use super::DataTable;
use super::chart::Charts;
use super::document::Document;
use crate::markup::escaped;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Write};

pub struct TunePage {
    pub title: String,
    pub subtitle: String,
    /// CSS class of the conclusion: `shown`, `open`, `withheld` or `rejected`.
    pub class: &'static str,
    pub headline: &'static str,
    pub words: String,
    pub next: Vec<String>,
    /// Element id, heading and table.
    pub tables: Vec<(&'static str, &'static str, DataTable)>,
    pub notes: Vec<String>,
    pub document: Value,
}

pub fn write_tune_page(page: &TunePage, writer: impl Write) -> io::Result<()> {
    let mut sections = vec![conclusion(page)];
    let mut links = vec![("verdict", "Conclusion")];
    for (name, heading, table) in &page.tables {
        links.push((name, heading));
        sections.push(format!("<section id=\"{name}\"><h2>{heading}</h2>{}</section>", table.to_markup()));
    }
    if !page.notes.is_empty() {
        links.push(("notes", "Notes"));
        let mut notes = String::from("<section id=\"notes\"><h2>Notes</h2>");
        for note in &page.notes {
            let _ = write!(notes, "<p class=\"note\">{}</p>", escaped(note));
        }
        sections.push(notes + "</section>");
    }
    let document = Document {
        title: &page.title,
        subtitle: page.subtitle.clone(),
        links: &links,
        sections: &sections,
        data: &[("charts", &Charts::default().to_value()), ("report", &page.document)],
        packed: &[],
    };
    document.write(writer)
}

fn conclusion(page: &TunePage) -> String {
    let mut text = format!(
        "<section id=\"verdict\" class=\"{}\"><p class=\"kicker\">Conclusion</p><h2>{}</h2><p class=\"words\">{}</p>\
         <p><b>Next</b></p><ol>",
        page.class,
        page.headline,
        escaped(&page.words)
    );
    for step in &page.next {
        let _ = write!(text, "<li>{}</li>", escaped(step));
    }
    text.push_str("</ol></section>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_others_wrote_is_text_and_every_table_has_its_link() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = DataTable { header: row(["step", "found"]), rows: vec![row(["<b>candles", "1 & 2"])] };
        let page = TunePage {
            title: "<i>dips".to_owned(),
            subtitle: "rules".to_owned(),
            class: "rejected",
            headline: "No edge",
            words: "a < b".to_owned(),
            next: vec!["<script>".to_owned()],
            tables: vec![("steps", "What each step found", table)],
            notes: vec!["x > y".to_owned()],
            document: json!({}),
        };
        let mut bytes = Vec::new();
        write_tune_page(&page, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        for part in [
            "&lt;i&gt;dips",
            "a &lt; b",
            "<li>&lt;script&gt;</li>",
            "&lt;b&gt;candles",
            "href=\"#steps\"",
            "id=\"steps\"",
            "x &gt; y",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

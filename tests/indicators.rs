//! The book describes every indicator as its source does.

use crate::tidy::{read, root};

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

fn cells(row: &str) -> Vec<&str> {
    let cells = row.trim_matches('|').split('|').map(str::trim);
    cells.map(|cell| cell.trim_matches(['`', '[', ']'])).collect()
}

#[test]
fn the_book_lists_every_indicator_as_its_source_does() {
    let folder = root().join("crates/sdk/src/indicator");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let source: String = files.map(|path| read(&path)).collect();
    let module = read(&folder.join("mod.rs"));
    let page = read(&root().join("docs/indicators.md"));
    let mut listed = page.lines().filter(|line| line.starts_with("| `")).map(cells);
    let indicators: Vec<Vec<&str>> =
        module.lines().filter_map(|line| line.strip_prefix("//! | [")).map(cells).collect();
    assert_eq!(indicators.len(), 20);
    for row in &indicators {
        let [name, _, usual, first, stable] = row[..] else { panic!("{row:?}") };
        let usual = if usual.is_empty() { "-" } else { usual };
        let listed = listed.next().unwrap();
        assert_eq!([&listed[..1], &listed[2..]].concat(), [name, usual, first, stable]);
    }
    for row in &indicators {
        let name = row[0];
        let methods = source.split_once(&format!("\nimpl {name} {{")).unwrap().1;
        let update = between(methods, "pub fn update(&mut self, ", "> {");
        let (taken, answered) = update.split_once(") -> Option<").unwrap();
        let takes = if taken.ends_with("&Candle") { "a candle" } else { "a number" };
        let answers = match answered {
            "f64" => "a number".to_owned(),
            "Candle" => "a candle".to_owned(),
            lines => {
                let fields = between(&source, &format!("\npub struct {lines} {{"), "\n}");
                let fields = fields.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
                fields.map(|(field, _)| field).collect::<Vec<_>>().join(", ")
            }
        };
        let listed = listed.next().unwrap().join(" | ").replace('`', "");
        assert_eq!(listed, format!("{name} | {takes} | {answers}"));
    }
    assert_eq!(listed.next(), None);
}

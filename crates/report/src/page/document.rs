//! The page around its sections: one file that may load nothing and run nothing but the scripts it was written with, which
//! its security policy names by their hashes.

use crate::markup::{escaped, json_in_script};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plotly::Plot;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// A candle, green.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath \
                    d='M8 1v14' stroke='%230a7f5a' stroke-width='2'/%3E%3Crect x='4' y='4' width='8' height='8' \
                    fill='%230a7f5a'/%3E%3C/svg%3E";

/// What a document holds besides its scripts.
pub(super) struct Document<'a> {
    /// The heading.
    pub(super) title: &'a str,
    /// What stands below it.
    pub(super) subtitle: String,
    /// The sections that the reader is led to: their elements, and what the links are called.
    pub(super) links: &'a [(&'static str, &'static str)],
    /// The markup of the sections.
    pub(super) sections: &'a [String],
    /// Data for the script, by the names of their elements.
    pub(super) data: &'a [(&'static str, &'a Value)],
    /// The same, packed.
    pub(super) packed: &'a [(String, String)],
}

impl Document<'_> {
    /// Writes it.
    ///
    /// # Errors
    /// Those of `writer`.
    pub(super) fn write(&self, mut writer: impl Write) -> io::Result<()> {
        let sources = Plot::offline_js_sources();
        let library = library_in(&sources);
        let policy = format!(
            "default-src 'none'; script-src '{}' '{}'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; \
             form-action 'none'",
            hash_of(library),
            hash_of(SCRIPT)
        );
        let title = escaped(self.title);
        write!(
            writer,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
             <link rel=\"icon\" href=\"{ICON}\"><style>{STYLE}</style></head><body>\
             <header><div><h1>{title}</h1><p>{}</p></div><button type=\"button\" id=\"theme\">Dark</button></header><nav>",
            escaped(&self.subtitle)
        )?;
        for (id, name) in self.links {
            write!(writer, "<a href=\"#{id}\">{name}</a>")?;
        }
        write!(
            writer,
            "</nav><noscript><p class=\"none\">The drawings need JavaScript; all else stands here without it.</p></noscript>\
             <main>"
        )?;
        for section in self.sections {
            writer.write_all(section.as_bytes())?;
        }
        writer.write_all(b"</main>")?;
        for (id, value) in self.data {
            write!(
                writer,
                "<script type=\"application/json\" id=\"{id}\">{}</script>",
                json_in_script(value)
            )?;
        }
        for (id, letters) in self.packed {
            write!(writer, "<script type=\"text/plain\" id=\"{id}\">{letters}</script>")?;
        }
        write!(writer, "<script>{library}</script><script>{SCRIPT}</script></body></html>")
    }
}

/// The script of the library alone: the crate hands it over in an element, with another one that sets formulas.
fn library_in(sources: &str) -> &str {
    let from = sources.find('>').map_or(0, |end| end + 1);
    let end = sources.find("</script>").unwrap_or(sources.len());
    sources.get(from..end).unwrap_or_default()
}

/// What a security policy calls a script.
fn hash_of(script: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_drawing_library_is_taken() {
        for (sources, expected) in [
            ("<script type=\"text/javascript\">draw()</script>\n<script>formulas()</script>", "draw()"),
            ("<script>draw()</script>", "draw()"),
            ("", ""),
        ] {
            assert_eq!(library_in(sources), expected);
        }
        let sources = Plot::offline_js_sources();
        let library = library_in(&sources);
        assert!(library.contains("plotly.js v3") && !library.contains("<script"), "{library:.200}");
    }

    #[test]
    fn a_script_is_named_by_its_hash() {
        // From `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        assert_eq!(hash_of("alert(1)"), "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=");
    }
}

//! The HTML document around the sections: one file that loads nothing.
//!
//! Its security policy allows only the script and the style whose hashes it names.

use crate::markup::{escaped, json_in_script};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
/// The script in parts. Each part uses names of earlier parts.
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
    /// Linked sections: element id and link text.
    pub(super) links: &'a [(&'static str, &'static str)],
    pub(super) sections: &'a [String],
    pub(super) data: &'a [(&'static str, &'a Value)],
    pub(super) packed: &'a [(String, String)],
}

impl Document<'_> {
    pub(super) fn write(&self, mut writer: impl Write) -> io::Result<()> {
        let policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            hash_of(SCRIPT),
            hash_of(STYLE)
        );
        let title = escaped(self.title);
        write!(
            writer,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\"><title>{title}</title>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
             <link rel=\"icon\" href=\"{ICON}\"><style>{STYLE}</style></head><body>\
             <header><div><h1>{title}</h1><p>{}</p></div><button type=\"button\" id=\"theme\">Dark</button></header><nav aria-label=\"Sections\">",
            escaped(&self.subtitle)
        )?;
        for (id, name) in self.links {
            write!(writer, "<a href=\"#{id}\">{name}</a>")?;
        }
        write!(
            writer,
            "</nav><noscript><p class=\"none\">The charts and the list of trades need JavaScript; all else stands here without it.</p></noscript>\
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
        write!(writer, "<script>{SCRIPT}</script></body></html>")
    }
}

fn hash_of(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_and_style_cannot_end_their_elements_and_are_small() {
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--") && !STYLE.contains("</"));
        assert!(SCRIPT.len() < 250_000 && STYLE.len() < 50_000, "{} and {} bytes", SCRIPT.len(), STYLE.len());
    }

    #[test]
    fn text_of_others_never_becomes_markup_or_code() {
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "DOMParser",
        ] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }

    #[test]
    fn a_script_is_named_by_its_hash() {
        // From `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        assert_eq!(hash_of("alert(1)"), "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=");
    }
}

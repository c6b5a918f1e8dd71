//! Embedded files of the page.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

pub(crate) struct Asset {
    pub(crate) path: &'static str,
    kind: &'static str,
    pub(crate) text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

const fn asset(path: &'static str, kind: &'static str, text: &'static str) -> Asset {
    Asset { path, kind, text }
}

pub(crate) const ASSETS: &[Asset] = &[
    asset("/", HTML, include_str!("../page/page.html")),
    asset("/icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    asset("/look.css", CSS, candlewick_report::look::STYLE),
    asset("/page.css", CSS, include_str!("../page/page.css")),
    asset("/charts.js", JS, candlewick_report::look::CHARTS),
    asset("/page.js", JS, include_str!("../page/page.js")),
    asset("/connection.js", JS, include_str!("../page/connection.js")),
    asset("/live_charts.js", JS, include_str!("../page/live_charts.js")),
    asset("/views.js", JS, include_str!("../page/views.js")),
    asset("/known_trades.js", JS, include_str!("../page/known_trades.js")),
    asset("/journal_lines.js", JS, include_str!("../page/journal_lines.js")),
    asset("/lists.js", JS, include_str!("../page/lists.js")),
    asset("/orders.js", JS, include_str!("../page/orders.js")),
    asset("/clock.js", JS, include_str!("../page/clock.js")),
];

impl Asset {
    pub(crate) fn answer(&self) -> Response {
        ([(CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_makes_no_markup_of_text() {
        let bytes: usize = ASSETS.iter().filter(|asset| asset.kind == JS).map(|asset| asset.text.len()).sum();
        assert!(bytes < 300_000, "{bytes} bytes");
        let ways = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "DOMParser",
        ];
        for asset in ASSETS {
            for way in ways {
                assert!(!asset.text.contains(way), "{}: {way}", asset.path);
            }
        }
    }

    #[test]
    fn the_page_names_its_own_files_and_holds_nothing_inline() {
        let page = ASSETS[0].text;
        for named in page.split(['"', '\'']).filter(|part| part.starts_with('/')) {
            assert!(ASSETS.iter().any(|asset| asset.path == named), "{named}");
        }
        assert!(
            !page.contains("://")
                && !page.contains("<style")
                && !page.contains("style=")
                && !page.contains(" on")
        );
    }
}

//! Style and chart script shared by all HTML pages.

pub const STYLE: &str = include_str!("page/page.css");

/// Script of the charts: number formats, time window, zoom and pan. Each part uses names of earlier
/// parts.
pub const CHARTS: &str = concat!(
    include_str!("page/script/format.js"),
    include_str!("page/script/window.js"),
    include_str!("page/script/axis.js"),
    include_str!("page/script/layers.js"),
    include_str!("page/script/prices.js"),
    include_str!("page/script/chart.js"),
    include_str!("page/script/input.js"),
);

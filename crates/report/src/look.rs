//! The look of our pages and the charts on them, for every page that has some.

/// Its style, as CSS.
pub const STYLE: &str = include_str!("page/page.css");

/// Numbers as text, a window of time, and charts over it with wheel, fingers and keys: a script, in which a part names what stands
/// in those before it.
pub const CHARTS: &str = concat!(
    include_str!("page/script/format.js"),
    include_str!("page/script/window.js"),
    include_str!("page/script/axis.js"),
    include_str!("page/script/layers.js"),
    include_str!("page/script/prices.js"),
    include_str!("page/script/chart.js"),
    include_str!("page/script/input.js"),
);

//! The look of every table that people read.

use comfy_table::{LineStyle, Row, Table, TableStyle};

/// An empty table with this header: no lines but one below the header.
pub fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    table.set_header(header);
    table
}

//! What goes to stdout: a table, or one JSON document.

use crate::failure::{Failure, FailureKind};
use comfy_table::{LineStyle, Row, Table, TableStyle};
use serde::Serialize;
use std::io::{self, Write};

/// Prints a line or several. A reader that went away (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(FailureKind::Unexpected, error))
        }
        _ => Ok(()),
    }
}

/// Prints a JSON document for machines, laid out for people.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document);
    print(&text.map_err(|error| Failure::new(FailureKind::Unexpected, error))?)
}

/// Prints a JSON document on one line.
pub(crate) fn print_json_line(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(document);
    print(&text.map_err(|error| Failure::new(FailureKind::Unexpected, error))?)
}

/// An empty table in the house's look.
pub(crate) fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    table.set_header(header);
    table
}

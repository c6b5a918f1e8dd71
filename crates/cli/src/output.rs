//! What goes to stdout: a table, or one JSON document.

use crate::failure::{Failure, FailureKind};
use comfy_table::{LineStyle, Row, Table, TableStyle};
use serde::Serialize;
use serde_json::Value;
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

/// A value as short as a table needs it.
pub(crate) fn short(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.6}", number.as_f64().unwrap_or_default());
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

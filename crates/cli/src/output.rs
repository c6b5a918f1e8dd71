//! What goes to stdout: a table, or one JSON document.

use crate::arguments::GlobalArguments;
use crate::failure::{Failure, FailureKind};
use crate::terminal::{coloured_lines, json, lines};
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_history::write_whole_file;
pub(crate) use candlewick_records::table;
use candlewick_report::run::{Caveats, RunFacts, write_trades_to};
use candlewick_sdk::MoneyScale;
use serde::Serialize;
use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Prints a line or several, without colours.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_out(&lines(text))
}

/// Prints a line or several with colours of our own; what they quote is visible already.
pub(crate) fn print_coloured(text: &str) -> Result<(), Failure> {
    write_out(&coloured_lines(text))
}

/// A reader that went away (`| head`) is no failure.
fn write_out(text: &str) -> Result<(), Failure> {
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
    write_out(&json(&text.map_err(|error| Failure::new(FailureKind::Unexpected, error))?))
}

/// Prints a result: as JSON where that is asked for, else as text.
pub(crate) fn show(result: &(impl Serialize + Display), global: &GlobalArguments) -> Result<(), Failure> {
    if global.json { print_json(result) } else { print(&result.to_string()) }
}

/// Prints a JSON document on one line.
pub(crate) fn print_json_line(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(document);
    write_out(&json(&text.map_err(|error| Failure::new(FailureKind::Unexpected, error))?))
}

/// Writes the file of `--trades`, and beside it what a verdict takes of their run; a pipe has nothing beside it.
pub(crate) fn write_trades(
    path: &Path,
    book: &TradeBook,
    bots: &[BotSettings],
    (scale, caveats): (MoneyScale, &Caveats),
) -> Result<(), Failure> {
    if path.metadata().as_ref().map_or(true, Metadata::is_file) {
        let facts = RunFacts::of(book, bots, (scale, caveats));
        write_file("--trades", &RunFacts::path_of(path), |file| Ok(serde_json::to_writer(file, &facts)?))?;
    }
    write_file("--trades", path, |file| write_trades_to(file, book, bots, scale))
}

/// Has the file that a flag names written, whole or not at all.
pub(crate) fn write_file(
    flag: &str,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Failure> {
    write_whole_file(path, write).map_err(|error| {
        let problem = format!("{flag}: cannot write {}", path.display());
        Failure::new(FailureKind::Configuration, anyhow::Error::new(error)).context(problem)
    })
}

//! Output on stdout: text, tables or one JSON document.

use crate::arguments::GlobalArguments;
use crate::failure::{Ending, Failure, FailureKind};
use crate::host;
use crate::terminal::{escape_json, sanitize_coloured_lines, sanitize_lines, terminal_columns, wrap};
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_history::write_whole_file;
use candlewick_records::fit_tables_to;
use candlewick_report::run::{Caveats, RunFacts, write_trades_to};
use candlewick_sdk::MoneyScale;
use console::Term;
use serde::Serialize;
use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub(crate) use candlewick_records::table;

pub(crate) fn fit_tables_to_terminal() {
    let columns = terminal_columns(&Term::stdout()).map(|columns| u16::try_from(columns).unwrap_or(u16::MAX));
    fit_tables_to(columns.unwrap_or_default());
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write_text(&wrap(&sanitize_lines(text), terminal_columns(&Term::stdout())))
}

pub(crate) fn print_verbatim(text: &str) -> Result<(), Failure> {
    write_text(&sanitize_lines(text))
}

pub(crate) fn print_coloured(text: &str) -> Result<(), Failure> {
    write_text(&wrap(&sanitize_coloured_lines(text), terminal_columns(&Term::stdout())))
}

fn write_text(text: &str) -> Result<(), Failure> {
    write_line(text).map(drop)
}

/// Writes to stdout. Returns `false` if the reader has closed the pipe, as `| head` does.
fn write_line(text: &str) -> Result<bool, Failure> {
    if host::capture_output(text) {
        return Ok(true);
    }
    let mut stdout = anstream::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::unexpected(error)),
    }
}

pub(crate) fn print_json(document: &impl Serialize) -> Result<(), Failure> {
    write_text(&escape_json(&serde_json::to_string_pretty(document).map_err(Failure::unexpected)?))
}

pub(crate) fn show(result: &(impl Serialize + Display), global: &GlobalArguments) -> Result<Ending, Failure> {
    show_as(result, || result.to_string(), global)
}

pub(crate) fn show_as(
    document: &impl Serialize,
    text: impl FnOnce() -> String,
    global: &GlobalArguments,
) -> Result<Ending, Failure> {
    if global.json {
        print_json(document)?;
    } else {
        print(&text())?;
    }
    Ok(Ending::Done)
}

pub(crate) fn print_json_text(line: &str) -> Result<bool, Failure> {
    write_line(&escape_json(line))
}

pub(crate) fn print_json_line(document: &impl Serialize) -> Result<(), Failure> {
    write_text(&escape_json(&serde_json::to_string(document).map_err(Failure::unexpected)?))
}

pub(crate) fn write_trades(
    path: &Path,
    book: &TradeBook,
    bots: &[BotSettings],
    (scale, caveats): (MoneyScale, &Caveats),
) -> Result<(), Failure> {
    let write_csv = |file: &mut BufWriter<&mut File>| write_trades_to(file, book, bots, scale);
    if !path.metadata().as_ref().map_or(true, Metadata::is_file) {
        return write_file("--trades", path, write_csv);
    }
    let facts = RunFacts::new(book, bots, (scale, caveats));
    // Either both files are written or neither. The facts file is renamed into place after the trades file.
    let written = write_whole_file(&RunFacts::facts_path(path), |file| {
        serde_json::to_writer(&mut *file, &facts)?;
        file.flush()?;
        write_whole_file(path, write_csv)
    });
    written.map_err(|error| write_failure("--trades", path, error))
}

pub(crate) fn write_file(
    flag: &str,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Failure> {
    write_whole_file(path, write).map_err(|error| write_failure(flag, path, error))
}

/// Writes all files into a new folder atomically: the complete folder is renamed to its final name.
pub(crate) fn write_folder(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    let name = folder.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let partial = folder.with_file_name(format!(".{name}.partial-{}", std::process::id()));
    fs::create_dir(&partial)?;
    let written = files.iter().try_for_each(|(name, text)| {
        let path = partial.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = File::create_new(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let written = written.and_then(|()| fs::rename(&partial, folder));
    if written.is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    written
}

fn write_failure(flag: &str, path: &Path, error: io::Error) -> Failure {
    let problem = format!("{flag}: cannot write {}", path.display());
    Failure::new(FailureKind::Configuration, anyhow::Error::new(error)).context(problem)
}

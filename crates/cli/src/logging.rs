//! Setup of the program's log on stderr.

use crate::arguments::GlobalArguments;
use crate::log_line::{EitherForm, LineForm};
use crate::log_writer::LogWriter;
use std::io::IsTerminal;
use tracing::level_filters::LevelFilter;

pub(crate) fn start(global: &GlobalArguments) -> LogWriter {
    let level = level_of(global);
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let form = LineForm::of_environment();
    let writer = LogWriter::start_as(std::io::stderr(), form.clone());
    // A second start, in a test of an App, keeps the first one's choice.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(writer.clone())
        .with_ansi(colours)
        .event_format(EitherForm::new(form, global.verbose > 1))
        .try_init();
    writer
}

fn level_of(global: &GlobalArguments) -> LevelFilter {
    match (global.quiet, global.verbose) {
        (true, _) => LevelFilter::ERROR,
        (false, 0) => LevelFilter::WARN,
        (false, 1) => LevelFilter::INFO,
        (false, 2) => LevelFilter::DEBUG,
        (false, _) => LevelFilter::TRACE,
    }
}

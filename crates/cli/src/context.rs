//! What every command is given.

use crate::arguments::GlobalArguments;
use crate::log_writer::LogWriter;
use crate::wrap::{columns_of, wrapped};
use candlewick_app::configuration::{LogFormat, LogSettings};
use candlewick_app::live::OwnBrokers;
use candlewick_sdk::Registry;
use console::Term;

/// What every command is given.
pub(crate) struct Context<'a> {
    /// The strategies that the program knows.
    pub(crate) registry: &'a Registry,
    /// The brokers that it knows besides the configured one.
    pub(crate) brokers: &'a OwnBrokers,
    /// The arguments that every command takes.
    pub(crate) global: &'a GlobalArguments,
    /// The way to stderr.
    pub(crate) log: &'a LogWriter,
}

impl Context<'_> {
    /// Has the log written as it is configured.
    pub(crate) fn write_log_as(&self, settings: &LogSettings) {
        self.log.form().set_json(settings.format == LogFormat::Json);
    }

    /// Says on stderr what is worth knowing beside the result, unless nothing is to be said.
    pub(crate) fn say(&self, text: &str) {
        if !self.global.quiet {
            let columns = columns_of(&Term::stderr()).filter(|_| !self.log.form().is_json());
            self.log.print(&format!("{}\n", wrapped(text, columns)));
        }
    }
}

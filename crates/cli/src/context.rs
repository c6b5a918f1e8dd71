//! Context passed to every command.

use crate::arguments::GlobalArguments;
use crate::log_writer::LogWriter;
use crate::wrap::{columns_of, wrapped};
use candlewick_app::configuration::{LogFormat, LogSettings};
use candlewick_app::live::OwnBrokers;
use candlewick_sdk::Registry;
use console::Term;

pub(crate) struct Context<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) brokers: &'a OwnBrokers,
    pub(crate) global: &'a GlobalArguments,
    pub(crate) log: &'a LogWriter,
}

impl Context<'_> {
    pub(crate) fn write_log_as(&self, settings: &LogSettings) {
        self.log.form().set_json(settings.format == LogFormat::Json);
    }

    pub(crate) fn say(&self, text: &str) {
        if !self.global.quiet {
            let columns = columns_of(&Term::stderr()).filter(|_| !self.log.form().is_json());
            self.log.print(&format!("{}\n", wrapped(text, columns)));
        }
    }
}

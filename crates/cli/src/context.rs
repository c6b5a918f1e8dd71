//! Command context, journal arguments and async runtimes.

use crate::arguments::{GlobalArguments, parse_journal};
use crate::failure::{Ending, Failure};
use crate::log::LogWriter;
use crate::terminal::{terminal_columns, wrap};
use candlewick_app::configuration::{
    BaseLayer, Flag, LoadedConfig, LogFormat, LogSettings, Problems, journal_url,
};
use candlewick_app::control::use_running_bot_paths;
use candlewick_app::journal::default_journal_notice;
use candlewick_app::live::CustomBrokers;
use candlewick_journal::JournalUrl;
use candlewick_sdk::Registry;
use clap::Args;
use console::Term;
use std::fmt::Display;
use std::path::Path;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use tokio::runtime::Runtime;

pub(crate) struct Context<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) brokers: &'a CustomBrokers,
    pub(crate) global: &'a GlobalArguments,
    pub(crate) log: &'a LogWriter,
}

impl Context<'_> {
    pub(crate) fn set_log_format(&self, settings: &LogSettings) {
        self.log.format.set_json(settings.format == LogFormat::Json);
    }

    pub(crate) fn print_notice(&self, text: &str) {
        if !self.global.quiet {
            let columns = terminal_columns(&Term::stderr()).filter(|_| !self.log.format.is_json());
            self.log.print(&format!("{}\n", wrap(text, columns)));
        }
    }

    pub(crate) fn print_notes(&self, notes: impl IntoIterator<Item = impl Display>) {
        notes.into_iter().for_each(|note| self.print_notice(&format!("note: {note}")));
    }

    pub(crate) fn report_stop(&self, stop_flag: &OnceLock<Ending>, folder: &Path) -> Ending {
        self.print_notice(&format!("stopped; run the same command again to resume ({})", folder.display()));
        stop_flag.get().copied().unwrap_or(Ending::Interrupted)
    }
}

#[derive(Clone, Debug, Args)]
#[allow(clippy::doc_markdown, reason = "the documentation of an argument is the help printed by clap")]
pub(crate) struct JournalArguments {
    /// Journal: a file, sqlite://FILE or postgres://... [default: journal.url]
    #[arg(long, value_name = "FILE|URL", value_parser = parse_journal)]
    journal: Option<String>,
}

impl JournalArguments {
    pub(crate) fn load(&self, context: &Context<'_>) -> Result<(LoadedConfig, JournalUrl), Failure> {
        let flag = Flag::new("--journal", "journal", "url", self.journal.as_ref());
        let loaded = LoadedConfig::read(&context.global.config, BaseLayer::Bare, flag.into_iter().collect())?;
        let url = journal_url(&loaded).map_err(Problems::from)?;
        let notice = default_journal_notice(&loaded, &url);
        context.print_notes(notice.filter(|_| url.file().is_some_and(Path::exists)));
        Ok((loaded, url))
    }

    /// Like [`Self::load`], but `--journal` defaults to the journal of the running bot. Fails if several bots run.
    pub(crate) fn load_for_running_bot(
        &self,
        context: &Context<'_>,
    ) -> Result<(LoadedConfig, JournalUrl), Failure> {
        let (mut loaded, url) = self.load(context)?;
        if self.journal.is_some() {
            return Ok((loaded, url));
        }
        block_on(use_running_bot_paths(&mut loaded))?;
        let url = journal_url(&loaded).map_err(Problems::from)?;
        Ok((loaded, url))
    }
}

pub(crate) fn block_on<T, E: Into<Failure>>(work: impl Future<Output = Result<T, E>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::unexpected)?;
    runtime.block_on(work).map_err(E::into)
}

/// Maximum number of worker threads in addition to the main thread. See the measurement in `BENCHMARKS.md`.
const MAX_WORKER_THREADS: usize = 2;

pub(crate) fn start_workers() -> Result<Runtime, Failure> {
    let cores = available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(MAX_WORKER_THREADS.min(cores))
        .enable_all()
        .build();
    runtime.map_err(Failure::unexpected)
}

//! Results of commands: exit codes and rendered errors.

mod library;

use crate::host::HostedFailure;
use crate::terminal::lines;
use crate::wrap::{columns_of, wrapped};
use candlewick_sdk::visible;
use console::Term;
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything is done, or SIGTERM caused an orderly stop.
    Done,
    /// Ctrl-C caused an orderly stop.
    Interrupted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Unexpected,
    Configuration,
    Data,
    Venue,
    /// A failed check: parity, a strategy's, data, doctor.
    Check,
    Stopped,
    JournalHeld,
}

#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    error: anyhow::Error,
    help: Option<String>,
}

impl Ending {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Interrupted => 130,
        }
    }
}

impl FailureKind {
    const fn code(self) -> u8 {
        match self {
            Self::Unexpected => 1,
            Self::Configuration => 2,
            Self::Data => 3,
            Self::Venue => 4,
            Self::Check => 5,
            Self::Stopped => 6,
            Self::JournalHeld => 7,
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, error: impl Into<anyhow::Error>) -> Self {
        Self { kind, error: error.into(), help: None }
    }

    pub(crate) fn configuration(problem: impl Into<String>) -> Self {
        Self::new(FailureKind::Configuration, anyhow::Error::msg(problem.into()))
    }

    #[must_use]
    pub(crate) fn context(mut self, context: impl Into<String>) -> Self {
        self.error = self.error.context(context.into());
        self
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the hint unless a more specific one exists.
    #[must_use]
    pub(crate) fn help_otherwise(mut self, help: &str) -> Self {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }

    pub(crate) fn render(&self) -> String {
        let mut text = format!("error: {}", self.words());
        if let Some(help) = &self.help {
            let _ = write!(text, "\nhelp: {}", said(help));
        }
        text
    }

    fn words(&self) -> String {
        let mut text = said(&self.error.to_string());
        let mut last = self.error.to_string();
        for cause in self.error.chain().skip(1) {
            // A cause that only repeats what stands above it says nothing.
            let cause = cause.to_string();
            if !last.contains(&cause) {
                let _ = write!(text, "\n  cause: {}", said(&cause));
            }
            last = cause;
        }
        text
    }

    pub(crate) fn print(&self) {
        anstream::eprintln!("{}", wrapped(&lines(&self.render()), columns_of(&Term::stderr())));
    }

    pub(crate) const fn code(&self) -> u8 {
        self.kind.code()
    }

    pub(crate) fn to_hosted(&self) -> HostedFailure {
        HostedFailure { message: self.words(), help: self.help.clone() }
    }
}

/// Renders an error message.
///
/// Continuation lines of our own are indented. A line break in quoted text is escaped, so that it
/// cannot look like a line of ours.
fn said(words: &str) -> String {
    words.split("\n  ").map(visible).collect::<Vec<_>>().join("\n  ")
}

/// Ends a command that continued despite failures: prints all but the last, which is returned.
pub(crate) fn fail_with_last(mut failures: Vec<Failure>) -> Result<(), Failure> {
    let last = failures.pop();
    failures.iter().for_each(Failure::print);
    last.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::EngineError;
    use candlewick_history::HistoryError;
    use candlewick_sdk::BuildError;
    use std::path::PathBuf;

    #[test]
    fn causes_and_the_way_out_stand_below_the_error() {
        let source = std::io::Error::other("the disk is gone");
        let error = HistoryError::Io { path: PathBuf::from("a.csv"), action: "read", source };
        let failure = Failure::from(error).context("cannot run").help("mount it");
        let expected = "error: cannot run\n  cause: a.csv: cannot read the file\n  cause: the disk is gone\nhelp: mount it";
        assert_eq!(failure.render(), expected);
    }

    #[test]
    fn a_cause_that_repeats_the_error_is_left_out() {
        let source = BuildError::parameters("x", "period = 0");
        let failure = Failure::from(EngineError::Strategy { bot: "a".to_owned(), source });
        assert_eq!(failure.render(), "error: bot \"a\": parameters of strategy \"x\": period = 0");
    }

    #[test]
    fn arguments_about_data_are_not_data() {
        let name = HistoryError::InvalidSeriesName { text: "x".to_owned(), problem: "no".to_owned() };
        let line = HistoryError::InvalidLine { path: PathBuf::from("x"), line: 2, problem: "no".to_owned() };
        assert_eq!(Failure::from(name).kind, FailureKind::Configuration);
        assert_eq!(Failure::from(line).kind, FailureKind::Data);
    }
}

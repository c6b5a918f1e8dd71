//! Support for commands that run inside another program: output, progress and termination.

use crate::failure::Ending;
use candlewick_app::validation::ChildProgram;
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_sdk::{CandleSeries, MoneyScale};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

/// A program that hosts commands. Its methods may be called from any thread of the command.
pub trait Host: Send + Sync {
    fn on_begin(&self, kind: CommandKind);

    fn on_progress(&self, work: &str, done: u64, total: u64);

    fn wants_stop(&self) -> bool;

    /// Returns the command that starts a `strategy decide` process, or `None` to start the current executable.
    fn child_program(&self) -> Option<ChildProgram>;

    fn on_candles(&self, series: &[CandleSeries]);

    fn on_trades(&self, book: &TradeBook, bots: &[BotSettings], scale: MoneyScale);
}

/// Kind of command. It determines how the host reacts if a strategy panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// The command trades with a demo, paper or real wallet. It must be stopped in an orderly way.
    Trades,
    Checks,
    Computes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostedOutput {
    Kept,
    Printed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedResult {
    pub code: u8,
    pub output: String,
    /// Failure of the command, or `None` if the command succeeded or was stopped.
    pub failure: Option<HostedFailure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedFailure {
    pub message: String,
    pub help: Option<String>,
}

pub(crate) struct HostSession {
    host: Arc<dyn Host>,
    output: Option<String>,
    stop_flag: Option<Arc<OnceLock<Ending>>>,
}

/// Unwind payload that stops a command in the middle of a computation.
struct StopRequest;

thread_local! {
    static SESSION: RefCell<Option<HostSession>> = const { RefCell::new(None) };
}

/// Runs `work` and returns its value and output. The value is `None` if the host stopped the work.
pub(crate) fn with_host<T>(
    host: Arc<dyn Host>,
    output: HostedOutput,
    work: impl FnOnce() -> T,
) -> (Option<T>, String) {
    let output = (output == HostedOutput::Kept).then(String::new);
    SESSION.set(Some(HostSession { host, output, stop_flag: None }));
    let done = catch_unwind(AssertUnwindSafe(work));
    let output = SESSION.take().and_then(|session| session.output).unwrap_or_default();
    match done {
        Ok(value) => (Some(value), output),
        Err(payload) if payload.is::<StopRequest>() => (None, output),
        Err(payload) => resume_unwind(payload),
    }
}

pub(crate) fn host() -> Option<Arc<dyn Host>> {
    SESSION.with_borrow(|session| session.as_ref().map(|session| session.host.clone()))
}

pub(crate) fn report_candles(series: &[CandleSeries]) {
    if let Some(host) = host() {
        host.on_candles(series);
    }
}

pub(crate) fn capture_output(text: &str) -> bool {
    SESSION.with_borrow_mut(|session| {
        let Some(output) = session.as_mut().and_then(|session| session.output.as_mut()) else { return false };
        output.push_str(text);
        output.push('\n');
        true
    })
}

pub(crate) fn stop_flag() -> Option<Arc<OnceLock<Ending>>> {
    SESSION.with_borrow_mut(|session| Some(session.as_mut()?.stop_flag.insert(Arc::default()).clone()))
}

pub(crate) fn session() -> Option<HostSession> {
    SESSION.with_borrow(|session| {
        let HostSession { host, stop_flag, .. } = session.as_ref()?;
        Some(HostSession { host: host.clone(), output: None, stop_flag: stop_flag.clone() })
    })
}

impl HostSession {
    /// Reports progress to the host. If the host requests a stop, sets the stop flag or, without a flag, unwinds.
    pub(crate) fn report_progress(&self, work: &str, done: u64, total: u64) {
        self.host.on_progress(work, done, total);
        if !self.host.wants_stop() {
            return;
        }
        match &self.stop_flag {
            Some(stop_flag) => drop(stop_flag.set(Ending::Interrupted)),
            // This is not a panic. No panic hook runs, and `with_host` recognizes the payload.
            None => resume_unwind(Box::new(StopRequest)),
        }
    }
}

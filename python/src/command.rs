//! Runs command-line commands inside the Python process.
//!
//! A command runs on its own thread, without the GIL. The calling thread handles Ctrl-C and reports progress.

use crate::definition::Definition;
use crate::host::{PyHost, lock_unpoisoned};
use crate::table::Table;
use candlewick_app::program_hash::set_program_file;
use candlewick_cli::{App, ChildProgram, HostedOutput, HostedResult};
use candlewick_sdk::{AliasContext, find_key};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[pyclass(module = "candlewick", frozen, get_all)]
pub(crate) struct CommandResult {
    /// Exit code.
    code: u8,
    /// Text that the command printed. Empty if the text was not captured.
    output: String,
    /// Error message of a failed command.
    message: Option<String>,
    /// Suggested fix for the error.
    help: Option<String>,
    /// Trades of a backtest or of a completed run.
    trades: Option<Py<Table>>,
}

type ThreadResult = Result<HostedResult, Box<dyn Any + Send>>;

/// Runs a command with the built-in strategies and with the strategies in `definitions`.
/// `starts_by` is the command line that starts another process with the same strategies.
///
/// If the command fails, the result contains the error. Exceptions of strategies and `KeyboardInterrupt` are raised.
#[pyfunction]
#[pyo3(signature = (arguments, definitions, starts_by, keeps_output, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<String>,
    definitions: Vec<Py<Definition>>,
    starts_by: Vec<String>,
    keeps_output: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<CommandResult> {
    // The program is this module's file, not the Python interpreter.
    let file: String = py.import("candlewick._native")?.getattr("__file__")?.extract()?;
    set_program_file(PathBuf::from(file));
    let mut starts_by = starts_by.into_iter();
    let itself = starts_by.next().map(|program| ChildProgram {
        program: program.into(),
        arguments: starts_by
            .chain(["strategy".to_owned(), "decide".to_owned()])
            .map(OsString::from)
            .collect(),
    });
    let host = Arc::new(PyHost::new(itself));
    let entries = definitions.iter().map(|definition| definition.get().build_entry(py, &host));
    let app = entries.fold(App::with_builtin_strategies(), App::with_strategy_entry);
    let output = if keeps_output { HostedOutput::Kept } else { HostedOutput::Printed };
    let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
    let (sender, receiver) = mpsc::channel();
    let guest = host.clone();
    let work = move || {
        // The thread stays attached to the interpreter, which makes calls of strategies fast.
        let ended = Python::attach(|py| {
            let hosted = AssertUnwindSafe(|| app.run_hosted(arguments, guest, output));
            py.detach(|| catch_unwind(hosted))
        });
        let _ = sender.send(ended);
    };
    let spawned = std::thread::Builder::new().name("candlewick".to_owned()).spawn(work);
    spawned.map_err(|error| {
        PyRuntimeError::new_err(format!("cannot start a thread for the command: {error}"))
    })?;
    let (ended, interrupted) = wait(py, receiver, &host, progress.as_ref());
    if let Some(error) = lock_unpoisoned(&host.failure).take() {
        return Err(error);
    }
    // An interrupted trading run ends regularly and has a result.
    if let Some(error) = interrupted.filter(|_| !host.is_trading()) {
        return Err(error);
    }
    let HostedResult { code, output, failure } = ended.map_err(|payload| panic_error(&*payload))?;
    let (message, help) = failure.map(|failure| (failure.message, failure.help)).unzip();
    let trades = lock_unpoisoned(&host.trades).take().map(|trades| Py::new(py, Table(trades))).transpose()?;
    Ok(CommandResult { code, output, message, help: help.flatten(), trades })
}

/// Returns the long flags of a command, without their dashes.
#[pyfunction]
pub(crate) fn flags(command: Vec<String>) -> Vec<String> {
    App::long_flags(&command)
}

/// Suggests the keyword argument for a misspelled name, or for a synonym from another program.
#[pyfunction]
pub(crate) fn find_keyword(name: &str, choices: Vec<String>) -> Option<String> {
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    find_key(&[AliasContext::Keyword, AliasContext::Setting], name, &choices).map(str::to_owned)
}

/// Waits for the command to end. Stops it if `progress` or a signal handler raises, and returns that exception.
fn wait(
    py: Python<'_>,
    mut receiver: Receiver<ThreadResult>,
    host: &PyHost,
    progress: Option<&Py<PyAny>>,
) -> (ThreadResult, Option<PyErr>) {
    let mut interrupted = None;
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(POLL_INTERVAL);
            (receiver, received)
        });
        receiver = back;
        if let Err(error) = py.check_signals().and_then(|()| report_progress(py, host, progress)) {
            host.stop();
            interrupted.get_or_insert(error);
        }
        match received {
            Ok(ended) => return (ended, interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return (Err(Box::new("its thread has ended".to_owned())), interrupted);
            }
        }
    }
}

fn report_progress(py: Python<'_>, host: &PyHost, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let now = lock_unpoisoned(&host.progress).take();
    now.map_or(Ok(()), |now| progress.call1(py, (now.work, now.done, now.total)).map(drop))
}

/// Converts a panic, which is a bug in the command, into a Python exception.
fn panic_error(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("unknown reason");
    PyRuntimeError::new_err(format!("the command ended unexpectedly: {text}"))
}

pub(crate) fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

//! A command of the command line, done inside of the Python process: on a thread of its own, without the interpreter's lock, while the
//! caller's thread looks after Ctrl-C and shows how far it is.

use crate::definition::Definition;
use crate::host::{PyHost, locked};
use crate::table::Table;
use candlewick_app::program_hash::set_code_file;
use candlewick_cli::{App, HostedAnswer, HostedOutput, Itself};
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

/// How often the caller's thread looks up.
const FRAME: Duration = Duration::from_millis(50);

/// How a command ended.
#[pyclass(module = "candlewick", frozen, get_all)]
pub(crate) struct Answer {
    /// Its exit code.
    code: u8,
    /// What it printed, where that was kept.
    output: String,
    /// Why it failed.
    message: Option<String>,
    /// What to do about it.
    help: Option<String>,
    /// The trades of a backtest, or of a run that has ended.
    trades: Option<Py<Table>>,
}

/// What the command's thread ends with: its answer, or what it was unwound with.
type Ended = Result<HostedAnswer, Box<dyn Any + Send>>;

/// Does what the arguments say, with the built-in strategies and these. `starts_by` is the program and the arguments that make another
/// process know the same strategies.
///
/// A failure of the command is in the answer. An exception of a strategy is raised, and so is `KeyboardInterrupt`.
#[pyfunction]
#[pyo3(signature = (arguments, definitions, starts_by, keeps_output, progress = None))]
pub(crate) fn answer(
    py: Python<'_>,
    arguments: Vec<String>,
    definitions: Vec<Py<Definition>>,
    starts_by: Vec<String>,
    keeps_output: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answer> {
    // What is known by the program's code is known by that of this module, not by Python's own.
    let file: String = py.import("candlewick._native")?.getattr("__file__")?.extract()?;
    set_code_file(PathBuf::from(file));
    let mut starts_by = starts_by.into_iter();
    let itself = starts_by.next().map(|program| Itself {
        program: program.into(),
        arguments: starts_by
            .chain(["strategy".to_owned(), "decide".to_owned()])
            .map(OsString::from)
            .collect(),
    });
    let host = Arc::new(PyHost::new(itself));
    let entries = definitions.iter().map(|definition| definition.get().entry(py, &host));
    let app = entries.fold(App::with_builtin_strategies(), App::with_strategy_entry);
    let output = if keeps_output { HostedOutput::Kept } else { HostedOutput::Printed };
    let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
    let (sender, receiver) = mpsc::channel();
    let guest = host.clone();
    let work = move || {
        // The thread stays known to the interpreter while it works, so that a strategy gets in quickly.
        let ended = Python::attach(|py| {
            let hosted = AssertUnwindSafe(|| app.run_hosted(arguments, guest, output));
            py.detach(|| catch_unwind(hosted))
        });
        let _ = sender.send(ended);
    };
    let spawned = std::thread::Builder::new().name("candlewick".to_owned()).spawn(work);
    spawned.map_err(|error| PyRuntimeError::new_err(format!("no thread for the command: {error}")))?;
    let (ended, interrupted) = wait(py, receiver, &host, progress.as_ref());
    if let Some(error) = locked(&host.fault).take() {
        return Err(error);
    }
    // A run that trades ends in good order, and has something to say.
    if let Some(error) = interrupted.filter(|_| !host.trades()) {
        return Err(error);
    }
    let HostedAnswer { code, output, failure } = ended.map_err(|payload| unexpected(&*payload))?;
    let (message, help) = failure.map(|failure| (failure.message, failure.help)).unzip();
    let trades = locked(&host.trades).take().map(|trades| Py::new(py, Table(trades))).transpose()?;
    Ok(Answer { code, output, message, help: help.flatten(), trades })
}

/// Returns the long flags of a command, without their dashes.
#[pyfunction]
pub(crate) fn flags(command: Vec<String>) -> Vec<String> {
    App::flags_of(&command)
}

/// Returns the keyword argument that a misspelt one, or one of another program, stands for.
#[pyfunction]
pub(crate) fn find_keyword(name: &str, choices: Vec<String>) -> Option<String> {
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    find_key(&[AliasContext::Keyword, AliasContext::Setting], name, &choices).map(str::to_owned)
}

/// Waits for the end of the command. A signal, or an exception of the progress, stops it first, and is handed back with its end.
fn wait(
    py: Python<'_>,
    mut receiver: Receiver<Ended>,
    host: &PyHost,
    progress: Option<&Py<PyAny>>,
) -> (Ended, Option<PyErr>) {
    let mut interrupted = None;
    loop {
        let (back, received) = py.detach(move || {
            let received = receiver.recv_timeout(FRAME);
            (receiver, received)
        });
        receiver = back;
        let shown = py.check_signals().and_then(|()| show(py, host, progress));
        if let Err(error) = shown {
            host.stop();
            interrupted.get_or_insert(error);
        }
        match received {
            Ok(ended) => return (ended, interrupted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return (Err(Box::new("its thread is gone".to_owned())), interrupted);
            }
        }
    }
}

fn show(py: Python<'_>, host: &PyHost, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let now = locked(&host.progress).take();
    now.map_or(Ok(()), |now| progress.call1(py, (now.work, now.done, now.total)).map(drop))
}

/// A command that came to a bad end of its own: a mistake of ours.
fn unexpected(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it does not say why");
    PyRuntimeError::new_err(format!("the command ended unexpectedly: {text}"))
}

/// A sentence of a library as Python's exception for wrong values.
pub(crate) fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

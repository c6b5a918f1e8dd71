//! Commands inside of another program, in place of a process of their own: what they print, how far they are, when they end.

use crate::failure::Ending;
use candlewick_app::validation::Itself;
use candlewick_engine::{BotSettings, TradeBook};
use candlewick_sdk::{CandleSeries, MoneyScale};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

/// A program that has commands done inside of itself ([`App::run_hosted`](crate::App::run_hosted)). Any thread of the command may call.
pub trait Host: Send + Sync {
    /// A command begins.
    fn begins(&self, kind: CommandKind);

    /// So much of so much of this work is done.
    fn progress(&self, work: &str, done: u64, total: u64);

    /// Whether the command is to end, as at Ctrl-C.
    fn is_stopped(&self) -> bool;

    /// How the host starts itself to answer as `strategy decide` does; none where it is the program that runs.
    fn itself(&self) -> Option<Itself>;

    /// The candles of a replay or a search, before strategies are shown the first.
    fn candles(&self, series: &[CandleSeries]);

    /// The trades of a backtest, or of a run that has ended.
    fn trades(&self, book: &TradeBook, bots: &[BotSettings], scale: MoneyScale);
}

/// What a command is to a strategy that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// It trades, on a demo, paper or real wallet: the run is to be stopped, and in good order.
    Trades,
    /// It looks for failures, and reports them itself.
    Checks,
    /// It computes, and what it computes would be wrong.
    Computes,
}

/// What becomes of what a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostedOutput {
    /// It is kept for the answer.
    Kept,
    /// It goes to stdout.
    Printed,
}

/// How a command ended that was done inside of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedAnswer {
    /// Its exit code.
    pub code: u8,
    /// What it printed, where that was kept.
    pub output: String,
    /// Why it failed, and what to do about it; nothing where it did what it is for, or was stopped.
    pub failure: Option<HostedFailure>,
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedFailure {
    /// The error with its causes.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
}

/// What of the host this thread's command knows.
#[derive(Clone)]
struct Seat {
    host: Arc<dyn Host>,
    output: Option<String>,
    /// By which the command learns that it is to end, where it looks at one.
    sign: Option<Arc<OnceLock<Ending>>>,
}

/// What a command is unwound with that was stopped while it computed.
struct Stopped;

thread_local! {
    static SEAT: RefCell<Option<Seat>> = const { RefCell::new(None) };
}

/// Takes the host away again, however the command ends.
struct Guest;

impl Drop for Guest {
    fn drop(&mut self) {
        SEAT.with_borrow_mut(|seat| *seat = None);
    }
}

/// Does the work for this host: its value and what was printed meanwhile. None where it was stopped.
pub(crate) fn with_host<T>(
    host: Arc<dyn Host>,
    output: HostedOutput,
    work: impl FnOnce() -> T,
) -> (Option<T>, String) {
    let output = (output == HostedOutput::Kept).then(String::new);
    SEAT.with_borrow_mut(|seat| *seat = Some(Seat { host, output, sign: None }));
    let guest = Guest;
    let done = catch_unwind(AssertUnwindSafe(work)).map_or_else(of_unwinding, Some);
    let output = SEAT.with_borrow_mut(|seat| seat.as_mut().and_then(|seat| seat.output.take()));
    drop(guest);
    (done, output.unwrap_or_default())
}

fn of_unwinding<T>(payload: Box<dyn Any + Send>) -> Option<T> {
    if payload.is::<Stopped>() { None } else { resume_unwind(payload) }
}

/// The host of this thread's command; none in a process of its own.
pub(crate) fn host() -> Option<Arc<dyn Host>> {
    SEAT.with_borrow(|seat| seat.as_ref().map(|seat| seat.host.clone()))
}

/// Keeps a line for the host; whether it is one that wants it.
pub(crate) fn keep(text: &str) -> bool {
    SEAT.with_borrow_mut(|seat| {
        let Some(output) = seat.as_mut().and_then(|seat| seat.output.as_mut()) else { return false };
        output.push_str(text);
        output.push('\n');
        true
    })
}

/// The sign of a command that looks at it now and then.
pub(crate) fn sign() -> Option<Arc<OnceLock<Ending>>> {
    SEAT.with_borrow_mut(|seat| Some(seat.as_mut()?.sign.insert(Arc::default()).clone()))
}

/// Who is told how far a work is, on whatever thread it is done.
pub(crate) struct Listener {
    host: Arc<dyn Host>,
    sign: Option<Arc<OnceLock<Ending>>>,
}

/// The one of this thread's command.
pub(crate) fn listener() -> Option<Listener> {
    SEAT.with_borrow(|seat| {
        seat.as_ref().map(|seat| Listener { host: seat.host.clone(), sign: seat.sign.clone() })
    })
}

impl Listener {
    /// Tells how far a work is, and ends the command where the host wants that: by its sign, or else at once.
    pub(crate) fn tell(&self, work: &str, done: u64, total: u64) {
        self.host.progress(work, done, total);
        if !self.host.is_stopped() {
            return;
        }
        match &self.sign {
            // It may have been given before.
            Some(sign) => drop(sign.set(Ending::Interrupted)),
            // No panic: nobody is told, and the host takes it for what it is.
            None => resume_unwind(Box::new(Stopped)),
        }
    }
}

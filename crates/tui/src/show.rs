//! Terminal thread: draws the view and reads keys. A bounded channel connects it to the run.

use crate::draw::draw;
use crate::keys::{KeyCommand, Ui};
use crate::look::Palette;
use crate::view::{RunFacts, View};
use candlewick_runtime::control::{ControlAnswer, ControlOrder, ControlRequest};
use candlewick_runtime::{NoticeReceiver, StopReason};
use candlewick_sdk::Millis;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, IsTerminal, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

const FRAME_INTERVAL: Duration = Duration::from_millis(100);
const MAX_NOTICES_PER_FRAME: usize = 4_096;

pub struct RunControls {
    pub requests: Sender<ControlRequest>,
    pub stop: Sender<StopReason>,
    pub now: Box<dyn Fn() -> Millis + Send>,
    pub log: Receiver<String>,
    pub has_colours: bool,
}

struct PendingRequest {
    name: &'static str,
    answer: oneshot::Receiver<ControlAnswer>,
}

/// Shows a run until the last notice arrives. The run continues even if the terminal cannot be used.
pub fn show(facts: RunFacts, notices: &mut NoticeReceiver, controls: &RunControls) -> io::Result<()> {
    let mut view = View::new(facts);
    // If the run fails to start, the terminal stays unchanged.
    let Some(first) = notices.blocking_next() else { return Ok(()) };
    view.on_notice(first);
    let mut screen = Screen::enter()?;
    let (mut ui, mut pending, palette) =
        (Ui::default(), None::<PendingRequest>, Palette::new(controls.has_colours));
    while !notices.is_closed() && IS_TERMINAL_ACTIVE.load(Ordering::SeqCst) {
        for _ in 0..MAX_NOTICES_PER_FRAME {
            let Some(received) = notices.try_next() else { break };
            view.on_notice(received);
        }
        for line in controls.log.try_iter() {
            view.on_log(&line);
        }
        show_answer(&mut pending, &mut ui);
        screen.terminal.draw(|frame| draw(frame, &view, &ui, (controls.now)(), palette))?;
        if !event::poll(FRAME_INTERVAL)? {
            continue;
        }
        if let Event::Key(key) = event::read()?
            && let Some(command) = ui.on_key(key, &view)
        {
            match command {
                KeyCommand::Redraw => screen.terminal.clear()?,
                command => pending = send_command(command, controls, &mut ui).or(pending),
            }
        }
    }
    Ok(())
}

fn send_command(command: KeyCommand, controls: &RunControls, ui: &mut Ui) -> Option<PendingRequest> {
    let (name, control) = match command {
        KeyCommand::Halt => {
            ("halt", ControlOrder::Halt { reason: "requested in the full-screen view".to_owned() })
        }
        KeyCommand::Resume => ("resume", ControlOrder::Resume),
        KeyCommand::Quit | KeyCommand::Interrupt => {
            let why =
                if command == KeyCommand::Quit { StopReason::Terminated } else { StopReason::Interrupted };
            let _ = controls.stop.try_send(why);
            return None;
        }
        KeyCommand::Redraw => return None,
    };
    let (sender, answer) = oneshot::channel();
    if controls.requests.try_send(ControlRequest::new(control, sender)).is_err() {
        ui.show_message(format!("{name}: the run does not accept commands now"));
        return None;
    }
    ui.show_message(format!("{name}: requested"));
    Some(PendingRequest { name, answer })
}

fn show_answer(pending: &mut Option<PendingRequest>, ui: &mut Ui) {
    let Some(PendingRequest { name, answer }) = pending else { return };
    let text = match answer.try_recv() {
        Err(oneshot::error::TryRecvError::Empty) => return,
        Ok(ControlAnswer::Done { .. } | ControlAnswer::Signal { .. }) => format!("{name}: done"),
        Ok(
            ControlAnswer::Refused { problem }
            | ControlAnswer::VenueFailed { problem }
            | ControlAnswer::Unanswered { problem },
        ) => format!("{name} failed: {problem}"),
        Err(oneshot::error::TryRecvError::Closed) => format!("{name}: the run has ended"),
    };
    ui.show_message(text);
    *pending = None;
}

static IS_TERMINAL_ACTIVE: AtomicBool = AtomicBool::new(false);
static PANIC_HOOK: Once = Once::new();

struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

pub fn check_terminal() -> Result<(), &'static str> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err("standard input and standard output must both be terminals");
    }
    if std::env::var_os("TERM").is_some_and(|name| name == "dumb") {
        return Err("TERM=dumb does not support cursor movement");
    }
    Ok(())
}

impl Screen {
    fn enter() -> io::Result<Self> {
        PANIC_HOOK.call_once(|| {
            let previous = std::panic::take_hook();
            // The terminal is restored first, so that panic messages are readable.
            std::panic::set_hook(Box::new(move |panic| {
                restore_terminal();
                previous(panic);
            }));
        });
        IS_TERMINAL_ACTIVE.store(true, Ordering::SeqCst);
        let screen = enable_raw_mode()
            .and_then(|()| execute!(io::stdout(), EnterAlternateScreen, Hide))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())))
            .map(|terminal| Self { terminal });
        if screen.is_err() {
            restore_terminal();
        }
        screen
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

fn restore_terminal() {
    if IS_TERMINAL_ACTIVE.swap(false, Ordering::SeqCst) {
        // The keyboard is restored first, because this works even if the terminal is blocked.
        let _ = disable_raw_mode();
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    }
}

/// Restores only the keyboard mode. Writes no output, because that could block forever on a blocked terminal.
pub fn restore_keyboard() {
    if IS_TERMINAL_ACTIVE.load(Ordering::SeqCst) {
        let _ = disable_raw_mode();
    }
}

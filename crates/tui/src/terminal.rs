//! Setup and restoration of the terminal.

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, IsTerminal, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_OURS: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The full-screen terminal, restored on drop.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

pub fn is_possible() -> Result<(), &'static str> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err("standard input and output are not both a terminal");
    }
    if std::env::var_os("TERM").is_some_and(|name| name == "dumb") {
        return Err("TERM=dumb says that this terminal cannot move its cursor");
    }
    Ok(())
}

impl Screen {
    pub(crate) fn enter() -> io::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            // What a panic says is to be read, wherever it happens.
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                before(panic);
            }));
        });
        IS_OURS.store(true, Ordering::SeqCst);
        let screen = enable_raw_mode()
            .and_then(|()| execute!(io::stdout(), EnterAlternateScreen, Hide))
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())))
            .map(|terminal| Self { terminal });
        if screen.is_err() {
            restore();
        }
        screen
    }

    pub(crate) fn is_ours() -> bool {
        IS_OURS.load(Ordering::SeqCst)
    }

    pub(crate) fn terminal(&mut self) -> &mut Terminal<CrosstermBackend<Stdout>> {
        &mut self.terminal
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal; a no-op if that was done before.
fn restore() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        // The keys first: that needs nobody who reads.
        let _ = disable_raw_mode();
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    }
}

/// Restores only the keyboard mode, for a blocked terminal that can no longer be drawn to.
pub fn leave() {
    if Screen::is_ours() {
        let _ = disable_raw_mode();
    }
}

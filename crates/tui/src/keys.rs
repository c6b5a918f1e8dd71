//! Key bindings of the full-screen view: panes, confirmations and commands to the run.

use crate::view::View;
use candlewick_runtime::control::Phase;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCommand {
    Halt,
    Resume,
    /// Stops opening trades, waits for open trades, and then exits. A second `Quit` exits immediately.
    Quit,
    /// Like `Quit`, but triggered by Ctrl-C.
    Interrupt,
    Redraw,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    #[default]
    Run,
    Trades,
    Bots,
    Limits,
    Log,
}

#[derive(Debug, Default)]
pub struct Ui {
    pub(crate) pane: Pane,
    pub(crate) question: Option<Question>,
    pub(crate) is_help_open: bool,
    /// Scroll offset: rows from the top of a table, or lines from the end of the log.
    pub(crate) scroll: usize,
    pub(crate) message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Quit,
    QuitNow,
    Halt,
    Resume,
}

impl Pane {
    pub const ALL: [Self; 5] = [Self::Run, Self::Trades, Self::Bots, Self::Limits, Self::Log];
    pub(crate) const NAMES: [&str; 5] = ["Run", "Trades", "Bots", "Limits", "Log"];

    fn cycle(self, by: usize) -> Self {
        let place = Self::ALL.iter().position(|pane| *pane == self).unwrap_or_default();
        Self::ALL[(place + by) % Self::ALL.len()]
    }
}

impl Question {
    pub(crate) fn prompt(self, view: &View) -> String {
        let open = match view.unsettled_count() {
            1 => "1 trade is open".to_owned(),
            more => format!("{more} trades are open"),
        };
        match self {
            Self::Quit => format!("{open}. Open no new trades, wait for open trades, then quit? y / n"),
            Self::QuitNow => format!("{open}. Quit now and settle open trades at the next start? y / n"),
            Self::Halt => "Halt: open no new trades until resumed? y / n".to_owned(),
            Self::Resume => {
                "Resume: open new trades again and reset drawdown peak and loss streak? y / n".to_owned()
            }
        }
    }

    const fn command(self) -> KeyCommand {
        match self {
            Self::Quit | Self::QuitNow => KeyCommand::Quit,
            Self::Halt => KeyCommand::Halt,
            Self::Resume => KeyCommand::Resume,
        }
    }
}

impl Ui {
    pub fn show_message(&mut self, answer: impl Into<String>) {
        self.message = Some(candlewick_sdk::escape_hidden(&answer.into()).into_owned());
    }

    pub fn on_key(&mut self, key: KeyEvent, view: &View) -> Option<KeyCommand> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Some(KeyCommand::Interrupt),
                KeyCode::Char('l') => Some(KeyCommand::Redraw),
                _ => None,
            };
        }
        if let Some(question) = self.question.take() {
            return match key.code {
                KeyCode::Char('y' | 'Y') | KeyCode::Enter => Some(question.command()),
                KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => None,
                _ => {
                    self.question = Some(question);
                    None
                }
            };
        }
        if std::mem::take(&mut self.is_help_open) {
            return None;
        }
        self.message = None;
        match key.code {
            KeyCode::Char('q') => return self.quit(view),
            KeyCode::Char('h') => self.confirm_halt(view),
            KeyCode::Char('r') => self.confirm_resume(view),
            KeyCode::Char('?') | KeyCode::F(1) => self.is_help_open = true,
            KeyCode::Tab | KeyCode::Right => self.select_pane(self.pane.cycle(1)),
            KeyCode::BackTab | KeyCode::Left => self.select_pane(self.pane.cycle(Pane::ALL.len() - 1)),
            KeyCode::Char(digit @ '1'..='5') => self.select_pane(Pane::ALL[digit as usize - '1' as usize]),
            KeyCode::Up if self.pane == Pane::Log => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Down if self.pane == Pane::Log => self.scroll = self.scroll.saturating_sub(1),
            KeyCode::Down => self.scroll = self.scroll.saturating_add(1),
            KeyCode::Up => self.scroll = self.scroll.saturating_sub(1),
            _ => {}
        }
        None
    }

    fn select_pane(&mut self, pane: Pane) {
        (self.pane, self.scroll) = (pane, 0);
    }

    fn quit(&mut self, view: &View) -> Option<KeyCommand> {
        if view.unsettled_count() == 0 {
            return Some(KeyCommand::Quit);
        }
        let is_stopping = view.phase() == Some(Phase::Stopping) || view.stop_notice.is_some();
        self.question = Some(if is_stopping { Question::QuitNow } else { Question::Quit });
        None
    }

    fn confirm_halt(&mut self, view: &View) {
        match view.phase() {
            Some(Phase::Halted) => self.show_message("already halted; press r to resume"),
            Some(Phase::Stopping) => self.show_message("the run is stopping and opens no trades"),
            Some(Phase::Trading | Phase::Suspended) | None => self.question = Some(Question::Halt),
        }
    }

    fn confirm_resume(&mut self, view: &View) {
        match view.phase() {
            Some(Phase::Trading) | None => self.show_message("nothing to resume: the run is trading"),
            Some(Phase::Stopping) => self.show_message("the run is stopping and cannot be resumed"),
            Some(Phase::Halted | Phase::Suspended) => self.question = Some(Question::Resume),
        }
    }
}

//! Reload of the settings: validated as a whole, then applied as an ordinary event.

use super::Coordinator;
use super::command::{Ask, Step};
use super::input::{OrderId, RequestId};
use crate::control::ControlAnswer;
use crate::reload::{NewSettings, Standing};
use candlewick_engine::{Control, ReloadNote, ReloadedBy};
use serde_json::{Value, json};

const MAX_CHARS: usize = 2_000;

impl Coordinator {
    pub(super) fn ask_settings(
        &mut self,
        id: OrderId,
        by: ReloadedBy,
        step: &mut Step<'_>,
    ) -> Result<(), String> {
        if self.ending.is_stopping() {
            return Err("the run is about to end".to_owned());
        }
        if self.reloading.is_some() {
            // The later of two readings might be that of the earlier text.
            return Err("the settings are being read already: give the order again".to_owned());
        }
        self.reloading = Some((id, by));
        let forgotten = self.session.forgotten().all;
        let standing = Standing { forgotten, ..Standing::of(self.session.session(), self.session.book()) };
        self.requests.begin(RequestId::Settings);
        step.ask(Ask::Settings(Box::new(standing)));
        Ok(())
    }

    /// Applies new settings. Nothing changes if they are invalid.
    pub(super) fn on_settings(&mut self, read: Result<Box<NewSettings>, String>, step: &mut Step<'_>) {
        let Some((id, by)) = self.reloading.take() else { return };
        let answer = match read.and_then(|new| self.reload(*new, by, step)) {
            Ok(()) => self.done(step),
            Err(problem) => {
                let problem: String = problem.chars().take(MAX_CHARS).collect();
                let lines: Vec<&str> = problem.lines().map(str::trim).collect();
                step.warn(format!("the settings stay as they were: {}", lines.join("; ")));
                ControlAnswer::Refused { problem }
            }
        };
        self.answer(id, answer, step);
    }

    fn reload(&mut self, new: NewSettings, by: ReloadedBy, step: &mut Step<'_>) -> Result<(), String> {
        if self.ending.is_stopping() {
            return Err("the run is about to end".to_owned());
        }
        let mut settings = self.settings.clone();
        settings.take_reloadable(&new.runtime);
        let runtime = serde_json::to_value(&settings).map_err(|error| error.to_string())?;
        let risk = serde_json::to_value(&new.risk).map_err(|error| error.to_string())?;
        let of_header = |pointer: &str| self.header.settings.pointer(pointer).cloned().unwrap_or_default();
        let before = json!({ "risk": of_header("/session/risk"), "runtime": of_header("/runtime") });
        let note = ReloadNote::new((step.now, by), new.risk, runtime.clone(), &before);
        let mut note = note.map_err(|error| error.to_string())?;
        note.reloaded.changes.extend(new.kept);
        self.session.prepare_reload(&note, step)?;
        self.control(Control::Reload, step);
        self.ending.set_patience(&settings);
        self.settings = settings;
        // What the next change is compared with.
        if let Some(session) = self.header.settings.get_mut("session").and_then(Value::as_object_mut) {
            session.insert("risk".to_owned(), risk);
        }
        if let Some(header) = self.header.settings.as_object_mut() {
            header.insert("runtime".to_owned(), runtime);
        }
        let changes = &note.reloaded.changes;
        let said = if changes.is_empty() { "nothing has changed".to_owned() } else { changes.join("; ") };
        step.warn(format!("the settings were read again, by {by}: {said}"));
        self.reloaded = Some(note.reloaded);
        Ok(())
    }
}

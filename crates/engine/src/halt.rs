//! A halt in force, with its time and reason.

use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};

/// A halt of all opens that has not been lifted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// Venue time of the order or finding, `None` if the journal does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// The operator's words or the program's finding, empty if there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Halt {
    /// Prefix of the alarm that stores the reason in the journal.
    pub const PREFIX: &'static str = "halted: ";

    /// Parses the halt of an alarm noted at `at`, `None` for other alarms.
    pub fn from_alarm(alarm: &str, at: Millis) -> Option<Self> {
        let reason = alarm.strip_prefix(Self::PREFIX)?;
        Some(Self { at: Some(at), reason: reason.to_owned() })
    }

    /// Parses the halt of a journal note, `None` for other notes.
    pub fn from_note(body: &str, at: Millis) -> Option<Self> {
        // Most notes are long and about something else.
        let note = Some(body).filter(|body| body.starts_with("{\"alarm\":"))?;
        let note: serde_json::Value = serde_json::from_str(note).ok()?;
        Self::from_alarm(note.get("alarm")?.as_str()?, at)
    }

    /// Returns the alarm text that stores the halt in the journal.
    pub fn to_alarm(&self) -> String {
        format!("{}{}", Self::PREFIX, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_the_note_of_a_halt_and_no_other() {
        let at = Millis::new(7);
        let halt = Halt { at: Some(at), reason: "news at \"noon\"".to_owned() };
        let note = |alarm: &str| serde_json::json!({ "alarm": alarm }).to_string();
        assert_eq!(Halt::from_note(&note(&halt.to_alarm()), at), Some(halt));
        let silent = Halt { at: Some(at), ..Halt::default() };
        assert_eq!(Halt::from_note(&note(&silent.to_alarm()), at), Some(silent));
        assert_eq!(Halt::from_note(&note("the wallet was halted: no"), at), None);
        for other in ["", "{\"alarm\":7}", "{\"audit\":\"halted: x\"}"] {
            assert_eq!(Halt::from_note(other, at), None, "{other}");
        }
    }
}

//! Filter rules of a channel.

use crate::alert::{Alert, Severity};

/// Filter of alerts: minimum severity, plus `include`, minus `exclude`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    pub minimum: Severity,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

impl Rules {
    pub fn want(&self, alert: &Alert) -> bool {
        let is_among = |events: &[String]| events.contains(&alert.event);
        !is_among(&self.exclude) && (alert.severity >= self.minimum || is_among(&self.include))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_named_go_before_severity() {
        let rules = Rules {
            minimum: Severity::Warning,
            include: vec!["settled".to_owned(), "both".to_owned()],
            exclude: vec!["alarm".to_owned(), "both".to_owned()],
        };
        for (severity, event, is_wanted) in [
            (Severity::Info, "opened", false),
            (Severity::Notice, "started", false),
            (Severity::Warning, "doubt", true),
            (Severity::Critical, "halted", true),
            (Severity::Info, "settled", true),
            (Severity::Critical, "alarm", false),
            (Severity::Critical, "both", false),
        ] {
            assert_eq!(rules.want(&Alert::new(0, severity, event, "")), is_wanted, "{event}");
        }
    }
}

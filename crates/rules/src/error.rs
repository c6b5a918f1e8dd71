//! Errors in a rule's text, with their positions, and suggestions for unknown names.

use crate::catalog::{Argument, find_function, reserved_names};
use candlewick_sdk::{AliasContext, AliasTarget, escape_hidden, find_alias_targets, nearest_name};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    pub message: String,
    /// Byte range of the error in the rule's text. Empty if text is missing at this position.
    pub span: Range<usize>,
}

impl RuleError {
    pub(crate) fn new(place: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), span: place }
    }

    /// Returns the 1-based line and column of the error. The column is counted in characters.
    pub fn line_and_column(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.span.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }

    pub fn render(&self, text: &str) -> String {
        let start = text.floor_char_boundary(self.span.start);
        let first = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let last = text[start..].find('\n').map_or(text.len(), |end| start + end);
        let end = text.floor_char_boundary(self.span.end).clamp(start, last);
        let before = escape_hidden(&text[first..start]).chars().count();
        let marked = escape_hidden(&text[start..end]).chars().count().max(1);
        format!("{}\n  {}{}", escape_hidden(&text[first..last]), " ".repeat(before), "^".repeat(marked))
    }
}

pub(crate) fn render_counterpart(counterpart: &AliasTarget) -> String {
    match counterpart {
        AliasTarget::Name { name } => format!("did you mean `{name}`?"),
        AliasTarget::Advice { advice } => advice.clone(),
        AliasTarget::Key { section, example } if section == "bots" => {
            format!("this setting belongs in a configuration: {example} in [[bots]]")
        }
        AliasTarget::Key { section, example } => {
            format!("this setting belongs in a configuration: {example} in [{section}]")
        }
    }
}

const FOREIGN_MODULES: [&str; 3] = ["ta", "math", "talib"];

pub(crate) fn hint_for_member(module: &str, name: &str) -> Option<String> {
    let dotted = format!("{module}.{name}");
    let mut whole = find_alias_targets(AliasContext::RuleName, &dotted)
        .chain(find_alias_targets(AliasContext::RuleModule, module))
        .map(render_counterpart);
    let mut own = find_alias_targets(AliasContext::RuleName, name)
        .map(render_counterpart)
        .chain(find_function(name).map(|function| format!("write {}", function.usage)))
        .filter(|_| FOREIGN_MODULES.contains(&module));
    let unknown = || {
        let is_known = FOREIGN_MODULES.contains(&module);
        is_known.then(|| format!("omit `{module}.`; docs/rule-language.md lists the functions"))
    };
    let hint = whole.next().or_else(|| own.next()).or_else(unknown)?;
    Some(format!("unknown name `{dotted}`: {hint}"))
}

pub(crate) fn hint_for_word(word: &str) -> Option<String> {
    find_alias_targets(AliasContext::RuleWord, word).next().map(render_counterpart)
}

pub(crate) fn suggest_name(name: &str, parameters: &[&str]) -> String {
    if let Some(counterpart) = find_alias_targets(AliasContext::RuleName, name).next() {
        return render_counterpart(counterpart);
    }
    let near = suggest_call(name).or_else(|| {
        let near =
            nearest_name(name, parameters.iter().copied()).or_else(|| nearest_name(name, reserved_names()));
        near.map(str::to_owned)
    });
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if parameters.is_empty() => {
            "a name must be a candle field, a function or a parameter, and this rule has no parameters"
                .to_owned()
        }
        None => {
            format!("a name must be a candle field, a function or a parameter ({})", parameters.join(", "))
        }
    }
}

fn suggest_call(name: &str) -> Option<String> {
    let plain = name.to_lowercase();
    let function = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let period = &plain[function.len()..];
    let function = find_function(function.trim_end_matches('_'))?;
    let takes_period = !period.is_empty() && function.arguments.first() == Some(&Argument::Period);
    takes_period.then(|| format!("{}({period})", function.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use candlewick_sdk::Interval;
    use std::collections::BTreeMap;

    fn is_sound(condition: &str) -> bool {
        Rule::parse(Some(condition), None)
            .is_ok_and(|rule| rule.build(&BTreeMap::new(), Interval::MINUTE, None).is_ok())
    }

    /// Compares the table in docs/rule-language.md with the hints and with the language.
    #[test]
    fn counterparts_of_tradingview_are_sound_rules() {
        let page = include_str!("../../../docs/rule-language.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `ta.")?.strip_suffix("` |"));
        let rows: Vec<(&str, &str)> = rows.filter_map(|row| row.split_once("` | `")).collect();
        assert!(rows.len() >= 25, "{rows:?}");
        for (there, here) in rows {
            assert!(is_sound(here) || is_sound(&format!("{here} > 0")), "{here}");
            let hint = hint_for_member("ta", there).unwrap();
            let function = here.split('(').next().unwrap();
            assert!(hint.contains(here) || hint.contains(&format!("write {function}(")), "{hint}");
            let is_own = reserved_names().any(|own| own == there);
            assert!(is_own || suggest_name(there, &[]).contains(here), "{there}");
        }
    }

    #[test]
    fn foreign_names_have_valid_counterparts() {
        for (there, expected) in [
            ("ma", "sma(20)"),
            ("iMA", "sma(20)"),
            ("psar", "parabolic_sar(0.02, 0.2)"),
            ("willr", "williams_r(14)"),
            ("zscore", "z_score(20)"),
            ("price", "close"),
            ("hl2", "median"),
            ("hlc3", "typical"),
            ("dayofweek", "weekday()"),
            ("green", "bullish()"),
            ("red", "bearish()"),
        ] {
            assert!(reserved_names().all(|own| own != there), "{there}");
            let found = find_alias_targets(AliasContext::RuleName, there).next().unwrap();
            assert!(matches!(found, AliasTarget::Name { name } if name == expected), "{there}: {found:?}");
            assert!(is_sound(expected) || is_sound(&format!("{expected} > 0")), "{expected}");
        }
    }
}

//! Parsing of named choices.

/// A text that names none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not one of {names}")]
pub struct ParseChoiceError {
    text: String,
    names: String,
}

pub(crate) fn parse_choice<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, ParseChoiceError> {
    let found = choices.iter().find(|(name, _)| *name == text);
    found.map(|(_, choice)| *choice).ok_or_else(|| ParseChoiceError {
        text: text.chars().take(32).collect(),
        names: choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
    })
}

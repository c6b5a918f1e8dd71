//! Checks the number and the names of a Session's bots.

use crate::{EngineError, SessionSettings};

pub(super) fn check(settings: &SessionSettings, strategies: usize) -> Result<(), EngineError> {
    if settings.bots.is_empty() {
        return Err(EngineError::setting("bots", "there is no bot: add a section [[bots]]"));
    }
    if settings.bots.len() != strategies {
        return Err(EngineError::setting(
            "bots",
            format!("{strategies} strategies for {} bots", settings.bots.len()),
        ));
    }
    for (index, bot) in settings.bots.iter().enumerate() {
        if bot.name.is_empty() || bot.name.contains([',', '"', '\n', '\r']) {
            let problem = "a name is not empty and has no comma, quote or line break";
            return Err(EngineError::setting(format!("bots[{index}].name"), problem));
        }
        if settings.bots[..index].iter().any(|other| other.name == bot.name) {
            let problem = format!("\"{}\" is the name of another bot; names are unique", bot.name);
            return Err(EngineError::setting(format!("bots[{index}].name"), problem));
        }
    }
    Ok(())
}

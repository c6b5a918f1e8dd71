//! Orders of a browser and their responses.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The token that the terminal showed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignIn {
    /// It is taken once.
    pub(crate) token: String,
}

/// That a browser is signed in: its cookie says so from now on.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignedIn {
    /// Always true.
    pub(crate) signed_in: bool,
}

/// Why a bot is halted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// In the person's words, for the journal.
    #[serde(default)]
    pub(crate) reason: String,
}

/// What an order came to.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ordered {
    /// In words.
    pub(crate) text: String,
}

/// What is wrong with a request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// In words.
    pub(crate) problem: String,
}

//! Error bodies (contract 5). Undocumented ones (400, 404, 500) use the shape of the 401s.

use serde::Serialize;
use utoipa::ToSchema;

/// The body on trade and user endpoints (contract 5, rule 2).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorEnvelope {
    #[schema(minimum = 400, maximum = 599)]
    pub(crate) status_code: u16,
    #[schema(pattern = "^error$")]
    pub(crate) status: &'static str,
    /// ISO 8601; for a rejected order, when it arrived at the venue.
    #[schema(format = DateTime)]
    pub(crate) timestamp: String,
    /// The request's path.
    pub(crate) path: String,
    pub(crate) data: ErrorDetail,
}

/// The reason inside an envelope (contract 5, rule 2).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorDetail {
    pub(crate) message: String,
    pub(crate) error: &'static str,
    #[schema(minimum = 400, maximum = 599)]
    pub(crate) status_code: u16,
}

/// The body on the wallet endpoint and on the symbol price API (contract 5, rule 3).
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlainError {
    #[schema(minimum = 400, maximum = 599)]
    pub(crate) status_code: u16,
    pub(crate) message: String,
}

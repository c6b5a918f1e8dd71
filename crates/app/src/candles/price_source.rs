//! Whose prices candles are: the venue's own, or somebody else's, on which a result is a hypothesis.

use super::name::DataName;
use crate::error::AppError;
use candlewick_api::Settings;
use candlewick_history::{Catalog, Manifest};

/// Whose prices they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSource {
    /// Fetched from the configured venue, all of them.
    Venue,
    /// Of another venue or of nobody knows whom, or made.
    Other,
}

impl PriceSource {
    /// Of what is named. Only the catalog knows where candles come from: a file does not say.
    ///
    /// # Errors
    /// A catalog that cannot be read.
    pub(super) fn of(names: &[DataName], catalog: &Catalog, venue: &Settings) -> Result<Self, AppError> {
        let source = source_of(venue);
        for name in names {
            let Some(series) = name.read_from(catalog)? else { return Ok(Self::Other) };
            let manifest = catalog.manifest(series)?;
            if !manifest.is_some_and(|manifest| is_from(&manifest, &source)) {
                return Ok(Self::Other);
            }
        }
        Ok(if names.is_empty() { Self::Other } else { Self::Venue })
    }
}

/// What the catalog calls the configured symbol price API where candles are fetched from it.
pub fn source_of(venue: &Settings) -> String {
    let Settings { price_url, slot, .. } = venue;
    if *slot == Settings::default().slot { price_url.clone() } else { format!("{price_url}, slot {slot}") }
}

fn is_from(manifest: &Manifest, source: &str) -> bool {
    !manifest.origins.is_empty() && manifest.origins.iter().all(|origin| origin.source == source)
}

//! Whose prices candles are: the venue's own, or somebody else's, on which a result is a hypothesis.

use super::name::DataName;
use crate::failure::Failure;
use candlewick_api::Settings;
use candlewick_history::{Catalog, Manifest};
use candlewick_sdk::Series;

/// Whose prices they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriceSource {
    /// Fetched from the configured venue, all of them.
    Venue,
    /// Of another venue or of nobody knows whom, or made.
    Other,
}

impl PriceSource {
    /// Of what is named. Only the catalog knows where candles come from: a file does not tell.
    ///
    /// # Errors
    /// A catalog that cannot be read.
    pub(super) fn of(names: &[DataName], catalog: &Catalog, venue: &Settings) -> Result<Self, Failure> {
        let stored: Option<Vec<Series>> = (names.iter())
            .map(|name| match name {
                DataName::File(_) => None,
                DataName::Stored(series) => Some(*series),
            })
            .collect();
        let Some(stored) = stored else { return Ok(Self::Other) };
        let manifests = catalog.manifests()?;
        let mut of_names = manifests.iter().filter(|manifest| stored.contains(&manifest.series()));
        let source = source_of(venue);
        let is_all = of_names.all(|manifest| is_from(manifest, &source));
        Ok(if is_all && !stored.is_empty() { Self::Venue } else { Self::Other })
    }
}

/// What the catalog calls the configured symbol price API where candles are fetched from it.
pub(crate) fn source_of(venue: &Settings) -> String {
    let Settings { price_url, slot, .. } = venue;
    if *slot == Settings::default().slot { price_url.clone() } else { format!("{price_url}, slot {slot}") }
}

fn is_from(manifest: &Manifest, source: &str) -> bool {
    !manifest.origins.is_empty() && manifest.origins.iter().all(|origin| origin.source == source)
}

//! Origin of prices: results on candles of another venue are only a hypothesis.

use super::name::DataName;
use crate::error::AppError;
use candlewick_api::Settings;
use candlewick_history::{Catalog, Manifest};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceSource {
    Venue,
    Other,
}

impl PriceSource {
    /// Determines the origin of named candles.
    ///
    /// Only the catalog records it; files do not.
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

pub fn source_of(venue: &Settings) -> String {
    let Settings { price_url, slot, .. } = venue;
    if *slot == Settings::default().slot { price_url.clone() } else { format!("{price_url}, slot {slot}") }
}

fn is_from(manifest: &Manifest, source: &str) -> bool {
    !manifest.origins.is_empty() && manifest.origins.iter().all(|origin| origin.source == source)
}

//! Changes a part's signal reason so that it mentions the votes and an inverted direction.

use candlewick_sdk::{Reason, ReasonTemplate};

const INVERTED_PREFIX: &str = "turned round: ";
/// Maximum number of cached reasons. Strategies have far fewer different reasons.
const MAX_CACHED_REASONS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ReasonChange {
    pub(super) is_part_inverted: bool,
    pub(super) votes: Option<Votes>,
    pub(super) is_combination_inverted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Votes {
    /// Total weight of the votes for the direction, in billionths to avoid floating-point errors.
    direction_weight: i64,
    total_weight: i64,
}

impl Votes {
    pub(super) fn new(direction_weight: f64, total_weight: f64) -> Self {
        let billionths = |weight: f64| (weight * 1e9).round() as i64;
        Self { direction_weight: billionths(direction_weight), total_weight: billionths(total_weight) }
    }
}

#[derive(Default)]
pub(super) struct ReasonCache {
    known: Vec<(Reason, ReasonChange, ReasonTemplate)>,
}

impl ReasonCache {
    pub(super) fn reword(&mut self, own: Reason, change: ReasonChange) -> Reason {
        if change.votes.is_none() && change.is_part_inverted == change.is_combination_inverted {
            return own;
        }
        let known = self.known.iter().find(|(one, of, _)| *of == change && one.wording_ptr_eq(&own));
        if let Some((_, _, template)) = known {
            return template.with_numbers(own.values());
        }
        let same = self.known.iter().find(|(reason, of, _)| *of == change && reason.has_same_wording(&own));
        if let Some((_, _, template)) = same {
            return template.with_numbers(own.values());
        }
        let template = ReasonTemplate::new(reword(own.text(), change), own.numbers().map(|(name, _)| name));
        let reason = template.with_numbers(own.values());
        if self.known.len() < MAX_CACHED_REASONS {
            self.known.push((own, change, template));
        }
        reason
    }
}

fn reword(own: &str, change: ReasonChange) -> String {
    let part = if change.is_part_inverted { invert(own) } else { own.to_owned() };
    let voted = match change.votes {
        Some(Votes { direction_weight, total_weight }) => {
            let weight = |billionths: i64| billionths as f64 / 1e9;
            format!("{} of {}: {part}", weight(direction_weight), weight(total_weight))
        }
        None => part,
    };
    if change.is_combination_inverted { invert(&voted) } else { voted }
}

/// Adds the prefix for inverted reasons. If the reason already has the prefix, removes the prefix.
fn invert(reason: &str) -> String {
    reason.strip_prefix(INVERTED_PREFIX).map_or_else(|| format!("{INVERTED_PREFIX}{reason}"), str::to_owned)
}

//! Reasons of trades that differ from the part's own, with the votes or an inverted direction.

use candlewick_sdk::{Reason, ReasonTemplate};

const TURNED: &str = "turned round: ";
/// Cache size; strategies have far fewer reason texts.
const MOST_KEPT: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) is_part_turned: bool,
    pub(super) votes: Option<Votes>,
    pub(super) is_whole_turned: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Votes {
    /// In billionths, so that decimal weights add up exactly.
    of_direction: i64,
    of_all: i64,
}

impl Votes {
    pub(super) fn new(of_direction: f64, of_all: f64) -> Self {
        let billionths = |weight: f64| (weight * 1e9).round() as i64;
        Self { of_direction: billionths(of_direction), of_all: billionths(of_all) }
    }
}

#[derive(Default)]
pub(super) struct Reworded {
    known: Vec<(Reason, Made, ReasonTemplate)>,
}

impl Reworded {
    pub(super) fn reason(&mut self, own: Reason, made: Made) -> Reason {
        if made.votes.is_none() && made.is_part_turned == made.is_whole_turned {
            return own;
        }
        let known = self.known.iter().find(|(reason, of, _)| *of == made && reason.shares_words_with(&own));
        if let Some((_, _, template)) = known {
            return template.with_numbers(own.values());
        }
        let same = self.known.iter().find(|(reason, of, _)| *of == made && reason.has_words_of(&own));
        if let Some((_, _, template)) = same {
            return template.with_numbers(own.values());
        }
        let template = ReasonTemplate::new(reword(own.text(), made), own.numbers().map(|(name, _)| name));
        let reason = template.with_numbers(own.values());
        if self.known.len() < MOST_KEPT {
            self.known.push((own, made, template));
        }
        reason
    }
}

fn reword(own: &str, made: Made) -> String {
    let part = if made.is_part_turned { turned(own) } else { own.to_owned() };
    let voted = match made.votes {
        Some(Votes { of_direction, of_all }) => {
            let weight = |billionths: i64| billionths as f64 / 1e9;
            format!("{} of {}: {part}", weight(of_direction), weight(of_all))
        }
        None => part,
    };
    if made.is_whole_turned { turned(&voted) } else { voted }
}

/// Inverting twice restores the part's own reason.
fn turned(reason: &str) -> String {
    reason.strip_prefix(TURNED).map_or_else(|| format!("{TURNED}{reason}"), str::to_owned)
}

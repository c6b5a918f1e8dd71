//! The reason of a trade that is not what a part alone signalled: how a vote went, and whether the direction is the other one.

use candlewick_sdk::{Reason, ReasonTemplate};

/// What stands before a reason that was given for the other direction.
const TURNED: &str = "turned round: ";
/// So many different ones are kept; strategies have far fewer texts.
const MOST_KEPT: usize = 256;

/// What a combination made of a part's signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    /// Whether the part's own direction is turned round.
    pub(super) is_part_turned: bool,
    pub(super) votes: Option<Votes>,
    /// Whether what the parts came to is turned round.
    pub(super) is_whole_turned: bool,
}

/// The weight that the direction has, of that of all parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Votes {
    /// In billionths: as people add them.
    of_direction: i64,
    of_all: i64,
}

impl Votes {
    pub(super) fn new(of_direction: f64, of_all: f64) -> Self {
        let billionths = |weight: f64| (weight * 1e9).round() as i64;
        Self { of_direction: billionths(of_direction), of_all: billionths(of_all) }
    }
}

/// Reasons in other words, each text made once.
#[derive(Default)]
pub(super) struct Reworded {
    known: Vec<(Reason, Made, ReasonTemplate)>,
}

impl Reworded {
    /// The part's reason with its numbers, in words that say what was made of its signal.
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
        let template = ReasonTemplate::new(words(own.text(), made), own.numbers().map(|(name, _)| name));
        let reason = template.with_numbers(own.values());
        if self.known.len() < MOST_KEPT {
            self.known.push((own, made, template));
        }
        reason
    }
}

/// `turned round: 2 of 3: rsi(5) < 30`.
fn words(own: &str, made: Made) -> String {
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

/// Of a direction that is turned round twice it is the part's own.
fn turned(reason: &str) -> String {
    reason.strip_prefix(TURNED).map_or_else(|| format!("{TURNED}{reason}"), str::to_owned)
}

//! What happens in a night, what is waited for, and what was seen of it.

use candlewick_sdk::Millis;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a person who looks sees.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Shown {
    /// What `candlewick status` says of the bot.
    pub status: String,
    /// Figures that are not as they are on a calm night, by their names; empty in a program without metrics.
    pub metrics: BTreeMap<String, f64>,
}

/// Something that happened, and how it went.
#[derive(Debug, Serialize)]
pub struct Scene {
    /// What happened.
    pub happened: &'static str,
    /// How it was made to.
    pub injected: String,
    /// What the bot did.
    pub did: &'static str,
    /// The events that it told meanwhile, and how many of each; candles are left out.
    pub events: BTreeMap<String, u64>,
    /// What was seen while it lasted.
    pub seen: Shown,
    /// How it ended.
    pub ended: String,
    /// Whether the bot noticed, and went on by itself once it was over.
    pub held: bool,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    /// These faults of the venue.
    Venue(&'static str),
    /// These, until a person has mended what they are about and lets the bot try again.
    UntilResumed(&'static str),
    /// The journal cannot be written.
    Journal,
    /// The machine sleeps.
    Sleep(Millis),
}

/// What is played.
pub(super) struct Plan {
    pub(super) happened: &'static str,
    pub(super) trouble: Trouble,
    pub(super) did: &'static str,
    /// By which of these events the bot says that it has noticed.
    pub(super) noticed: &'static [&'static str],
    /// By which that it is over.
    pub(super) over: &'static [&'static str],
}

/// The night.
pub(super) const NIGHT: [Plan; 5] = [
    Plan {
        happened: "the venue is down",
        trouble: Trouble::Venue("drop-before:1"),
        did: "said that the venue is silent, opened nothing on old candles, asked on",
        noticed: &["venue_silent"],
        over: &["venue_heard"],
    },
    Plan {
        happened: "the reply to an order is lost",
        trouble: Trouble::Venue("drop-after:1"),
        did: "asked no second time, held the symbol, and looked for the trade in the venue's list",
        noticed: &["in_doubt"],
        over: &["resolved"],
    },
    Plan {
        happened: "the token expires",
        trouble: Trouble::UntilResumed("expired-token:1"),
        did: "suspended its opens, and went on when a person said `resume`",
        noticed: &["suspended"],
        over: &["resumed"],
    },
    Plan {
        happened: "the journal cannot be written",
        trouble: Trouble::Journal,
        did: "sent nothing that was not written down first",
        noticed: &["alarm"],
        over: &["opened"],
    },
    Plan {
        happened: "the machine sleeps, and its clock leaps",
        trouble: Trouble::Sleep(Millis::from_seconds(600)),
        did: "moved its clock to the venue's, and refused what was decided on candles of before",
        noticed: &["alarm"],
        over: &["opened"],
    },
];

impl Trouble {
    pub(super) fn words(self) -> String {
        match self {
            Self::Venue(faults) | Self::UntilResumed(faults) => format!("fault {faults} of the sandbox"),
            Self::Journal => "another process holds the write lock of its file".to_owned(),
            Self::Sleep(span) => {
                format!("its clock stands {} minutes behind the venue's", span.get() / 60_000)
            }
        }
    }
}

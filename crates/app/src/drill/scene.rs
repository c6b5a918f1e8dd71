//! Scenes of the drill: injected faults, expected events and observations.

use candlewick_sdk::Millis;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Shown {
    pub status: String,
    pub metrics: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize)]
pub struct Scene {
    pub happened: &'static str,
    pub injected: String,
    pub did: &'static str,
    pub events: BTreeMap<String, u64>,
    pub seen: Shown,
    pub ended: String,
    pub held: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Trouble {
    Venue(&'static str),
    UntilResumed(&'static str),
    Journal,
    Sleep(Millis),
}

pub(super) struct Plan {
    pub(super) happened: &'static str,
    pub(super) trouble: Trouble,
    pub(super) did: &'static str,
    pub(super) noticed: &'static [&'static str],
    pub(super) over: &'static [&'static str],
}

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

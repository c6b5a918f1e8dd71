//! Scenarios with two lies: one of each group with one of every other.

use crate::lies::{Kind, Lie, Outcome, Place, Profit, WalletLie, Word};
use crate::scenarios::{Must, Scenario};

/// Seconds of a run with two lies; a doubt takes most of them.
const SECONDS: u64 = 40;

type Named = (&'static str, Lie);

fn groups() -> Vec<[Named; 3]> {
    let refused = |status| Kind::RefusalThatTook { status, message: "Bad Request", listed_after_ms: 0 };
    let older = |age_s, is_taken| Kind::OlderTrade { age_s, is_taken };
    let revised = |first, then| Kind::Revised { first, then, after_ms: 5000, reopened_ms: 0 };
    let said = |said, truth| Kind::FirstWord { said, truth, until_ms: 1_000_000, is_listed: false };
    let settled = |said, paid| Kind::Settled { said, paid };
    let gross = Word::with(Outcome::Won, Profit::Gross);
    let cut = Word { payout: Some(60), ..Word::WON };
    let plus = Word::with(Outcome::Won, Profit::Plus(20));
    let refusal = |message| Kind::Refusal { status: 400, message };
    vec![
        [
            ("refused-400", Lie::once(refused(400), 3)),
            ("refused-422", Lie::once(refused(422), 2)),
            ("refused-404", Lie::once(refused(404), 4)),
        ],
        [
            ("older-2400", Lie::once(older(2400, true), 2)),
            ("older-30", Lie::once(older(30, true), 4)),
            ("frozen", Lie::from(Kind::FrozenRequestTime, 3)),
        ],
        [
            ("cancelled-lost", Lie::from(said(Word::CANCELLED, Word::LOST), 1)),
            ("won-lost", Lie::once(said(Word::WON, Word::LOST), 2)),
            ("lost-won", Lie::from(revised(Word::LOST, Word::WON), 3)),
        ],
        [
            ("gross", Lie::once(settled(gross, Word::WON), 1)),
            ("payout-cut", Lie::from(settled(cut, cut), 2)),
            ("profit-off", Lie::once(settled(plus, plus), 3)),
        ],
        [
            ("unpaid", Lie::from(Kind::WinUnpaid, 4)),
            ("fee", Lie::from(Kind::HiddenFee(25), 1)),
            ("kept", Lie::once(Kind::CancelledKept, 5)),
        ],
        [
            ("sum-600", Lie::from(Kind::WalletAmounts { percents: &[100, 500], taken: 600 }, 3)),
            ("sum-150", Lie::once(Kind::WalletAmounts { percents: &[150], taken: 150 }, 2)),
            ("tenant-fee", Lie::from(Kind::TenantFee { cents: 30, is_taken: true }, 2)),
        ],
        [
            ("wallet-twice", Lie::from(Kind::Wallets(WalletLie::Twice), 4)),
            ("wallet-keys", Lie::from(Kind::Wallets(WalletLie::DuplicateKeys), 5)),
            ("wallet-jump", Lie::from(Kind::Wallets(WalletLie::Jump), 4)),
        ],
        [
            ("closes-hour", Lie::from(Kind::CloseTime { shift_ms: 3_600_000, place: Place::Everywhere }, 1)),
            ("closes-day", Lie::once(Kind::CloseTime { shift_ms: 86_400_000, place: Place::Reply }, 2)),
            ("closes-before", Lie::from(Kind::CloseTime { shift_ms: -10_000, place: Place::Reply }, 2)),
        ],
        [
            ("real-flag", Lie::once(Kind::RealFlag(Place::List), 4)),
            ("opposite", Lie::once(Kind::OppositeDirection(Place::Detail), 3)),
            ("other-user", Lie::from(Kind::OtherUser(Place::Reply), 4)),
        ],
        [
            ("inactive", Lie::once(refusal("symbol is not active"), 1)),
            ("per-minute", Lie { kind: refusal("too many trades per minute"), from: 4, times: 3 }),
            ("banned", Lie::from(Kind::Banned, 6)),
        ],
    ]
}

pub(crate) fn all() -> Vec<Scenario> {
    let groups = groups();
    let mut rows = Vec::new();
    for (first_number, first) in groups.iter().enumerate() {
        for (second_number, second) in groups.iter().enumerate().skip(first_number + 1) {
            let (one, two) = (first_number + second_number, first_number * 2 + second_number + 1);
            let (first, second) = (first[one % 3], second[two % 3]);
            rows.push(pair(first, second));
        }
    }
    rows
}

fn pair((first_name, first): Named, (second_name, second): Named) -> Scenario {
    let name = format!("pair-{first_name}+{second_name}");
    Scenario { seconds: Some(SECONDS), ..Scenario::new(name, Must::Equal, vec![first, second]) }
}

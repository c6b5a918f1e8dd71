//! Contract violations of the venue.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    Won,
    Lost,
    Draw,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Profit {
    Agreed,
    Gross,
    Plus(i64),
    Percent(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) outcome: Outcome,
    pub(crate) profit: Profit,
    pub(crate) payout: Option<i64>,
    pub(crate) is_reverted: bool,
}

impl Word {
    pub(crate) const WON: Self = Self::plain(Outcome::Won);
    pub(crate) const LOST: Self = Self::plain(Outcome::Lost);
    pub(crate) const DRAW: Self = Self::plain(Outcome::Draw);
    pub(crate) const CANCELLED: Self = Self::plain(Outcome::Cancelled);

    pub(crate) const fn plain(outcome: Outcome) -> Self {
        Self::with(outcome, Profit::Agreed)
    }

    pub(crate) const fn with(outcome: Outcome, profit: Profit) -> Self {
        Self { outcome, profit, payout: None, is_reverted: false }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    Reply,
    Detail,
    List,
    Everywhere,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WalletLie {
    /// Lists the demo wallet twice, the second time with another balance.
    Twice,
    Swapped,
    OtherCurrency,
    OtherUser,
    OtherId,
    DuplicateKeys,
    Jump,
    Gone,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MarketLie {
    RecordsMoved(i64),
    /// Sends candles of this many seconds, whatever was requested.
    CandlesOf(i64),
    CandlesMoved(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    RefusalThatTook { status: u16, message: &'static str, listed_after_ms: i64 },
    OlderTrade { age_s: i64, is_taken: bool },
    FrozenRequestTime,
    // Reports `reported` in the detail, or in the list as well, until this long after the close.
    FirstWord { reported: Word, truth: Word, until_ms: i64, is_listed: bool },
    // Records and wallet follow `first`, and from this long after the close `then`.
    Revised { first: Word, then: Word, after_ms: i64, reopened_ms: i64 },
    Settled { reported: Word, paid: Word },
    // Silently charges this many cents more at each open.
    HiddenFee(i64),
    CancelledKept,
    WinUnpaid,
    // Amounts of the wallets in the reply (sum in percent of the stake), and the amount really charged.
    WalletAmounts { percents: &'static [i64], taken: i64 },
    TenantFee { cents: i64, is_taken: bool },
    CloseTime { shift_ms: i64, place: Place },
    RealFlag(Place),
    RealWallet(Place),
    OppositeDirection(Place),
    OtherUser(Place),
    TwiceWritten(Place),
    Wallets(WalletLie),
    Market(MarketLie),
    Refusal { status: u16, message: &'static str },
    Banned,
    ReplyLost,
    Movement(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lie {
    pub(crate) kind: Kind,
    /// 0-based index of the first affected order or reading.
    pub(crate) from: usize,
    pub(crate) times: usize,
}

impl Lie {
    pub(crate) const fn always(kind: Kind) -> Self {
        Self { kind, from: 0, times: usize::MAX }
    }

    pub(crate) const fn from(kind: Kind, from: usize) -> Self {
        Self { kind, from, times: usize::MAX }
    }

    pub(crate) const fn once(kind: Kind, from: usize) -> Self {
        Self { kind, from, times: 1 }
    }

    pub(crate) fn concerns(&self, index: usize) -> bool {
        index >= self.from && index - self.from < self.times
    }
}

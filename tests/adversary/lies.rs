//! What the venue says or does against its contract.

/// How a trade ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    Won,
    Lost,
    Draw,
    Cancelled,
}

/// A profit, by the stake and payout that were agreed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Profit {
    Agreed,
    /// Profit and stake together.
    Gross,
    /// The agreed one and so many cents.
    Plus(i64),
    /// So many percent of the stake.
    Percent(i64),
}

/// What a record says of a trade that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Word {
    pub(crate) outcome: Outcome,
    pub(crate) profit: Profit,
    /// Payout in percent, if it is not the one of the open.
    pub(crate) payout: Option<i64>,
    pub(crate) is_reverted: bool,
}

impl Word {
    pub(crate) const WON: Self = Self::plain(Outcome::Won);
    pub(crate) const LOST: Self = Self::plain(Outcome::Lost);
    pub(crate) const DRAW: Self = Self::plain(Outcome::Draw);
    pub(crate) const CANCELLED: Self = Self::plain(Outcome::Cancelled);

    pub(crate) const fn plain(outcome: Outcome) -> Self {
        Self { outcome, profit: Profit::Agreed, payout: None, is_reverted: false }
    }

    pub(crate) const fn with(outcome: Outcome, profit: Profit) -> Self {
        Self { outcome, profit, payout: None, is_reverted: false }
    }
}

/// The messages in which a lie shows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    Reply,
    Detail,
    List,
    Everywhere,
}

/// A change of the wallet list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WalletLie {
    /// The demo wallet twice, the second time with another balance.
    Twice,
    /// DEMO and REAL change places.
    Swapped,
    OtherCurrency,
    OtherUser,
    OtherId,
    /// The key `balance` twice in one object.
    DuplicateKeys,
    /// A balance that no trade explains.
    Jump,
    /// No demo wallet.
    Gone,
}

/// A lie about the market.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MarketLie {
    /// Price records that are later or earlier by so many milliseconds.
    RecordsMoved(i64),
    /// Candles of so many seconds, whatever was asked for.
    CandlesOf(i64),
    /// Candles that are later or earlier by so many milliseconds.
    CandlesMoved(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Refuses the order and makes the trade, which the list shows after a while.
    RefusalThatTook {
        status: u16,
        message: &'static str,
        listed_after_ms: i64,
    },
    /// Answers with the record of another trade, which is older.
    OlderTrade {
        age_s: i64,
        is_taken: bool,
    },
    /// Writes the request time of the first trade into every later one.
    FrozenRequestTime,
    /// Records say `said`, the detail alone or the list as well, until so long after the close.
    FirstWord {
        said: Word,
        truth: Word,
        until_ms: i64,
        is_listed: bool,
    },
    /// Records and wallet say `first`, and from so long after the close `then`.
    Revised {
        first: Word,
        then: Word,
        after_ms: i64,
        /// How long the trade is open again in between.
        reopened_ms: i64,
    },
    /// Records say `said`; the wallet moves by `paid`.
    Settled {
        said: Word,
        paid: Word,
    },
    /// Takes so many cents more at each open and says nothing.
    HiddenFee(i64),
    /// Says that the trade was cancelled and keeps the stake.
    CancelledKept,
    /// Says WON and pays nothing.
    WinUnpaid,
    /// The amounts of the reply's wallets: their sum in percent of the stake, and what is really taken.
    WalletAmounts {
        percents: &'static [i64],
        taken: i64,
    },
    /// A fee of the tenant in cents, and whether it is taken.
    TenantFee {
        cents: i64,
        is_taken: bool,
    },
    /// A close time that is later by so many milliseconds.
    CloseTime {
        shift_ms: i64,
        place: Place,
    },
    /// `isDemo` is false.
    RealFlag(Place),
    /// The wallet of the trade is REAL.
    RealWallet(Place),
    OppositeDirection(Place),
    OtherUser(Place),
    /// Result and amount of a trade are written twice in one object, differently.
    TwiceWritten(Place),
    Wallets(WalletLie),
    Market(MarketLie),
    /// Refuses the order and makes no trade.
    Refusal {
        status: u16,
        message: &'static str,
    },
    /// The user is banned: the profile says so, and orders are refused.
    Banned,
    /// Makes the trade and closes the connection without a reply.
    ReplyLost,
    /// Money comes in or goes out, in cents.
    Movement(i64),
}

/// A lie with the orders or readings that it concerns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lie {
    pub(crate) kind: Kind,
    /// 0-based index of the first order or reading.
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

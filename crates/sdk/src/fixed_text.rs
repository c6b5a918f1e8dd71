//! Text that is part of the program.

/// Text that is part of the program: the words of a [`Signal`](crate::Signal) and the names of its numbers. A literal is one.
///
/// Nothing is made for a signal but numbers, so that a strategy allocates nothing while candles pass. Words that are known only
/// at run time come from a [`ReasonTemplate`](crate::ReasonTemplate), made once when the strategy is built.
#[diagnostic::on_unimplemented(
    message = "the words of a signal are part of the program, and `{Self}` is made while it runs",
    label = "use a literal: `Signal::buy(\"rose\")`",
    note = "what differs from candle to candle is a number with a name: `Signal::buy(\"rose\").with(\"change\", change)`",
    note = "words that a user wrote come from a `ReasonTemplate`: `Signal::with_reason(direction, template.with_numbers(&[change]))`"
)]
pub trait FixedText {
    /// The text.
    fn text(self) -> &'static str;
}

impl FixedText for &'static str {
    #[inline]
    fn text(self) -> &'static str {
        self
    }
}

//! Text that is part of the program.

/// Static text: words of a [`Signal`](crate::Signal) and names of its numbers.
///
/// A string literal is one. Signals add only numbers to it, so that a strategy allocates nothing
/// per candle. Texts known only at run time need a [`ReasonTemplate`](crate::ReasonTemplate),
/// created once with the strategy.
#[diagnostic::on_unimplemented(
    message = "the words of a signal are part of the program, and `{Self}` is made while it runs",
    label = "use a literal: `Signal::buy(\"rose\")`",
    note = "what differs from candle to candle is a number with a name: `Signal::buy(\"rose\").with(\"change\", change)`",
    note = "words that a user wrote come from a `ReasonTemplate`: `Signal::with_reason(direction, template.with_numbers(&[change]))`"
)]
pub trait FixedText {
    /// Returns the text.
    fn text(self) -> &'static str;
}

impl FixedText for &'static str {
    #[inline]
    fn text(self) -> &'static str {
        self
    }
}

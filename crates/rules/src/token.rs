//! Tokens of a rule: numbers, names, strings and operators, each with its position.

use crate::RuleError;
use candlewick_sdk::Interval;
use std::ops::Range;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, opt, preceded};
use winnow::error::EmptyError;
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location as _};
use winnow::token::{any, one_of, take_while};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: TokenKind<'t>,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind<'t> {
    Number(f64),
    Name(&'t str),
    Text(&'t str),
    Interval(&'t str),
    Sign(&'static str),
}

type Input<'t> = LocatingSlice<&'t str>;
type ParseResult<T> = Result<T, EmptyError>;

/// Operators and punctuation, longest first. The first match is used.
const SIGNS: [&str; 16] =
    ["<=", ">=", "==", "!=", "<", ">", "(", ")", "[", "]", ",", ".", "+", "-", "*", "/"];

const FOREIGN_SIGNS: [(&str, &str); 23] = [
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("<>", "write `!=`"),
    ("=>", "write `>=`"),
    ("=<", "write `<=`"),
    ("=", "write `==` to compare"),
    ("!", "write `not`"),
    ("&", "write `and`"),
    ("|", "write `or`"),
    ("\u{2264}", "write `<=`"),
    ("\u{2265}", "write `>=`"),
    ("\u{2260}", "write `!=`"),
    ("\u{2212}", "write `-`"),
    ("\u{2013}", "write `-`"),
    ("\u{d7}", "write `*`"),
    ("\u{f7}", "write `/`"),
    ("\u{201c}", "use straight quotes around strings, and do not quote the condition itself"),
    ("\u{201d}", "use straight quotes around strings, and do not quote the condition itself"),
    ("#", "write comments on separate lines of the rule file"),
    (";", "join conditions with `and` or `or`, or remove the semicolon at the end"),
    ("?", "join conditions with `and` or `or`"),
    (":", "write times of day in quotes, such as between('08:00', '17:00')"),
    ("%", "write a level of 0 to 100 as a plain number such as 70, and a change of 1 % as 0.01"),
];

pub(crate) fn tokenize(text: &str) -> Result<Vec<Token<'_>>, RuleError> {
    let mut input = LocatingSlice::new(text);
    let mut all = Vec::new();
    loop {
        let _: ParseResult<&str> = multispace0.parse_next(&mut input);
        let start = input.current_token_start();
        let rest = &text[start..];
        if rest.is_empty() {
            return Ok(all);
        }
        // Foreign signs are checked before the signs of the language, because `<>` starts with `<`.
        if let Some((sign, hint)) = FOREIGN_SIGNS.iter().find(|(sign, _)| is_foreign(rest, sign)) {
            let message = format!("unexpected `{sign}`: {hint}");
            return Err(RuleError::new(start..start + sign.len(), message));
        }
        match word.with_span().parse_next(&mut input) {
            Ok((kind, place)) => {
                let word = check_token(text, kind, place)?;
                all.push(word);
            }
            Err(EmptyError) => return Err(unknown_character_error(rest, start)),
        }
    }
}

fn is_foreign(rest: &str, sign: &str) -> bool {
    rest.starts_with(sign) && !(rest.starts_with("==") || rest.starts_with("!="))
}

fn check_token<'t>(text: &'t str, kind: TokenKind<'t>, place: Range<usize>) -> Result<Token<'t>, RuleError> {
    let TokenKind::Number(number) = kind else { return Ok(Token { kind, span: place }) };
    let letters = text[place.end..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_');
    let length: usize = letters.map(char::len_utf8).sum();
    if length > 0 {
        let whole = place.start..place.end + length;
        let written = &text[whole.clone()];
        let message = match written.parse::<Interval>() {
            Ok(_) => format!("the interval `{written}` must follow a value, as in sma(50)@{written}"),
            Err(_) => format!("`{written}` is neither a number nor a name: start names with a letter"),
        };
        return Err(RuleError::new(whole, message));
    }
    if number.is_finite() {
        return Ok(Token { kind, span: place });
    }
    Err(RuleError::new(place, "the number is too large: use a smaller number"))
}

fn unknown_character_error(rest: &str, start: usize) -> RuleError {
    let letter = rest.chars().next().unwrap_or(' ');
    let place = start..start + letter.len_utf8();
    match letter {
        '"' | '\'' => {
            RuleError::new(start..start + rest.len(), format!("the text has no closing {letter}: add it"))
        }
        '@' => RuleError::new(place, "an interval is missing after @, such as @5m or @1h"),
        _ => {
            RuleError::new(place, format!("`{}` has no meaning in a rule: remove it", letter.escape_debug()))
        }
    }
}

fn word<'t>(input: &mut Input<'t>) -> ParseResult<TokenKind<'t>> {
    alt((number, name, quoted_text, interval, sign)).parse_next(input)
}

fn number<'t>(input: &mut Input<'t>) -> ParseResult<TokenKind<'t>> {
    let exponent = (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1);
    (digit1, opt(('.', digit1)), opt(exponent)).take().parse_to().map(TokenKind::Number).parse_next(input)
}

fn name<'t>(input: &mut Input<'t>) -> ParseResult<TokenKind<'t>> {
    let starts = one_of(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    let continues = take_while(0.., |letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    (starts, continues).take().map(TokenKind::Name).parse_next(input)
}

fn quoted_text<'t>(input: &mut Input<'t>) -> ParseResult<TokenKind<'t>> {
    let double = delimited('"', take_while(0.., |letter| letter != '"'), '"');
    let single = delimited('\'', take_while(0.., |letter| letter != '\''), '\'');
    alt((double, single)).map(TokenKind::Text).parse_next(input)
}

fn interval<'t>(input: &mut Input<'t>) -> ParseResult<TokenKind<'t>> {
    preceded('@', take_while(1.., |letter: char| letter.is_ascii_alphanumeric()))
        .map(TokenKind::Interval)
        .parse_next(input)
}

fn sign<'t>(input: &mut Input<'t>) -> ParseResult<TokenKind<'t>> {
    let rest: &str = input.as_ref();
    let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else { return Err(EmptyError) };
    for _ in 0..sign.len() {
        let _: ParseResult<char> = any.parse_next(input);
    }
    Ok(TokenKind::Sign(sign))
}

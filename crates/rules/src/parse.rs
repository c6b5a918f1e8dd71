//! Operator-precedence parser for rules.

use crate::RuleError;
use crate::error::{hint_for_member, hint_for_word};
use crate::syntax::{Form, Operator, PartId, Tree};
use crate::token::{Token, TokenKind, tokenize};
use std::ops::Range;

const MAX_BYTES: usize = 4_000;
const MAX_PARTS: usize = 500;
const MAX_DEPTH: usize = 50;

/// Precedence of `not`: lower than comparisons, higher than `and`.
const NOT_PRECEDENCE: u8 = 3;
const MINUS_PRECEDENCE: u8 = 7;

pub(crate) fn parse(text: &str) -> Result<Tree, RuleError> {
    if text.len() > MAX_BYTES {
        let place = text.floor_char_boundary(MAX_BYTES)..text.len();
        return Err(RuleError::new(place, format!("the rule is too long: use at most {MAX_BYTES} bytes")));
    }
    let words = tokenize(text)?;
    if words.is_empty() {
        return Err(RuleError::new(
            0..text.len(),
            "the rule is empty: write a condition, such as rsi(14) < 30",
        ));
    }
    let mut parser = Parser { text, words: &words, next: 0, tree: Tree::default(), depth: 0 };
    parser.parse_expression(0)?;
    match parser.words.get(parser.next) {
        None => Ok(parser.tree),
        Some(word) => Err(parser.leftover_error(word)),
    }
}

struct Parser<'t> {
    text: &'t str,
    words: &'t [Token<'t>],
    next: usize,
    tree: Tree,
    depth: usize,
}

impl Parser<'_> {
    /// Parses an expression up to the first operator with a precedence below `least`.
    fn parse_expression(&mut self, least: u8) -> Result<PartId, RuleError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the rule is nested too deeply: use at most {MAX_DEPTH} levels");
            return Err(RuleError::new(self.next_place(), message));
        }
        let mut left = self.parse_prefix()?;
        while let Some(operator) = self.next_operator().filter(|operator| operator.precedence() >= least) {
            let sign = self.next_place();
            if operator.is_comparison() && self.is_comparison(left) {
                let message = "comparisons cannot be chained: join two comparisons, as in a < b and b < c";
                return Err(RuleError::new(sign, message));
            }
            self.next += 1;
            let right = self.parse_expression(operator.precedence() + 1)?;
            let place = self.tree.part(left).span.start..self.tree.part(right).span.end;
            left = self.add(Form::Binary { operator, left, right }, place)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn parse_prefix(&mut self) -> Result<PartId, RuleError> {
        let start = self.next_place().start;
        if self.consume(TokenKind::Name("not")) {
            let of = self.parse_expression(NOT_PRECEDENCE)?;
            return self.add(Form::Not(of), start..self.tree.part(of).span.end);
        }
        if self.consume(TokenKind::Sign("-")) {
            let of = self.parse_expression(MINUS_PRECEDENCE)?;
            return self.add(Form::Negate(of), start..self.tree.part(of).span.end);
        }
        let mut part = self.parse_primary()?;
        while let Some(word) = self.words.get(self.next) {
            let start = self.tree.part(part).span.start;
            part = match word.kind {
                TokenKind::Sign(".") => {
                    self.next += 1;
                    self.check_module(part)?;
                    let (name, name_place) =
                        self.expect_name("write a line name after the dot, as in macd(12, 26, 9).signal")?;
                    let place = start..name_place.end;
                    self.add(Form::Line { of: part, name, name_place }, place)?
                }
                TokenKind::Sign("[") => {
                    let open = word.span.clone();
                    self.next += 1;
                    let by = self.parse_expression(0)?;
                    let end = self.expect_closing("]", &open)?;
                    self.add(Form::Back { of: part, by }, start..end)?
                }
                TokenKind::Interval(interval) => {
                    self.next += 1;
                    let (interval, interval_place) = (interval.to_owned(), word.span.clone());
                    let place = start..interval_place.end;
                    self.add(Form::At { of: part, interval, interval_place }, place)?
                }
                _ => break,
            };
        }
        Ok(part)
    }

    fn parse_primary(&mut self) -> Result<PartId, RuleError> {
        let Some(word) = self.words.get(self.next) else {
            return Err(RuleError::new(self.next_place(), "the rule is incomplete: add a value at the end"));
        };
        let place = word.span.clone();
        match word.kind {
            TokenKind::Number(number) => {
                self.next += 1;
                self.add(Form::Number(number), place)
            }
            TokenKind::Text(text) => {
                self.next += 1;
                self.add(Form::Text(text.to_owned()), place)
            }
            TokenKind::Sign("(") => {
                self.next += 1;
                let inner = self.parse_expression(0)?;
                let end = self.expect_closing(")", &place)?;
                self.tree.put_in_brackets(inner, place.start..end);
                Ok(inner)
            }
            TokenKind::Name(name) if !matches!(name, "and" | "or") => {
                self.next += 1;
                self.parse_name_or_call(name, place)
            }
            TokenKind::Name(sign) | TokenKind::Sign(sign) => {
                Err(RuleError::new(place, format!("expected a value here, not `{sign}`")))
            }
            TokenKind::Interval(_) => {
                let message = "write the interval after a value, such as sma(50)@1h";
                Err(RuleError::new(place, message))
            }
        }
    }

    fn parse_name_or_call(&mut self, name: &str, name_place: Range<usize>) -> Result<PartId, RuleError> {
        let name = name.to_owned();
        let Some(open) = self.words.get(self.next).filter(|word| word.kind == TokenKind::Sign("(")) else {
            return self.add(Form::Name(name), name_place);
        };
        let open = open.span.clone();
        self.next += 1;
        let mut arguments = Vec::new();
        if !self.is_next(TokenKind::Sign(")")) {
            arguments.push(self.parse_expression(0)?);
            while self.consume(TokenKind::Sign(",")) {
                arguments.push(self.parse_expression(0)?);
            }
        }
        let place = name_place.start..self.expect_closing(")", &open)?;
        self.add(Form::Call { name, name_place, arguments }, place)
    }

    fn expect_name(&mut self, otherwise: &str) -> Result<(String, Range<usize>), RuleError> {
        let place = self.next_place();
        let Some(Token { kind: TokenKind::Name(name), .. }) = self.words.get(self.next) else {
            return Err(RuleError::new(place, otherwise));
        };
        self.next += 1;
        Ok(((*name).to_owned(), place))
    }

    fn check_module(&self, part: PartId) -> Result<(), RuleError> {
        let part = self.tree.part(part);
        let (Form::Name(module), Some(Token { kind: TokenKind::Name(name), span: place })) =
            (&part.form, self.words.get(self.next))
        else {
            return Ok(());
        };
        let found = hint_for_member(module, name);
        found.map_or(Ok(()), |message| Err(RuleError::new(part.span.start..place.end, message)))
    }

    fn expect_closing(&mut self, sign: &'static str, open: &Range<usize>) -> Result<usize, RuleError> {
        let place = self.next_place();
        if self.consume(TokenKind::Sign(sign)) {
            return Ok(place.end);
        }
        if let Some(error) = self.words.get(self.next).and_then(foreign_word_error) {
            return Err(error);
        }
        let opened = &self.text[open.clone()];
        let message = match self.words.get(self.next) {
            None => format!("the `{opened}` is not closed: `{sign}` is missing"),
            Some(_) if sign == ")" => {
                format!("expected an operator, `,` or `)` here, not {}", self.quote_at(&place))
            }
            Some(_) => format!("expected an operator or `{sign}` here, not {}", self.quote_at(&place)),
        };
        let at = if self.next < self.words.len() { place } else { open.clone() };
        Err(RuleError::new(at, message))
    }

    fn leftover_error(&self, word: &Token<'_>) -> RuleError {
        let before = self.next.checked_sub(1).and_then(|before| self.words.get(before));
        if let Some(error) = before.into_iter().chain([word]).find_map(foreign_word_error) {
            return error;
        }
        let message = match word.kind {
            TokenKind::Sign(end @ (")" | "]")) => format!("`{end}` has no opening bracket: add one or remove `{end}`"),
            TokenKind::Sign(",") => {
                "a comma can only separate arguments: join conditions with `and` or `or`, and write 1.5 with a point"
                    .to_owned()
            }
            TokenKind::Name(name) if ["and", "or"].contains(&name.to_lowercase().as_str()) => {
                format!("unexpected `{name}`: write `{}`", name.to_lowercase())
            }
            _ => format!("an operator such as `and` or `<` is missing before {}", self.quote_at(&word.span)),
        };
        RuleError::new(word.span.clone(), message)
    }

    fn quote_at(&self, place: &Range<usize>) -> String {
        format!("`{}`", &self.text[place.clone()])
    }

    fn add(&mut self, form: Form, place: Range<usize>) -> Result<PartId, RuleError> {
        if self.tree.len() == MAX_PARTS {
            return Err(RuleError::new(place, format!("too many parts: use at most {MAX_PARTS} in a rule")));
        }
        Ok(self.tree.add(form, place))
    }

    fn next_operator(&self) -> Option<Operator> {
        match self.words.get(self.next)?.kind {
            TokenKind::Sign(sign) => Operator::from_sign(sign),
            TokenKind::Name(name) => Operator::from_sign(name),
            _ => None,
        }
    }

    fn is_comparison(&self, id: PartId) -> bool {
        let part = self.tree.part(id);
        !part.is_in_brackets && matches!(part.form, Form::Binary { operator, .. } if operator.is_comparison())
    }

    fn is_next(&self, kind: TokenKind<'_>) -> bool {
        self.words.get(self.next).is_some_and(|word| word.kind == kind)
    }

    fn consume(&mut self, kind: TokenKind<'_>) -> bool {
        let is_next = self.is_next(kind);
        self.next += usize::from(is_next);
        is_next
    }

    fn next_place(&self) -> Range<usize> {
        let end = self.text.trim_end().len();
        self.words.get(self.next).map_or(end..end, |word| word.span.clone())
    }
}

fn foreign_word_error(word: &Token<'_>) -> Option<RuleError> {
    let TokenKind::Name(name) = word.kind else { return None };
    let hint = hint_for_word(name)?;
    Some(RuleError::new(word.span.clone(), format!("unexpected `{name}`: {hint}")))
}

//! Syntax tree of a rule. Every part knows its position in the rule's text.

use std::ops::Range;

/// Syntax tree of a rule: a list of parts in postorder. The last part is the root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    parts: Vec<Part>,
}

pub(crate) type PartId = usize;

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) form: Form,
    /// Byte range of the part in the rule's text, including brackets around the part.
    pub(crate) span: Range<usize>,
    pub(crate) is_in_brackets: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Number(f64),
    Text(String),
    Name(String),
    Call { name: String, name_place: Range<usize>, arguments: Vec<PartId> },
    Line { of: PartId, name: String, name_place: Range<usize> },
    Back { of: PartId, by: PartId },
    At { of: PartId, interval: String, interval_place: Range<usize> },
    Negate(PartId),
    Not(PartId),
    Binary { operator: Operator, left: PartId, right: PartId },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operator {
    const SIGNS: [(Self, &str); 12] = [
        (Self::Or, "or"),
        (Self::And, "and"),
        (Self::Less, "<"),
        (Self::LessOrEqual, "<="),
        (Self::Greater, ">"),
        (Self::GreaterOrEqual, ">="),
        (Self::Equal, "=="),
        (Self::Unequal, "!="),
        (Self::Add, "+"),
        (Self::Subtract, "-"),
        (Self::Multiply, "*"),
        (Self::Divide, "/"),
    ];

    pub(crate) const fn sign(self) -> &'static str {
        Self::SIGNS[self as usize].1
    }

    pub(crate) fn from_sign(sign: &str) -> Option<Self> {
        Self::SIGNS.into_iter().find(|(_, own)| *own == sign).map(|(operator, _)| operator)
    }

    pub(crate) const fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide => 6,
            _ => 4,
        }
    }

    pub(crate) const fn is_comparison(self) -> bool {
        self.precedence() == 4
    }
}

impl Tree {
    pub(crate) fn add(&mut self, form: Form, place: Range<usize>) -> PartId {
        self.parts.push(Part { form, span: place, is_in_brackets: false });
        self.parts.len() - 1
    }

    pub(crate) fn put_in_brackets(&mut self, id: PartId, place: Range<usize>) {
        let part = &mut self.parts[id];
        (part.span, part.is_in_brackets) = (place, true);
    }

    pub(crate) fn part(&self, id: PartId) -> &Part {
        &self.parts[id]
    }

    pub(crate) fn forms(&self) -> impl Iterator<Item = &Form> {
        self.parts.iter().map(|part| &part.form)
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn and_groups(&self) -> impl Iterator<Item = Vec<PartId>> {
        // A group starts at its outermost `and`.
        let is_inner = |part: PartId| {
            self.parts.iter().any(|outer| match outer.form {
                Form::Binary { operator: Operator::And, left, right } => left == part || right == part,
                _ => false,
            })
        };
        (0..self.len()).filter(move |part| !is_inner(*part)).map(|top| self.flatten_and(top))
    }

    fn flatten_and(&self, top: PartId) -> Vec<PartId> {
        match self.part(top).form {
            Form::Binary { operator: Operator::And, left, right } => {
                [self.flatten_and(left), self.flatten_and(right)].concat()
            }
            _ => vec![top],
        }
    }

    pub(crate) fn root(&self) -> PartId {
        self.parts.len() - 1
    }
}

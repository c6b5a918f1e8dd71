//! Conditions that compare searched parameters, such as `oversold < overbought` or `slow >= 2 * fast`.

use crate::SearchError;

#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    left: Expression,
    comparison: Comparison,
    right: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Number(f64),
    Name(usize),
    Both(Box<Self>, Operation, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Plus,
    Minus,
    Times,
    Over,
}

struct ConditionParser<'a> {
    rest: &'a str,
    names: &'a [String],
    depth: u32,
}

const MAX_DEPTH: u32 = 32;

impl Condition {
    pub fn parse(text: &str, names: &[String]) -> Result<Self, SearchError> {
        let wrong = |problem| SearchError::InvalidCondition { text: text.to_owned(), problem };
        let mut reader = ConditionParser { rest: text.trim_start(), names, depth: 0 };
        let mut read = || {
            let left = reader.parse_sum()?;
            let comparison = reader.parse_comparison()?;
            let right = reader.parse_sum()?;
            if !reader.rest.is_empty() {
                return Err(format!("unexpected \"{}\" after the condition", reader.rest));
            }
            Ok(Self { text: text.to_owned(), left, comparison, right })
        };
        read().map_err(wrong)
    }

    /// Returns whether these values meet the condition. A condition that divides by 0 is not met.
    pub fn is_met(&self, values: &[f64]) -> bool {
        let (left, right) = (self.left.evaluate(values), self.right.evaluate(values));
        match self.comparison {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::More => left > right,
            Comparison::AtLeast => left >= right,
            Comparison::Equal => left == right,
            Comparison::Unequal => left != right && !left.is_nan() && !right.is_nan(),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Expression {
    fn evaluate(&self, values: &[f64]) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Name(place) => values.get(*place).copied().unwrap_or(f64::NAN),
            Self::Both(left, operation, right) => {
                let (left, right) = (left.evaluate(values), right.evaluate(values));
                match operation {
                    Operation::Plus => left + right,
                    Operation::Minus => left - right,
                    Operation::Times => left * right,
                    Operation::Over if right == 0.0 => f64::NAN,
                    Operation::Over => left / right,
                }
            }
        }
    }
}

impl ConditionParser<'_> {
    fn consume(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn parse_comparison(&mut self) -> Result<Comparison, String> {
        // Longer operators come first, because `<` is a prefix of `<=`.
        let signs = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let found = signs.into_iter().find(|(sign, _)| self.consume(sign));
        found.map(|(_, comparison)| comparison).ok_or_else(|| {
            let at = if self.rest.is_empty() { "the end" } else { self.rest };
            format!("expected <, <=, >, >=, == or != at {at}")
        })
    }

    fn parse_sum(&mut self) -> Result<Expression, String> {
        self.parse_operations([("+", Operation::Plus), ("-", Operation::Minus)], Self::parse_product)
    }

    fn parse_product(&mut self) -> Result<Expression, String> {
        self.parse_operations([("*", Operation::Times), ("/", Operation::Over)], Self::parse_operand)
    }

    fn parse_operations(
        &mut self,
        signs: [(&str, Operation); 2],
        operand: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = operand(self)?;
        while let Some((_, operation)) = signs.into_iter().find(|(sign, _)| self.consume(sign)) {
            left = Expression::Both(Box::new(left), operation, Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn parse_operand(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("the condition is nested too deeply: use at most {MAX_DEPTH} levels"));
        }
        let part = if self.consume("-") {
            let zero = Box::new(Expression::Number(0.0));
            Expression::Both(zero, Operation::Minus, Box::new(self.parse_operand()?))
        } else if self.consume("(") {
            let inner = self.parse_sum()?;
            if !self.consume(")") {
                return Err("a parenthesis is not closed".to_owned());
            }
            inner
        } else {
            self.parse_name_or_number()?
        };
        self.depth -= 1;
        Ok(part)
    }

    fn parse_name_or_number(&mut self) -> Result<Expression, String> {
        let is_in = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c| !is_in(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            let at = if rest.is_empty() { "the end" } else { rest };
            return Err(format!("a parameter or a number is missing at {at}"));
        }
        self.rest = rest.trim_start();
        if let Some(place) = self.names.iter().position(|name| name == word) {
            return Ok(Expression::Name(place));
        }
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Expression::Number).ok_or_else(|| {
            format!("\"{word}\" is neither a number nor one of the parameters {}", self.names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["fast", "slow"].map(str::to_owned).to_vec()
    }

    fn check(text: &str, fast: f64, slow: f64, expected: bool) {
        let condition = Condition::parse(text, &names()).unwrap();
        assert_eq!(condition.is_met(&[fast, slow]), expected, "{text} of {fast} and {slow}");
    }

    #[test]
    fn evaluates_conditions() {
        check("fast < slow", 5.0, 6.0, true);
        check("fast<slow", 6.0, 6.0, false);
        check("fast <= slow", 6.0, 6.0, true);
        check("slow >= 2 * fast", 5.0, 9.9, false);
        check("slow >= 2 * fast", 5.0, 10.0, true);
        check("slow - fast > 3 + 1", 5.0, 10.0, true);
        check("slow - fast - 1 == 4", 5.0, 10.0, true);
        check("slow - (fast - 1) == 6", 5.0, 10.0, true);
        check("2 + 3 * fast == 17", 5.0, 0.0, true);
        check("slow / fast / 2 == 1", 5.0, 10.0, true);
        check("-fast < - 4.5", 5.0, 0.0, true);
        check("fast != slow", 5.0, 5.0, false);
        check("fast > slow", 5.0, 4.0, true);
    }

    #[test]
    fn division_by_0_satisfies_no_condition() {
        for comparison in ["<", "<=", ">", ">=", "==", "!="] {
            check(&format!("slow / fast {comparison} 1"), 0.0, 1.0, false);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let deep = format!("{}fast{} < 1", "(".repeat(40), ")".repeat(40));
        for (text, part) in [
            ("fast", "or != at the end"),
            ("fast < ", "missing at the end"),
            ("fast = slow", "or != at = slow"),
            ("fst < slow", "\"fst\" is neither a number nor one of the parameters fast, slow"),
            ("fast < slow < 3", "unexpected \"< 3\" after the condition"),
            ("(fast < slow", "not closed"),
            ("fast < )", "missing at )"),
            ("fast < inf", "\"inf\" is neither"),
            (&deep, "nested too deeply"),
        ] {
            let error = Condition::parse(text, &names()).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

//! The questions of `config init`. An invalid answer is rejected with the reason and asked again.

use crate::failure::{Failure, FailureKind};
use anyhow::Context as _;
use std::io::{self, BufRead, Write};

#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'a> {
    pub(super) option: &'static str,
    pub(super) text: &'a str,
    pub(super) usual: &'a str,
}

pub(super) struct Dialogue<'a> {
    terminal: Option<(&'a mut dyn BufRead, &'a mut dyn Write)>,
    taken: Vec<String>,
}

impl<'a> Dialogue<'a> {
    pub(super) const fn new(terminal: Option<(&'a mut dyn BufRead, &'a mut dyn Write)>) -> Self {
        Self { terminal, taken: Vec::new() }
    }

    pub(super) fn answer(
        &mut self,
        question: Question<'_>,
        given: Option<&String>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Failure> {
        if let Some(given) = given {
            return Ok(given.clone());
        }
        let Some((from, to)) = &mut self.terminal else {
            self.taken.push(format!("--{} {}", question.option, question.usual));
            return Ok(question.usual.to_owned());
        };
        let answered = ask(question, check, (&mut **from, &mut **to));
        let answered = answered.context("the terminal cannot be read; --defaults asks nothing");
        answered.map_err(|error| Failure::new(FailureKind::Configuration, error))
    }

    pub(super) fn taken(&self) -> &[String] {
        &self.taken
    }

    pub(super) const fn asks(&self) -> bool {
        self.terminal.is_some()
    }
}

fn ask(
    question: Question<'_>,
    check: impl Fn(&str) -> Result<(), String>,
    (from, to): (&mut dyn BufRead, &mut dyn Write),
) -> io::Result<String> {
    loop {
        write!(to, "{} [{}]: ", question.text, question.usual)?;
        to.flush()?;
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let typed = line.trim();
        let answer = if typed.is_empty() { question.usual } else { typed };
        match check(answer) {
            Ok(()) => return Ok(answer.to_owned()),
            Err(problem) => writeln!(to, "  {problem}")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: Question<'_> = Question { option: "stake", text: "Stake", usual: "1.0" };

    fn number(text: &str) -> Result<(), String> {
        text.parse::<f64>().map(|_| ()).map_err(|_| format!("{text} is no number"))
    }

    fn typed(text: &str) -> (Option<String>, String) {
        let (mut from, mut to) = (text.as_bytes(), Vec::new());
        let mut dialogue = Dialogue::new(Some((&mut from, &mut to)));
        let answer = dialogue.answer(QUESTION, None, number).ok();
        (answer, String::from_utf8(to).unwrap())
    }

    #[test]
    fn an_answer_that_cannot_stand_is_asked_for_again_with_the_reason() {
        let (answer, said) = typed("much\n 5 \n");
        assert_eq!(answer.as_deref(), Some("5"));
        assert_eq!(said, "Stake [1.0]:   much is no number\nStake [1.0]: ");
        assert_eq!(typed("\n").0.as_deref(), Some("1.0"));
    }

    #[test]
    fn a_terminal_that_ends_is_not_asked_for_ever() {
        assert_eq!(typed("much\n").0, None);
    }

    #[test]
    fn without_a_terminal_the_usual_answer_is_taken_and_named() {
        let mut dialogue = Dialogue::new(None);
        let given = "7".to_owned();
        assert_eq!(dialogue.answer(QUESTION, Some(&given), number).ok(), Some(given));
        assert_eq!(dialogue.answer(QUESTION, None, number).ok().as_deref(), Some("1.0"));
        assert_eq!(dialogue.taken(), ["--stake 1.0"]);
    }
}

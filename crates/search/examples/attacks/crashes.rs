//! Killed processes, concurrent processes and damaged ledgers.

use crate::life::{END, Life, Result, any, check, numbered, request};
use crate::market::{Bot, Days};
use candlewick_sdk::Millis;
use candlewick_search::evidence::{Answer, ConfirmationError, ConfirmationRequest, Entry, EvidenceLedger};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::{fs, thread};

/// The two files of a ledger.
#[derive(Clone, PartialEq)]
struct Files {
    lines: Vec<u8>,
    head: Vec<u8>,
}

fn head_path(ledger: &EvidenceLedger) -> PathBuf {
    ledger.path().with_extension("jsonl.head")
}

impl Files {
    fn read(ledger: &EvidenceLedger) -> Result<Self> {
        Ok(Self { lines: fs::read(ledger.path())?, head: fs::read(head_path(ledger))? })
    }

    fn write(&self, ledger: &EvidenceLedger) -> Result<()> {
        fs::write(ledger.path(), &self.lines)?;
        Ok(fs::write(head_path(ledger), &self.head)?)
    }

    /// Returns the files after a kill in the write of `new`: after 0 to 7 sevenths of the lines, or at 8 the head.
    fn killed(&self, new: &Self, point: usize) -> Self {
        let end = self.lines.len() + (new.lines.len() - self.lines.len()) * point.min(7) / 7;
        let head = if point == 8 { &new.head } else { &self.head };
        Self { lines: new.lines[..end].to_vec(), head: head.clone() }
    }
}

/// Kills a process in both writes, in the replay and in a repeat. Then confirms again, partly with other trades.
pub(crate) fn kills(life: &mut Life) -> Result<bool> {
    any(0..20, |point| {
        let [bot, other] = life.random_bots();
        let (request, is_same) = (request(format!("{bot:?}")), life.dice.below(2) == 0);
        if point == 19 && life.shows(&bot)? {
            return Ok(true);
        }
        let (tests, before) = (life.ledger.read()?.tests.len(), Files::read(&life.ledger)?);
        let mut begun: Result<Files> = Err("the replay did not run".into());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            life.confirm(&request, |days| {
                begun = Files::read(&life.ledger);
                if point < 18 { life.run(&[(&bot, days)]) } else { resume_unwind(Box::new("killed")) }
            })
        }));
        check(matches!(outcome, Ok(Ok(_))) == (point < 18), || format!("kill at {point} gave {outcome:?}"))?;
        let (begun, after) = (begun?, Files::read(&life.ledger)?);
        let killed = match point {
            0..9 => before.killed(&begun, point),
            9..18 => begun.killed(&after, point - 9),
            _ => begun,
        };
        killed.write(&life.ledger)?;
        let evidence = life.ledger.read()?;
        let (used, is_begun) = (evidence.tests.len(), (7..19).contains(&point));
        check(used == tests + usize::from(is_begun), || format!("{used} tests after a kill at {point}"))?;
        let last = evidence.tests.last().filter(|test| !test.is_pending && test.identity == request.identity);
        let answer = last.and_then(|test| test.result.as_ref()).map(|result| result.answer);
        let number = if answer.is_some() { used } else { used + 1 };
        let replay = |days: &Days| life.run(&[(if is_same { &bot } else { &other }, days)]);
        Ok(answer == Some(Answer::Shown) || numbered(number as i64, life.confirm(&request, replay)?)?)
    })
}

/// A second process confirms during the replay of a first: other bots, the same identity, or a repeat as the first.
pub(crate) fn two_at_once(life: &mut Life) -> Result<bool> {
    any(0..12, |pair| {
        let [earlier, first, second] = life.random_bots();
        let is_repeat = pair % 3 == 2;
        let requests = [0, u8::from(pair % 3 == 0)].map(|index| request(format!("{pair} {index}")));
        let cut = ConfirmationRequest { end: Millis::DAY * (END - 10), ..requests[0].clone() };
        if is_repeat && life.confirm(&cut, |days| life.run(&[(&earlier, days)]))?.1 {
            return Ok(true);
        }
        let replay = |bot: &Bot, days: &Days| {
            let day = if is_repeat { END - 10 } else { days.start };
            life.run(&[(&earlier, &(days.start..day)), (bot, &(day..days.end))])
        };
        let mut other = None;
        let (number, is_shown) = life.confirm(&requests[0], |days| {
            let confirm = || life.confirm(&requests[1], |days| replay(&second, days));
            other = thread::scope(|scope| scope.spawn(confirm).join()).ok();
            replay(&first, days)
        })?;
        let (other_number, is_other_shown) = other.ok_or("the second process panicked")??;
        check(number != other_number, || format!("two tests got number {number}"))?;
        Ok(is_shown || is_other_shown)
    })
}

/// A ledger that was truncated, forked or edited refuses to test. After each refusal it is restored.
pub(crate) fn damaged_ledgers(life: &mut Life) -> Result<bool> {
    if any(life.random_bots::<2>(), |bot| life.shows(&bot))? {
        return Ok(true);
    }
    let whole = Files::read(&life.ledger)?;
    let text = String::from_utf8(whole.lines.clone())?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let &[first, second, third, ref rest @ .., last] = &lines[..] else { return Err("too few lines".into()) };
    let rest = rest.concat();
    let edited = |text: &str| text.replace("\"at\":0", "\"at\":1");
    // The fork has the same first line and 40 others.
    let fork = EvidenceLedger::new(life.ledger.path().with_file_name("fork.jsonl"));
    let others = vec![Entry::Explored { candles: String::new() }; 40];
    fork.update(Millis::ZERO, |_| Ok::<_, ConfirmationError>((others, ())))?;
    let fork = Files::read(&fork)?;
    let with_lines = |lines: &str| Files { lines: lines.into(), head: whole.head.clone() };
    let damages = [
        with_lines(""),
        with_lines(first),
        with_lines(&text[..text.len() - last.len()]),
        with_lines(&text[..text.len() - 1]),
        with_lines(&text[first.len()..]),
        with_lines(&[first, second, &*rest, last].concat()),
        with_lines(&[first, third, second, &*rest, last].concat()),
        with_lines(&[first, second, third, &*rest, &*edited(last)].concat()),
        with_lines(&edited(&text)),
        with_lines(&text.replacen("not_shown", "shown", 1)),
        Files { lines: fork.lines, head: whole.head.clone() },
        Files { lines: whole.lines.clone(), head: fork.head },
        Files { lines: whole.lines.clone(), head: whole.head[1..].to_vec() },
    ];
    any(damages, |damaged| {
        let (good, bot) = (Files::read(&life.ledger)?, Bot::random(&mut life.dice));
        damaged.write(&life.ledger)?;
        let refused = life.confirm(&request("damaged"), |days| life.run(&[(&bot, days)])).err();
        let refused = refused.and_then(|error| error.downcast::<ConfirmationError>().ok());
        let is_refused = matches!(refused.as_deref(), Some(ConfirmationError::Ledger(_)));
        check(is_refused, || format!("the ledger accepted {:?}", String::from_utf8_lossy(&damaged.lines)))?;
        check(Files::read(&life.ledger)? == damaged, || "a damaged ledger was overwritten".to_owned())?;
        good.write(&life.ledger)?;
        life.shows(&bot)
    })
}

//! Kill points for crash tests. A debug build can kill itself with SIGKILL at any write to the journal.
//!
//! `JOURNAL_KILL_POINT="before open 2"` kills the process immediately before the second write that contains
//! an `open` action. `after open 2` kills it as soon as that write is durable. `JOURNAL_KILL_POINT_LOG=FILE`
//! appends one line per write with the contents of the write. Release builds have no kill points.

use crate::chain::{LineKind, PendingLine};
use crate::exchange::{LoggedExchange, is_seal};
use crate::run_journal::is_snapshot;

#[derive(Debug, Default)]
pub(crate) struct KillPoints {
    #[cfg(debug_assertions)]
    armed: Option<armed::KillTrigger>,
}

impl KillPoints {
    pub(crate) fn from_environment() -> Self {
        #[cfg(debug_assertions)]
        return Self { armed: armed::KillTrigger::from_environment() };
        #[cfg(not(debug_assertions))]
        Self::default()
    }

    pub(crate) fn before_write(&mut self, step: &CommitStep<'_>) {
        #[cfg(debug_assertions)]
        if let Some(armed) = &mut self.armed {
            armed.before_write(&step.content_names());
        }
        let _ = (self, step);
    }

    pub(crate) fn after_write(&mut self) {
        #[cfg(debug_assertions)]
        if let Some(armed) = &mut self.armed {
            armed.after_write();
        }
    }
}

pub(crate) enum CommitStep<'a> {
    Lease,
    Heartbeat,
    Release,
    TableRows,
    Entries(&'a [PendingLine], &'a [LoggedExchange], usize),
}

#[cfg_attr(not(debug_assertions), allow(dead_code, reason = "used in debug builds only"))]
impl CommitStep<'_> {
    fn content_names(&self) -> Vec<String> {
        let (lines, exchanges, answers) = match self {
            Self::Lease => return vec!["lease".to_owned()],
            Self::Heartbeat => return vec!["beat".to_owned()],
            Self::Release => return vec!["release".to_owned()],
            Self::TableRows => return vec!["rows".to_owned()],
            Self::Entries(lines, exchanges, answers) => (lines, exchanges, *answers),
        };
        let own = lines.iter().filter(|pending| !is_seal(&pending.line.body));
        let mut names: Vec<String> = own.map(entry_name).collect();
        names.extend((!exchanges.is_empty()).then(|| "exchange".to_owned()));
        names.extend((answers > 0).then(|| "answer".to_owned()));
        names.sort_unstable();
        names.dedup();
        names
    }
}

#[cfg_attr(not(debug_assertions), allow(dead_code, reason = "used in debug builds only"))]
fn entry_name(pending: &PendingLine) -> String {
    let key = match pending.line.kind {
        LineKind::Note if is_snapshot(&pending.line.body) => return "snapshot".to_owned(),
        LineKind::Run | LineKind::Note => return pending.line.kind.as_str().to_owned(),
        LineKind::Event => "event",
        LineKind::Action => "action",
    };
    let body: serde_json::Value = serde_json::from_str(&pending.line.body).unwrap_or_default();
    let name = body[key].as_str().unwrap_or(key);
    body["control"].as_str().map_or_else(|| name.to_owned(), |control| format!("{name}-{control}"))
}

#[cfg(debug_assertions)]
mod armed {
    use std::io::Write as _;

    #[derive(Debug)]
    pub(super) struct KillTrigger {
        point: Option<KillPoint>,
        log: Option<std::fs::File>,
        is_reached: bool,
        count: u64,
    }

    #[derive(Debug)]
    struct KillPoint {
        is_after: bool,
        name: String,
        count: u64,
    }

    impl KillTrigger {
        pub(super) fn from_environment() -> Option<Self> {
            let point = std::env::var("JOURNAL_KILL_POINT").ok();
            let log = std::env::var_os("JOURNAL_KILL_POINT_LOG");
            if point.is_none() && log.is_none() {
                return None;
            }
            let point = point.map(|text| {
                KillPoint::parse(&text).expect("JOURNAL_KILL_POINT is like \"before open 2\"; a test sets it")
            });
            let open = |path| std::fs::OpenOptions::new().create(true).append(true).open(path);
            let log = log.map(|path| open(path).expect("a test names a file that can be written"));
            Some(Self { point, log, is_reached: false, count: 0 })
        }

        pub(super) fn before_write(&mut self, names: &[String]) {
            if let Some(log) = &mut self.log {
                let _ = writeln!(log, "{}", names.join(" "));
            }
            let Some(point) = &self.point else { return };
            if names.contains(&point.name) {
                self.count += 1;
                self.is_reached = self.count == point.count;
            }
            if self.is_reached && !point.is_after {
                kill_process();
            }
        }

        pub(super) fn after_write(&mut self) {
            if self.is_reached && self.point.as_ref().is_some_and(|point| point.is_after) {
                kill_process();
            }
        }
    }

    impl KillPoint {
        fn parse(text: &str) -> Option<Self> {
            let mut words = text.split(' ');
            let is_after = match words.next()? {
                "before" => false,
                "after" => true,
                _ => return None,
            };
            let (name, count) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
            Some(Self { is_after, name, count })
        }
    }

    fn kill_process() {
        #[cfg(unix)]
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        std::process::abort();
    }
}

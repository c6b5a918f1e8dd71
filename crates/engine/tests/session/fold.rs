//! What a run writes into its journal, and a Session and a book that fold it.

use candlewick_engine::{Action, Event, Header, JournalDecoder, Session, SessionSettings, TradeBook};
use candlewick_sdk::serde_json::to_string;

pub(crate) enum Journalled {
    Run(Header),
    Event(String),
    Action(String),
}

/// An event, and what was done about it.
pub(crate) fn journalled(event: &Event, actions: &[Action]) -> impl Iterator<Item = Journalled> {
    let actions = actions.iter().map(|action| Journalled::Action(to_string(action).unwrap()));
    std::iter::once(Journalled::Event(to_string(event).unwrap())).chain(actions)
}

pub(crate) struct Fold {
    pub(crate) session: Session,
    pub(crate) decoder: Option<JournalDecoder>,
    pub(crate) book: TradeBook,
}

impl Fold {
    pub(crate) fn new(session: Session) -> Self {
        Self { session, decoder: None, book: TradeBook::default() }
    }

    pub(crate) fn of(settings: &SessionSettings, entries: &[Journalled]) -> Self {
        let mut fold = Self::new(Session::silent(settings).unwrap());
        fold.take(entries);
        fold
    }

    pub(crate) fn take(&mut self, entries: &[Journalled]) {
        for entry in entries {
            let recorded = match (entry, &mut self.decoder) {
                (Journalled::Run(header), decoder) => {
                    *decoder = Some(JournalDecoder::of_run(header, &mut self.session).unwrap());
                    continue;
                }
                (Journalled::Event(body), Some(decoder)) => decoder.read_event(body),
                (Journalled::Action(body), Some(decoder)) => decoder.read_action(body),
                (_, None) => panic!("a journal begins with a run"),
            };
            let recorded = recorded.unwrap();
            self.session.recall(&recorded);
            self.book.recall(&recorded);
        }
    }

    pub(crate) fn state(&self) -> String {
        to_string(&self.session.snapshot()).unwrap()
    }
}

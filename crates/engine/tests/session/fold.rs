//! Journal entries of a run, and the Session and book that fold them.

use candlewick_engine::{
    Action, Control, Event, EventKind, Header, JournalDecoder, RecordedEntry, RiskSettings, Session,
    SessionSettings, TradeBook,
};
use candlewick_sdk::Millis;
use candlewick_sdk::serde_json::to_string;

#[derive(Clone)]
pub(crate) enum Journalled {
    Run(Header),
    Reload(Box<RiskSettings>),
    Event(Event),
    Action(String),
}

pub(crate) const RELOAD: Event =
    Event { at: Millis::ZERO, received: Millis::ZERO, kind: EventKind::Control { control: Control::Reload } };

pub(crate) fn journalled(event: &Event, actions: &[Action]) -> impl Iterator<Item = Journalled> {
    let actions = actions.iter().map(|action| Journalled::Action(to_string(action).unwrap()));
    std::iter::once(Journalled::Event(*event)).chain(actions)
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

    pub(crate) fn from_entries(settings: &SessionSettings, entries: &[Journalled]) -> Self {
        let mut fold = Self::new(Session::without_strategies(settings).unwrap());
        fold.take(entries);
        fold
    }

    pub(crate) fn take(&mut self, entries: &[Journalled]) {
        for entry in entries {
            let recorded = match (entry, &mut self.decoder) {
                (Journalled::Run(header), decoder) => {
                    *decoder = Some(JournalDecoder::for_run(header, &mut self.session).unwrap());
                    continue;
                }
                (Journalled::Reload(risk), _) => {
                    self.session.prepare_reload(risk).unwrap();
                    Ok(RecordedEntry::Event(RELOAD))
                }
                (Journalled::Event(event), Some(decoder)) => decoder.read_event(&to_string(event).unwrap()),
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

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{
    about::{About, During},
    sheet::{Matter, Sheet, SheetAnswer, SheetEnding, SheetStage},
};
use crate::elicitation::Waited;

/// How many questions are remembered, including finished ones.
const REMEMBERED: usize = 64;

/// The questions at one person's browser, and how they ended.
pub(crate) struct Desk {
    state: Mutex<DeskState>,
    changed: watch::Sender<()>,
    /// How many questions are waiting for their turn.
    waiting: Arc<AtomicUsize>,
    /// The program that started this one.
    pub(super) program: Option<String>,
}

/// What a desk remembers.
#[derive(Default)]
pub(super) struct DeskState {
    pub(super) sheets: BTreeMap<u64, Sheet>,
    last: u64,
    pub(super) during: During,
    /// Whether the run is over.
    pub(super) is_gone: bool,
    /// Whether an answer was sent, but the page that confirms it was not requested yet.
    pub(super) is_unseen: bool,
    /// How many pages listen for changes.
    pub(super) listeners: usize,
}

impl Desk {
    /// A desk for questions; `waiting` is how many more there are.
    pub(crate) fn new(waiting: Arc<AtomicUsize>, program: Option<String>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: watch::Sender::new(()), waiting, program })
    }

    /// Asks, until somebody answers, `stop` fires, or `limit` has passed.
    pub(crate) async fn ask(
        &self,
        id: &str,
        about: About,
        matter: Matter,
        stop: &CancellationToken,
        limit: Duration,
    ) -> SheetAnswer {
        let (said, answer) = oneshot::channel();
        let number = self.put(id, about, matter, SheetStage::Open(said));
        let _asked = AskedSheet(self, number);
        let (ending, said) = tokio::select! {
            biased;
            // The sheet has been ended by the answer.
            said = answer => match said {
                Ok(said) => return said,
                Err(_) => (SheetEnding::Withdrawn, SheetAnswer::Withdrawn),
            },
            () = stop.cancelled() => (SheetEnding::Withdrawn, SheetAnswer::Withdrawn),
            () = tokio::time::sleep(limit) => (SheetEnding::Late, SheetAnswer::Late),
        };
        self.end(number, ending);
        said
    }

    /// Waits for what happens behind the link of the request `id`, until `done` fires, `limit` has passed, or the
    /// person decides.
    pub(crate) async fn wait(&self, id: &str, done: &CancellationToken, limit: Duration) -> Waited {
        let (said, answer) = oneshot::channel();
        // A link that was immediately given up is not waited for.
        let Some(number) = self.begin_waiting(id, said) else { return Waited::Cancel };
        self.tell();
        let waited = tokio::select! {
            biased;
            () = done.cancelled() => Waited::Complete,
            waited = answer => match waited {
                Ok(waited) => return waited,
                Err(_) => Waited::Cancel,
            },
            () = tokio::time::sleep(limit) => Waited::TimedOut,
        };
        self.end(number, waited.into());
        let mut state = self.state();
        // A page without a script has to reload to see it.
        state.is_unseen |= waited == Waited::Complete && state.listeners == 0;
        drop(state);
        waited
    }

    /// Sets what the run does while it asks.
    pub(crate) fn set_during(&self, during: During) {
        self.state().during = during;
    }

    /// The run is over: open pages say so. Waits up to `patience` until the person has seen that the answer was
    /// accepted.
    pub(crate) async fn close(&self, patience: Duration) {
        let mut changes = self.changed.subscribe();
        let seen = async {
            while self.state().is_unseen {
                // The sender lives as long as this.
                drop(changes.changed().await);
            }
        };
        drop(tokio::time::timeout(patience, seen).await);
        self.state().is_gone = true;
        self.tell();
    }

    /// Whether any open page listens for changes.
    pub(crate) fn is_watched(&self) -> bool {
        self.state().listeners > 0
    }

    /// Tells open pages that something has changed.
    pub(crate) fn tell(&self) {
        self.changed.send_replace(());
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_waiting(&self, id: &str, said: oneshot::Sender<Waited>) -> Option<u64> {
        let mut state = self.state();
        let sheet = state.sheets.values_mut().rfind(|sheet| sheet.id == id && sheet.is_live())?;
        sheet.stage = SheetStage::Waiting(said);
        Some(sheet.number)
    }

    fn put(&self, id: &str, about: About, matter: Matter, stage: SheetStage) -> u64 {
        let number = {
            let mut state = self.state();
            state.last += 1;
            let number = state.last;
            if about.is_sign_in {
                let opened = |sheet: &&mut Sheet| sheet.about.is_sign_in && matches!(sheet.stage, SheetStage::Opened);
                let same = |sheet: &&mut Sheet| opened(sheet) && sheet.about.server == about.server;
                state.sheets.values_mut().filter(same).for_each(|sheet| sheet.end(SheetEnding::Handed));
            }
            state.sheets.insert(number, Sheet { number, id: id.to_owned(), about, matter, stage });
            if state.sheets.len() > REMEMBERED {
                let oldest = state.sheets.values().find(|sheet| !sheet.is_live()).map(|sheet| sheet.number);
                oldest.and_then(|number| state.sheets.remove(&number));
            }
            number
        };
        self.tell();
        number
    }

    fn end(&self, number: u64, ending: SheetEnding) {
        if let Some(sheet) = self.state().sheets.get_mut(&number) {
            sheet.end(ending);
        }
        self.tell();
    }
}

/// A question that is being asked: it is withdrawn when nobody waits for the answer any more.
struct AskedSheet<'a>(&'a Desk, u64);

impl Drop for AskedSheet<'_> {
    fn drop(&mut self) {
        let Self(desk, number) = *self;
        let is_open = matches!(desk.state().sheets.get(&number).map(|sheet| &sheet.stage), Some(SheetStage::Open(_)));
        if is_open {
            desk.end(number, SheetEnding::Withdrawn);
        }
    }
}

impl DeskState {
    /// The current question: an open one, or else one whose link is being waited for.
    pub(super) fn current(&self) -> Option<&Sheet> {
        let open = |sheet: &&Sheet| matches!(sheet.stage, SheetStage::Open(_));
        self.sheets.values().find(open).or_else(|| self.sheets.values().rfind(|sheet| sheet.is_live()))
    }
}

use std::{
    sync::{Arc, Mutex, PoisonError, Weak, atomic::Ordering},
    time::{Duration, Instant},
};

use super::conversation::Conversation;
use crate::protocol::{Era, Tool};

/// How long a list of tools is valid if the server does not report changes.
const FRESH: Duration = Duration::from_secs(60);

/// The longest list that is kept.
const LONGEST: usize = 2_000;

/// The tools of a server as last listed over the current connection.
#[derive(Default)]
pub(super) struct KnownTools(Mutex<Option<CachedTools>>);

struct CachedTools {
    tools: Vec<Tool>,
    /// How often the tools had changed before they were listed.
    changes: u64,
    at: Instant,
    over: Weak<Conversation>,
}

impl KnownTools {
    /// The tools, if they are certainly unchanged or were listed not long ago.
    pub(super) fn get(&self, session: &Arc<Conversation>) -> Option<Vec<Tool>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_ref()?;
        let tells = session.info.declares("tools.listChanged") && session.info.era() == Era::Legacy;
        let is_same = Weak::ptr_eq(&known.over, &Arc::downgrade(session)) && known.changes == changes(session);
        (is_same && (tells || known.at.elapsed() < FRESH)).then(|| known.tools.clone())
    }

    /// Remembers what was listed over `session` when its tools had changed this often.
    pub(super) fn set(&self, session: &Arc<Conversation>, changes: u64, tools: &[Tool]) {
        let (tools, over) = (tools.to_vec(), Arc::downgrade(session));
        let listed = (tools.len() <= LONGEST).then(|| CachedTools { tools, changes, at: Instant::now(), over });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = listed;
    }

    /// Whether anything is remembered.
    pub(super) fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// How often the tools of this connection have changed.
pub(super) fn changes(session: &Conversation) -> u64 {
    session.wire.setup().tool_changes.load(Ordering::Relaxed)
}

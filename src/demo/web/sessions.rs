use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyper::HeaderMap;

use super::DemoConversation;

/// The sessions of legacy clients (2025-11-25, *transports*, Session Management).
pub(super) struct Sessions {
    open: Box<dyn Fn() -> Arc<dyn DemoConversation> + Send + Sync>,
    known: Mutex<HashMap<String, Arc<dyn DemoConversation>>>,
}

/// A request's session.
pub(super) enum Membership {
    /// It belongs to this one.
    Member(Arc<dyn DemoConversation>),
    /// It names none.
    Nameless,
    /// It names one that does not exist, or no longer.
    Unknown,
}

impl Sessions {
    pub(super) fn new(open: impl Fn() -> Arc<dyn DemoConversation> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), known: Mutex::default() }
    }

    /// A conversation for a single request.
    pub(super) fn single(&self) -> Arc<dyn DemoConversation> {
        (self.open)()
    }

    /// A new session with an id that cannot be guessed; `None` if random numbers are not available.
    pub(super) fn begin(&self) -> Option<(String, Arc<dyn DemoConversation>)> {
        let mut random = [0; 16];
        rustls::crypto::ring::default_provider().secure_random.fill(&mut random).ok()?;
        let id = format!("{:032x}", u128::from_be_bytes(random));
        let conversation = (self.open)();
        self.known().insert(id.clone(), Arc::clone(&conversation));
        Some((id, conversation))
    }

    pub(super) fn find(&self, headers: &HeaderMap) -> Membership {
        match session_id(headers) {
            None => Membership::Nameless,
            Some(id) => self.known().get(id).cloned().map_or(Membership::Unknown, Membership::Member),
        }
    }

    /// Ends the session; returns whether there was one.
    pub(super) fn end(&self, headers: &HeaderMap) -> bool {
        session_id(headers).is_some_and(|id| self.known().remove(id).is_some())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<dyn DemoConversation>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id").map(|id| id.to_str().unwrap_or_default())
}

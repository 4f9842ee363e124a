use std::{fmt, sync::Arc, time::Duration};

use crate::elicitation::Resolver;

/// How people sign in.
#[derive(Clone)]
#[non_exhaustive]
pub struct SignInOptions {
    /// The person who is asked; without one nobody can sign in, but existing tokens are used and renewed.
    pub person: Option<Arc<dyn Resolver>>,
    /// Scopes to request in addition to those that the server names.
    pub scopes: Vec<String>,
    /// Whether to ignore stored tokens, so that somebody signs in again.
    pub again: bool,
    /// Whether the person signs in on another device.
    pub device: bool,
    /// How long the person may take.
    pub patience: Duration,
}

impl fmt::Debug for SignInOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignInOptions")
            .field("person", &self.person.is_some())
            .field("scopes", &self.scopes)
            .field("again", &self.again)
            .field("device", &self.device)
            .field("patience", &self.patience)
            .finish()
    }
}

impl Default for SignInOptions {
    fn default() -> Self {
        Self { person: None, scopes: Vec::new(), again: false, device: false, patience: Duration::from_secs(300) }
    }
}

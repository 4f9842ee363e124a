use std::{fmt, sync::Arc, time::Duration};

use super::NoticeSink;
use crate::elicitation::Resolver;

/// Who makes a call, where several share one client: its questions and notices go there and nowhere else, and its clock
/// stands still for its own questions alone.
#[derive(Clone)]
pub struct Caller {
    /// Who answers its questions.
    pub resolver: Arc<dyn Resolver>,
    /// Where its notices go.
    pub notices: NoticeSink,
    /// How long an accepted link is waited for.
    pub url_wait: Duration,
    /// How long its call may be silent.
    pub silence: Duration,
    /// How long its call may take in all.
    pub total: Duration,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Caller")
    }
}

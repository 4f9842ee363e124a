use std::{fmt, sync::Arc, time::Duration};

use super::NoticeSink;
use crate::elicitation::Resolver;

/// Who makes a call, if several callers share one client: its questions and notices go only there, and its clock is
/// paused only by its own questions.
#[derive(Clone)]
pub struct Caller {
    /// Who answers its questions.
    pub resolver: Arc<dyn Resolver>,
    /// Where its notices go.
    pub notices: NoticeSink,
    /// How long to wait for an accepted link.
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

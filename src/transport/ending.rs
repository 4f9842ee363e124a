use std::time::Duration;

/// How long a program may take to end by itself once its input is closed; then it gets SIGTERM, and is finally killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grace {
    /// This long.
    Exactly(Duration),
    /// A while, and longer while it is still busy.
    AsNeeded,
    /// Hardly any time: it is known to do nothing before SIGTERM.
    Brief,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, after its input was closed.
    ByItself,
    /// It did nothing when its input was closed, and ended after SIGTERM.
    WhenTold,
    /// In another way, or it is not known.
    Otherwise,
}

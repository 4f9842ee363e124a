use std::time::Duration;

/// How long a program may take to end by itself once its input is closed; then it is told to (SIGTERM), and then killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grace {
    /// This long.
    Exactly(Duration),
    /// A while, and longer while it still does something.
    AsNeeded,
    /// Hardly any time: it is known to do nothing until it is told.
    Brief,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, once its input was closed.
    ByItself,
    /// It did nothing when its input was closed, and ended when it was told to.
    WhenTold,
    /// In another way, or it cannot be known.
    Otherwise,
}

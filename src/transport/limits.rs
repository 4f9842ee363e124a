use std::time::Duration;

/// What a transport puts up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest message, in bytes. Default 1 GiB.
    pub max_message: u64,
    /// How long a connection may take to be made. Default 10 s.
    pub connect: Duration,
    /// How long an answer that has begun may pause between two bytes. Default 30 s. Event streams may pause longer: there
    /// the caller's clock rules.
    pub between_bytes: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_message: 1 << 30, connect: Duration::from_secs(10), between_bytes: Duration::from_secs(30) }
    }
}

use std::time::Duration;

/// The limits of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest message, in bytes. Default 1 GiB.
    pub max_message: u64,
    /// How long it may take to connect. Default 10 s.
    pub connect: Duration,
    /// How long an answer that has begun may pause between two bytes. Default 30 s. Event streams may pause longer:
    /// there the caller's clock applies.
    pub between_bytes: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_message: 1 << 30, connect: Duration::from_secs(10), between_bytes: Duration::from_secs(30) }
    }
}

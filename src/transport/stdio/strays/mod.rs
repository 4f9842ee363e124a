//! Programs that a server started and that left its process group (`setsid`, a daemon): they would outlive it.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Mark;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::strays_of;
#[cfg(target_os = "linux")]
pub(super) use linux::Mark;
#[cfg(target_os = "linux")]
pub(crate) use linux::strays_of;

/// The variable that identifies what a server started.
pub(crate) const MARK: &str = "TOOLNEXUS_GROUP";

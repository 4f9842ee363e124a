//! What commands print about kept servers.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{
    keeper::{self, KeptServer, Standing},
    output::Printer,
};

/// The kept servers. If their folder cannot be used, a warning is printed.
///
/// # Errors
/// If stderr cannot be written.
pub(crate) async fn look(printer: &Printer) -> anyhow::Result<Vec<KeptServer>> {
    match keeper::survey().await {
        Ok(found) => Ok(found),
        Err(refused) => {
            printer.warning(&format!("kept servers are ignored, because {refused}"))?;
            Ok(Vec::new())
        }
    }
}

/// The state of a kept server, on one line.
pub(crate) fn words(standing: &Standing) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let calls = if standing.calls == 1 { "1 call".to_owned() } else { format!("{} calls", standing.calls) };
    let used = if standing.attached > 0 { "in use".to_owned() } else { format!("idle {}", span(standing.idle)) };
    let waiting = (standing.waiting > 0).then(|| format!("{} waiting for answers", standing.waiting));
    let memory = standing.memory.map(|bytes| format!("{} MiB", bytes.div_ceil(1 << 20)));
    let parts = [
        Some(format!("up {}", span(now.saturating_sub(standing.since)))),
        Some(used),
        Some(calls),
        waiting,
        Some(format!("pid {}", standing.pid)),
        memory,
        standing.revision.clone(),
        standing.draining.then(|| "stops when it is no longer used".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A duration in its largest unit.
fn span(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_their_largest_unit() {
        assert_eq!([0, 119, 120, 7200, 200_000].map(span), ["0 s", "119 s", "2 min", "2 h", "2 days"]);
    }
}

use std::time::{Duration, Instant};

use crate::text::{fit, safe_line, safe_name, start_of};

/// The widest line, in columns: a terminal that becomes narrower should not have to break it.
const WIDEST: usize = 100;
/// The longest message of a server that is kept, in bytes.
const LONGEST: usize = 1_000;
/// The number of steps of a bar.
const STEPS: u8 = 12;
/// How long each frame of the spinner is shown.
const TURN: u128 = 100;
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/// After this time it is mentioned that a program may still be downloading.
const LONG: Duration = Duration::from_secs(2);
/// How many servers are named.
const NAMED: usize = 4;

/// What is being waited for.
#[derive(Clone, Debug, PartialEq)]
pub enum Doing {
    /// A server starts.
    Starting {
        /// Its name.
        server: String,
        /// The program that downloads it before it runs, such as `npx`.
        fetcher: Option<String>,
    },
    /// A server at a web address is being reached.
    Reaching {
        /// Its name.
        server: String,
    },
    /// A server is listing something.
    Listing {
        /// Its name.
        server: String,
    },
    /// A call of a tool, a prompt or a resource.
    Call {
        /// The server's name.
        server: String,
        /// The tool, prompt or resource.
        name: String,
    },
    /// Many calls of one tool.
    Many {
        /// The server's name.
        server: String,
        /// The tool.
        name: String,
        /// How many calls were made.
        done: usize,
        /// How many of them failed.
        failed: usize,
        /// How many are in progress.
        running: usize,
        /// How much of the input was read, from 0 to 1, if known.
        part: Option<f64>,
    },
}

/// Something in progress.
#[derive(Debug)]
pub(super) struct ProgressActivity {
    pub(super) doing: Doing,
    since: Instant,
    heard: Option<HeardProgress>,
}

/// What the server reports about it.
#[derive(Debug)]
struct HeardProgress {
    done: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl ProgressActivity {
    pub(super) fn new(doing: Doing, since: Instant) -> Self {
        Self { doing, since, heard: None }
    }

    /// Whether it is this call; if the call's name is not known, any call.
    pub(super) fn is_call(&self, of: &str, call: Option<&str>) -> bool {
        matches!(&self.doing, Doing::Call { server, name } if server == of && call.is_none_or(|call| call == name))
    }

    pub(super) fn hear(&mut self, done: f64, total: Option<f64>, message: Option<&str>) {
        // The last message stays until there is another one.
        let before = self.heard.take().and_then(|heard| heard.message);
        let message = message.map(|words| safe_line(start_of(words, LONGEST)).into_owned()).or(before);
        self.heard = Some(HeardProgress { done, total, message });
    }
}

/// One line, narrower than `columns` with room for the `^C` of a key, for what is in progress; the oldest if there are
/// several.
pub(super) fn line<'a>(activities: impl Iterator<Item = &'a ProgressActivity>, now: Instant, columns: usize) -> String {
    let all: Vec<&ProgressActivity> = activities.collect();
    let many = all.iter().find(|one| matches!(one.doing, Doing::Many { .. }));
    let Some(shown) = many.or(all.first()) else { return String::new() };
    let elapsed = now - shown.since;
    let spinner = SPINNER[(elapsed.as_millis() / TURN) as usize % SPINNER.len()];
    let mut text = format!("{spinner} {}", words(shown, &all, elapsed));
    text.push_str(&format!("  {}:{:02}", elapsed.as_secs() / 60, elapsed.as_secs() % 60));
    if let Some(message) = shown.heard.as_ref().and_then(|heard| heard.message.as_ref()) {
        text.push_str(&format!(" │ {message}"));
    }
    fit(&text, columns.saturating_sub(4).clamp(1, WIDEST)).into_owned()
}

fn words(shown: &ProgressActivity, all: &[&ProgressActivity], elapsed: Duration) -> String {
    match &shown.doing {
        Doing::Starting { server, fetcher } if all.len() == 1 => match fetcher {
            Some(fetcher) if elapsed >= LONG => {
                format!("starting {}, {} may be downloading it", safe_name(server), safe_name(fetcher))
            }
            _ => format!("starting {}", safe_name(server)),
        },
        Doing::Reaching { server } if all.len() == 1 => format!("connecting to {}", safe_name(server)),
        Doing::Listing { server } if all.len() == 1 => format!("{}, listing", safe_name(server)),
        Doing::Starting { .. } | Doing::Reaching { .. } | Doing::Listing { .. } => {
            format!("waiting for {}", servers(all))
        }
        Doing::Call { server, name } => {
            let call = format!("{}, {}", safe_name(server), safe_name(name));
            match &shown.heard {
                Some(heard) => format!("{call}  {}", far(heard)),
                None => call,
            }
        }
        Doing::Many { server, name, done, failed, running, part } => {
            let bar = part.map(|part| format!("{}  ", bar(part))).unwrap_or_default();
            let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
            let running = if *running > 1 { format!(", {running} running") } else { String::new() };
            format!("{}, {}  {bar}{done} done{failed}{running}", safe_name(server), safe_name(name))
        }
    }
}

fn servers(all: &[&ProgressActivity]) -> String {
    let name = |one: &&ProgressActivity| match &one.doing {
        Doing::Starting { server, .. }
        | Doing::Reaching { server }
        | Doing::Listing { server }
        | Doing::Call { server, .. }
        | Doing::Many { server, .. } => safe_name(server).into_owned(),
    };
    let mut names: Vec<String> = all.iter().map(name).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let names = names.join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

/// How far: a bar and the numbers if the total is known.
fn far(heard: &HeardProgress) -> String {
    let done = heard.done;
    match heard.total.filter(|total| *total > 0.0 && total.is_finite() && done.is_finite()) {
        Some(total) if done.fract() == 0.0 && total.fract() == 0.0 => {
            format!("{}  {done} of {total}", bar(done / total))
        }
        Some(total) => format!("{}  {:.0} %", bar(done / total), (done / total * 100.0).clamp(0.0, 100.0)),
        None if done.abs() >= 1e15 => format!("{done:e}"),
        None if done.fract() == 0.0 => format!("{done}"),
        None => format!("{done:.2}"),
    }
}

fn bar(part: f64) -> String {
    let is_full = |step: &u8| f64::from(*step) / f64::from(STEPS) <= part;
    (1..=STEPS).map(|step| if is_full(&step) { '━' } else { '─' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width;

    fn call() -> Doing {
        Doing::Call { server: "files".to_owned(), name: "search".to_owned() }
    }

    fn at(seconds: u64, activities: &[ProgressActivity], columns: usize) -> String {
        let since = activities[0].since;
        line(activities.iter(), since + Duration::from_secs(seconds), columns)
    }

    #[test]
    fn a_call_says_how_far_it_is_and_what_the_server_says_behind_a_bar() {
        let mut one = ProgressActivity::new(call(), Instant::now());
        assert_eq!(at(4, &[ProgressActivity::new(call(), one.since)], 80), "⠋ files, search  0:04");
        one.hear(3.0, Some(12.0), Some("reading\u{1b}[2J\nsrc"));
        assert_eq!(at(75, &[one], 80), "⠋ files, search  ━━━─────────  3 of 12  1:15 │ reading\\u{1b}[2J\\nsrc");
        let mut one = ProgressActivity::new(call(), Instant::now());
        one.hear(0.5, Some(1.0), Some("half"));
        one.hear(0.75, Some(1.0), None);
        assert_eq!(at(0, &[one], 80), "⠋ files, search  ━━━━━━━━━───  75 %  0:00 │ half");
        for (done, total, told) in [
            (7.0, None, "7  "),
            (0.25, None, "0.25  "),
            (1e300, Some(f64::NAN), "  1e300  "),
            (5.0, Some(2.0), "━━━━━━━━━━━━  5 of 2"),
        ] {
            let mut one = ProgressActivity::new(call(), Instant::now());
            one.hear(done, total, None);
            assert!(at(0, &[one], 400).contains(told));
        }
    }

    #[test]
    fn the_line_is_narrower_than_the_terminal() {
        let mut one = ProgressActivity::new(call(), Instant::now());
        one.hear(1.0, None, Some(&"漢".repeat(5_000)));
        let all = [one];
        for columns in [1, 2, 10, 40, 500] {
            assert!(width(&at(1, &all, columns)) <= columns.saturating_sub(4).clamp(1, WIDEST));
        }
    }

    #[test]
    fn a_slow_start_says_who_may_be_fetching() {
        let since = Instant::now();
        let starting = |server: &str| Doing::Starting { server: server.to_owned(), fetcher: Some("npx".to_owned()) };
        let one = [ProgressActivity::new(starting("files"), since)];
        assert_eq!(at(1, &one, 80), "⠋ starting files  0:01");
        assert_eq!(at(2, &one, 80), "⠋ starting files, npx may be downloading it  0:02");
        let all: Vec<ProgressActivity> =
            ["a", "b", "c", "d", "e"].map(|name| ProgressActivity::new(starting(name), since)).into();
        assert_eq!(at(2, &all, 80), "⠋ waiting for a, b, c, d and 1 more  0:02");
    }

    #[test]
    fn many_calls_are_counted() {
        let many = |part| Doing::Many { server: "s".into(), name: "t".into(), done: 37, failed: 1, running: 8, part };
        let since = Instant::now();
        let all = [ProgressActivity::new(call(), since), ProgressActivity::new(many(Some(0.5)), since)];
        assert_eq!(at(0, &all, 80), "⠋ s, t  ━━━━━━──────  37 done, 1 failed, 8 running  0:00");
        assert_eq!(
            at(0, &[ProgressActivity::new(many(None), since)], 80),
            "⠋ s, t  37 done, 1 failed, 8 running  0:00"
        );
    }
}

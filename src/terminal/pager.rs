use std::{
    env,
    io::{self, Write as _},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

use super::gate::gate;

/// The default pager.
const PAGER: &str = "less";

static PAGING: AtomicBool = AtomicBool::new(false);

/// Whether a pager has the terminal: then SIGINT belongs to it.
pub fn is_paging() -> bool {
    PAGING.load(Ordering::Acquire)
}

/// Shows `text` in the program that `PAGER` names, `less` by default, and waits for its end; other output comes after
/// it. Returns whether it was shown: an empty `PAGER`, `cat`, and a program that does not start show nothing.
///
/// # Errors
/// If the pager cannot be waited for.
pub fn page(text: &str) -> io::Result<bool> {
    let words = env::var("PAGER").unwrap_or_else(|_| PAGER.to_owned());
    let words = shell_words::split(&words).unwrap_or_default();
    let Some((program, arguments)) = words.split_first().filter(|(program, _)| *program != "cat") else {
        return Ok(false);
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // It exits if everything fits on the screen, leaves the text there, and passes on no control characters except
        // colours.
        command.env("LESS", "FRX");
    }
    let _held = gate().hold();
    let _paging = Paging::new();
    let Ok(mut pager) = command.spawn() else { return Ok(false) };
    if let Some(mut stdin) = pager.stdin.take() {
        // A person who leaves early has seen enough.
        drop(stdin.write_all(text.as_bytes()));
    }
    pager.wait()?;
    Ok(true)
}

struct Paging;

impl Paging {
    fn new() -> Self {
        PAGING.store(true, Ordering::Release);
        Self
    }
}

impl Drop for Paging {
    fn drop(&mut self) {
        PAGING.store(false, Ordering::Release);
    }
}

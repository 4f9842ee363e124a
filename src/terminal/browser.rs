use std::{
    env, io,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Browsers that would use the terminal themselves.
const TEXT_BROWSERS: [&str; 6] = ["elinks", "links", "links2", "lynx", "www-browser", "w3m"];

/// How long to wait for the browser to start, so that it is running before the program may end.
const START: Duration = Duration::from_secs(1);

/// Starts the person's browser with `url`, which is `http` or `https`, on a separate thread. Returns why it does not
/// start, if that is soon known: this is not a failure, because the address is on the screen.
pub(crate) fn open(url: &str) -> Option<io::Error> {
    let url = url.to_owned();
    let (sender, started) = mpsc::channel();
    let thread = thread::Builder::new().name("browser".to_owned()).spawn(move || sender.send(start(&url)));
    match thread {
        Ok(_) => started.recv_timeout(START).ok().and_then(Result::err),
        Err(error) => Some(error),
    }
}

fn start(url: &str) -> io::Result<()> {
    if let Some(name) = text_browser(&env::var("BROWSER").unwrap_or_default()) {
        return Err(io::Error::other(format!("{name} runs in the terminal")));
    }
    match webbrowser::open(url) {
        // The crate knows desktops by their settings; some systems have only the opener.
        Err(_) if cfg!(all(unix, not(target_os = "macos"))) => xdg_open(url),
        opened => opened,
    }
}

fn xdg_open(url: &str) -> io::Result<()> {
    let mut command = Command::new("xdg-open");
    let status = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!("xdg-open ended with {status}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::other("none was found")),
        Err(error) => Err(error),
    }
}

/// The text browser at the beginning of `BROWSER`, a list of commands separated by colons.
fn text_browser(browser: &str) -> Option<&str> {
    let program = browser.split(':').next()?.split_whitespace().next()?;
    let name = Path::new(program).file_name()?.to_str()?;
    TEXT_BROWSERS.contains(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_browsers_are_known_by_name() {
        assert_eq!(text_browser("/usr/bin/w3m %s:firefox"), Some("w3m"));
        assert_eq!(text_browser("firefox --new-tab"), None);
        assert_eq!(text_browser(""), None);
    }
}

use std::{
    env, fs,
    io::{self, Write},
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use super::{
    AlarmCause, spawn_with_signals,
    stage::{DialogEnd, Stage},
    suspend,
};

/// How often to check the program.
const TICK: Duration = Duration::from_millis(50);

impl Stage {
    /// Lets a person edit `text` with their own program, in a private file that is removed afterwards. The inner error
    /// says why that was not possible.
    pub(super) fn edit_externally(&mut self, text: &str, suffix: &str) -> Result<Result<String, String>, DialogEnd> {
        let Some(command) = ["VISUAL", "EDITOR"].iter().find_map(|name| env::var(name).ok().filter(|c| !c.is_empty()))
        else {
            return Ok(Err("VISUAL and EDITOR are not set".to_owned()));
        };
        match self.edit_with(&command, text, suffix) {
            Ok(edited) => Ok(Ok(edited)),
            Err(DialogEnd::Gone(error)) => Ok(Err(format!("{command}: {error}"))),
            Err(end) => Err(end),
        }
    }

    fn edit_with(&mut self, command: &str, text: &str, suffix: &str) -> Result<String, DialogEnd> {
        let words = shell_words::split(command).map_err(io::Error::other)?;
        let Some((program, arguments)) = words.split_first() else {
            return Err(DialogEnd::Gone(io::ErrorKind::NotFound.into()));
        };
        // Only its owner can read it.
        let mut file = tempfile::Builder::new().prefix("toolnexus-").suffix(suffix).tempfile()?;
        file.write_all(text.as_bytes())?;
        self.leave(&[]);
        self.take_pastes(false);
        self.tty.restore()?;
        let mut command = Command::new(program);
        command.args(arguments).arg(file.path());
        command.stdin(self.tty.input().try_clone()?).stdout(self.tty.input().try_clone()?);
        let ended = spawn_with_signals(&mut command).map_err(DialogEnd::Gone).and_then(|child| self.attend(child));
        self.tty.take_keys()?;
        self.flush();
        self.take_pastes(true);
        let status = ended?;
        if !status.success() {
            return Err(io::Error::other(format!("it ended with {status}")).into());
        }
        let edited = String::from_utf8(fs::read(file.path())?).map_err(io::Error::other)?;
        let edited = edited.strip_suffix('\n').unwrap_or(&edited);
        Ok(edited.strip_suffix('\r').unwrap_or(edited).to_owned())
    }

    /// Waits for the program, and ends it if the question is withdrawn. Ctrl-C belongs to the program.
    fn attend(&self, mut child: Child) -> Result<ExitStatus, DialogEnd> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            match self.alarm.wait(TICK)? {
                Some(AlarmCause::Withdrawn) => {
                    drop(child.kill());
                    drop(child.wait());
                    return Err(DialogEnd::Withdrawn);
                }
                // The program was suspended.
                Some(AlarmCause::Suspended) => suspend(),
                _ => {}
            }
        }
    }
}

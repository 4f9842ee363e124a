#[cfg(target_os = "linux")]
use std::fs;
#[cfg(not(target_os = "linux"))]
use std::process::Command;

use super::about::line;
use crate::system::parent_process;

/// How many ancestors are checked.
const GENERATIONS: usize = 8;
/// Programs that start others and that a person seldom knows.
const BETWEEN: &str = "sh bash dash ash zsh fish ksh tcsh env nohup timeout time setsid script sudo doas xargs";

/// The program that started this one, by its name in the system. Shells and the like in between are skipped, unless
/// there is nothing else.
pub(crate) fn started_by() -> Option<String> {
    nearest(parent_process(), &mut |id| look_up(id))
}

/// Looks up a process's name and parent.
type LookUp<'a> = &'a mut dyn FnMut(u32) -> Option<(String, u32)>;

fn nearest(parent: u32, look_up: LookUp<'_>) -> Option<String> {
    let (first, mut next) = look_up(parent)?;
    let is_between = |name: &str| BETWEEN.split(' ').any(|other| other == name.trim_start_matches('-'));
    let mut name = first.clone();
    for _ in 0..GENERATIONS {
        if !is_between(&name) {
            return Some(line(&name));
        }
        if next <= 1 {
            break;
        }
        (name, next) = look_up(next)?;
    }
    Some(line(&first))
}

#[cfg(target_os = "linux")]
fn look_up(id: u32) -> Option<(String, u32)> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    Some((value("Name:")?.to_owned(), value("PPid:")?.parse().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn look_up(id: u32) -> Option<(String, u32)> {
    let output = Command::new("ps").args(["-o", "ppid=", "-o", "comm=", "-p", &id.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (parent, path) = text.trim().split_once(' ')?;
    let name = path.trim().rsplit('/').next()?;
    Some((name.to_owned(), parent.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(processes: &[(u32, &str, u32)]) -> Option<String> {
        nearest(9, &mut |id| {
            let (_, name, parent) = processes.iter().find(|(known, ..)| *known == id)?;
            Some(((*name).to_owned(), *parent))
        })
    }

    #[test]
    fn shells_between_are_passed_over() {
        assert_eq!(found(&[(9, "bash", 8), (8, "claude", 1)]).as_deref(), Some("claude"));
        assert_eq!(found(&[(9, "cron", 1)]).as_deref(), Some("cron"));
        assert_eq!(found(&[(9, "-zsh", 8), (8, "timeout", 1)]).as_deref(), Some("-zsh"));
        assert_eq!(found(&[(9, "sh", 8), (8, "sh", 9)]).as_deref(), Some("sh"));
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn the_program_that_runs_the_tests_has_a_name() {
        assert!(started_by().is_some_and(|name| !name.is_empty()));
    }
}

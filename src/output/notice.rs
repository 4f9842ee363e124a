use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Verbosity;
use crate::client::{Notice, NoticeKind};
use crate::text::{cut, safe_line, safe_name, safe_text, start_of};

/// Longest text of a server in a notice, in characters.
const LONGEST: usize = 4_000;
/// The most lines of such a text, each with the server's name in front.
const LINES: usize = 40;

/// The notice as lines for stderr, safe for a terminal; `None` if it is not shown at this verbosity. For progress see
/// [`progress_text`].
pub(super) fn notice_text(notice: &Notice, verbosity: Verbosity) -> Option<String> {
    let server = safe_name(notice.server.as_str());
    let (needs, text) = match &notice.kind {
        NoticeKind::Warning(words) => {
            (Verbosity::Normal, format!("warning: {server}: {}\n", cut(&safe_line(words), LONGEST)))
        }
        NoticeKind::NotDeclared { method } => (
            Verbosity::Normal,
            format!("warning: {server}: it asked a question ({}) that it was not allowed to ask\n", safe_name(method)),
        ),
        NoticeKind::Withdrawn(_) => (Verbosity::Normal, format!("note: {server} withdrew its question\n")),
        NoticeKind::CalledAgain { revision } => {
            (Verbosity::Normal, format!("note: {server} can only ask over {revision}: calling again\n"))
        }
        NoticeKind::Log { level, logger, data } => {
            let source = logger.as_ref().map(|logger| format!(" {}", safe_name(logger))).unwrap_or_default();
            let words = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
            (Verbosity::Normal, behind_bar(&format!("{server} {}{source}", safe_name(level)), &words))
        }
        NoticeKind::Stderr(line) => (Verbosity::Verbose, behind_bar(&server, line)),
        NoticeKind::Changed { method, params } => {
            let what = method.trim_start_matches("notifications/");
            let uri = params["uri"].as_str().map(|uri| format!(" {}", safe_name(uri)));
            (Verbosity::Verbose, format!("{server}: {}{}\n", safe_name(what), uri.unwrap_or_default()))
        }
        NoticeKind::Answered { action, .. } => {
            (Verbosity::Verbose, format!("{server} asked, and the answer was {action}\n"))
        }
        NoticeKind::LinkComplete(_) => {
            (Verbosity::Verbose, format!("{server}: the step behind the link is finished\n"))
        }
        NoticeKind::Task { status, message, .. } => {
            let message = message.as_ref().map(|words| format!(": {}", cut(&safe_line(words), LONGEST)));
            (Verbosity::Verbose, format!("{server}: task {}{}\n", safe_name(status), message.unwrap_or_default()))
        }
        NoticeKind::Progress { .. } => (Verbosity::Verbose, format!("{}\n", progress_text(notice)?)),
        NoticeKind::Asked(_) | NoticeKind::Unanswered { .. } => return None,
    };
    (verbosity >= needs).then_some(text)
}

/// Progress on one line: `forms, greet: 3 of 10, message`.
pub(super) fn progress_text(notice: &Notice) -> Option<String> {
    let NoticeKind::Progress { call, progress, total, message } = &notice.kind else { return None };
    let call = call.as_ref().map(|call| format!(", {}", safe_name(call.as_str()))).unwrap_or_default();
    let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
    let message = message.as_ref().map(|words| format!(", {}", cut(&safe_line(words), LONGEST))).unwrap_or_default();
    Some(format!("{}{call}: {progress}{total}{message}", safe_name(notice.server.as_str())))
}

/// The notice as an object for programs.
pub(super) fn notice_event(notice: &Notice) -> Value {
    let (event, rest) = match &notice.kind {
        NoticeKind::Warning(message) => ("warning", json!({"message": message})),
        NoticeKind::Stderr(line) => ("stderr", json!({"line": line})),
        NoticeKind::Progress { call, progress, total, message } => {
            let call = call.as_ref().map(ToString::to_string);
            let total = total.map(number);
            ("progress", json!({"call": call, "progress": number(*progress), "total": total, "message": message}))
        }
        NoticeKind::Log { level, logger, data } => ("log", json!({"level": level, "logger": logger, "data": data})),
        NoticeKind::Changed { method, params } => ("changed", json!({"method": method, "params": params})),
        NoticeKind::Asked(question) => {
            let call = question.origin.call.as_ref().map(ToString::to_string);
            ("question", json!({"call": call, "request": question.request}))
        }
        NoticeKind::Answered { question, action } => ("answered", json!({"id": question.request.id, "action": action})),
        NoticeKind::Unanswered { question, why } => {
            ("unanswered", json!({"id": question.request.id, "reason": why.reason, "hint": why.hint}))
        }
        NoticeKind::Withdrawn(question) => ("withdrawn", json!({"id": question.request.id})),
        NoticeKind::NotDeclared { method } => ("not-declared", json!({"method": method})),
        NoticeKind::CalledAgain { revision } => ("called-again", json!({"revision": revision.as_str()})),
        NoticeKind::LinkComplete(id) => ("link-complete", json!({"elicitationId": id})),
        NoticeKind::Task { id, status, message } => ("task", json!({"id": id, "status": status, "message": message})),
    };
    let mut object = json!({"event": event, "server": notice.server.as_str()});
    if let (Value::Object(object), Value::Object(rest)) = (&mut object, rest) {
        object.extend(rest);
    }
    object
}

/// A number as it was probably sent: whole numbers without a point.
fn number(number: f64) -> Value {
    number.to_string().parse().map_or(Value::Null, Value::Number)
}

/// Each line of a server's text behind its name and a bar.
fn behind_bar(name: &str, words: &str) -> String {
    let words = safe_text(start_of(words, 4 * LONGEST));
    let words = cut(&words, LONGEST);
    let mut lines = words.lines();
    let mut text: String = lines.by_ref().take(LINES).flat_map(|line| [name, " │ ", line, "\n"]).collect();
    match lines.count() {
        0 => {}
        more => _ = writeln!(text, "{name} │ … {more} more lines"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(kind: NoticeKind) -> Notice {
        Notice { server: "forms".into(), kind }
    }

    fn log(level: &str, data: Value) -> Notice {
        notice(NoticeKind::Log { level: level.to_owned(), logger: None, data })
    }

    #[test]
    fn logs_stand_behind_a_bar() {
        let shown = |level, verbosity| notice_text(&log(level, json!("a\nwarning: b")), verbosity);
        assert_eq!(shown("error", Verbosity::Normal).as_deref(), Some("forms error │ a\nforms error │ warning: b\n"));
        assert_eq!(shown("error", Verbosity::Quiet), None);
    }

    #[test]
    fn progress_is_one_line() {
        let progress = NoticeKind::Progress {
            call: Some("count".into()),
            progress: 3.0,
            total: Some(10.5),
            message: Some("a\r\n\u{1b}[2Jb".to_owned()),
        };
        assert_eq!(progress_text(&notice(progress)).as_deref(), Some("forms, count: 3 of 10.5, a\\r\\n\\u{1b}[2Jb"));
    }

    #[test]
    fn events_name_their_server() {
        let event = notice_event(&log("info", json!({"a": 1})));
        assert_eq!(
            event.to_string(),
            r#"{"event":"log","server":"forms","level":"info","logger":null,"data":{"a":1}}"#
        );
    }
}

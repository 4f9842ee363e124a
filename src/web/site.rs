use std::sync::Arc;

use futures_util::{FutureExt as _, future::BoxFuture};
use maud::html;
use serde_json::{Map, Value, json};

use super::{
    desk::{Desk, DeskState},
    end_page::{end_page, idle_page},
    filling::Filling,
    form_page::form_page,
    link_page::{address_page, go_on_page, link_page, waiting_page},
    review_page::review_page,
    sheet::{Matter, Sheet, SheetAnswer, SheetEnding, SheetStage},
    tidings::tidings,
};
use crate::{
    elicitation::Waited,
    pages::{Fields, Page, PageReply, Site, Visit},
};

/// Improves the pages: live errors, news, a filter for long lists.
const SCRIPT: &str = include_str!("script.js");

/// After how many seconds a page without JavaScript reloads: one that only waits, and one on which a person decides.
const SOON: u32 = 2;
const LATER: u32 = 20;

/// The part of a question that is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PagePart {
    Page,
    Review,
    Check,
    News,
}

/// The number of a question and its part, from a path: `3`, `3-review`.
fn parse(path: &str) -> Option<(u64, PagePart)> {
    let (number, part) = path.split_once('-').unwrap_or((path, ""));
    let part = match part {
        "" => PagePart::Page,
        "review" => PagePart::Review,
        "check" => PagePart::Check,
        "news" => PagePart::News,
        _ => return None,
    };
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_plain)?, part))
}

impl Site for Desk {
    fn answer(self: Arc<Self>, visit: Visit) -> BoxFuture<'static, PageReply> {
        std::future::ready(self.reply(&visit)).boxed()
    }

    fn is_personal(&self) -> bool {
        true
    }

    fn is_trial(&self, path: &str) -> bool {
        matches!(parse(path), Some((_, PagePart::Check)))
    }
}

impl Desk {
    fn reply(self: &Arc<Self>, visit: &Visit) -> PageReply {
        let reply = match (parse(&visit.path), &visit.form) {
            _ if visit.path.is_empty() && visit.form.is_none() => self.front(visit),
            (Some((number, PagePart::News)), None) => PageReply::Events(tidings(Arc::clone(self), number)),
            (Some((number, PagePart::Page | PagePart::Review)), None) if !self.state().sheets.contains_key(&number) => {
                PageReply::SeeOther(String::new())
            }
            (Some((number, PagePart::Page)), None) => self.show(number, false, visit),
            (Some((number, PagePart::Review)), None) => self.show(number, true, visit),
            (Some((number, PagePart::Check)), Some(form)) => self.check(number, form),
            (Some((number, PagePart::Page | PagePart::Review)), Some(form)) => self.take(number, form),
            _ => return PageReply::NotFound,
        };
        self.tell();
        reply
    }

    /// The current question.
    fn front(&self, visit: &Visit) -> PageReply {
        let state = self.state();
        let shown = state.current().or_else(|| state.sheets.values().next_back()).map(|sheet| sheet.number);
        let is_gone = state.is_gone;
        drop(state);
        if let Some(number) = shown {
            return self.show(number, false, visit);
        }
        let (title, body) = idle_page(is_gone);
        let mut page = page(title, "", html! { div data-state="idle" data-news="0-news" {} (body) });
        page.refresh = (!is_gone).then_some((SOON, String::new()));
        PageReply::Page(page)
    }

    fn show(&self, number: u64, is_review: bool, visit: &Visit) -> PageReply {
        let waiting = self.waiting();
        let mut state = self.state();
        let is_more = state.current().is_some_and(|next| next.number != number);
        let DeskState { sheets, during, is_unseen, is_gone, .. } = &mut *state;
        let Some(sheet) = sheets.get_mut(&number) else { return PageReply::NotFound };
        let facts = sheet.about.facts(during, self.program.as_deref());
        if is_review
            && let Matter::Form(filling) = &mut sheet.matter
            && !filling.read().wrongs.is_empty()
        {
            filling.is_tried = true;
            return PageReply::SeeOther(number.to_string());
        }
        let (name, (title, body)) = match (&sheet.stage, &sheet.matter) {
            (SheetStage::Open(_), Matter::Form(filling)) if sheet.about.is_sign_in => {
                ("open", ("Continue in the other tab".to_owned(), address_page(sheet, filling, facts, visit)))
            }
            (SheetStage::Open(_), Matter::Form(filling)) if is_review && !filling.nodes.is_empty() => {
                let reading = filling.read();
                ("open", ("Send this?".to_owned(), review_page(sheet, filling, &reading, facts, waiting, visit)))
            }
            (SheetStage::Open(_), Matter::Form(filling)) => {
                ("open", (sheet.about.title(), form_page(sheet, filling, facts, waiting, visit)))
            }
            (SheetStage::Open(_), Matter::Link(link)) => {
                ("open", (sheet.about.title(), link_page(sheet, link, facts, waiting, visit)))
            }
            (SheetStage::Open(_), Matter::GoOn(many)) => {
                ("open", ("Go on?".to_owned(), go_on_page(sheet, *many, facts, visit)))
            }
            (SheetStage::Opened | SheetStage::Waiting(_), Matter::Link(link)) => {
                *is_unseen = false;
                let title = format!("Waiting for {}", link.host);
                // A sign-in continues on the page that waits for its end.
                let name = if sheet.about.is_sign_in { "idle" } else { "opened" };
                (name, (title, waiting_page(sheet, link, facts, visit)))
            }
            (SheetStage::Over(SheetEnding::Handed), _) if is_more => return PageReply::SeeOther(String::new()),
            (SheetStage::Over(ending), _) => {
                *is_unseen = false;
                ("over", end_page(sheet, *ending, is_more, *is_gone))
            }
            _ => ("over", idle_page(*is_gone)),
        };
        let again = refresh(sheet).map(|seconds| (seconds, number.to_string()));
        let mut page = page(
            title,
            &sheet.about.server,
            html! {
                div .news data-state=(name) data-news={ (number) "-news" } role="status" {
                    @if waiting > 0 && name == "open" { (waiting) " more waiting" }
                }
                (body)
            },
        );
        page.refresh = again;
        PageReply::Page(page)
    }

    /// What is wrong with a form so far, by input. Typed text is remembered.
    fn check(&self, number: u64, fields: &Fields) -> PageReply {
        let mut state = self.state();
        let Some(Matter::Form(filling)) = state.sheets.get_mut(&number).map(|sheet| &mut sheet.matter) else {
            return PageReply::Json(json!({}));
        };
        filling.take(fields);
        let wrongs = filling.read().wrongs;
        let entry = |wrong: &super::read::Wrong| Some((wrong.id.clone()?, super::about::line(&wrong.reason).into()));
        PageReply::Json(Value::Object(wrongs.iter().filter_map(entry).collect()))
    }

    /// Handles what a person sent.
    fn take(&self, number: u64, fields: &Fields) -> PageReply {
        let mut state = self.state();
        let here = || PageReply::SeeOther(number.to_string());
        let Some(sheet) = state.sheets.get_mut(&number) else { return here() };
        let act = fields.one("do").unwrap_or("review");
        let said = match (&mut sheet.matter, act) {
            (Matter::Forgotten, _) => return here(),
            (Matter::Link(_), "opened") => {
                if let SheetStage::Open(said) = std::mem::replace(&mut sheet.stage, SheetStage::Opened) {
                    drop(said.send(SheetAnswer::Send(Map::new())));
                }
                state.is_unseen = true;
                return here();
            }
            (Matter::Link(_), "done" | "leave") => {
                let waited = if act == "done" { Waited::Continue } else { Waited::Cancel };
                if let SheetStage::Waiting(said) = std::mem::replace(&mut sheet.stage, SheetStage::Over(waited.into()))
                {
                    _ = said.send(waited);
                }
                sheet.end(waited.into());
                state.is_unseen = true;
                return here();
            }
            (Matter::GoOn(_), "go-on") => SheetAnswer::Send(Map::new()),
            (_, "decline") => SheetAnswer::Decline,
            (_, "cancel") => SheetAnswer::Cancel,
            (_, "cancel-all") => SheetAnswer::CancelAll,
            (Matter::Form(filling), "send") if sheet.about.is_sign_in => {
                filling.take(fields);
                let reading = filling.read();
                if !reading.wrongs.is_empty() {
                    filling.is_tried = true;
                    return here();
                }
                SheetAnswer::Send(reading.content)
            }
            (Matter::Form(filling), "send") => match sent(filling, fields) {
                Ok(content) => SheetAnswer::Send(content),
                Err(place) => return PageReply::SeeOther(format!("{number}{place}")),
            },
            (Matter::Form(filling), act) => {
                return PageReply::SeeOther(format!("{number}{}", fill(filling, act, fields)));
            }
            _ => return here(),
        };
        let ending = match (&said, &sheet.matter) {
            (SheetAnswer::Send(_), Matter::Form(filling)) if !filling.nodes.is_empty() => SheetEnding::Sent,
            (SheetAnswer::Send(_), _) => SheetEnding::Agreed,
            (SheetAnswer::Decline, _) => SheetEnding::Declined,
            _ => SheetEnding::Cancelled,
        };
        answer(sheet, said, ending);
        state.is_unseen = true;
        here()
    }
}

/// Ends a question with a person's answer.
fn answer(sheet: &mut Sheet, said: SheetAnswer, ending: SheetEnding) {
    if let SheetStage::Open(sender) = std::mem::replace(&mut sheet.stage, SheetStage::Over(ending)) {
        let is_heard = sender.send(said).is_ok();
        sheet.end(if is_heard { ending } else { SheetEnding::Withdrawn });
    } else {
        // A link that was opened can no longer be declined.
        sheet.end(ending);
    }
}

/// The content to send, if it was reviewed and fits; otherwise the page to look at.
fn sent(filling: &mut Filling, fields: &Fields) -> Result<Map<String, Value>, &'static str> {
    let reading = filling.read();
    if !reading.wrongs.is_empty() {
        filling.is_tried = true;
        return Err("");
    }
    let is_reviewed = fields.one("revision").is_some_and(|revision| revision == filling.revision.to_string());
    if is_reviewed || filling.nodes.is_empty() {
        return Ok(reading.content);
    }
    filling.is_stale = true;
    Err("-review")
}

/// Takes the typed text, and does what the button says; returns the next page.
fn fill(filling: &mut Filling, act: &str, fields: &Fields) -> String {
    filling.take(fields);
    filling.is_stale = false;
    match act.split_once(':') {
        Some(("default", id)) => filling.reset(id, true),
        Some(("empty", id)) => filling.reset(id, false),
        Some(("add", id)) => filling.add(id),
        Some(("remove", id)) => {
            filling.remove(id);
            let list = id.rsplit_once('.').map_or(id, |(list, _)| list);
            return format!("#{list}-field");
        }
        _ => {
            filling.is_tried = true;
            return if filling.read().wrongs.is_empty() { "-review".to_owned() } else { String::new() };
        }
    }
    let id: String = act.split(':').skip(1).collect();
    format!("#{id}-field")
}

fn page(title: String, topic: &str, body: maud::Markup) -> Page {
    Page { topic: topic.to_owned(), script: Some(SCRIPT), ..Page::new(title, body) }
}

/// When a page without JavaScript reloads; it stays with its own question. A page on which something is typed never
/// does, so that nothing is lost: if such a form is sent after it was withdrawn, the person sees that. A page on which
/// a person decides reloads slowly. A page that says how a question ended does not reload, so it keeps saying so when
/// the run is over and nobody answers any more.
fn refresh(sheet: &Sheet) -> Option<u32> {
    match (&sheet.stage, &sheet.matter) {
        (SheetStage::Open(_), Matter::Form(_)) | (SheetStage::Over(_), _) => None,
        (SheetStage::Open(_), _) => Some(LATER),
        (SheetStage::Opened | SheetStage::Waiting(_), _) => Some(SOON),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_numbers_and_parts() {
        assert_eq!(parse("3"), Some((3, PagePart::Page)));
        assert_eq!(parse("12-review"), Some((12, PagePart::Review)));
        for path in ["", "x", "-1", "+1", "3-", "3/review", "3-reviews", "99999999999999999999999"] {
            assert!(parse(path).is_none_or(|found| path == "3-" && found == (3, PagePart::Page)), "{path}");
        }
    }
}

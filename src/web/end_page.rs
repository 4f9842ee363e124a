use maud::{Markup, html};

use super::sheet::{Sheet, SheetEnding};

/// How a question ended, and whether there is another one.
pub(super) fn end_page(sheet: &Sheet, ending: SheetEnding, is_more: bool, is_gone: bool) -> (String, Markup) {
    let (title, words) = ending.words(&sheet.about);
    let body = html! {
        p { (words) }
        @if is_more { p { a .button href="./" { "Next question" } } }
        @else {
            p .quiet { (after(is_gone)) }
            @if !is_gone { noscript { p { "Without JavaScript, reload the page to see it." } } }
        }
    };
    (title, body)
}

/// Nothing is being asked.
pub(super) fn idle_page(is_gone: bool) -> (String, Markup) {
    let title = if is_gone { "The command has ended" } else { "No question right now" };
    let body = html! {
        p .quiet { (after(is_gone)) }
    };
    (title.to_owned(), body)
}

/// What a person can do when nothing is being asked.
fn after(is_gone: bool) -> &'static str {
    if is_gone {
        "You can close this page."
    } else {
        "You can close this page. If there is another question, it appears here."
    }
}

use maud::{Markup, html};

use super::{
    filling::{Filling, FormReading},
    form_page::ways_out,
    sheet::Sheet,
};
use crate::{elicitation::Link, pages::Visit};

/// Where a link leads, before it is opened.
pub(super) fn link_page(sheet: &Sheet, link: &Link, facts: Markup, waiting: usize, visit: &Visit) -> Markup {
    let server = sheet.about.server.as_str();
    html! {
        (sheet.about.words())
        (facts)
        (address(link))
        form method="post" action=(sheet.number) data-opened="" {
            (visit.token())
            div .acts {
                a .main .agrees href=(link.url) target="_blank" rel="noopener noreferrer" { "Open " (link.host) }
                @if sheet.about.is_sign_in { p .about { "Opens in a new tab. " (server) " is not told." } }
                @else { p .about { "Opens in a new tab, and tells " (server) " that you agreed." } }
            }
            div .after {
                button name="do" value="opened" { "I have opened it" }
                p .about { "If you opened the link in another way." }
            }
            (ways_out(&sheet.about, waiting))
        }
    }
}

/// The link is open, and is being waited for.
pub(super) fn waiting_page(sheet: &Sheet, link: &Link, facts: Markup, visit: &Visit) -> Markup {
    let server = sheet.about.server.as_str();
    html! {
        @if sheet.about.is_sign_in { p { "Sign in there. This page continues by itself." } }
        @else { p { "Continue there. This page continues by itself when " (server) " reports that you are done." } }
        (address(link))
        form method="post" action=(sheet.number) {
            (visit.token())
            div .acts {
                button .main name="do" value="done" { "Done" }
                p .about { "You have finished there." }
            }
            div .ways {
                div { button name="do" value="leave" aria-describedby="leave" { "Cancel" }
                    p id="leave" { "stop waiting for it" } }
                div { a .button href=(link.url) target="_blank" rel="noopener noreferrer" { "Open again" }
                    p { "in another tab" } }
            }
        }
        (facts)
    }
}

/// A sign-in is open in another tab, and is being waited for; if its last page cannot be opened there, its address is
/// entered here.
pub(super) fn address_page(sheet: &Sheet, filling: &Filling, facts: Markup, visit: &Visit) -> Markup {
    let FormReading { wrongs, .. } = filling.read();
    let wrong = wrongs.first().filter(|_| filling.is_tried);
    html! {
        (sheet.about.words())
        form method="post" action=(sheet.number) {
            (visit.token())
            @for node in &filling.nodes {
                div .field .wrong[wrong.is_some()] {
                    label for=(node.id) { span .name { "Address" } }
                    p .about id="why" {
                        "If the other tab ends on a page that cannot be opened, paste the address of that page here. \
                         It contains a code, so it is not shown."
                    }
                    input type="password" id=(node.id) name=(node.id) autocomplete="off" aria-describedby="why wrong"
                        aria-invalid=[wrong.map(|_| "true")];
                    p .error id="wrong" hidden[wrong.is_none()] { @if wrong.is_some() { "the address is missing" } }
                }
            }
            div .acts { button .main name="do" value="send" { "Use this address" } }
            (ways_out(&sheet.about, 0))
        }
        (facts)
    }
}

fn address(link: &Link) -> Markup {
    html! {
        div .address {
            p .host { "Leads to " strong { (link.host) } }
            p .url { (link.url) }
            @for warning in &link.warnings { p .warning { (warning) } }
        }
    }
}

/// Asks whether a server that has asked many questions may continue.
pub(super) fn go_on_page(sheet: &Sheet, many: usize, facts: Markup, visit: &Visit) -> Markup {
    let server = sheet.about.server.as_str();
    html! {
        p { (server) " has asked " (many) " questions in this call. Is that all right?" }
        (facts)
        form method="post" action=(sheet.number) {
            (visit.token())
            div .acts { button .agrees name="do" value="go-on" { "Go on" } p .about { "See its next question." } }
            div .ways {
                div { button name="do" value="cancel-all" aria-describedby="cancel-all" { "Cancel all" }
                    p id="cancel-all" { "nothing more from " (server) " in this call" } }
            }
        }
    }
}

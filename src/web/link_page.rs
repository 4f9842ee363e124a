use maud::{Markup, html};

use super::{form_page::ways_out, sheet::Sheet};
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
                p .about { "Opens in a new tab, and tells " (server) " that you agreed." }
            }
            div .after {
                button name="do" value="opened" { "I have opened it" }
                p .about { "For a link that you opened in another way." }
            }
            (ways_out(server, waiting))
        }
    }
}

/// The link is open, and is waited for.
pub(super) fn waiting_page(sheet: &Sheet, link: &Link, facts: Markup, visit: &Visit) -> Markup {
    let server = sheet.about.server.as_str();
    html! {
        p { "Go on there. This page follows by itself when " (server) " hears that you are done." }
        (address(link))
        form method="post" action=(sheet.number) {
            (visit.token())
            div .acts {
                button .main name="do" value="done" { "Done" }
                p .about { "You have done what was to be done there." }
            }
            div .ways {
                div { button name="do" value="leave" aria-describedby="leave" { "Cancel" }
                    p id="leave" { "no longer wait for it" } }
                div { a .button href=(link.url) target="_blank" rel="noopener noreferrer" { "Open again" }
                    p { "in another tab" } }
            }
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

/// Whether a server that has asked many questions may go on.
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

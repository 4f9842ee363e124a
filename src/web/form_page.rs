use maud::{Markup, html};

use super::{
    about::{About, line},
    controls::FormDrawing,
    filling::{Filling, FormReading},
    read::Wrong,
    sheet::Sheet,
};
use crate::pages::Visit;

/// The page on which a form is filled in.
pub(super) fn form_page(sheet: &Sheet, filling: &Filling, facts: Markup, waiting: usize, visit: &Visit) -> Markup {
    let FormReading { wrongs, .. } = filling.read();
    let wrongs: &[Wrong] = if filling.is_tried { &wrongs } else { &[] };
    let by_id = wrongs.iter().filter_map(|wrong| Some((wrong.id.as_deref()?, wrong.reason.as_str())));
    let server = sheet.about.server.as_str();
    let drawing = FormDrawing { draft: &filling.draft, wrongs: by_id.collect(), server };
    html! {
        (sheet.about.words())
        (facts)
        (summary(wrongs))
        @for note in &filling.form.notes { p .note { (line(note)) } }
        form method="post" action=(sheet.number) data-live={ (sheet.number) "-check" } {
            (visit.token())
            // Enter in an input presses the first button.
            button .vh name="do" value="review" tabindex="-1" aria-hidden="true" { "Review" }
            @if filling.nodes.is_empty() { p { "There is nothing to fill in. " (server) " asks whether you agree." } }
            @for node in &filling.nodes { (drawing.field(node)) }
            div .acts {
                @if filling.nodes.is_empty() {
                    button .agrees name="do" value="send" { "Accept" }
                } @else {
                    button .main name="do" value="review" { "Review" }
                    p .about { "Nothing is sent yet: you will see everything again first." }
                }
            }
            (ways_out(&sheet.about, waiting))
        }
    }
}

/// Everything that is wrong, with links to the fields.
fn summary(wrongs: &[Wrong]) -> Markup {
    html! {
        @if !wrongs.is_empty() {
            section .summary role="alert" aria-labelledby="summary" tabindex="-1" autofocus {
                h2 id="summary" { @if wrongs.len() == 1 { "One thing is not right yet" } @else { (wrongs.len()) " things are not right yet" } }
                ul {
                    @for wrong in wrongs {
                        li {
                            @match &wrong.id {
                                Some(id) => a href={ "#" (id) } { span dir="auto" { (wrong.label) } ": " (line(&wrong.reason)) },
                                None => (line(&wrong.reason)),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The ways out without an answer, and what each of them means.
pub(super) fn ways_out(about: &About, waiting: usize) -> Markup {
    let closed = if about.is_sign_in { "you are not signed in" } else { "closed without an answer" };
    html! {
        div .ways {
            @if !about.is_sign_in {
                div { button name="do" value="decline" formnovalidate aria-describedby="decline" { "Decline" }
                    p id="decline" { (about.server) " is told that you said no" } }
            }
            div { button name="do" value="cancel" formnovalidate aria-describedby="cancel" { "Cancel" }
                p id="cancel" { (closed) } }
            @if waiting > 0 {
                div { button name="do" value="cancel-all" formnovalidate aria-describedby="cancel-all" { "Cancel all" }
                    p id="cancel-all" { "this one and " (waiting) " more" } }
            }
        }
    }
}

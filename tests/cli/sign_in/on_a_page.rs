//! A sign-in for a person without a terminal: on the page that also shows the questions of servers.

use super::{Link, World};
use crate::harness::{AtBrowser, Page, Tab, until};

/// A call that asks to sign in on a page.
fn asked(world: &World) -> (AtBrowser, Tab, Page) {
    let run = world.test(&["call", "URL", "read", "--elicit", "browser", "--no-browser"]).at_browser();
    let (tab, page) = run.asked();
    page.see("asks you to sign in").see("It will allow this program: read").see("127.0.0.1 is not told");
    page.see("Cancel you are not signed in").not_see("you agreed").not_see("Decline");
    (run, tab, page)
}

/// The link on the page, and the page that waits for its end.
fn opened(tab: &Tab, page: &Page) -> (Link, Page) {
    let rest = page.body.split_once("<a class=\"main agrees\" href=\"").expect("a link").1;
    let address = rest.split('"').next().unwrap_or_default().replace("&amp;", "&");
    let link = Link(address.parse().expect("an address"));
    tab.send(page, "opened", &[]);
    until("the page goes on", || tab.get("").text().contains("Continue in the other tab"));
    // Reloading the first page redirects to the next.
    assert_eq!((tab.get("1").status, tab.get("1").leads_to().as_str()), (303, ""));
    (link, tab.get(""))
}

#[test]
fn who_signs_in_in_the_other_tab_goes_on() {
    let world = World::new();
    let (run, tab, page) = asked(&world);
    let (link, page) = opened(&tab, &page);
    page.see("paste the address").see("not shown");
    assert!(link.visit().contains("Signed in"));
    assert_eq!(run.end(0).stdout, "read is done\n");
    world.test(&["call", "URL", "read"]).stdout("read is done\n").run();
}

#[test]
fn the_address_of_the_last_page_may_be_pasted() {
    let world = World::new();
    let (run, tab, page) = asked(&world);
    let (link, page) = opened(&tab, &page);
    let page = tab.send(&page, "send", &[("f0", "")]);
    page.see("the address is missing");
    tab.send(&page, "send", &[("f0", "http://127.0.0.1:1/callback?code=c0de&state=another")]);
    until("it is asked again", || tab.get("").text().contains("That is not the right address"));
    let page = tab.get("");
    page.not_see("c0de");
    tab.send(&page, "send", &[("f0", link.follow().as_str())]);
    assert_eq!(run.end(0).stdout, "read is done\n");
}

#[test]
fn who_cancels_is_not_signed_in() {
    let world = World::new();
    let (run, tab, page) = asked(&world);
    tab.send(&page, "cancel", &[]).see("You are not signed in");
    assert!(run.end(5).stderr.contains("you did not sign in"));
    let (run, tab, page) = asked(&world);
    let (_, page) = opened(&tab, &page);
    tab.send(&page, "cancel", &[]).see("You are not signed in");
    run.end(5);
}

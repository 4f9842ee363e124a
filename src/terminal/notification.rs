use std::{env, thread};

/// Shows a desktop notification that `server`, a safe name, asks in the browser. Without a desktop nothing happens, and
/// errors are ignored: the browser shows the question anyway.
pub(crate) fn show_notification(server: &str) {
    let has_desktop = cfg!(target_os = "macos") || env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    if !has_desktop {
        return;
    }
    let summary = format!("{server} asks");
    // The desktop may be slow.
    thread::spawn(move || {
        let mut notification = notify_rust::Notification::new();
        // The body may contain markup, so it must not contain server text.
        drop(notification.appname("toolnexus").summary(&summary).body("A question is waiting in your browser.").show());
    });
}

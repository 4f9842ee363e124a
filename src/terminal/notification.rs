use std::{env, thread};

/// Shows on the desktop that `server`, made safe, asks in the browser. Where there is no desktop, nothing happens, and what goes
/// wrong matters to nobody: the browser shows the question anyway.
pub(crate) fn show_notification(server: &str) {
    let has_desktop = cfg!(target_os = "macos") || env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some();
    if !has_desktop {
        return;
    }
    let summary = format!("{server} asks");
    // The desktop may take its time.
    thread::spawn(move || {
        let mut notification = notify_rust::Notification::new();
        // The body may hold markup, so nothing of a server's stands there.
        drop(notification.appname("toolnexus").summary(&summary).body("A question is waiting in your browser.").show());
    });
}

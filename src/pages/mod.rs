//! Web pages for the person at this machine, on a small strict server: bound to 127.0.0.1, with `Host` and `Origin`
//! checks, one path that is secret or known to one sender, no caching, a content security policy, forms with a token
//! and a `SameSite` cookie, and limits on all sizes. Everything works without JavaScript.
//!
//! A [`Site`] provides the pages; [`Pages::serve`] serves them. `guard` decides who may ask, `owner` whose programs
//! they are, `forms` which posts are our own, `reply` how a page is sent; all pages share `style.css`.

mod forms;
mod guard;
mod owner;
mod reply;
mod server;

pub use forms::Fields;
pub use guard::is_same;
pub use reply::{Page, PageReply, ServerSentEvent};
pub use server::{Address, Pages, Site, Visit};

/// Text that cannot be guessed: 128 bits, as 32 hexadecimal digits.
///
/// # Errors
/// If random numbers are not available.
pub fn unguessable() -> std::io::Result<String> {
    let mut random = [0; 16];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut random)
        .map_err(|_| std::io::Error::other("random numbers are not available"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

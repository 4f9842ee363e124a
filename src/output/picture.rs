use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::config::Environment;

/// The largest image that is shown, in bytes.
const LARGEST: usize = 16 << 20;
/// How much of an image one kitty escape sequence carries, in base64 characters.
const CHUNK: usize = 4096;
/// The assumed width of a character, in pixels.
const CELL: u32 = 8;

/// The image protocol of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// Kitty's graphics protocol: kitty, Ghostty. Only PNG.
    Kitty,
    /// iTerm2's inline images: iTerm2, WezTerm, Konsole, mintty. All formats that the system can show.
    Inline,
}

impl Pictures {
    /// The image protocol of the terminal that the program runs in.
    ///
    /// # Errors
    /// The reason, if it shows none, or is not known to.
    pub fn of_terminal(environment: &Environment) -> Result<Self, String> {
        let variable = |name: &str| environment.variable(name).unwrap_or_default();
        if !variable("TMUX").is_empty() || variable("TERM").starts_with("screen") {
            return Err("tmux and screen keep images from the terminal".to_owned());
        }
        let (term, program) = (variable("TERM"), variable("TERM_PROGRAM"));
        if !variable("KITTY_WINDOW_ID").is_empty()
            || matches!(term, "xterm-kitty" | "xterm-ghostty")
            || program == "ghostty"
        {
            return Ok(Self::Kitty);
        }
        let inline = matches!(program, "iTerm.app" | "WezTerm" | "mintty") || variable("LC_TERMINAL") == "iTerm2";
        if inline || !variable("KONSOLE_VERSION").is_empty() {
            return Ok(Self::Inline);
        }
        let takes_sixel = ["foot", "mlterm", "yaft", "contour"].iter().any(|name| term.starts_with(name))
            || term.contains("sixel")
            || matches!(program, "contour" | "mlterm");
        if takes_sixel {
            return Err("this terminal shows images only as sixel, which toolnexus does not write".to_owned());
        }
        Err("this terminal is not known to show images: kitty, Ghostty, iTerm2, WezTerm, Konsole and mintty are"
            .to_owned())
    }

    /// The escape sequences that show this image in a terminal of this width, with a line end.
    ///
    /// # Errors
    /// The reason, if the terminal cannot show it.
    pub(super) fn draw(self, image: &[u8], columns: usize) -> Result<String, String> {
        if image.len() > LARGEST {
            return Err(format!("it is larger than {} MiB", LARGEST >> 20));
        }
        let size = png_size(image);
        if self == Self::Kitty && size.is_none() {
            return Err("this terminal shows only PNG images".to_owned());
        }
        // An image is scaled only if it is known to be too wide.
        let is_wide = size.is_some_and(|(width, _)| (width / CELL) as usize > columns);
        let data = STANDARD.encode(image);
        let mut text = String::with_capacity(data.len() + data.len() / 64 + 100);
        match self {
            Self::Inline => {
                let width = if is_wide { "100%" } else { "auto" };
                _ = write!(text, "\x1b]1337;File=inline=1;size={};width={width}:{data}\x07", image.len());
            }
            Self::Kitty => {
                let columns = if is_wide { format!(",c={columns}") } else { String::new() };
                let mut rest = data.as_str();
                let mut head = format!("a=T,f=100,q=2{columns},");
                while !rest.is_empty() {
                    let (chunk, after) = rest.split_at(rest.len().min(CHUNK));
                    _ = write!(text, "\x1b_G{head}m={};{chunk}\x1b\\", u8::from(!after.is_empty()));
                    (rest, head) = (after, String::new());
                }
            }
        }
        text.push('\n');
        Ok(text)
    }
}

/// The width and the height of a PNG image, in pixels; `None` for other formats (*PNG*, 11.2.1 IHDR).
fn png_size(image: &[u8]) -> Option<(u32, u32)> {
    let header = image.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(4..16)?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?));
    header.starts_with(b"IHDR").then_some((number(4)?, number(8)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32) -> Vec<u8> {
        let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        image.extend(width.to_be_bytes());
        image.extend(7_u32.to_be_bytes());
        image
    }

    fn of(pairs: &[(&str, &str)]) -> Result<Pictures, String> {
        Pictures::of_terminal(&Environment {
            variables: pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
            ..Environment::default()
        })
    }

    #[test]
    fn terminals_are_known_by_their_variables() {
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Ok(Pictures::Kitty));
        assert_eq!(of(&[("TERM_PROGRAM", "WezTerm"), ("TERM", "xterm-256color")]), Ok(Pictures::Inline));
        assert!(of(&[("TERM_PROGRAM", "iTerm.app"), ("TMUX", "/tmp/x")]).is_err_and(|words| words.contains("tmux")));
        assert!(of(&[("TERM", "foot-extra")]).is_err_and(|words| words.contains("sixel")));
        assert!(of(&[("TERM", "xterm-256color")]).is_err_and(|words| words.contains("kitty")));
    }

    #[test]
    fn images_are_sent_in_pieces_and_scaled_where_they_are_too_wide() {
        let mut large = png(90);
        large.resize(4000, 0);
        let text = Pictures::Kitty.draw(&large, 80).expect("drawn");
        assert!(text.starts_with("\x1b_Ga=T,f=100,q=2,m=1;") && text.ends_with("\x1b\\\n"), "{text}");
        assert_eq!((text.matches("\x1b_G").count(), text.matches("m=0;").count()), (2, 1));
        assert!(Pictures::Kitty.draw(&png(900), 80).is_ok_and(|text| text.contains(",c=80,m=0;")));
        assert!(Pictures::Inline.draw(&png(900), 80).is_ok_and(|text| text.contains("width=100%:")));
        assert!(Pictures::Kitty.draw(b"GIF89a", 80).is_err());
        assert!(
            Pictures::Inline
                .draw(b"GIF89a", 80)
                .is_ok_and(|text| text.starts_with("\x1b]1337;File=inline=1;size=6;width=auto:"))
        );
        assert!(Pictures::Inline.draw(&vec![0; LARGEST + 1], 80).is_err());
    }
}

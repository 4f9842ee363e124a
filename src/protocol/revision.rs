use std::fmt;

use serde::{Deserialize, Serialize};

/// How a revision of the protocol opens a connection and asks questions (2026-07-28, *Versioning*, Terminology).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: an `initialize` handshake; the server sends requests.
    Legacy,
    /// 2026-07-28 and later: `_meta` on every request; questions come inside results.
    Modern,
}

impl Era {
    /// `"legacy"` or `"modern"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// A revision of the Model Context Protocol that this program speaks. Ordered by date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05, the first one, with the HTTP+SSE transport.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// 2025-03-26, which brought Streamable HTTP.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// 2025-06-18, which brought elicitation.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25, which brought URL mode and multiple choice.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28, stateless, with questions inside results.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest revision with a handshake: what `initialize` offers.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest revision without one: what `server/discover` asks for.
    pub const NEWEST_MODERN: Self = Self::V2026_07_28;

    /// The revision as written on the wire, `"YYYY-MM-DD"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision named `text`, or `None` if this program does not speak it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Which era the revision belongs to.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which revision to speak with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ProtocolChoice {
    /// Find it out.
    #[default]
    Auto,
    /// This one, whatever the server says.
    Fixed(Revision),
}

impl ProtocolChoice {
    /// The choice named `text`: `auto`, or a revision that this program speaks.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "auto" { Some(Self::Auto) } else { Revision::parse(text).map(Self::Fixed) }
    }

    /// What [`ProtocolChoice::parse`] accepts, for messages.
    pub fn known() -> String {
        format!("auto, {}", Revision::ALL.map(Revision::as_str).join(", "))
    }
}

//! What a person sees and types while being asked. Nothing outside here and `output` prints.

mod filled;
#[allow(dead_code)]
mod gate;
#[allow(dead_code)]
mod open;

pub use filled::Filled;
pub use gate::{Gate, gate, is_asking};
pub use open::Terminal;

//! What a person sees and types while being asked. Nothing outside here and `output` prints.

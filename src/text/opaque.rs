/// `Debug` for types whose parts cannot be shown, or must not be: only their names.
macro_rules! opaque {
    ($($name:ident),+) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+};
}

pub(crate) use opaque;

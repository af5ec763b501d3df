//! The C functions: each converts its arguments to words and calls its [`Function`](crate::api::function::Function).

/// Exports the functions of a list: `export!("prefix"; lines)`. The statics of the functions are in `table`.
macro_rules! export {
    ($prefix:literal $(, $unrecorded:ident)?; $(
        $(#[doc = $doc:literal])* $name:ident $(as $c_name:literal)? ($($arg:ident: $kind:ident),* $(,)?) $(-> $ret:ident)? = $body:expr;
    )*) => { $(
        $(#[doc = $doc])*
        #[unsafe(export_name = concat!($prefix, $crate::api::table::c_name!($name $($c_name)?)))]
        pub unsafe extern "C" fn $name($($arg: $crate::api::args::c_type!($kind)),*) -> $crate::api::returns::return_type!($($ret)?) {
            let words = [$($crate::api::word::ToWord::word($arg)),*];
            $crate::api::word::FromWord::from_word($crate::api::function::invoke(&table::$name::FUNCTION, &words))
        }
    )* };
    // Elementwise operations.
    ($prefix:literal $ops:path; $(
        $(#[doc = $doc:literal])* $name:ident($($arg:ident: $kind:ident),* $(,)?) { $($definition:tt)* }
    )*) => { $(
        $(#[doc = $doc])*
        #[unsafe(export_name = concat!($prefix, stringify!($name)))]
        pub unsafe extern "C" fn $name($($arg: $crate::api::args::c_type!($kind)),*) -> $crate::error::THStatus {
            let words = $crate::api::table::tensors_first!(@words [] [] $($arg $kind)*);
            $crate::api::word::FromWord::from_word($crate::api::function::invoke(&table::$name::FUNCTION, &words))
        }
    )* };
}
pub(crate) use export;

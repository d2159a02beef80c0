//! Columns whose values are texts in the database and something narrower here.

use sqlx::error::BoxDynError;

/// The text that stands for a value, and the value that a text stands for.
pub(crate) trait AsText: Sized {
    fn text(&self) -> String;

    fn read(text: &str) -> Result<Self, BoxDynError>;
}

/// Lets a type that is [`AsText`] be bound and read by sqlx.
macro_rules! stored_as_text {
    ($name:ident) => {
        impl<DB: sqlx::Database> sqlx::Type<DB> for $name
        where
            String: sqlx::Type<DB>,
        {
            fn type_info() -> DB::TypeInfo {
                String::type_info()
            }

            fn compatible(info: &DB::TypeInfo) -> bool {
                String::compatible(info)
            }
        }

        impl<'q, DB: sqlx::Database> sqlx::Encode<'q, DB> for $name
        where
            String: sqlx::Encode<'q, DB>,
        {
            fn encode_by_ref(
                &self,
                buffer: &mut DB::ArgumentBuffer,
            ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
                $crate::as_text::AsText::text(self).encode(buffer)
            }
        }

        impl<'r, DB: sqlx::Database> sqlx::Decode<'r, DB> for $name
        where
            String: sqlx::Decode<'r, DB>,
        {
            fn decode(value: DB::ValueRef<'r>) -> Result<Self, sqlx::error::BoxDynError> {
                $crate::as_text::AsText::read(&String::decode(value)?)
            }
        }
    };
}

pub(crate) use stored_as_text;

//! Rows into a table, with a statement that is looked up once for all of them.
//!
//! One statement for several rows would cost more: SQLite keeps the pages as they were before such a statement, to be able
//! to undo half of it.

use rusqlite::{CachedStatement, Connection, ToSql};
use uuid::Uuid;

/// A table and the columns that are given, in their order. The others are the database's to fill in.
#[derive(Debug)]
pub(crate) struct Table {
    columns: usize,
    insert: String,
}

impl Table {
    pub(crate) fn new(name: &str, columns: &[&str]) -> Self {
        let values = vec!["?"; columns.len()].join(", ");
        Self {
            columns: columns.len(),
            insert: format!(
                "INSERT INTO {name} ({}) VALUES ({values})",
                columns.join(", ")
            ),
        }
    }

    /// Adds the rows in their order. `fill` puts a value for each column.
    pub(crate) fn insert<Row, Error: From<rusqlite::Error>>(
        &self,
        connection: &Connection,
        rows: &[Row],
        mut fill: impl FnMut(&mut Values<'_, '_>, &Row) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut statement = connection.prepare_cached(&self.insert)?;
        for row in rows {
            let mut values = Values {
                statement: &mut statement,
                put: 0,
            };
            fill(&mut values, row)?;
            debug_assert_eq!(values.put, self.columns, "one value for each column");
            statement.raw_execute()?;
        }
        Ok(())
    }
}

/// The values of a row, which are put one after the other.
pub(crate) struct Values<'statement, 'connection> {
    statement: &'statement mut CachedStatement<'connection>,
    put: usize,
}

impl Values<'_, '_> {
    pub(crate) fn put(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.put += 1;
        self.statement.raw_bind_parameter(self.put, value)
    }

    /// As its sixteen bytes.
    pub(crate) fn id(&mut self, id: Uuid) -> rusqlite::Result<()> {
        self.put(&id.as_bytes()[..])
    }
}

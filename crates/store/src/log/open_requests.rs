//! Which requests may still be decided.

use std::collections::HashSet;

use crate::job::WriteJob;
use crate::rows::RequestId;
use crate::write::Write;

/// Whoever takes a request out of it has won.
#[derive(Debug)]
pub(super) struct OpenRequests(HashSet<RequestId>);

impl FromIterator<RequestId> for OpenRequests {
    fn from_iter<Ids: IntoIterator<Item = RequestId>>(ids: Ids) -> Self {
        Self(ids.into_iter().collect())
    }
}

impl OpenRequests {
    /// Only the first decision about a request. Of all others the database says what stands.
    pub(super) fn may_decide(&self, job: &WriteJob) -> bool {
        let opens = |id: RequestId| move |write: &Write| matches!(write, Write::OpenRequest(row) if row.id == id);
        (0..).zip(&job.writes).all(|(before, write)| match write {
            Write::Decide(row) => {
                self.0.contains(&row.request_id)
                    || job.writes[..before].iter().any(opens(row.request_id))
            }
            _ => true,
        })
    }

    /// The job stands in the log.
    pub(super) fn follow(&mut self, job: &WriteJob) {
        for write in &job.writes {
            match write {
                Write::OpenRequest(row) => {
                    self.0.insert(row.id);
                }
                Write::Decide(row) => {
                    self.0.remove(&row.request_id);
                }
                _ => {}
            }
        }
    }
}

//! What stands behind the buttons of notifications: tokens for one action on one request, good once.
//!
//! They live in memory only. A server that ends takes them along, and its buttons with them.

use std::collections::HashMap;

use sayso_protocol::ActionKind;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::access::Fresh;

/// Beyond, nothing new gets a button.
const MOST: usize = 20_000;

/// What a token is for, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) channel: Uuid,
    pub(super) request: Uuid,
    pub(super) digest: String,
    pub(super) action: ActionKind,
}

#[derive(Debug, Default)]
pub(super) struct Tokens {
    known: HashMap<Uuid, (Fresh, Bound)>,
}

impl Tokens {
    /// The same for each try to send the same, so that whichever arrives has buttons that work.
    pub(super) fn give(&mut self, bound: &Bound) -> Option<String> {
        let same = self.known.iter().find(|(_, (_, known))| known == bound);
        if let Some((id, (secret, _))) = same {
            return Some(shown(*id, secret));
        }
        if self.known.len() >= MOST {
            return None;
        }
        let (id, secret) = (Uuid::new_v4(), Fresh::make().ok()?);
        let token = shown(id, &secret);
        self.known.insert(id, (secret, bound.clone()));
        Some(token)
    }

    /// Takes a token away, whatever becomes of it: nobody can try it again.
    pub(super) fn take(&mut self, shown: &str) -> Option<Bound> {
        let (id, secret) = shown.split_once('.')?;
        let id = Uuid::try_parse(id).ok()?;
        let (kept, _) = self.known.get(&id)?;
        let same: bool = kept.expose().as_bytes().ct_eq(secret.as_bytes()).into();
        if !same {
            return None;
        }
        self.known.remove(&id).map(|(_, bound)| bound)
    }

    pub(super) fn forget_request(&mut self, request: Uuid) {
        self.known.retain(|_, (_, bound)| bound.request != request);
    }

    pub(super) fn forget_channel(&mut self, channel: Uuid) {
        self.known.retain(|_, (_, bound)| bound.channel != channel);
    }

    pub(super) fn forget_all(&mut self) {
        self.known.clear();
    }
}

fn shown(id: Uuid, secret: &Fresh) -> String {
    format!("{}.{}", id.simple(), secret.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(request: u128, action: ActionKind) -> Bound {
        Bound {
            channel: Uuid::from_u128(1),
            request: Uuid::from_u128(request),
            digest: "d".to_owned(),
            action,
        }
    }

    #[test]
    fn a_token_is_good_once_and_for_one_thing() {
        let mut tokens = Tokens::default();
        let (allow, deny) = (bound(1, ActionKind::Allow), bound(1, ActionKind::Deny));
        let token = tokens.give(&allow).unwrap();
        assert_eq!(
            tokens.give(&allow),
            Some(token.clone()),
            "another try to send it"
        );
        let other = tokens.give(&deny).unwrap();
        assert_ne!(token, other);
        let (id, secret) = token.split_once('.').unwrap();
        let (other_id, _) = other.split_once('.').unwrap();
        for wrong in [
            "",
            ".",
            id,
            &format!("{id}."),
            &format!("{other_id}.{secret}"),
            &format!("{token}x"),
            &token[..token.len() - 1],
        ] {
            assert_eq!(tokens.take(wrong), None, "{wrong}");
        }
        assert_eq!(tokens.take(&token), Some(allow));
        assert_eq!(tokens.take(&token), None, "twice");
        assert_eq!(tokens.take(&other), Some(deny));
    }

    #[test]
    fn tokens_end_with_their_request_and_their_channel() {
        let mut tokens = Tokens::default();
        let mut give = |request| tokens.give(&bound(request, ActionKind::Deny)).unwrap();
        let (first, second, third) = (give(1), give(2), give(3));
        tokens.forget_request(Uuid::from_u128(1));
        assert_eq!(tokens.take(&first), None);
        assert!(tokens.take(&second).is_some());
        tokens.forget_channel(Uuid::from_u128(1));
        assert_eq!(tokens.take(&third), None);
    }
}

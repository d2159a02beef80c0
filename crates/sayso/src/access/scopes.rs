//! Sets of scopes, and who is asking.

use std::fmt;

use sayso_protocol::Scope;
use uuid::Uuid;

/// What a device may do. Every device may look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    pub fn all() -> Self {
        Self::of(&Scope::ALL)
    }

    pub fn of(scopes: &[Scope]) -> Self {
        let bits = scopes.iter().map(|scope| bit(*scope));
        Self(bits.fold(bit(Scope::View), |all, one| all | one))
    }

    /// Reads what `words` wrote. A word that is not known gives nothing.
    pub(super) fn parse(words: &str) -> Self {
        let known = Scope::ALL.into_iter();
        let named = known.filter(|scope| words.split(' ').any(|word| word == scope.as_str()));
        Self::of(&named.collect::<Vec<_>>())
    }

    pub(super) fn words(self) -> String {
        let words: Vec<&str> = self.list().into_iter().map(Scope::as_str).collect();
        words.join(" ")
    }

    pub fn has(self, scope: Scope) -> bool {
        self.0 & bit(scope) != 0
    }

    pub fn list(self) -> Vec<Scope> {
        let all = Scope::ALL.into_iter();
        all.filter(|scope| self.has(*scope)).collect()
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words())
    }
}

fn bit(scope: Scope) -> u8 {
    match scope {
        Scope::View => 1,
        Scope::Answer => 2,
        Scope::Approve => 4,
        Scope::Rules => 8,
        Scope::Admin => 16,
    }
}

/// Whether the password was given before something risky.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// There is no password, or it was given a moment ago.
    Given,
    Missing,
}

/// Who is asking, as the server knows it at this moment. Nothing in it comes
/// from the client, but for a script's name.
#[derive(Clone, Debug)]
pub struct Pass {
    pub identity: Identity,
    pub label: String,
    pub scopes: Scopes,
    pub proof: Proof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Whoever has the server's own token.
    Owner,
    Device(Uuid),
}

impl Pass {
    /// For what Sayso does by itself.
    pub fn sayso() -> Self {
        Self {
            identity: Identity::Owner,
            label: "Sayso".to_owned(),
            scopes: Scopes::all(),
            proof: Proof::Given,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_may_look_and_words_give_back_what_they_came_from() {
        assert_eq!(Scopes::of(&[]).list(), [Scope::View]);
        assert_eq!(Scopes::parse("root admins ADMIN").list(), [Scope::View]);
        for bits in 0_u8..32 {
            let scopes: Vec<Scope> = Scope::ALL
                .into_iter()
                .filter(|scope| bits & bit(*scope) != 0)
                .collect();
            let set = Scopes::of(&scopes);
            assert_eq!(Scopes::parse(&set.words()), set);
            for scope in Scope::ALL {
                let given = scopes.contains(&scope) || scope == Scope::View;
                assert_eq!(set.has(scope), given, "{set:?} {scope:?}");
            }
        }
    }
}

//! `WebFetch` by the host of its address.

use super::{Verdict, quote};
use crate::call::ToolCall;
use crate::decision::Decision;
use crate::rules::{RuleId, Rules};
use crate::web::Address;

pub(super) fn judge(rules: &Rules, call: &ToolCall<'_>, verdict: &mut Verdict) {
    let text = call.text("url").unwrap_or_default();
    let Some(address) = Address::parse(text) else {
        verdict.doubt(format!("{} is not an address", quote(text)));
        return;
    };
    for effect in [Decision::Deny, Decision::Ask, Decision::Allow] {
        let domains = rules.index(effect).domains.iter();
        let fitting = domains.filter(|(pattern, _)| pattern.matches(&address.host));
        let ids: Vec<RuleId> = fitting.map(|(_, id)| id.clone()).collect();
        if !ids.is_empty() {
            verdict.stop(effect, ids, &quote(&address.host));
        }
    }
    if let Some(doubt) = address.doubt {
        verdict.doubt(doubt);
    } else if verdict.allow.is_empty() {
        let host = quote(&address.host);
        verdict.doubt(format!("the host {host} is not covered by any rule"));
    }
}

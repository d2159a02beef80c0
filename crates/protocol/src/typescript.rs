//! Keeps `ui/src/protocol.gen.ts` in step with the Rust types.

use std::collections::BTreeMap;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

use crate::{
    Act, AgentRules, AnswerValue, Baseline, ChangeDevice, ChangePush, ClientMessage,
    ConfirmPairing, Conversations, FileMatches, FolderMatches, HistoryCheck, HistoryDetail,
    HistoryPage, MadeChannel, MadeToken, NewPairing, NewToken, Notifications, Pair, Paired,
    PairingLink, Prove, Proven, PushPayload, PutChannel, ReadSettings, RuleSuggestions,
    ServerMessage, SetPassword, SettingsRules, SubscribePush, TestCall, TestedCall,
    TranscriptEntry, TriedRule, TryRule,
};

const HEADER: &str = "// Generated from crates/protocol. Do not edit.\n\
// To rewrite it: SAYSO_WRITE_TYPES=1 cargo test -p sayso-protocol\n\n";

struct Collector<'a> {
    config: &'a Config,
    declarations: BTreeMap<String, String>,
}

impl TypeVisitor for Collector<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() {
            return;
        }
        let name = T::name(self.config);
        if self.declarations.contains_key(&name) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}\n", T::decl(self.config));
        self.declarations.insert(name, declaration);
        T::visit_dependencies(self);
    }
}

fn generate() -> String {
    let config = Config::new().with_large_int("number");
    let mut collector = Collector {
        config: &config,
        declarations: BTreeMap::new(),
    };
    collector.visit::<ClientMessage>();
    collector.visit::<ServerMessage>();
    collector.visit::<TranscriptEntry>();
    collector.visit::<FolderMatches>();
    collector.visit::<FileMatches>();
    collector.visit::<Conversations>();
    collector.visit::<Baseline>();
    collector.visit::<RuleSuggestions>();
    collector.visit::<TryRule>();
    collector.visit::<TriedRule>();
    collector.visit::<TestCall>();
    collector.visit::<TestedCall>();
    collector.visit::<AgentRules>();
    collector.visit::<HistoryPage>();
    collector.visit::<HistoryDetail>();
    collector.visit::<HistoryCheck>();
    collector.visit::<ReadSettings>();
    collector.visit::<SettingsRules>();
    collector.visit::<NewPairing>();
    collector.visit::<PairingLink>();
    collector.visit::<ConfirmPairing>();
    collector.visit::<Pair>();
    collector.visit::<Paired>();
    collector.visit::<NewToken>();
    collector.visit::<MadeToken>();
    collector.visit::<ChangeDevice>();
    collector.visit::<Prove>();
    collector.visit::<Proven>();
    collector.visit::<SetPassword>();
    collector.visit::<Notifications>();
    collector.visit::<SubscribePush>();
    collector.visit::<ChangePush>();
    collector.visit::<PutChannel>();
    collector.visit::<MadeChannel>();
    collector.visit::<Act>();
    collector.visit::<PushPayload>();
    // Named by hand where ts-rs cannot follow it.
    collector.visit::<AnswerValue>();
    let body: Vec<String> = collector.declarations.into_values().collect();
    format!("{HEADER}{}", body.join("\n"))
}

#[test]
fn the_generated_typescript_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/protocol.gen.ts");
    let generated = generate();
    if std::env::var_os("SAYSO_WRITE_TYPES").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "ui/src/protocol.gen.ts is out of date; run SAYSO_WRITE_TYPES=1 cargo test -p sayso-protocol"
    );
}

//! Trusted folders, and what agents said of themselves.

use super::*;

#[tokio::test]
async fn trust_is_for_one_folder_as_it_was_last_seen() {
    let mut bench = Bench::in_memory().await;
    let row = |path: &str, digest: &str| TrustedFolderRow {
        path: path.to_owned(),
        digest: digest.to_owned(),
        trusted_at: UnixMillis(7_000),
        client_label: "phone".to_owned(),
    };
    for trusted in [row("/srv/a", "1"), row("/srv/a", "2"), row("/srv/b", "3")] {
        bench.write([Write::TrustFolder(trusted)]).await.unwrap();
    }
    for (path, expected) in [
        ("/srv/a", Some(row("/srv/a", "2"))),
        ("/srv/b", Some(row("/srv/b", "3"))),
        ("/srv", None),
        ("/srv/a/", None),
    ] {
        assert_eq!(bench.store.trusted_folder(path).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn an_agent_has_the_facts_it_last_gave() {
    let mut bench = Bench::in_memory().await;
    let row = |models: &str| AgentFactsRow {
        agent: "claude".to_owned(),
        models: models.to_owned(),
    };
    for models in ["[]", VERBATIM] {
        bench
            .write([Write::PutAgentFacts(row(models))])
            .await
            .unwrap();
    }
    assert_eq!(bench.store.agent_facts().await.unwrap(), [row(VERBATIM)]);
}

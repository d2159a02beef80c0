//! A real server on a free port with the demo agent, and a client that speaks
//! the public protocol to it.

#![allow(
    dead_code,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "shared by several tests, each of which uses a part; a failure fails the test"
)]

pub(crate) mod raw;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use sayso::access::Secret;
use sayso::config::{
    Config, DurabilitySetting, Limit, NotificationSettings, OnShutdown, PolicySettings, Size,
};
use sayso::server::Server;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "a-token-for-tests-only";
/// Far beyond what anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    shutdown: CancellationToken,
    running: Option<tokio::task::JoinHandle<anyhow::Result<()>>>,
}

impl TestServer {
    pub(crate) async fn start() -> Self {
        Self::start_with(PolicySettings::default()).await
    }

    pub(crate) async fn start_with(policies: PolicySettings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::start_in(folder, policies).await
    }

    pub(crate) async fn start_in(folder: TempDir, policies: PolicySettings) -> Self {
        Self::open(folder, |config| config.policies = policies).await
    }

    pub(crate) async fn start_configured(change: impl FnOnce(&mut Config)) -> Self {
        Self::open(tempfile::tempdir().unwrap(), change).await
    }

    pub(crate) async fn open(folder: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        let project = folder.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let mut config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            data_dir: folder.path().join("data"),
            claude: Some(folder.path().join("no-claude-here")),
            token: None,
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            tls: None,
            tls_cert: None,
            tls_key: None,
            behind_proxy: false,
            max_sessions: 200,
            max_transcript: Size(Some(1 << 30)),
            pass_environment: Vec::new(),
            default_agent: "demo".to_owned(),
            default_folder: Some(project),
            on_shutdown: OnShutdown::Stop,
            durability: DurabilitySetting::default(),
            keep_history: Limit(None),
            agent_patience: Limit(Some(Duration::from_secs(10))),
            unclaimed_timeout: Limit(Some(Duration::from_secs(60))),
            notifications: NotificationSettings::default(),
            policies: PolicySettings::default(),
        };
        change(&mut config);
        std::fs::create_dir_all(&config.data_dir).unwrap();
        let listener = TcpListener::bind(config.listen).await.unwrap();
        let secret = Secret::new(TOKEN).unwrap();
        let program = PathBuf::from(env!("CARGO_BIN_EXE_sayso"));
        let server = Server::open(config, secret, listener, program)
            .await
            .unwrap();
        let address = server.address();
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(server.run(shutdown.clone()));
        Self {
            address,
            folder,
            shutdown,
            running: Some(running),
        }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Ends the server in order and gives its folder back.
    pub(crate) async fn stop(mut self) -> TempDir {
        self.shutdown.cancel();
        let running = self.running.take().unwrap();
        let ended = tokio::time::timeout(PATIENCE, running).await;
        ended.expect("the server ends").unwrap().unwrap();
        let empty = tempfile::tempdir().unwrap();
        std::mem::replace(&mut self.folder, empty)
    }

    pub(crate) async fn connect(&self) -> Client {
        Client::to(&self.url("")).await
    }

    /// A socket for whoever has this token; its welcome has not been read.
    pub(crate) async fn connect_with(&self, token: &str) -> Client {
        Client::with_token(&self.url(""), token).await
    }

    /// A socket in another front end's dialect.
    pub(crate) async fn connect_compat(&self, dialect: &str, token: &str) -> Client {
        let url = format!("ws://{}/compat/{dialect}/ws", self.address);
        Client::at(&url, token).await
    }

    /// A client that is told only of the sessions it attends.
    pub(crate) async fn connect_attending(&self) -> Client {
        let url = format!("ws://{}/api/ws?only=attended", self.address);
        let mut client = Client::at(&url, TOKEN).await;
        client.welcome = client.next().await;
        client
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

pub(crate) struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) welcome: Value,
    next_id: u64,
    /// Frames that were read while waiting for another one.
    seen: Vec<Value>,
}

impl Client {
    /// A client of the server at this address, once it has been welcomed.
    pub(crate) async fn to(url: &str) -> Self {
        let mut client = Self::to_unwelcoming(url).await;
        let welcome = client.next().await;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        client.welcome = welcome;
        client
    }

    pub(crate) async fn to_unwelcoming(url: &str) -> Self {
        Self::with_token(url, TOKEN).await
    }

    async fn with_token(url: &str, token: &str) -> Self {
        Self::at(&format!("{}/api/ws", url.replacen("http", "ws", 1)), token).await
    }

    pub(crate) async fn at(url: &str, token: &str) -> Self {
        Self::try_at(url, token).await.unwrap()
    }

    /// The same, unless it is refused.
    pub(crate) async fn try_at(url: &str, token: &str) -> Result<Self, Box<Error>> {
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", bearer);
        let (socket, _) = tokio_tungstenite::connect_async(request).await?;
        Ok(Self {
            socket,
            welcome: Value::Null,
            next_id: 0,
            seen: Vec::new(),
        })
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
    }

    /// Sends a message and waits for its ack or error.
    pub(crate) async fn call(&mut self, mut message: Value) -> Value {
        self.next_id += 1;
        let id = format!("call-{}", self.next_id);
        message["id"] = json!(id);
        self.send_text(&message.to_string()).await;
        self.wait_for(|frame| frame["id"] == json!(id)).await
    }

    pub(crate) async fn start(&mut self, server: &TestServer, prompt: &Value) -> String {
        let cwd = server.project().display().to_string();
        let prompt = match prompt {
            Value::String(text) => text.clone(),
            script => script.to_string(),
        };
        let message = json!({"type": "start_session", "cwd": cwd, "prompt": prompt});
        let ack = self.call(message).await;
        let id = ack["session_id"].as_str();
        id.unwrap_or_else(|| panic!("not started: {ack}"))
            .to_owned()
    }

    pub(crate) async fn next(&mut self) -> Value {
        let read = async {
            loop {
                let message = self.socket.next().await.expect("the socket is open");
                if let Message::Text(text) = message.unwrap() {
                    return serde_json::from_str(&text).unwrap();
                }
            }
        };
        let frame = tokio::time::timeout(PATIENCE, read).await;
        frame.expect("a frame comes")
    }

    /// The first frame, also among those already read, that fits.
    pub(crate) async fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.seen.iter().position(&fits) {
            return self.seen.remove(index);
        }
        loop {
            let frame = self.next().await;
            if fits(&frame) {
                return frame;
            }
            self.seen.push(frame);
        }
    }

    pub(crate) async fn opened(&mut self) -> Value {
        let frame = self
            .wait_for(|frame| frame["type"] == "request_opened")
            .await;
        frame["pending_request"].clone()
    }

    pub(crate) async fn closed(&mut self, request: &Value) -> Value {
        let id = request["request_id"].clone();
        let fits = |frame: &Value| frame["type"] == "request_closed" && frame["request_id"] == id;
        self.wait_for(fits).await["outcome"].clone()
    }

    pub(crate) async fn state(&mut self, session: &str, state: &str) -> Value {
        let fits = |frame: &Value| {
            frame["type"] == "session_state"
                && frame["session"]["session_id"] == session
                && frame["session"]["state"] == state
        };
        self.wait_for(fits).await["session"].clone()
    }

    pub(crate) async fn respond(&mut self, request: &Value, decision: Value) -> Value {
        self.call(json!({
            "type": "respond",
            "request_id": request["request_id"],
            "input_digest": request["input_digest"],
            "decision": decision,
        }))
        .await
    }

    /// Frames read so far that nobody waited for.
    pub(crate) fn take_seen(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.seen)
    }

    pub(crate) async fn close(mut self) {
        self.socket.close(None).await.unwrap();
    }
}

/// A script for the demo agent that asks for one command.
pub(crate) fn bash(command: &str) -> Value {
    json!({"steps": [{"tool": {"name": "Bash", "input": {"command": command}}}]})
}

pub(crate) fn tool(name: &str, input: Value) -> Value {
    json!({"tool": {"name": name, "input": input}})
}

/// The text of the first tool result in the session's transcript.
pub(crate) async fn tool_result(client: &mut Client, session: &str) -> String {
    let entry = client
        .entry(session, |entry| entry["kind"] == "tool_result")
        .await;
    entry["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

impl Client {
    pub(crate) async fn subscribe(&mut self, session: &str) {
        let ack = self
            .call(json!({"type": "subscribe", "session_id": session}))
            .await;
        assert_eq!(ack["type"], "ack", "{ack}");
    }

    /// Waits for the end of a turn. The state alone does not tell: an agent that has just started is idle, too.
    pub(crate) async fn turn_over(&mut self, session: &str) {
        self.subscribe(session).await;
        self.entry(session, |entry| entry["kind"] == "turn_ended")
            .await;
    }

    /// The first transcript entry of the session that fits; the session must be subscribed to.
    pub(crate) async fn entry(&mut self, session: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let find = |frame: &Value| {
            let entries = frame["entries"].as_array().into_iter().flatten();
            let mut entries = entries.filter(|_| frame["session_id"] == session);
            entries.find(|entry| fits(entry)).cloned()
        };
        let frame = self.wait_for(|frame| find(frame).is_some()).await;
        let found = find(&frame).expect("it was just found");
        self.seen.push(frame);
        found
    }
}

impl Client {
    pub(crate) async fn send_text_ignoring_errors(&mut self, text: &str) {
        let _ = self.socket.send(Message::text(text)).await;
    }

    /// True when the server ends the connection.
    pub(crate) async fn ended(&mut self) -> bool {
        let wait = async {
            loop {
                match self.socket.next().await {
                    None | Some(Err(_) | Ok(Message::Close(_))) => return,
                    Some(Ok(_)) => {}
                }
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.is_ok()
    }
}

/// Reads a server's first lines up to its address, without the secret.
pub(crate) async fn printed_url(stdout: tokio::process::ChildStdout) -> String {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let mut lines = BufReader::new(stdout).lines();
    loop {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line
            .expect("the address comes")
            .unwrap()
            .expect("the server is up");
        if let Some((url, _)) = line.trim().split_once("/#pair=") {
            return url.to_owned();
        }
    }
}

/// Asks over REST until a request is open.
pub(crate) async fn first_request(api: &reqwest::Client, url: &str) -> Value {
    let mut tries = tokio::time::interval(Duration::from_millis(20));
    let ask = async {
        loop {
            tries.tick().await;
            let answer = api
                .get(format!("{url}/api/requests"))
                .bearer_auth(TOKEN)
                .send()
                .await;
            let body: Value = answer.unwrap().json().await.unwrap();
            if let Some(request) = body["pending_requests"].get(0) {
                return request.clone();
            }
        }
    };
    tokio::time::timeout(PATIENCE, ask)
        .await
        .expect("a request is opened")
}

impl Client {
    /// The code with which the server says goodbye.
    pub(crate) async fn close_code(&mut self) -> Option<u16> {
        let wait = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Close(close))) => return close.map(|close| close.code.into()),
                    Some(Ok(_)) => {}
                    None | Some(Err(_)) => return None,
                }
            }
        };
        tokio::time::timeout(PATIENCE, wait)
            .await
            .expect("the socket ends")
    }
}

//! A front end: frames out, frames in, in the words of its dialect.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::support::{TOKEN, TestServer};

/// Far beyond what anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct FrontEnd {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Frames that were read while waiting for another one.
    seen: Vec<Value>,
    session: Option<String>,
}

impl FrontEnd {
    /// Connects to start sessions in the server's project folder; `more` is added to the address.
    pub(crate) async fn connect(server: &TestServer, dialect: &str, more: &str) -> Self {
        let cwd = server.project().display().to_string();
        Self::at(server, dialect, &format!("&cwd={cwd}{more}")).await
    }

    /// Connects to a session that is there.
    pub(crate) async fn join(server: &TestServer, dialect: &str, session: &str) -> Self {
        Self::at(server, dialect, &format!("&session_id={session}")).await
    }

    /// Joins with another token than the owner's.
    pub(crate) async fn with_token(
        server: &TestServer,
        dialect: &str,
        token: &str,
        session: &str,
    ) -> Self {
        let path = format!("/compat/{dialect}/ws?token={token}&session_id={session}");
        Self::to(&server.url(&path).replacen("http", "ws", 1)).await
    }

    async fn at(server: &TestServer, dialect: &str, more: &str) -> Self {
        let path = format!("/compat/{dialect}/ws?token={TOKEN}{more}");
        Self::to(&server.url(&path).replacen("http", "ws", 1)).await
    }

    pub(crate) async fn to(address: &str) -> Self {
        let (socket, _) = tokio_tungstenite::connect_async(address).await.unwrap();
        Self {
            socket,
            seen: Vec::new(),
            session: None,
        }
    }

    pub(crate) async fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
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
        let frame: Result<Value, _> = tokio::time::timeout(PATIENCE, read).await;
        let frame =
            frame.unwrap_or_else(|_| panic!("nothing comes any more; seen were {:#?}", self.seen));
        let session = [&frame["session_id"], &frame["sessionId"]];
        let session = session.into_iter().find_map(Value::as_str);
        self.session = session.map(str::to_owned).or(self.session.take());
        frame
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

    pub(crate) async fn of_type(&mut self, kind: &str) -> Value {
        self.wait_for(|frame| frame["type"] == kind).await
    }

    /// Everything that has come and that nobody waited for.
    pub(crate) fn seen(&self) -> &[Value] {
        &self.seen
    }

    /// The session that was last spoken of.
    pub(crate) fn session(&self) -> String {
        self.session.clone().expect("a session has begun")
    }

    pub(crate) async fn close(mut self) {
        self.socket.close(None).await.unwrap();
        // Until the server has let go as well.
        while let Some(Ok(_)) = self.socket.next().await {}
    }
}

/// The HTTP status with which a connection is refused.
pub(crate) async fn refused(server: &TestServer, path: &str) -> u16 {
    let url = server.url(path).replacen("http", "ws", 1);
    match tokio_tungstenite::connect_async(url).await {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => 101,
    }
}

/// How the first request of a session ended, asked without being a client that could answer it.
pub(crate) async fn first_outcome(server: &TestServer, session: &str) -> Value {
    let api = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = server.url(&format!("/api/sessions/{session}/transcript"));
    let ask = async {
        loop {
            let page = api.get(&url).bearer_auth(TOKEN).send().await.unwrap();
            let page: Value = page.json().await.unwrap();
            let mut entries = page["entries"].as_array().into_iter().flatten();
            if let Some(decision) = entries.find(|entry| entry["kind"] == "decision") {
                return decision["outcome"].clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let outcome = tokio::time::timeout(PATIENCE, ask).await;
    outcome.expect("the request ends")
}

//! What stands on the other side: a server that keeps what it is sent, and answers as it is told to.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::Value;
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(30);
/// Long enough for anything that is going to be sent at once.
const A_WHILE: Duration = Duration::from_millis(700);

#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Clone)]
struct Shared {
    received: mpsc::UnboundedSender<Received>,
    answers: Arc<Mutex<VecDeque<u16>>>,
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    received: mpsc::UnboundedReceiver<Received>,
    shared: Shared,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let (sender, received) = mpsc::unbounded_channel();
        let shared = Shared {
            received: sender,
            answers: Arc::default(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(take).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            received,
            shared,
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next answers; 201 when there are no more.
    pub(crate) fn answer(&self, statuses: &[u16]) {
        self.shared.answers.lock().unwrap().extend(statuses);
    }

    pub(crate) async fn next(&mut self) -> Received {
        let next = tokio::time::timeout(PATIENCE, self.received.recv()).await;
        next.expect("something comes").unwrap()
    }

    pub(crate) async fn nothing_comes(&mut self) {
        let next = tokio::time::timeout(A_WHILE, self.received.recv()).await;
        assert!(next.is_err(), "{next:?}");
    }
}

async fn take(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, [(&'static str, String); 1]) {
    let received = Received {
        method,
        path: uri.path().to_owned(),
        headers,
        body,
        at: Instant::now(),
    };
    shared.received.send(received).unwrap();
    let answer = shared.answers.lock().unwrap().pop_front().unwrap_or(201);
    // Whoever follows a redirection comes back here.
    let location = [("location", "/elsewhere".to_owned())];
    (StatusCode::from_u16(answer).unwrap(), location)
}

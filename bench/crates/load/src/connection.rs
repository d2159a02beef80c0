//! One socket of a server under test.

use crate::dialect::Event;
use crate::options::Opts;
use crate::Res;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::WebSocketStream;

pub(crate) type Ws = WebSocketStream<TcpStream>;

pub(crate) async fn open(o: &Opts, join: Option<&str>) -> Res<Ws> {
    let url = format!("ws://{}:{}{}", o.host, o.port, o.dialect.path(join));
    let mut req = url.into_client_request().map_err(|e| e.to_string())?;
    for (k, v) in o.dialect.headers() {
        req.headers_mut().insert(
            HeaderName::from_bytes(k.as_bytes()).map_err(|e| e.to_string())?,
            HeaderValue::from_str(&v).map_err(|e| e.to_string())?,
        );
    }
    let tcp = TcpStream::connect((o.host.as_str(), o.port))
        .await
        .map_err(|e| format!("connect: {e}"))?;
    tcp.set_nodelay(true).map_err(|e| e.to_string())?;
    let cfg = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let (ws, _) = tokio_tungstenite::client_async_with_config(req, tcp, Some(cfg))
        .await
        .map_err(|e| format!("websocket: {e}"))?;
    Ok(ws)
}

/// A plain HTTP/1.1 request, for servers that create sessions that way.
async fn http(o: &Opts, method: &str, path: &str, body: &str) -> Res<String> {
    let mut tcp = TcpStream::connect((o.host.as_str(), o.port))
        .await
        .map_err(|e| format!("connect: {e}"))?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\n",
        o.host, o.port
    );
    for (k, v) in o.dialect.headers() {
        head.push_str(&format!("{k}: {v}\r\n"));
    }
    if !body.is_empty() {
        head.push_str(&format!(
            "Content-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        ));
    }
    tcp.write_all(format!("{head}\r\n{body}").as_bytes())
        .await
        .map_err(|e| e.to_string())?;
    let mut got = String::new();
    tcp.read_to_string(&mut got)
        .await
        .map_err(|e| e.to_string())?;
    got.split_once("\r\n\r\n")
        .map(|(_, b)| b.to_string())
        .ok_or_else(|| format!("http answer: {got}"))
}

pub(crate) async fn next_text(ws: &mut Ws) -> Res<Message> {
    loop {
        match ws.next().await {
            Some(Ok(m @ (Message::Text(_) | Message::Binary(_)))) => return Ok(m),
            Some(Ok(Message::Close(c))) => return Err(format!("closed by the server: {c:?}")),
            Some(Ok(_)) => {}
            Some(Err(e)) => return Err(format!("websocket: {e}")),
            None => return Err("connection ended".into()),
        }
    }
}

pub(crate) fn text_of(m: &Message) -> &str {
    match m {
        Message::Text(t) => t.as_str(),
        Message::Binary(b) => std::str::from_utf8(b).unwrap_or(""),
        _ => "",
    }
}

pub(crate) async fn send(ws: &mut Ws, text: String) -> Res<()> {
    ws.send(Message::text(text))
        .await
        .map_err(|e| format!("send: {e}"))
}

/// Connect and wait until the session is open. Returns its id.
pub(crate) async fn attach(o: &Opts, join: Option<&str>, viewer: bool) -> Res<(Ws, String)> {
    let created = match (join, o.dialect.create()) {
        (None, Some((m, p, b))) => {
            let body = http(o, &m, &p, &b).await?;
            Some(
                o.dialect
                    .created(&body)
                    .ok_or_else(|| format!("no session in {body}"))?,
            )
        }
        _ => None,
    };
    let join = join.or(created.as_deref());
    let mut ws = open(o, join).await?;
    for f in o.dialect.hello(join, viewer) {
        send(&mut ws, f).await?;
    }
    loop {
        let m = next_text(&mut ws).await?;
        match o.dialect.read(text_of(&m)) {
            Event::Ready { session } => {
                let id = session.to_string();
                return Ok((ws, id));
            }
            Event::Error { text } => return Err(text.to_string()),
            _ => {}
        }
    }
}

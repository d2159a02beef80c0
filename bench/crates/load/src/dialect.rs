//! What differs between the servers under test: the WebSocket path, the frames
//! the client sends, and how the frames it gets are read. Adding a server means
//! adding one type here and one line in `by_name`.

/// A frame from the server, as far as the load client cares.
#[derive(Debug)]
pub enum Event<'a> {
    /// The session is open; its id, for further viewers to join.
    Ready {
        session: &'a str,
    },
    /// A permission request that wants an answer.
    Ask {
        id: &'a str,
        digest: &'a str,
    },
    /// One text delta of the transcript (or several in one frame).
    Delta {
        count: u64,
    },
    /// The turn is over. The agent's figures as the *still JSON-escaped* body
    /// of the string they arrived in.
    Result {
        escaped: &'a str,
    },
    /// The server refused something.
    Error {
        text: &'a str,
    },
    Other,
}

pub trait Dialect: Send + Sync {
    /// Path (and query) of the WebSocket. `join` is the session a viewer wants.
    fn path(&self, join: Option<&str>) -> String;
    /// Further request headers of the upgrade (Origin, Authorization, ...).
    fn headers(&self) -> Vec<(String, String)> {
        vec![]
    }
    /// An HTTP request made before the WebSocket is opened, for servers that
    /// create sessions over HTTP: (method, path, body). Its answer's body is
    /// given to `created`, which returns the session id to join.
    fn create(&self) -> Option<(String, String, String)> {
        None
    }
    fn created(&self, _body: &str) -> Option<String> {
        None
    }
    /// First frames of the owner (`join` = None or the id from `created`) or of
    /// a viewer (`join` = the owner's session).
    fn hello(&self, join: Option<&str>, viewer: bool) -> Vec<String>;
    /// The user message that starts a turn.
    fn chat(&self, session: &str, text: &str) -> String;
    /// The answer to one permission request; `digest` is that of the ask.
    fn answer(&self, session: &str, ask: &str, digest: &str, allow: bool) -> String;
    /// Read one frame.
    fn read<'a>(&self, frame: &'a str) -> Event<'a>;
    /// Frames to send back for flow control or acknowledgement, if any: called
    /// once per frame with the number of frames seen so far on this connection.
    fn ack(&self, _frames: u64, _frame: &str) -> Option<String> {
        None
    }
}

pub fn by_name(name: &str) -> Option<Box<dyn Dialect>> {
    Some(match name {
        "ref_py" | "min_rs" => Box::new(RefPy),
        "ref_node" => Box::new(RefNode),
        "sayso" => Box::new(Sayso),
        _ => return None,
    })
}

/// The string value of the first `"key": "..."` in the frame, not unescaped. Cheap as
/// long as the key comes early, which is what each dialect below relies on.
pub fn field<'a>(frame: &'a str, key: &str) -> Option<&'a str> {
    let mut from = 0;
    loop {
        let at = from + frame[from..].find(key)?;
        let after = &frame[at + key.len()..];
        if at > 0 && frame.as_bytes()[at - 1] == b'"' && after.starts_with('"') {
            let value = after[1..]
                .trim_start()
                .strip_prefix(':')
                .map(str::trim_start);
            if let Some(rest) = value.and_then(|v| v.strip_prefix('"')) {
                return Some(&rest[..string_end(rest)?]);
            }
        }
        from = at + key.len();
    }
}

/// Length of a JSON string body up to its closing quote.
fn string_end(s: &str) -> Option<usize> {
    let b = s.as_bytes();
    let mut i = 0;
    while i < b.len() {
        match b[i] {
            b'"' => return Some(i),
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
    None
}

pub fn quote(s: &str) -> String {
    serde_json::to_string(s).expect("json")
}

// ------------------------------------------------------------------- ref_py

/// handshake / session_created / chat / permission_request /
/// permission_response / response_chunk, all with "type" as the first key.
pub struct RefPy;

impl Dialect for RefPy {
    fn path(&self, _join: Option<&str>) -> String {
        "/ws".into()
    }
    fn hello(&self, join: Option<&str>, _viewer: bool) -> Vec<String> {
        vec![match join {
            Some(id) => format!(r#"{{"type":"handshake","session_id":{}}}"#, quote(id)),
            None => r#"{"type":"handshake","permission_mode":"default"}"#.into(),
        }]
    }
    fn chat(&self, _session: &str, text: &str) -> String {
        format!(r#"{{"type":"chat","message":{}}}"#, quote(text))
    }
    fn answer(&self, _session: &str, ask: &str, _digest: &str, allow: bool) -> String {
        format!(
            r#"{{"type":"permission_response","request_id":"{ask}","approved":{allow},"modified_input":null,"reason":null}}"#
        )
    }
    fn read<'a>(&self, frame: &'a str) -> Event<'a> {
        match field(frame, "type") {
            Some("permission_request") => Event::Ask {
                id: field(frame, "request_id").unwrap_or(""),
                digest: "",
            },
            Some("response_chunk") => match field(frame, "result") {
                Some(escaped) => Event::Result { escaped },
                None => Event::Delta { count: 1 },
            },
            Some("session_created") => Event::Ready {
                session: field(frame, "session_id").unwrap_or(""),
            },
            Some("error") => Event::Error { text: frame },
            _ => Event::Other,
        }
    }
}

// ----------------------------------------------------------------- ref_node

pub struct RefNode;

impl Dialect for RefNode {
    fn path(&self, _join: Option<&str>) -> String {
        "/ws".into()
    }
    fn hello(&self, join: Option<&str>, _viewer: bool) -> Vec<String> {
        vec![match join {
            Some(id) => format!(r#"{{"type":"session_join","sessionId":{}}}"#, quote(id)),
            None => r#"{"type":"session_start"}"#.into(),
        }]
    }
    fn chat(&self, session: &str, text: &str) -> String {
        format!(
            r#"{{"type":"prompt","sessionId":{},"prompt":{}}}"#,
            quote(session),
            quote(text)
        )
    }
    fn answer(&self, _session: &str, ask: &str, _digest: &str, allow: bool) -> String {
        let decision = if allow { "approve" } else { "deny" };
        format!(r#"{{"type":"permission_response","requestId":"{ask}","decision":"{decision}"}}"#)
    }
    fn read<'a>(&self, frame: &'a str) -> Event<'a> {
        match field(frame, "type") {
            Some("permission_request") => Event::Ask {
                id: field(frame, "requestId").unwrap_or(""),
                digest: "",
            },
            Some("text_delta") => Event::Delta { count: 1 },
            Some("result") => Event::Result {
                escaped: field(frame, "result").unwrap_or(""),
            },
            Some("session_ready") => Event::Ready {
                session: field(frame, "sessionId").unwrap_or(""),
            },
            Some("error") => Event::Error { text: frame },
            _ => Event::Other,
        }
    }
}

// -------------------------------------------------------------------- sayso

/// The native protocol. The session is made over HTTP, so that all sockets,
/// the owner's too, only subscribe.
pub struct Sayso;

pub const TOKEN: &str = "a-token-for-benchmarks-only";

impl Dialect for Sayso {
    fn path(&self, _join: Option<&str>) -> String {
        "/api/ws?only=attended".into()
    }
    fn headers(&self) -> Vec<(String, String)> {
        vec![("Authorization".into(), format!("Bearer {TOKEN}"))]
    }
    fn create(&self) -> Option<(String, String, String)> {
        let cwd = std::env::var("BENCH_CWD").unwrap_or_else(|_| "/".into());
        let body = format!(r#"{{"cwd":{}}}"#, quote(&cwd));
        Some(("POST".into(), "/api/sessions".into(), body))
    }
    fn created(&self, body: &str) -> Option<String> {
        field(body, "session_id").map(str::to_string)
    }
    fn hello(&self, join: Option<&str>, _viewer: bool) -> Vec<String> {
        let id = join.unwrap_or_default();
        vec![format!(
            r#"{{"type":"subscribe","id":"{id}","session_id":"{id}"}}"#
        )]
    }
    fn chat(&self, session: &str, text: &str) -> String {
        let text = quote(text);
        format!(
            r#"{{"type":"send_message","session_id":"{session}","content":[{{"type":"text","text":{text}}}]}}"#
        )
    }
    fn answer(&self, _session: &str, ask: &str, digest: &str, allow: bool) -> String {
        let behavior = if allow { "allow" } else { "deny" };
        format!(
            r#"{{"type":"respond","request_id":"{ask}","input_digest":"{digest}","decision":{{"behavior":"{behavior}"}}}}"#
        )
    }
    fn read<'a>(&self, frame: &'a str) -> Event<'a> {
        match field(frame, "type") {
            Some("request_opened") => Event::Ask {
                id: field(frame, "request_id").unwrap_or(""),
                digest: field(frame, "input_digest").unwrap_or(""),
            },
            // Several deltas of 20 bytes may come as one.
            Some("delta") => {
                // The agent counts them as JSON, too.
                let length = field(frame, "text").map_or(0, str::len);
                Event::Delta {
                    count: (length as u64).div_ceil(20),
                }
            }
            Some("transcript") => match frame.find(r#""text":"{\"job\""#) {
                Some(at) => Event::Result {
                    escaped: field(&frame[at..], "text").unwrap_or(""),
                },
                None => Event::Other,
            },
            Some("ack") => match field(frame, "id") {
                Some(session) => Event::Ready { session },
                None => Event::Other,
            },
            Some("error") => Event::Error { text: frame },
            _ => Event::Other,
        }
    }
}

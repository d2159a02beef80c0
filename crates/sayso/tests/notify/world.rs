//! A server that notifies on loopback, a human with a socket, and their phone.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::receiver::Receiver;
use crate::support::{Client, TOKEN, TestServer, bash};

pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) human: Client,
    pub(crate) api: reqwest::Client,
}

/// A device with a push subscription.
pub(crate) struct Phone {
    pub(crate) token: String,
    pub(crate) id: String,
    pub(crate) browser: Browser,
    pub(crate) service: Receiver,
}

impl Phone {
    /// The next message for this browser, checked and decrypted.
    pub(crate) async fn next(&mut self) -> Value {
        let received = self.service.next().await;
        self.browser.open(&received, &self.service.url(""))
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        let server = TestServer::start_configured(|config| {
            config.notifications.private_push_services = true;
            config.notifications.contact = "mailto:operator@example.org".to_owned();
        });
        Self::on(server.await).await
    }

    pub(crate) async fn on(server: TestServer) -> Self {
        let human = server.connect().await;
        let api = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { server, human, api }
    }

    pub(crate) fn request(&self, method: Method, path: &str, token: &str) -> RequestBuilder {
        self.api
            .request(method, self.server.url(path))
            .bearer_auth(token)
    }

    async fn call(&self, method: Method, path: &str, token: &str, body: &Value) -> (u16, Value) {
        let request = self.request(method, path, token).json(body);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: Value) -> (u16, Value) {
        self.call(Method::POST, path, token, &body).await
    }

    pub(crate) async fn put(&self, path: &str, token: &str, body: Value) -> (u16, Value) {
        self.call(Method::PUT, path, token, &body).await
    }

    pub(crate) async fn delete(&self, path: &str, token: &str) -> (u16, Value) {
        self.call(Method::DELETE, path, token, &json!({})).await
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Value {
        let answer = self.request(Method::GET, path, token).send().await.unwrap();
        answer.json().await.unwrap()
    }

    pub(crate) async fn channels(&self) -> Vec<Value> {
        let listed = self.get("/api/notifications", TOKEN).await;
        listed["channels"].as_array().unwrap().clone()
    }

    pub(crate) async fn device(&self, scopes: &[&str]) -> (String, String) {
        let body = json!({"name": "The phone", "scopes": scopes});
        let (_, made) = self.post("/api/devices/tokens", TOKEN, body).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&made["token"]), text(&made["device"]["device_id"]))
    }

    pub(crate) async fn phone(&self, scopes: &[&str], settings: Value) -> Phone {
        let (token, id) = self.device(scopes).await;
        let listed = self.get("/api/notifications", &token).await;
        let phone = Phone {
            browser: Browser::new(listed["public_key"].as_str().unwrap()),
            service: Receiver::start().await,
            token,
            id,
        };
        let subscription = phone
            .browser
            .subscription(&phone.service.url("/push/abc?d=1"));
        let body = json!({"subscription": subscription, "settings": settings});
        let (status, channel) = self
            .post("/api/notifications/push", &phone.token, body)
            .await;
        assert_eq!(status, 200, "{channel}");
        assert_eq!(channel["device_id"], phone.id.as_str());
        phone
    }

    /// A channel of the operator's; gives its id and the secret that was made.
    pub(crate) async fn channel(&self, target: Value, settings: Value) -> (String, Value) {
        let body = json!({"name": "Ops", "target": target, "settings": settings});
        let (status, made) = self.post("/api/notifications/channels", TOKEN, body).await;
        assert_eq!(status, 200, "{made}");
        let id = made["channel"]["channel_id"].as_str().unwrap().to_owned();
        (id, made["secret"].clone())
    }

    /// An agent asks for a command.
    pub(crate) async fn ask(&mut self, command: &str) -> Value {
        self.human.start(&self.server, &bash(command)).await;
        self.human.opened().await
    }

    pub(crate) async fn deny(&mut self, request: &Value) {
        self.human
            .respond(request, json!({"behavior": "deny"}))
            .await;
    }

    /// What becomes of a button.
    pub(crate) async fn act(&self, token: &str) -> (u16, Value) {
        let request = self.api.post(self.server.url("/api/notifications/act"));
        let answer = request.json(&json!({"token": token})).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }
}

/// The token behind a button of a push message.
pub(crate) fn button(message: &Value, action: &str) -> Option<String> {
    let buttons = message["actions"].as_array()?;
    let button = buttons.iter().find(|button| button["action"] == action)?;
    Some(button["token"].as_str()?.to_owned())
}

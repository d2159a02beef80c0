//! Every address of the API in one table, with what it takes to be let in.

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use sayso_protocol::{ErrorCode, Scope};

use super::refused::Refused;
use super::{
    Web, compat, devices, extension, folders, history, notifications, pairing, rest, rules, socket,
};
use crate::access::{Identity, Pass, Proof};

/// What it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is how one gets in.
    Nothing,
    Scope(Scope),
    /// The scope, and the password where one is set.
    Proof(Scope),
    /// The server's own token. No device, whatever its scopes, stands in for it.
    Owner,
}

/// One method at one address.
#[derive(Debug)]
pub struct Route {
    pub method: Method,
    pub path: &'static str,
    pub need: Need,
    handler: MethodRouter<Web>,
}

impl Route {
    fn new<H, T>(method: Method, path: &'static str, need: Need, handler: H) -> Self
    where
        H: Handler<T, Web>,
        T: 'static,
    {
        let filter = match method {
            Method::POST => MethodFilter::POST,
            Method::PUT => MethodFilter::PUT,
            Method::DELETE => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        };
        Self {
            method,
            path,
            need,
            handler: on(filter, handler),
        }
    }
}

/// Messages to the hub need what the hub says beside what stands here.
pub fn table() -> Vec<Route> {
    use Need::{Nothing, Owner, Proof, Scope as Has};
    use Scope::{Admin, Answer, Approve, Rules, View};
    let (get, post) = (Method::GET, Method::POST);
    let (put, delete) = (Method::PUT, Method::DELETE);
    macro_rules! routes {
        ($($method:ident $path:literal $need:expr => $handler:expr;)*) => {
            vec![$(Route::new($method.clone(), concat!("/api", $path), $need, $handler)),*]
        };
    }
    let mut table = routes! {
        get    "/ws"                               Has(View)    => socket::upgrade;
        get    "/me"                               Has(View)    => rest::me;
        post   "/sign_out"                         Has(View)    => devices::sign_out;
        get    "/sessions"                         Has(View)    => rest::sessions;
        post   "/sessions"                         Has(Approve) => rest::start_session;
        post   "/sessions/{id}/messages"           Has(Answer)  => rest::send_message;
        post   "/sessions/{id}/interrupt"          Has(Answer)  => rest::interrupt;
        post   "/sessions/{id}/stop"               Has(Answer)  => rest::stop_session;
        post   "/sessions/{id}/permission_mode"    Has(Approve) => rest::set_permission_mode;
        get    "/sessions/{id}/transcript"         Has(View)    => rest::transcript;
        get    "/requests"                         Has(View)    => rest::requests;
        get    "/requests/{id}"                    Has(View)    => rest::request;
        get    "/requests/{id}/baseline"           Has(View)    => super::baseline::baseline;
        get    "/requests/{id}/rules"              Has(View)    => rules::suggestions;
        get    "/requests/{id}/preview/{question}/{option}" Has(View) => super::preview::preview;
        post   "/requests/{id}/decision"           Has(Answer)  => rest::decide;
        post   "/requests/{id}/hold"               Has(Answer)  => rest::hold;
        post   "/requests/{id}/resume_clock"       Has(Answer)  => rest::resume_clock;
        post   "/requests/{id}/extend"             Has(Answer)  => rest::extend;
        get    "/folders"                          Has(Approve) => folders::complete;
        get    "/files"                            Has(Answer)  => folders::find;
        get    "/conversations"                    Has(Approve) => folders::conversations;
        get    "/rules"                            Has(View)    => rules::list;
        post   "/rules"                            Has(Rules)   => rules::add;
        get    "/rules/settings"                   Has(View)    => rules::settings;
        post   "/rules/settings"                   Has(View)    => rules::read_settings;
        post   "/rules/try"                        Has(View)    => rules::try_rule;
        post   "/rules/test"                       Has(View)    => rules::test;
        put    "/rules/{id}"                       Has(Rules)   => rules::update;
        delete "/rules/{id}"                       Has(Rules)   => rules::remove;
        post   "/rules/{id}/enabled"               Has(Rules)   => rules::enable;
        get    "/history"                          Has(View)    => history::page;
        get    "/history/check"                    Has(View)    => history::check;
        get    "/history/export"                   Has(View)    => history::export;
        get    "/history/{seq}"                    Has(View)    => history::detail;
        get    "/notifications"                    Has(View)    => notifications::list;
        post   "/notifications/push"               Has(View)    => notifications::subscribe;
        put    "/notifications/push"               Has(View)    => notifications::change_own;
        delete "/notifications/push"               Has(View)    => notifications::unsubscribe;
        post   "/notifications/push/test"          Has(View)    => notifications::test_own;
        post   "/notifications/channels"           Proof(Admin) => notifications::add;
        put    "/notifications/channels/{id}"      Proof(Admin) => notifications::change;
        delete "/notifications/channels/{id}"      Has(Admin)   => notifications::remove;
        post   "/notifications/channels/{id}/test" Has(Admin)   => notifications::test;
        post   "/notifications/act"                Nothing      => notifications::act;
        post   "/pair"                             Nothing      => pairing::enter;
        post   "/prove"                            Has(View)    => pairing::prove;
        post   "/password"                         Has(Admin)   => pairing::set_password;
        get    "/devices"                          Has(Admin)   => devices::list;
        post   "/devices/printed_link"             Owner        => pairing::printed_link;
        post   "/devices/pairings"                 Proof(Admin) => pairing::make_link;
        post   "/devices/pairings/{id}/confirm"    Proof(Admin) => pairing::confirm;
        post   "/devices/pairings/{id}/refuse"     Has(Admin)   => pairing::refuse;
        post   "/devices/tokens"                   Proof(Admin) => devices::make_token;
        post   "/devices/{id}"                     Proof(Admin) => devices::change;
        delete "/devices/{id}"                     Has(Admin)   => devices::revoke;
    };
    let dialects = Route::new(get, COMPAT, Has(View), compat::upgrade);
    table.push(dialects);
    table
}

/// How one gets in.
const PAIR: &str = "/api/pair";

/// The sockets of other front ends.
pub(super) const COMPAT: &str = "/compat/{dialect}/ws";

/// Those below `/api` that are open to everybody, those that are not, and those beside `/api`.
pub(super) fn routers() -> (Router<Web>, Router<Web>, Router<Web>) {
    let (mut open, mut guarded, mut beside) = (Router::new(), Router::new(), Router::new());
    for route in table() {
        let need = route.need;
        let handler =
            route
                .handler
                .layer(middleware::from_fn(move |request: Request, next: Next| {
                    check(need, request, next)
                }));
        match (route.path.strip_prefix("/api"), need) {
            (None, _) => beside = beside.route(route.path, handler),
            (Some(path), Need::Nothing) => open = open.route(path, handler),
            (Some(path), Need::Scope(_) | Need::Proof(_) | Need::Owner) => {
                guarded = guarded.route(path, handler);
            }
        }
    }
    (open, guarded, beside)
}

async fn check(need: Need, request: Request, next: Next) -> Response {
    let pass = request.extensions().get::<Pass>();
    let refused = refusal(need, pass).or_else(|| refusal_of_stranger(need, &request));
    match refused {
        Some(refused) => refused.into_response(),
        None => next.run(request).await,
    }
}

/// An extension that is not paired yet can be paired, and nothing else.
fn refusal_of_stranger(need: Need, request: &Request) -> Option<Refused> {
    let path = request.extensions().get::<MatchedPath>();
    let pairs = path.is_some_and(|path| path.as_str() == PAIR);
    (need == Need::Nothing && extension::origin(request.headers()).is_some() && !pairs).then(|| {
        let text = "Extensions of browsers have to be paired before they may do anything.";
        Refused::new(ErrorCode::Forbidden, text)
    })
}

fn refusal(need: Need, pass: Option<&Pass>) -> Option<Refused> {
    let (scope, proof) = match need {
        Need::Nothing => return None,
        Need::Scope(scope) => (scope, false),
        Need::Proof(scope) => (scope, true),
        Need::Owner if pass.is_some_and(|pass| pass.identity == Identity::Owner) => return None,
        Need::Owner => {
            let text = "Only the server's own token may do this: `sayso pair` on its machine.";
            return Some(Refused::new(ErrorCode::Forbidden, text));
        }
    };
    let Some(pass) = pass.filter(|pass| pass.scopes.has(scope)) else {
        let text = format!(
            "This device may not do that: it lacks the scope `{}`.",
            scope.as_str()
        );
        return Some(Refused::new(ErrorCode::Forbidden, text));
    };
    if proof && pass.proof == Proof::Missing {
        let text = "Give the password first: it is asked for before risky actions.";
        return Some(Refused::new(ErrorCode::ProofRequired, text));
    }
    None
}

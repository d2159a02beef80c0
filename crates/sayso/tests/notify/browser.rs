//! A browser as push services know it: checks who sends, and decrypts what only it can read.

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use jiff::Timestamp;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::receiver::Received;

pub(crate) struct Browser {
    key: SecretKey,
    auth: [u8; 16],
    /// The key that the server said it sends with.
    server_key: String,
}

impl Browser {
    pub(crate) fn new(server_key: &str) -> Self {
        let mut bytes = [0; 48];
        getrandom::fill(&mut bytes).unwrap();
        // Far below the order of the curve.
        bytes[0] = 1;
        Self {
            key: SecretKey::from_slice(&bytes[..32]).unwrap(),
            auth: bytes[32..].try_into().unwrap(),
            server_key: server_key.to_owned(),
        }
    }

    /// As `PushSubscription.toJSON()` gives it.
    pub(crate) fn subscription(&self, endpoint: &str) -> Value {
        let public = self.key.public_key().to_sec1_point(false);
        json!({
            "endpoint": endpoint,
            "expirationTime": null,
            "keys": {
                "p256dh": URL_SAFE_NO_PAD.encode(public.as_bytes()),
                "auth": URL_SAFE_NO_PAD.encode(self.auth),
            },
        })
    }

    /// What a push service and then the browser do with a message.
    pub(crate) fn open(&self, received: &Received, audience: &str) -> Value {
        self.check_sender(received.header("authorization"), audience);
        assert_eq!(received.header("content-encoding"), "aes128gcm");
        assert!(received.header("ttl").parse::<u64>().is_ok());
        let topic = received.header("topic");
        assert!((1..=32).contains(&topic.len()), "{topic}");
        serde_json::from_slice(&self.decrypt(&received.body)).unwrap()
    }

    /// RFC 8292.
    fn check_sender(&self, authorization: &str, audience: &str) {
        let fields = authorization.strip_prefix("vapid ").unwrap();
        let field = |name: &str| {
            let mut fields = fields.split(',').map(str::trim);
            fields
                .find_map(|field| field.strip_prefix(name))
                .unwrap()
                .to_owned()
        };
        let (token, key) = (field("t="), field("k="));
        assert_eq!(key, self.server_key);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let key = VerifyingKey::from_sec1_bytes(&URL_SAFE_NO_PAD.decode(key).unwrap()).unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let signature = Signature::from_slice(&signature).unwrap();
        key.verify(signed.as_bytes(), &signature).unwrap();
        let part = |text: &str| -> Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
        };
        let (head, claims) = signed.split_once('.').unwrap();
        assert_eq!(part(head)["alg"], "ES256");
        let claims = part(claims);
        assert_eq!(claims["aud"], audience);
        assert!(claims["sub"].as_str().unwrap().starts_with("mailto:"));
        let left = claims["exp"].as_i64().unwrap() - Timestamp::now().as_second();
        assert!((1..=24 * 60 * 60).contains(&left), "{left}");
    }

    /// RFC 8291, from the reader's side.
    fn decrypt(&self, message: &[u8]) -> Vec<u8> {
        let (salt, rest) = message.split_at(16);
        let (size, rest) = rest.split_at(4);
        assert_eq!(size, 4096_u32.to_be_bytes());
        let (server, sealed) = rest[1..].split_at(rest[0].into());
        let server_key = PublicKey::from_sec1_bytes(server).unwrap();
        let shared =
            p256::ecdh::diffie_hellman(self.key.to_nonzero_scalar(), server_key.as_affine());
        let own = self.key.public_key().to_sec1_point(false);
        let info = [b"WebPush: info\0", own.as_bytes(), server].concat();
        let (mut input, mut key, mut nonce) = ([0; 32], [0; 16], [0; 12]);
        Hkdf::<Sha256>::new(Some(&self.auth), shared.raw_secret_bytes())
            .expand(&info, &mut input)
            .unwrap();
        let derive = Hkdf::<Sha256>::new(Some(salt), &input);
        derive
            .expand(b"Content-Encoding: aes128gcm\0", &mut key)
            .unwrap();
        derive
            .expand(b"Content-Encoding: nonce\0", &mut nonce)
            .unwrap();
        let cipher = Aes128Gcm::new(&key.into());
        let mut opened = cipher.decrypt(&Nonce::from(nonce), sealed).unwrap();
        assert_eq!(opened.pop(), Some(2), "the last record");
        opened
    }
}

//! Encrypts a push message so that only the browser reads it, not the push service (RFC 8291, `aes128gcm`).

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce};
use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey};
use sha2::Sha256;

/// Of the plain text: push services take 4096 bytes with header and tag.
pub(super) const LARGEST: usize = 3992;
const RECORD_SIZE: u32 = 4096;
/// Behind the last record there is no other.
const LAST_RECORD: u8 = 2;

#[derive(Debug, thiserror::Error)]
pub(super) enum EncryptError {
    #[error("the message is too long")]
    TooLong,
    #[error("the browser's keys cannot be used")]
    Keys,
    #[error("the system gives no random numbers")]
    Random(#[from] getrandom::Error),
}

/// The keys of one subscription.
#[derive(Clone)]
pub(super) struct Recipient {
    public: PublicKey,
    auth: Vec<u8>,
}

impl Recipient {
    pub(super) fn new(public: &[u8], auth: &[u8]) -> Option<Self> {
        let uncompressed = public.len() == 65 && auth.len() == 16;
        let public = PublicKey::from_sec1_bytes(public).ok()?;
        uncompressed.then(|| Self {
            public,
            auth: auth.to_vec(),
        })
    }

    /// With a key and a salt of its own for each message.
    pub(super) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, EncryptError> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt)?;
        self.encrypt_with(text, &random_key()?, salt)
    }

    fn encrypt_with(
        &self,
        text: &[u8],
        key: &SecretKey,
        salt: [u8; 16],
    ) -> Result<Vec<u8>, EncryptError> {
        if text.len() > LARGEST {
            return Err(EncryptError::TooLong);
        }
        let unusable = |_| EncryptError::Keys;
        let ours = key.public_key().to_sec1_point(false);
        let theirs = self.public.to_sec1_point(false);
        let shared = p256::ecdh::diffie_hellman(key.to_nonzero_scalar(), self.public.as_affine());
        let context = [b"WebPush: info\0", theirs.as_bytes(), ours.as_bytes()].concat();
        let mut input_key = [0; 32];
        Hkdf::<Sha256>::new(Some(&self.auth), shared.raw_secret_bytes())
            .expand(&context, &mut input_key)
            .map_err(unusable)?;
        let derive = Hkdf::<Sha256>::new(Some(&salt), &input_key);
        let (mut content_key, mut nonce) = ([0; 16], [0; 12]);
        derive
            .expand(b"Content-Encoding: aes128gcm\0", &mut content_key)
            .map_err(unusable)?;
        derive
            .expand(b"Content-Encoding: nonce\0", &mut nonce)
            .map_err(unusable)?;
        let record = [text, &[LAST_RECORD]].concat();
        let cipher = Aes128Gcm::new(&content_key.into());
        let sealed = cipher.encrypt(&Nonce::from(nonce), record.as_slice());
        let sealed = sealed.map_err(|_| EncryptError::Keys)?;
        let length = u8::try_from(ours.as_bytes().len()).map_err(|_| EncryptError::Keys)?;
        let size = RECORD_SIZE.to_be_bytes();
        Ok([&salt, &size[..], &[length], ours.as_bytes(), &sealed].concat())
    }
}

/// Nearly every 32 bytes are a key; the few that are none are not taken.
pub(super) fn random_key() -> Result<SecretKey, getrandom::Error> {
    loop {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        if let Ok(key) = SecretKey::from_slice(&bytes) {
            return Ok(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use pretty_assertions::assert_eq;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// Appendix A of RFC 8291.
    #[test]
    fn the_example_of_the_standard_comes_out_as_it_stands_there() {
        let public = bytes(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        );
        let recipient = Recipient::new(&public, &bytes("BTBZMqHH6r4Tts7J_aSIgg")).unwrap();
        let key = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
        let key = SecretKey::from_slice(&key).unwrap();
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let text = b"When I grow up, I want to be a watermelon";
        let sealed = recipient.encrypt_with(text, &key, salt).unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(sealed),
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc\
             InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV\
             WGNWQexSgSxsj_Qulcy4a-fN"
        );
    }

    #[test]
    fn keys_that_are_none_and_messages_that_are_too_long_are_refused() {
        let public = random_key().unwrap().public_key().to_sec1_point(false);
        for (public, auth) in [(&[4; 65][..], 16), (public.as_bytes(), 15), (b"", 16)] {
            assert!(Recipient::new(public, &vec![1; auth]).is_none());
        }
        let recipient = Recipient::new(public.as_bytes(), &[1; 16]).unwrap();
        assert!(recipient.encrypt(&[b'x'; LARGEST]).unwrap().len() <= 4096);
        assert!(recipient.encrypt(&[b'x'; LARGEST + 1]).is_err());
    }
}

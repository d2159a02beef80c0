//! Output that no well-behaved agent writes, to see what a host does with it.

use serde_json::json;

use super::FakeEnd;
use super::player::{Player, Stop};
use super::script::{Step, ToolStep};

impl Player {
    pub(super) async fn disturb(&self, step: &Step) -> Result<(), Stop> {
        let bytes = match step {
            Step::Raw { text } => format!("{text}\n").into_bytes(),
            Step::RawBytes(bytes) => bytes.clone(),
            Step::HugeLine { bytes } => huge_line(*bytes),
            Step::InvalidUtf8 => b"{\"type\":\"system\",\"text\":\"\xff\xfe\"}\n".to_vec(),
            Step::HalfLine => {
                self.world.emit_bytes(b"{\"type\":\"assist".to_vec()).await;
                return Err(Stop::Process(FakeEnd::Exit(0)));
            }
            Step::RepeatRequestId => {
                let tool = ToolStep::new("Bash", json!({"command": "true"}));
                let request = self.ask("toolu_repeated", &tool);
                let line = json!({
                    "type": "control_request", "request_id": self.world.new_uuid(),
                    "request": request,
                });
                format!("{line}\n{line}\n").into_bytes()
            }
            Step::Deep { levels } => {
                let (open, close) = ("[".repeat(*levels), "]".repeat(*levels));
                format!("{{\"type\":\"system\",\"deep\":{open}{close}}}\n").into_bytes()
            }
            Step::CancelUnknown => {
                let request_id = self.world.new_uuid();
                let line = json!({"type": "control_cancel_request", "request_id": request_id});
                format!("{line}\n").into_bytes()
            }
            // Every other step is played on the stage.
            _ => return Ok(()),
        };
        self.world.emit_bytes(bytes).await;
        Ok(())
    }
}

fn huge_line(bytes: usize) -> Vec<u8> {
    let mut line = b"{\"type\":\"system\",\"subtype\":\"huge\",\"text\":\"".to_vec();
    line.resize(line.len() + bytes, b'x');
    line.extend_from_slice(b"\"}\n");
    line
}

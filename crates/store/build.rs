//! Makes cargo look again when a migration is added: the macro that embeds them cannot see a new
//! file by itself.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}

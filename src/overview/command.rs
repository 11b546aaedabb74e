//! The commands that the overview names. Each reads the log as the overview did, and works as it is printed.

use super::facts::Facts;
use super::incident::Incident;

/// The arguments of the overview that its commands repeat, quoted for a shell, each after a space.
#[derive(Debug, Clone)]
pub struct RepeatedArgs {
    pub inputs: String,
    /// How logs are read.
    pub reading: String,
    /// How messages become a graph, and which are asked about, without their times.
    pub asking: String,
    pub times: String,
}

impl Default for RepeatedArgs {
    fn default() -> Self {
        let [inputs, reading, asking, times] = [" LOG", "", "", ""].map(str::to_owned);
        Self { inputs, reading, asking, times }
    }
}

impl Facts {
    /// A question about the same messages.
    pub fn question(&self, name: &str) -> String {
        format!("{}{}", self.question_at_all_times(name), self.repeated.times)
    }

    /// A question about the messages of an incident.
    pub(super) fn question_about(&self, name: &str, incident: &Incident) -> String {
        format!("{} {}", self.question_at_all_times(name), self.bounds(incident))
    }

    fn question_at_all_times(&self, name: &str) -> String {
        let RepeatedArgs { inputs, reading, asking, .. } = &self.repeated;
        format!("rpcgraph {name}{inputs}{reading}{asking}")
    }

    /// `show` of messages; `None` for several logs, since it takes one.
    pub(super) fn show(&self, names: &[&str]) -> Option<String> {
        let RepeatedArgs { inputs, reading, .. } = &self.repeated;
        (self.logs.len() == 1).then(|| format!("rpcgraph show{inputs} {}{reading}", names.join(" ")))
    }

    pub(super) fn detect(&self) -> String {
        format!("rpcgraph detect{}{}", self.repeated.inputs, self.repeated.reading)
    }
}

/// Quotes a word for a shell.
pub fn shell_quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:,+@%".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Splits a command where a line may end: before an option, and behind its value.
pub(super) fn breakable(command: &str) -> Vec<String> {
    let (mut parts, mut last) = (vec![String::new()], (' ', false));
    let mut follows_option = false;
    for character in command.chars() {
        let (before, is_quoted) = last;
        last = (character, is_quoted != (character == '\'' && before != '\\'));
        let part = parts.last_mut().filter(|_| character == ' ' && !is_quoted);
        match part {
            Some(_) if std::mem::replace(&mut follows_option, false) => {}
            Some(_) => {
                parts.push(String::new());
                continue;
            }
            None => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
            follows_option |= part == "--";
        }
    }
    parts
}

//! `completions` and `man`: print completions for shells, and manual pages.

use clap::{Args, Command};
use clap_complete::Shell;

use super::console::Outcome;
use super::target::TargetArgs;

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/completions.txt").trim_end())]
pub struct CompletionsCommand {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,

    #[command(flatten)]
    target: TargetArgs,
}

impl CompletionsCommand {
    pub fn run(&self, mut root: Command) -> anyhow::Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut root, "rpcgraph", &mut script);
        self.target.print(script)
    }
}

#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/man.txt").trim_end())]
pub struct ManCommand {
    /// The command that the page is about [default: the program]
    command: Option<String>,

    #[command(flatten)]
    target: TargetArgs,
}

impl ManCommand {
    pub fn run(&self, mut root: Command) -> anyhow::Result<Outcome> {
        root.build();
        let command = match &self.command {
            None => root,
            Some(name) => root
                .find_subcommand(name)
                .cloned()
                .ok_or_else(|| anyhow::anyhow!("unknown command {name:?}; see rpcgraph --help"))?,
        };
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        self.target.print(page)
    }
}

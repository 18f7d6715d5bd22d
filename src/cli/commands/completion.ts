import { Argument, type Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { bashCompletion } from '../completion/bash.ts'
import { commandTree } from '../completion/command-tree.ts'
import { fishCompletion } from '../completion/fish.ts'
import { zshCompletion } from '../completion/zsh.ts'
import { withExamples } from '../run/client-command.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

export function registerCompletion(program: Command, io: Io): void {
  const command = program.command('completion').description('print a script that completes commands in your shell')
  withExamples(command, [
    'source <(rouse completion bash)                                     # in ~/.bashrc',
    'source <(rouse completion zsh)                                      # in ~/.zshrc, after compinit',
    'rouse completion fish > ~/.config/fish/completions/rouse.fish',
  ])
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .action((shell: keyof typeof shells) => io.stdout(shells[shell](commandTree(program))))
}

import type { Argument, Command, Option } from 'commander'

/** One word that may follow a command, with what it is. */
export interface Word {
  readonly text: string
  readonly what: string
}

/** One command: what may follow its name, and the values of its options. */
export interface CommandNode {
  /** `agent key add`; empty for rouse itself. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly options: readonly OptionWord[]
  /** The values of its arguments that have a fixed list. */
  readonly values: readonly string[]
}

interface OptionWord extends Word {
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

/** All commands of the program, those within groups after their group. Hidden options are left out. */
export function commandTree(program: Command): CommandNode[] {
  const nodes: CommandNode[] = []
  const walk = (command: Command, path: string): void => {
    const commands = command.commands.map((child) => ({ text: child.name(), what: child.description() }))
    const values = command.registeredArguments.flatMap(({ argChoices }: Argument) => argChoices ?? [])
    const options = command.options.filter(({ hidden, long }) => !hidden && long).map(optionWord)
    nodes.push({ path, commands, options, values })
    for (const child of command.commands) walk(child, `${path} ${child.name()}`.trim())
  }
  walk(program, '')
  return nodes
}

function optionWord({ long, description, required, optional, argChoices }: Option): OptionWord {
  return { text: long!, what: description, takesValue: required || optional, choices: argChoices ?? [] }
}

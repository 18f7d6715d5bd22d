import type { Argument, Command, Option } from 'commander'
import { harnessIds } from '../../harnesses/harnesses.ts'
import { taskStates } from '../../words/task-states.ts'
import { askedKind, nameOf } from './kinds.ts'

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
  /** True when `rouse complete` has the words of one of its arguments. */
  readonly isAsked: boolean
}

interface OptionWord extends Word {
  readonly takesValue: boolean
  readonly choices: readonly string[]
  /** True when `rouse complete` has its values. */
  readonly isAsked: boolean
}

/** Words that never change, by the names that arguments and values of options have in the help. */
const fixed: Readonly<Record<string, readonly string[]>> = { harness: harnessIds, state: taskStates }

/** All commands of the program, those within groups after their group. Hidden commands and options are left out. */
export function commandTree(program: Command): CommandNode[] {
  const nodes: CommandNode[] = []
  const walk = (command: Command, path: string): void => {
    const visible = command.createHelp().visibleCommands(command)
    const children = command.commands.filter((child) => visible.includes(child))
    const commands = children.map((child) => ({ text: child.name(), what: child.description() }))
    const values = command.registeredArguments.flatMap(fixedWords)
    const isAsked = command.registeredArguments.some(askedKind)
    const options = command.options.filter(({ hidden, long }) => !hidden && long).map(optionWord)
    nodes.push({ path, commands, options, values, isAsked })
    for (const child of children) walk(child, `${path} ${child.name()}`.trim())
  }
  walk(program, '')
  return nodes
}

function optionWord(option: Option): OptionWord {
  const { long, description, required, optional } = option
  const takesValue = required || optional
  const choices = fixedWords(option)
  return { text: long!, what: description, takesValue, choices, isAsked: takesValue && askedKind(option) !== undefined }
}

function fixedWords(holder: Argument | Option): readonly string[] {
  return holder.argChoices ?? fixed[nameOf(holder)] ?? []
}

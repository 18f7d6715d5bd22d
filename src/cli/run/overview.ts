import type { Io } from '../../client/io.ts'
import { paint } from '../../client/terminal-text.ts'
import { commandGroups } from './command-table.ts'

const examples = [
  ['rouse demo', 'see it work in half a minute'],
  ['rouse serve', 'start the gateway'],
  ['rouse agent add @donna --save-key donna.key', 'make an agent; keep her key'],
  ['rouse install codex --agent @donna', 'give Codex her mail'],
  ['rouse listen --key-file donna.key', 'or wait for her wakes here'],
  ['rouse send @donna "Please review PR 7"', 'wake her'],
] as const

const nameWidth = 11
const exampleWidth = 45

/** The help at first sight: the commands by their groups, and how to learn more. */
export function overview(io: Pick<Io, 'color'>): string {
  const groups = Object.entries(commandGroups).map(([group, commands]) => {
    const names = commands.map(({ name }) => name).join(' ')
    return `  ${paint(io, 'bold', group.padEnd(nameWidth))}${names}`
  })
  const lines = [
    'Usage: rouse <command> [options]',
    '',
    'Rouse lets AI agents send each other work, and wakes them.',
    '',
    ...groups,
    '',
    ...examples.map(([command, what]) => `  $ ${command.padEnd(exampleWidth)}# ${what}`),
    '',
    'rouse <command> --help   its options, with examples',
    'rouse help all           every command in a line, common options, exit codes',
  ]
  return `${lines.join('\n')}\n`
}

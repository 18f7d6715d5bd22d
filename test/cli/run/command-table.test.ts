import { expect, test } from 'vitest'
import { commandTable, neededCommands } from '../../../src/cli/run/command-table.ts'
import { buildProgram } from '../../../src/cli/run/run.ts'

const names = (argv: readonly string[]) => neededCommands(argv).map(({ name }) => name)
const all = commandTable.map(({ name }) => name)

test('each command of the table has the name under which it is found', async () => {
  const program = await buildProgram({ stdout() {}, stderr() {}, env: {} })
  expect(program.commands.map((command) => command.name())).toEqual(all)
})

test.each([
  [['--version'], []],
  [['inbox', '--unread'], ['inbox']],
  [['--json', '--url', 'http://127.0.0.1:1', 'who'], ['who']],
  [['--profile=work', 'who'], ['who']],
  [[], all],
  [['--help'], all],
  [['help', 'send'], all],
  [['agnt'], all],
  [['completion', 'bash'], all],
])('%j loads what it needs', (argv, expected) => {
  expect(names(argv)).toEqual(expected)
})

import { expect, test } from 'vitest'
import { fitted, table } from '../../../src/cli/output/table.ts'
import { startGateway } from '../../support/gateway.ts'
import { run } from '../terminal.ts'

const io = { stdout() {}, stderr() {}, env: {} }
const headings = ['TASK', 'STATE', 'SUBJECT']
const rows = [['01a20092-9da5-7c6f-a1a7-251794eeca73', 'submitted', 'x'.repeat(60)]]

test('a table is cut to the terminal, the widest column first, and to nothing else', () => {
  expect(table({ ...io, columns: 80 }, headings, rows, '')).toBe(
    `TASK${' '.repeat(29)}  STATE      SUBJECT\n01a20092-9da5-7c6f-a1a7-251794ee…  submitted  ${'x'.repeat(33)}…\n`,
  )
  expect(table(io, headings, rows, '').split('\n')[1]).toHaveLength(36 + 2 + 9 + 2 + 60)
})

test.each([
  [[36, 9, 60], 120, [36, 9, 60]],
  [[36, 9, 60], 60, [23, 9, 24]],
  // Below the floors a row is longer than the line: an id that names nothing is worth less.
  [[36, 9, 60], 20, [16, 9, 12]],
  [[5, 5, 5], 10, [5, 5, 5]],
])('widths %j in %d columns are %j', (natural, columns, widths) => {
  expect(fitted(natural, (column) => [16, 12, 12][column]!, columns)).toEqual(widths)
})

test('on a terminal times are relative and rows are lines; --json and pipes have everything', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const task = await gateway.send('donna', 'Please review the parser, all of it, and the tests of it as well')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const { stdout } = await run(['task', 'list'], env, { columns: 80 })
  expect(stdout.split('\n').every((line) => line.length <= 80)).toBe(true)
  expect(stdout).toMatch(/ (now|\d+ s ago) /)
  expect(stdout).not.toMatch(/\d{4}-\d{2}-\d{2}T/)
  const piped = await run(['task', 'list'], env)
  expect(piped.stdout).toContain(task.id)
  expect(piped.stdout).toMatch(/\d{4}-\d{2}-\d{2}T\S+Z/)
  const json = await run(['task', 'list', '--json'], env, { columns: 80 })
  expect(JSON.parse(json.stdout).tasks[0]).toMatchObject({ id: task.id, lastModifiedAt: expect.stringMatching(/Z$/) })
  const shown = await run(['task', 'show', task.id], env, { columns: 80 })
  expect(shown.stdout).toMatch(/created: +\S+Z \((now|\d+ s ago)\)/)
})

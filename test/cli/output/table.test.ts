import { expect, test } from 'vitest'
import { wantsColor } from '../../../src/cli/output/state-colors.ts'
import { fitted, table } from '../../../src/cli/output/table.ts'
import { startGateway } from '../../support/gateway.ts'
import { run } from '../terminal.ts'

const io = { stdout() {}, stderr() {}, env: {} }
const headings = ['TASK', 'STATE', 'SUBJECT']
const rows = [['01a20092-9da5-7c6f-a1a7-251794eeca73', 'submitted', 'x'.repeat(60)]]

test('a table is cut to the terminal, with the ends of ids, and to nothing else', () => {
  expect(table({ ...io, columns: 80 }, headings, rows, '')).toBe(
    `TASK       STATE      SUBJECT\n…94eeca73  submitted  ${'x'.repeat(57)}…\n`,
  )
  expect(table({ ...io, columns: 120 }, headings, rows, '')).toContain(
    '01a20092-9da5-7c6f-a1a7-251794eeca73  submitted',
  )
  expect(table(io, headings, rows, '').split('\n')[1]).toHaveLength(36 + 2 + 9 + 2 + 60)
})

test('a column without any value is left out where the rest does not fit', () => {
  const some = [
    ['@donna', undefined, 'a'],
    ['@mike', '', '-'],
  ]
  expect(table({ ...io, columns: 14 }, ['AGENT', 'NAME', 'DOING'], some, '')).toBe(
    'AGENT   DOING\n@donna  a\n@mike   -\n',
  )
  expect(table({ ...io, columns: 80 }, ['AGENT', 'NAME', 'DOING'], some, '')).toContain('@donna  -     a')
  expect(table(io, ['AGENT', 'NAME', 'DOING'], some, '')).toContain('@donna  -     a')
})

test.each([
  [[9, 14, 60], 80, [9, 14, 53]],
  [[9, 14, 60], 60, [9, 14, 33]],
  [[9, 14, 60], 40, [9, 14, 13]],
  [[9, 14, 60], 30, [9, 9, 8]],
  [[20, 14, 60, 8], 70, [20, 14, 22, 8]],
  [[5, 5, 5], 10, [4, 4, 4]],
])('widths %j in %d columns are %j', (natural, columns, widths) => {
  expect(fitted(natural, columns)).toEqual(widths)
})

test('columns that matter least are dropped before the others are cut', () => {
  const headings = ['TASK', 'STATE', 'VERSION', 'FROM', 'SUBJECT']
  const row = ['…94eeca73', 'input-required', '12', '@operator', 'Please review the parser']
  const at = (columns: number) => table({ ...io, columns }, headings, [row], '', ['VERSION', 'FROM']).split('\n')[1]
  expect(at(80)).toBe('…94eeca73  input-required  12       @operator  Please review the parser')
  expect(at(60)).toBe('…94eeca73  input-required  @operator  Please review the par…')
  expect(at(50)).toBe('…94eeca73  input-required  Please review the pars…')
})

test('characters that are two columns wide and those without width keep a row within the line', () => {
  const shown = table({ ...io, columns: 24 }, ['WHO', 'SUBJECT'], [['@é', '日本語のテストです🎉🎉🎉']], '')
  expect(shown.split('\n')[1]).toBe('@é   日本語のテストです…')
})

test('states have a colour on a terminal that wants it, and the words of others never', () => {
  const shown = (color: boolean) =>
    table(
      { ...io, color, columns: 80 },
      ['STATE', 'SUBJECT'],
      [
        ['failed', 'failed'],
        ['working', 'active'],
      ],
      '',
    )
  expect(shown(true)).toContain('\u001b[31mfailed\u001b[0m   failed\nworking  active\n')
  expect(shown(false)).not.toContain('\u001b')
})

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ TERM: 'dumb' }, true, false],
])('with %j on a terminal (%s) colours are %s', (env, isTerminal, wanted) => {
  expect(wantsColor(env, isTerminal)).toBe(wanted)
})

test.each([80, 60])('every list is one line a row on a terminal of %d columns', async (columns) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna', { displayName: 'DonnaSummers' })
  await gateway.subscribe(donna, 'http://127.0.0.1:9/a/long/path/of/a/webhook/receiver', {
    trigger: 'TASK_STATE_CHANGED',
  })
  const task = await gateway.send('donna', 'Please review the parser, all of it, and the tests of it as well')
  await gateway.move(donna, task.id, 'working')
  await gateway.move(donna, task.id, 'input-required')
  await gateway.call('POST', '/v1/sessions', { surface: 'claude_code', capabilities: ['has-telegram'] }, donna)
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  for (const argv of [
    ['task', 'list'],
    ['sub', 'list'],
    ['who'],
    ['audit'],
    ['agent', 'key', 'list', '@donna'],
    ['agent', 'list'],
  ]) {
    const { stdout } = await run(argv, env, { columns })
    const tooLong = stdout.split('\n').filter((line) => line.length > columns)
    expect(tooLong, argv.join(' ')).toEqual([])
  }
  const { stdout } = await run(['task', 'list'], env, { columns: 80 })
  expect(stdout).toContain(' input-required ')
  const [, end] = stdout.match(/^(…\w+) /m)!
  expect((await run(['task', 'show', end!], env)).stdout).toContain(task.id)
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

import { expect, test } from 'vitest'
import { bash, type Desk, openDesk } from '../approvals/desk.ts'
import { run } from './terminal.ts'

const asAnna = ({ gateway, anna }: Desk) => ({ ROUSE_URL: gateway.url, ROUSE_KEY: anna })
const saying = (...answers: string[]) => {
  const asked: string[] = []
  const ask = async (question: string) => {
    asked.push(question)
    return answers.shift() ?? ''
  }
  return { asked, world: { ask, columns: 100, isTerminal: true } }
}

test('approve shows what is asked, exactly, and allows it once after a yes', async () => {
  await using desk = await openDesk()
  const command = 'echo a\rrm -rf / # \u202eevil\u202c\n\tls \u200bx\u00a0y é ✓ \u001b[2J'
  const { body } = await desk.ask({ input: { command, description: 'Lists.' }, cwd: '/work', reason: 'To see.' })
  const list = await run(['approve'], asAnna(desk))
  expect(list.stdout).toMatch(
    /^APPROVAL .*\nAPPROVAL:\S+ +@donna +permission +Bash .*Read it whole, and decide: {2}rouse approve/s,
  )
  const { asked, world } = saying('y')
  const { code, stdout } = await run(['approve', body.approvalId.slice(-8)], asAnna(desk), world)
  expect([code, asked]).toEqual([0, ['Allow once? [y/N] ']])
  expect(stdout).toContain(
    'command:\n│ echo a⟨U+000D⟩rm -rf / # ⟨U+202E⟩evil⟨U+202C⟩\n│ ⟨U+0009⟩ls ⟨U+200B⟩x⟨U+00A0⟩y é ✓ ⟨U+001B⟩[2J\ndescription:\n│ Lists.\n',
  )
  expect(stdout).toMatch(
    /agent: +@donna\nharness: +claude\ntool: +Bash\nin: +\/work\nasked: .*\nexpires: .*\nreason: +To see\.\n/,
  )
  expect(stdout).toMatch(/Allowed once\.\n$/)
  expect((await desk.read(body.approvalId)).body).toMatchObject({
    state: 'answered',
    decision: { answer: 'once', by: 'anna' },
  })
})

/** The rows of the input, as they stand between the head and the end. */
async function rowsOf(input: object, columns = 40): Promise<string[]> {
  await using desk = await openDesk()
  const { approvalId } = (await desk.ask({ input })).body
  const { stdout } = await run(['approve', approvalId], asAnna(desk), { ...saying('n').world, columns })
  return stdout
    .slice(stdout.indexOf('\n\n') + 2)
    .split('\n')
    .slice(0, -1)
}

test('a name that is no plain word is one row, in quotes', async () => {
  expect(await rowsOf({ 'command:\n│ ls\ndescription': 'rm', 'a b': 1, '': '' }, 80)).toEqual([
    String.raw`"command:\n│ ls\ndescription":`,
    '│ rm',
    '"a b":',
    '│ 1',
    '"":',
    '│ ',
  ])
})

test('a text that is wider than the terminal makes no row without a mark', async () => {
  const columns = 40
  const forged = (start: string) => `${start.padEnd(columns, '-')}command:${' '.repeat(columns - 8)}│ ls`
  const rows = await rowsOf({ 'x y': forged('rm '), [forged('n ')]: '日本'.repeat(20), command: 'true' }, columns)
  expect(rows[0]).toBe('"x y":')
  const heading = rows.findIndex((row) => row.startsWith('"n '))
  const command = rows.indexOf('command:')
  for (const row of rows.slice(1, heading)) expect(row).toMatch(/^│[ …]/)
  for (const row of rows.slice(heading + 1, command)) expect(row).toMatch(/^[│…]/)
  for (const row of rows) expect(row.length + row.replace(/[ -~]/g, '').length).toBeLessThanOrEqual(columns)
  expect(rows.slice(1, heading).join('').replace(/│…/g, '')).toBe(`│ ${forged('rm ')}`)
  const reason = forged('why ')
  await using desk = await openDesk()
  const { approvalId } = (await desk.ask({ reason })).body
  const { stdout } = await run(['approve', approvalId], asAnna(desk), { ...saying('n').world, columns })
  expect(stdout.split('\n').filter((row) => row.startsWith('command:'))).toEqual(['command:'])
})

test('two texts that differ are never shown alike', async () => {
  const texts = ['a\rb', String.raw`a\rb`, 'a⟨U+000D⟩b', 'a\u2800b', 'a\ue000b', 'a\u3164b', 'a b', String.raw`a\\rb`]
  const shown = await rowsOf(Object.fromEntries(texts.map((text, index) => [`t${index}`, text])), 80)
  expect(shown.filter((row) => row.startsWith('│'))).toEqual([
    '│ a⟨U+000D⟩b',
    String.raw`│ a\rb`,
    '│ a⟨U+27E8⟩U+000D⟩b',
    '│ a⟨U+2800⟩b',
    '│ a⟨U+E000⟩b',
    '│ a⟨U+3164⟩b',
    '│ a b',
    String.raw`│ a\\rb`,
  ])
})

test('what moves the rest out of sight is counted', async () => {
  const command = `ls${'\n'.repeat(301)}  rm -rf ~\n\n\n#${' '.repeat(900)}x\n⟨5 empty lines⟩`
  expect(await rowsOf({ command })).toEqual([
    'command:',
    '│ ls',
    '│ ⟨300 empty lines⟩',
    '│   rm -rf ~',
    '│ ',
    '│ ',
    '│ #⟨900 spaces⟩x',
    '│ ⟨U+27E8⟩5 empty lines⟩',
  ])
})

test('without a yes nothing is decided', async () => {
  await using desk = await openDesk()
  const { approvalId } = (await desk.ask()).body
  for (const answer of ['', 'n', 'yeah']) {
    const { code, stderr } = await run(['approve', approvalId], asAnna(desk), saying(answer).world)
    expect([code, stderr]).toEqual([2, expect.stringContaining('Nothing is decided.')])
  }
  expect((await desk.read(approvalId)).body.state).toBe('open')
})

test('without a terminal it takes the hash of what was read', async () => {
  await using desk = await openDesk()
  const { approvalId, inputHash } = (await desk.ask()).body
  const blind = await run(['approve', approvalId], asAnna(desk))
  expect([blind.code, blind.stderr]).toEqual([2, expect.stringContaining('Give --hash with the inputHash')])
  const listed = JSON.parse((await run(['approve', '--json'], asAnna(desk))).stdout)
  expect(listed.approvals).toMatchObject([{ approvalId, inputHash, input: bash }])
  const other = await run(['deny', approvalId, '--hash', 'a'.repeat(64)], asAnna(desk))
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('this is not what it asks')])
  const denied = await run(['deny', approvalId, '--hash', inputHash, '--message', 'Not now.', '--json'], asAnna(desk))
  expect(JSON.parse(denied.stdout)).toMatchObject({ decision: { answer: 'deny', message: 'Not now.', by: 'anna' } })
})

test('with --json nothing is shown, so nothing is asked: it takes the hash and the answers', async () => {
  await using desk = await openDesk()
  const { approvalId } = (await desk.ask()).body
  const asked = (await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions } })).body
  for (const argv of [
    ['approve', approvalId],
    ['deny', approvalId],
    ['approve', asked.approvalId],
    ['approve', asked.approvalId, '--hash', asked.inputHash],
    ['approve', asked.approvalId, '--answer', 'SQLite', '--answer', 'Mon'],
  ]) {
    const person = saying('y', 'y')
    const { code, stdout, stderr } = await run([...argv, '--json'], asAnna(desk), person.world)
    expect([code, stdout, person.asked]).toEqual([2, '', []])
    expect(stderr).toContain('--hash')
  }
  expect((await desk.read(approvalId)).body.state).toBe('open')
})

const questions = [
  { question: 'Which database?', options: [{ label: 'Postgres' }, { label: 'SQLite' }] },
  { question: 'Which days?', multiSelect: true, options: [{ label: 'Mon' }, { label: 'Tue' }, { label: 'Wed' }] },
]

test('a question is answered by numbers, by labels, or in own words', async () => {
  await using desk = await openDesk()
  const ask = async () => (await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions } })).body
  const first = await ask()
  const { asked, world } = saying('2', '1, 3')
  expect((await run(['approve', first.approvalId], asAnna(desk), world)).code).toBe(0)
  expect(asked[0]).toContain('Which database?\n  1  Postgres\n  2  SQLite\n')
  expect((await desk.read(first.approvalId)).body.decision.answers).toEqual({
    'Which database?': 'SQLite',
    'Which days?': 'Mon, Wed',
  })
  expect(asked[0]).toMatch(/^\n│ Which/)
  const second = await ask()
  const given = ['--answer', 'Postgres', '--answer', 'none at all', '--hash', second.inputHash]
  expect((await run(['approve', second.approvalId, ...given], asAnna(desk))).code).toBe(0)
  expect((await desk.read(second.approvalId)).body.decision.answers).toEqual({
    'Which database?': 'Postgres',
    'Which days?': 'none at all',
  })
  const third = await ask()
  const half = await run(['approve', third.approvalId, '--answer', 'Postgres', '--hash', third.inputHash], asAnna(desk))
  expect([half.code, half.stderr]).toEqual([2, expect.stringContaining('2 questions')])
})

test('a label of a question is one line, so it is no label more', async () => {
  await using desk = await openDesk()
  const forged = [{ question: 'Go\n  1  on?', options: [{ label: 'Yes\n  2  No' }, { label: 'Never' }] }]
  const { approvalId } = (await desk.ask({ kind: 'question', tool: 'AskUserQuestion', input: { questions: forged } }))
    .body
  const { asked, world } = saying('')
  await run(['approve', approvalId], asAnna(desk), world)
  expect(asked[0]).toContain('\n│ Go\n│   1  on?\n  1  Yes⟨U+000A⟩  2  No\n  2  Never\n')
})

test('needs shows an approval with its command as the way out, and completion has its id', async () => {
  await using desk = await openDesk()
  const { approvalId } = (await desk.ask()).body
  const { stdout } = await run(['needs'], asAnna(desk))
  expect(stdout).toMatch(new RegExp(`approval +@donna .*${approvalId} +Bash rm -rf build`))
  expect(stdout).toContain(`rouse approve ${approvalId}`)
  const words = await run(['complete', '--', 'deny', ''], asAnna(desk))
  expect(words.stdout).toContain(approvalId)
})

test('a key without the scope is told which one it takes', async () => {
  await using desk = await openDesk()
  const { approvalId } = (await desk.ask()).body
  const env = { ROUSE_URL: desk.gateway.url, ROUSE_KEY: desk.gateway.adminKey }
  const { code, stderr } = await run(['approve', approvalId], env, saying('y').world)
  expect(code).toBe(1)
  expect(stderr).toContain('needs the scope "approve"')
  expect(stderr).toContain('rouse operator key add --role manager --label anna --approve')
})

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
    'command:\n│ echo a\\rrm -rf / # \\u{202e}evil\\u{202c}\n│ \\tls \\u{200b}x\\u{a0}y é ✓ \\u{1b}[2J\ndescription:\n│ Lists.\n',
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

import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

async function desk() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const add = async (...argv: string[]) => {
    const made = await run(['sub', 'add', ...argv], env)
    return { ...made, id: /^(WAKE_SUB:\S+) is made/.exec(made.stdout)?.[1] ?? '' }
  }
  const read = async (id: string) => (await gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body
  return { gateway, env, add, read, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

// D3, D25
test('sub add takes everything that a subscription has, and says when the first wake comes', async () => {
  await using at = await desk()
  const target = ['--trigger', 'SENT_TO_ME', '--target-url', 'http://127.0.0.1:9/']
  expect((await at.add(...target)).stdout).toContain(
    'The first wake comes at once; what follows within 30 s is one digest.',
  )
  expect((await at.add(...target, '--window', '0')).stdout).toContain('Each event is sent at once')
  const late = await at.add(
    ...target,
    '--coalesce-mode',
    'window',
    '--window',
    '7',
    '--max-in-flight',
    '4',
    '--include-own',
  )
  expect(late.stdout).toContain('The first wake comes 7 s after its event, as one digest')
  expect(late.stdout).toMatch(/signing key: whsec_/)
  expect(await at.read(late.id)).toMatchObject({
    harnessTargetMetadata: { coalesceWindow: 7, coalesceMode: 'window', maxInFlight: 4, includeOwn: true },
  })
  const fresh = await at.add(...target, '--start-from', 'now', '--retry-for', '12h')
  expect(fresh.stdout).not.toContain('What waits already')
  expect(late.stdout).toContain('What waits already comes first, as one digest.')
  expect(await at.read(fresh.id)).toMatchObject({ harnessTargetMetadata: { retryForSeconds: 43_200 } })
  expect((await at.add(...target, '--retry-for', '4d')).stderr).toMatch(/--retry-for.*three days/)
  expect((await at.add(...target, '--leading', '--coalesce-mode', 'window')).code).toBe(2)
})

test('a disabled subscription needs no webhook and gets no key; one of a session ends with it', async () => {
  await using at = await desk()
  const disabled = await at.add('--trigger', 'SENT_TO_ME', '--target', 'disabled')
  expect(disabled.stdout).toBe(`${disabled.id} is made.\nIt wakes nobody: rouse sub held lists what it matched.\n`)
  expect(await at.read(disabled.id)).toMatchObject({ harnessTarget: 'disabled' })
  await run(['session', 'start', '--surface', 'codex'], at.env)
  const [session] = JSON.parse((await run(['session', 'list', '--json'], at.env)).stdout).sessions
  const bound = await at.add('--trigger', 'SENT_TO_ME', '--target', 'none', '--session', session.sessionId)
  expect(await at.read(bound.id)).toMatchObject({ sessionId: session.sessionId })
  await run(['session', 'end'], at.env)
  expect(await at.read(bound.id)).toMatchObject({ status: 'paused', reason: 'session ended' })
  const wrong = await at.add('--trigger', 'SENT_TO_ME', '--target', 'none', '--session', 'nope')
  expect(wrong.stderr).toContain('--session: nope is not a live session')
})

// D24
test('sub update changes trigger, filters and target, and keeps the filters that it does not name', async () => {
  await using at = await desk()
  const { id } = await at.add(
    '--trigger',
    'SENT_TO_ME',
    '--target',
    'disabled',
    '--sender',
    '@boss',
    '--priority',
    'high',
  )
  const update = (...argv: string[]) => run(['sub', 'update', id, ...argv], at.env)
  expect((await update('--trigger', 'task-state-changed', '--concept', 'release')).code).toBe(0)
  expect(await at.read(id)).toMatchObject({
    trigger: 'TASK_STATE_CHANGED',
    filters: { senderFilter: ['@boss'], priority: 'high', taggedConcepts: ['release'] },
  })
  expect((await update('--no-filters', '--sender', '@mike')).code).toBe(0)
  expect((await at.read(id)).filters).toEqual({ senderFilter: ['@mike'] })
  const webhook = await update('--target', 'a2a-webhook', '--target-url', 'http://127.0.0.1:9/', '--include-own')
  expect(webhook.stdout).toMatch(/signing key: whsec_/)
  expect(await at.read(id)).toMatchObject({ harnessTarget: 'a2a-webhook', harnessTargetMetadata: { includeOwn: true } })
  await update('--no-include-own', '--window', '0', '--max-in-flight', '2')
  expect((await at.read(id)).harnessTargetMetadata).toMatchObject({
    includeOwn: false,
    coalesceWindow: 0,
    maxInFlight: 2,
  })
  expect(await update()).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing to change') })
})

test('the help of sub add names all eight triggers', async () => {
  const { stdout } = await run(['sub', 'add', '--help'])
  const words = stdout.replace(/\s+/g, ' ')
  for (const trigger of [
    'SENT_TO_ME',
    'TASK_STATE_CHANGED',
    'PERMISSION_GRANTED',
    'MESSAGE_STATUS_CHANGED',
    'SUBSCRIPTION_DEGRADED',
    'SUBSCRIPTION_RECOVERED',
    'WAKE_FAILED',
    'SIGNING_KEY_ROTATED',
  ]) {
    expect(words).toContain(trigger)
  }
})

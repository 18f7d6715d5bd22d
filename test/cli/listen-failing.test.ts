import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listenOnStream } from '../../src/cli/listen/stream.ts'
import { createGatewayClient } from '../../src/client/gateway-client.ts'
import { createPrinter } from '../../src/client/printer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { advanceUntil, type Json } from '../wakes/acts.ts'
import { start, type Terminal } from './terminal.ts'

/** A command whose outcome a test changes: what it runs, and how often it has run. */
function changeable(script: string) {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-failing-'))
  const file = join(directory, 'script')
  const runs = join(directory, 'runs')
  writeFileSync(file, script)
  return {
    command: `echo run >> ${runs}; . ${file}`,
    become: (next: string) => writeFileSync(file, next),
    runs: () => {
      try {
        return readFileSync(runs, 'utf8').trimEnd().split('\n').length
      } catch {
        return 0
      }
    },
  }
}

function listen(gateway: TestGateway, { key }: TestAgent, ...argv: string[]): Terminal {
  return start(['listen', ...argv], { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: key })
}

async function stop(terminal: Terminal): Promise<void> {
  terminal.interrupt()
  expect(await terminal.code, terminal.stderr()).toBe(130)
}

const ownOf = async (gateway: TestGateway, { key }: TestAgent): Promise<Json> =>
  (await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key })).body.subscriptions[0]
const taskOf = async (gateway: TestGateway, id: string): Promise<Json> =>
  (await gateway.call('GET', `/v1/tasks/${id}`)).body

describe('a command of rouse listen --exec that fails', () => {
  test('is tried again for hours by default, says so once, and works again when it can', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    const donna = await gateway.addAgent('donna')
    const { command, become, runs } = changeable('echo "quota is used up" >&2; exit 7')
    const terminal = listen(gateway, donna, '--exec', command)
    await terminal.until(/Listening to/)
    expect((await ownOf(gateway, donna)).harnessTargetMetadata).toMatchObject({ retryForSeconds: 21_600 })
    const task = await gateway.send('donna', 'hard')
    // More than the four tries of a receiver that asks for no more. The hours go by slowly enough for each run to end.
    await advanceUntil(clock, 20_000, runs, (count) => count >= 6)
    expect(terminal.stderr().match(/comes again: ever more rarely, for up to 6 hours \(--retry-for\)/g)).toHaveLength(1)
    const { status, failedInARow, retrying } = await until(
      () => ownOf(gateway, donna),
      (own) => own.retrying !== undefined,
    )
    expect({ status, failedInARow, error: retrying.error }).toEqual({
      status: 'active',
      failedInARow: 0,
      error: `failed: ended with exit code 7: quota is used up (task ${task.id} from @operator)`,
    })
    expect((await taskOf(gateway, task.id)).state).toBe('submitted')
    become('true')
    await advanceUntil(clock, 60_000, terminal.stderr, (text) => text.includes('the command has succeeded now'))
    await stop(terminal)
  })

  test('a listener that comes back with another --retry-for changes its subscription', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    for (const seconds of [0, 60]) {
      const terminal = listen(gateway, donna, '--retry-for', String(seconds))
      await terminal.until(/Listening to/)
      expect((await ownOf(gateway, donna)).harnessTargetMetadata).toMatchObject({ retryForSeconds: seconds })
      await stop(terminal)
    }
  })

  // D48
  test('moves its task to failed with the reason when the wake is given up, so that nobody waits for it', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    const donna = await gateway.addAgent('donna')
    const long = 'x'.repeat(500)
    const { command } = changeable(`echo "looking ..."; printf 'quota is used up\\033[31m ${long}\\n\\n' >&2; exit 7`)
    const terminal = listen(gateway, donna, '--retry-for', '0', '--exec', command)
    await terminal.until(/Listening to/)
    const { id } = await gateway.send('donna', 'hard')
    await gateway.move(donna, id, 'working')
    const task = await advanceUntil(
      clock,
      1_000,
      () => taskOf(gateway, id),
      ({ state }) => state === 'failed',
    )
    const said: string = task.status.message.parts[0].text
    expect(said).toMatch(
      /^The command that was started for this task ended with exit code 7: quota is used up\[31m x+…$/,
    )
    expect(said.split(': ')[1]).toHaveLength(200)
    await terminal.until(new RegExp(`Task ${id} is failed now`))
    expect(terminal.stderr()).toMatch(/Wake \w+ is given up\. Its mail stays unread/)
    await stop(terminal)
  })

  test('leaves the task with --on-failure keep, and a task that somebody else has now in any case', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    const donna = await gateway.addAgent('donna')
    const ben = await gateway.addAgent('ben')
    const { command } = changeable('exit 7')
    const keeps = listen(gateway, donna, '--retry-for', '0', '--on-failure', 'keep', '--exec', command)
    await keeps.until(/Listening to/)
    const kept = await gateway.send('donna', 'hard')
    await advanceUntil(clock, 1_000, keeps.stderr, (text) => text.includes('is given up'))
    await stop(keeps)
    expect((await taskOf(gateway, kept.id)).state).toBe('submitted')

    const terminal = listen(gateway, ben, '--retry-for', '0', '--exec', command)
    await terminal.until(/Listening to/)
    const handed = await gateway.send('ben', 'hard')
    await terminal.until(/ended with exit code 7/)
    const handoff = { ref: handed.id, to: '@donna' }
    expect((await gateway.call('POST', '/v1/claims/handoff', handoff, ben)).status).toBeLessThan(300)
    await advanceUntil(clock, 1_000, terminal.stderr, (text) => text.includes('is given up'))
    await stop(terminal)
    expect(await taskOf(gateway, handed.id)).toMatchObject({ state: 'submitted', assignee: '@donna' })
  })
})

describe('a text that makes the command fail', () => {
  const poisoned =
    'input=$(cat); case "$input" in *poison*) echo "context too long" >&2; exit 1;; esac; echo "$ROUSE_SUBJECT" >> '

  test('waits alone: after three failures what others have sent is handed over, and nothing else is moved to failed', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    const donna = await gateway.addAgent('donna')
    const mallory = await gateway.addAgent('mallory')
    const done = join(mkdtempSync(join(tmpdir(), 'rouse-failing-')), 'done')
    const { command, runs } = changeable(`${poisoned}${done}`)
    const terminal = listen(gateway, donna, '--exec', command)
    await terminal.until(/Listening to/)
    const bad = await gateway.send('donna', 'poison', { key: mallory.key })
    const good = [await gateway.send('donna', 'honest one'), await gateway.send('donna', 'honest two')]
    const read = () => {
      try {
        return readFileSync(done, 'utf8').trim().split('\n')
      } catch {
        return []
      }
    }
    await advanceUntil(clock, 1_000, read, (lines) => lines.length === 2)
    expect(read()).toEqual(['honest one', 'honest two'])
    expect(runs()).toBeLessThanOrEqual(6)
    await terminal.until(
      /fails \(ended with exit code 1: context too long \(task \S+ from @mallory\)\): it is tried again alone/,
    )
    for (const { id } of [bad, ...good]) expect((await taskOf(gateway, id)).state).toBe('submitted')
    await stop(terminal)
    // The next listener gets it again.
    const before = runs()
    const again = listen(gateway, donna, '--exec', command)
    await advanceUntil(clock, 1_000, runs, (count) => count > before)
    await stop(again)
  })

  test('in a digest, it fails alone: the other tasks are worked on, and stay as they are', async () => {
    const clock = new FakeClock(Date.now())
    await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
    const donna = await gateway.addAgent('donna')
    const mallory = await gateway.addAgent('mallory')
    const done = join(mkdtempSync(join(tmpdir(), 'rouse-failing-')), 'done')
    const { command } = changeable(`${poisoned}${done}`)
    const first = listen(gateway, donna, '--retry-for', '0', '--exec', command)
    await first.until(/Listening to/)
    await stop(first)
    const texts = ['honest one', 'poison', 'honest two', 'honest three']
    const sent = []
    for (const text of texts) sent.push(await gateway.send('donna', text, { key: mallory.key }))
    const { subscriptionId } = await ownOf(gateway, donna)
    await gateway.call('POST', `/v1/wake-subscriptions/${subscriptionId}/resync`, { sinceLogId: 0 }, donna)
    const terminal = listen(gateway, donna, '--retry-for', '0', '--window', '1', '--exec', command)
    await terminal.until(/wake\/digest/)
    await advanceUntil(clock, 1_000, terminal.stderr, (text) => text.includes('it is tried again alone'))
    const states = await Promise.all(sent.map(async ({ id }) => (await taskOf(gateway, id)).state))
    expect(states).toEqual(['submitted', 'submitted', 'submitted', 'submitted'])
    expect(new Set(readFileSync(done, 'utf8').trim().split('\n')).size).toBe(3)
    await stop(terminal)
  })
})

test('a listener whose subscription is degraded says so and how to mend it, and comes back by itself', async () => {
  const clock = new FakeClock(Date.now())
  await using gateway = await startGateway({ overrides: { clock, random: () => 0 } })
  const donna = await gateway.addAgent('donna')
  const { command, become, runs } = changeable('exit 7')
  const notes: string[] = []
  const interruption = new AbortController()
  const io = { stdout() {}, stderr() {}, env: { PATH: process.env.PATH }, signal: interruption.signal }
  const client = createGatewayClient({
    url: gateway.url,
    credentials: async () => ({ key: donna.key }),
    signal: io.signal,
  })
  const options = {
    triggers: ['SENT_TO_ME' as const],
    subscriptionIds: [],
    exec: command,
    windowSeconds: 0,
    concurrency: 1,
    retryForSeconds: 0,
    timeoutMs: 60_000,
    isTemporary: false,
    onFailure: 'fail' as const,
    recoveryTimes: { lookMs: 20, restMs: { first: 500, max: 1_000 } },
  }
  const print = { ...createPrinter(io, false), note: (text: string) => void notes.push(text) }
  const ended = listenOnStream(options, io, client, print).catch((error: Error) => error)
  const noted = (pattern: RegExp) => () => notes.find((note) => pattern.test(note))
  await until(noted(/Listening to/), (note) => note !== undefined)
  for (const text of ['1', '2', '3']) {
    await gateway.send('donna', text)
    await advanceUntil(
      clock,
      1_000,
      () => notes.filter((note) => note.includes('given up')).length,
      (n) => n === +text,
    )
  }
  const { subscriptionId } = await ownOf(gateway, donna)
  const said = await until(noted(/have stopped/), (note) => note !== undefined)
  expect(said).toMatch(/its wakes for SENT_TO_ME have stopped: 3 events failed in a row; .*They begin again in 1 s/)
  expect(said).toContain(`at once with: rouse sub update ${subscriptionId} --status active`)
  become('true')
  const before = runs()
  // The events that were missed come as one digest.
  await advanceUntil(clock, 1_000, runs, (count) => count > before)
  await until(
    async () => (await ownOf(gateway, donna)).status,
    (status) => status === 'active',
  )
  interruption.abort(new Error('stop'))
  await ended
})

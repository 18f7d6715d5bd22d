import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { duringWakes } from '../bridge/run/forged-wakes.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, type Json } from '../wakes/acts.ts'
import { start, type Terminal } from './terminal.ts'

const scratch = (): string => mkdtempSync(join(tmpdir(), 'rouse-listen-'))

function listen(gateway: TestGateway, { key }: TestAgent, ...argv: string[]): Terminal {
  const env = { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: key, ROUSE_ADMIN_KEY: 'rk_other' }
  return start(['listen', ...argv], env)
}

async function stop(terminal: Terminal): Promise<void> {
  terminal.interrupt()
  expect(await terminal.code, terminal.stderr()).toBe(130)
}

const ownOf = async (gateway: TestGateway, { key }: TestAgent): Promise<Json[]> =>
  (await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key })).body.subscriptions

const linesOf = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean)
  } catch {
    return []
  }
}

describe('rouse listen', () => {
  test('opens the stream itself, prints each wake and acknowledges it', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const terminal = listen(gateway, donna)
    await terminal.until(/Subscribed to SENT_TO_ME as WAKE_SUB:/)
    await terminal.until(/Listening to/)
    await gateway.send('donna', 'Review PR 7')
    await terminal.until(/Review PR 7/)
    const [own] = await ownOf(gateway, donna)
    expect(own).toMatchObject({ harnessTarget: 'bridge-daemon', status: 'active' })
    await until(
      async () => (await deliveriesOf(gateway, donna, own.subscriptionId))[0],
      (delivery) => delivery?.outcome === 'delivered',
    )
    await stop(terminal)
  })

  test('leaves a subscription alone that names its reader', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const input = {
      trigger: 'SENT_TO_ME',
      harnessTarget: 'bridge-daemon',
      harnessTargetMetadata: { reader: 'rouse bridge' },
    }
    const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
    const terminal = listen(gateway, donna)
    await terminal.until(/Listening to/)
    const found = await ownOf(gateway, donna)
    expect(found.map(({ subscriptionId, status }) => [subscriptionId === body.subscriptionId, status]).sort()).toEqual([
      [false, 'active'],
      [true, 'waiting'],
    ])
    await stop(terminal)
  })

  // D29
  test('that starts after a message was sent is woken by it; one that comes back gets what gathered, once', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await gateway.send('donna', 'before anybody listened')
    const first = listen(gateway, donna, '--json')
    await first.until(/before anybody listened/)
    // It is printed before it is acknowledged.
    await until(
      () => ownOf(gateway, donna),
      ([own]) => own?.lastEmittedLogId != null,
    )
    await stop(first)
    await until(
      () => ownOf(gateway, donna),
      ([own]) => own?.status === 'waiting',
    )
    for (let count = 0; count < 10; count++) await gateway.send('donna', `away ${count}`)
    const second = listen(gateway, donna, '--json')
    await second.until(/Goes on with the subscription to SENT_TO_ME/)
    await second.until(/away 9/)
    await stop(second)
    const wakes = second.stdout().trimEnd().split('\n')
    expect(wakes.map((line) => JSON.parse(line))).toMatchObject([
      { eventType: 'wake/digest', payload: { reason: 'waiting', eventCount: 10 } },
    ])
    expect((await ownOf(gateway, donna)).length).toBe(1)
  })

  test('connects again when the connection breaks, and does no work twice', async () => {
    await using gateway = await startGateway()
    await using proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) })
    const donna = await gateway.addAgent('donna')
    const file = join(scratch(), 'out')
    const go = join(scratch(), 'go')
    const script = `echo "begun $ROUSE_SUBJECT" >> ${file}; while [ ! -e ${go} ]; do sleep 0.05; done; echo "done $ROUSE_SUBJECT" >> ${file}`
    const terminal = listen(gateway, donna, '--url', `http://127.0.0.1:${proxy.port}`, '--exec', script)
    await terminal.until(/Listening to/)
    await gateway.send('donna', 'long work')
    await until(
      () => linesOf(file).length,
      (count) => count === 1,
    )
    proxy.cutAll()
    await terminal.until(/connecting again/)
    await until(
      () => terminal.stderr().match(/Listening to/g)?.length,
      (count) => count === 2,
    )
    writeFileSync(go, '')
    await gateway.send('donna', 'next')
    await until(
      () => linesOf(file),
      (lines) => lines.length === 4,
    )
    expect(linesOf(file).slice(0, 2)).toEqual(['begun long work', 'done long work'])
    await stop(terminal)
  })

  test('points out a gap before a wake, with the command that brings what is missing', async () => {
    await using gateway = await startGateway()
    const { key } = await gateway.addAgent('donna')
    const wake = { eventType: 'wake/sent_to_me', subscriptionId: 'WAKE_SUB:1', payload: {} }
    const wakes = [
      { ...wake, eventId: '01HWAKE0000000000000000001', logId: 7, prevLogId: null },
      { ...wake, eventId: '01HWAKE0000000000000000003', logId: 9, prevLogId: 8 },
    ]
    const terminal = start(['listen'], { ROUSE_URL: gateway.url, ROUSE_KEY: key }, { fetch: duringWakes(wakes) })
    await terminal.until(/Wakes are missing before this one: rouse sub resync WAKE_SUB:1 --since 7/)
    await stop(terminal)
  })

  test('ends when a newer one reads its subscription', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = listen(gateway, donna)
    await first.until(/Listening to/)
    const second = listen(gateway, donna)
    await second.until(/Listening to/)
    expect(await first.code).toBe(1)
    expect(first.stderr()).toContain('no longer read here: a newer stream reads it')
    await stop(second)
  })

  test('reads a subscription by the beginning of its id, and says nothing of mail that waits: it brings it', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const input = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', filters: { taggedConcepts: ['release'] } }
    const { body } = await gateway.call('POST', '/v1/wake-subscriptions', input, donna)
    const id = body.subscriptionId as string
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Not for it' })
    const terminal = listen(gateway, donna, '--subscription', id.slice('WAKE_SUB:'.length).slice(0, 8))
    await terminal.until(/Listening to/)
    await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Ship it', taggedConcepts: ['release'] })
    await terminal.until(/Ship it/)
    expect(await ownOf(gateway, donna)).toMatchObject([{ subscriptionId: id, status: 'active' }])
    await stop(terminal)
    expect(terminal.stdout() + terminal.stderr()).not.toMatch(/Not for it|new message/)
  })

  test('removes a subscription that was temporary', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const terminal = listen(gateway, donna, '--temporary', '--subscribe', 'TASK_STATE_CHANGED')
    await terminal.until(/Listening to/)
    await stop(terminal)
    expect(await ownOf(gateway, donna)).toEqual([])
  })
})

describe('rouse listen --exec', () => {
  test('gives the command the text, who, which thread and task, and the key of the agent alone', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const file = join(scratch(), 'out')
    const names = ['FROM', 'SUBJECT', 'TASK_ID', 'URL', 'KEY', 'ADMIN_KEY', 'AGENT', 'TEXT']
    const script = `cat > ${file}; ${names.map((name) => `printf '%s\\n' "$ROUSE_${name}" >> ${file}`).join('; ')}`
    const terminal = listen(gateway, donna, '--exec', script)
    await terminal.until(/Listening to/)
    const task = await gateway.send('donna', 'Count $(these) words')
    const lines = await until(
      () => linesOf(file),
      ({ length }) => length >= 9,
    )
    const [json, ...variables] = lines
    expect(variables).toEqual([
      '@operator',
      'Count $(these) words',
      task.id,
      gateway.url,
      donna.key,
      '@donna',
      'From "@operator", your user:',
      'Count $(these) words',
    ])
    expect(JSON.parse(json!)).toMatchObject({
      eventType: 'wake/sent_to_me',
      messages: [{ taskId: task.id, from: '@operator' }],
      tasks: [{ id: task.id, state: 'submitted', version: 1 }],
    })
    await stop(terminal)
  })

  test('acknowledges after the command has succeeded, and has a failed one run again', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const file = join(scratch(), 'out')
    const script = `echo "$ROUSE_SUBJECT" >> ${file}; [ $(wc -l < ${file}) -gt 1 ] || exit 7`
    const terminal = listen(gateway, donna, '--exec', script)
    await terminal.until(/Listening to/)
    await gateway.send('donna', 'hard')
    await terminal.until(/ended with exit code 7/)
    const [own] = await ownOf(gateway, donna)
    const delivery = await until(
      async () => (await deliveriesOf(gateway, donna, own.subscriptionId))[0],
      (one) => one?.outcome === 'delivered',
    )
    expect(linesOf(file)).toEqual(['hard', 'hard'])
    expect(delivery.attempts).toMatchObject([
      { error: 'failed', response: expect.stringMatching(/^ended with exit code 7 \(task \S+ from @operator\)$/) },
      { error: null },
    ])
    await stop(terminal)
  })

  test('ends a command that takes too long, as a failure', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const terminal = listen(gateway, donna, '--timeout', '1', '--exec', 'sleep 60')
    await terminal.until(/Listening to/)
    await gateway.send('donna', 'slow')
    await terminal.until(/took longer than 1 s/)
    await stop(terminal)
  })

  test.each([
    [true, 'title[31mred'],
    [false, '\u001b]0;title\u0007\u001b[31mred'],
  ])(
    'sets no title of a terminal (%s) by what the command prints, and changes nothing of it elsewhere',
    async (isTerminal, shown) => {
      await using gateway = await startGateway()
      const { key } = await gateway.addAgent('donna')
      const script = "printf '\\033]0;title\\007\\033[31mred\\n'"
      const env = { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: key }
      const terminal = start(['listen', '--exec', script], env, { isTerminal })
      await terminal.until(/Listening to/)
      await gateway.send('donna', 'hello')
      await terminal.until(/red\n/)
      await stop(terminal)
      expect(terminal.stdout()).toContain(isTerminal ? `]0;${shown}` : shown)
      expect(terminal.stdout().includes('\u001b')).toBe(!isTerminal)
    },
  )

  test('runs one command at a time by default, in order; with --json standard output has the wakes only', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const script = 'echo "start $ROUSE_SUBJECT"; sleep 0.05; echo "end $ROUSE_SUBJECT"'
    const terminal = listen(gateway, donna, '--json', '--exec', script)
    await terminal.until(/Listening to/)
    for (const text of ['1', '2', '3']) await gateway.send('donna', text)
    await terminal.until(/end 3/)
    await stop(terminal)
    const lines = terminal.stderr().split('\n')
    expect(lines.filter((line) => /^(start|end)/.test(line))).toEqual(
      ['1', '2', '3'].flatMap((text) => [`start ${text}`, `end ${text}`]),
    )
    const wakes = terminal.stdout().trimEnd().split('\n')
    expect(wakes.map((line) => JSON.parse(line).eventType)).toEqual(Array(3).fill('wake/sent_to_me'))
  })

  test('runs as many commands at the same time as it may', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const file = join(scratch(), 'out')
    const script = `echo begun >> ${file}; while [ $(wc -l < ${file}) -lt 3 ]; do sleep 0.02; done`
    const terminal = listen(gateway, donna, '--concurrency', '3', '--exec', script)
    await terminal.until(/Listening to/)
    for (const text of ['1', '2', '3']) await gateway.send('donna', text)
    await until(
      () => linesOf(file).length,
      (count) => count === 3,
    )
    await stop(terminal)
  })

  test('lets Ctrl-C end the command, and the wake comes again to the next one', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const first = listen(gateway, donna, '--exec', 'echo begun; sleep 60')
    await first.until(/Listening to/)
    await gateway.send('donna', 'cut off')
    await first.until(/begun/)
    await stop(first)
    const second = listen(gateway, donna, '--json')
    await second.until(/cut off/)
    await stop(second)
  })

  test('with the operator’s key wakes for an agent, and keeps that key from the command', async () => {
    await using gateway = await startGateway()
    await gateway.addAgent('donna')
    const file = join(scratch(), 'out')
    const admin = { key: gateway.adminKey } as TestAgent
    const terminal = listen(gateway, admin, '--agent', 'donna', '--exec', `echo "key:$ROUSE_KEY" > ${file}`)
    await terminal.until(/Listening to/)
    await gateway.send('donna', 'hello')
    const lines = await until(
      () => linesOf(file),
      ({ length }) => length === 1,
    )
    expect(lines).toEqual(['key:'])
    await stop(terminal)
  })
})

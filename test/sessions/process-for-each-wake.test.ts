import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { begin } from './sessions.ts'

/** A process that speaks for an agent: it starts a session, and ends it if its input says so. The task stays open. */
const script = `
  const [url, key, end] = process.argv.slice(1)
  const startedAt = new Date(performance.timeOrigin).toISOString()
  const call = async (method, path, body) => {
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
    return (await fetch(url + path, { method, headers, body: body && JSON.stringify(body) })).json()
  }
  const about = { surface: 'worker', ...(end === 'unknown' ? {} : { pid: process.pid, startedAt }) }
  const { sessionId } = await call('POST', '/v1/sessions', about)
  if (end === 'ends') await call('DELETE', '/v1/sessions/' + sessionId)
  console.log(sessionId)
`

/** Runs such a process, and returns the id of its session. */
async function work({ url }: TestGateway, { key }: { key: string }, end: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, url, key, end], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part) => (text += part))
  await once(child, 'close')
  return text.trim()
}

// D29
test.each(['ends', 'leaves', 'unknown'])(
  'a receiver that starts a process for each wake is woken once for each message: its process %s its session',
  async (end) => {
    await using gateway = await startGateway()
    await using receiver = await startReceiver()
    const donna = await gateway.addAgent('donna')
    await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
    const sessions: string[] = []
    const task = await gateway.send('donna', 'stays open')
    for (let count = 1; count <= 3; count += 1) {
      await receiver.waitFor(count)
      sessions.push(await work(gateway, donna, end))
      // A digest of what waits would come before it.
      if (count < 3) await gateway.send('donna', `message ${count}`)
    }
    expect(receiver.wakes.map(({ body }) => body.eventType)).toEqual(Array(3).fill('wake/sent_to_me'))
    expect(new Set(sessions).size).toBe(3)
    expect((await gateway.call('GET', `/v1/tasks/${task.id}`)).body.state).toBe('submitted')
  },
)

// D29
test('a harness that is killed right after a wake, and is back a moment later, is sent what waits', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME' })
  await begin(gateway, donna)
  await gateway.send('donna', 'the work that it was killed over')
  await receiver.waitFor(1)
  await until(
    async () => (await gateway.call('GET', '/v1/wake-subscriptions', undefined, { key: donna.key })).body.subscriptions,
    ([{ lastEmittedLogId }]) => lastEmittedLogId !== null,
  )
  await work(gateway, donna, 'leaves')
  const [, digest] = await receiver.waitFor(2)
  expect(digest!.body).toMatchObject({ eventType: 'wake/digest', payload: { reason: 'waiting', eventCount: 1 } })
})

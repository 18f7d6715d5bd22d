import { expect, test } from 'vitest'
import { sizeLimits } from '../../src/limits.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { beat, begin, end, minute, noon, say, sessionOf, start } from './sessions.ts'

const { max } = sizeLimits.settings
/** Capabilities with so many bytes as JSON, of characters of two bytes where possible. */
function sized(bytes: number): string[] {
  const list = Array.from({ length: 10 }, (_, at) => `${at}${'é'.repeat(195)}`)
  const rest = bytes - Buffer.byteLength(JSON.stringify([...list, '']))
  return [...list, 'x'.repeat(rest)]
}
const largest = sized(max)
const above = sized(max + 1)
const refusal = { code: 'payload-too-large', limit: 'settings', max }

/** As much as there could be before there was a limit. */
const before = JSON.stringify(Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(200, 'x')))

/** Begins so many sessions, which preempt each other. */
async function beginMany(gateway: TestGateway, agent: TestAgent, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await begin(gateway, agent)
}

test('the capabilities of a session are bounded together, on every way to report them', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await begin(gateway, donna, { capabilities: largest })
  const idle = { state: 'idle', source: 'codex-app-server' }
  const answers = [
    await start(gateway, donna, { capabilities: above }),
    await beat(gateway, donna, id, { ...idle, capabilities: above }),
    await say(gateway, donna, { ...idle, capabilities: above }),
  ]
  const fields = ['capabilities', 'presence.capabilities', 'capabilities']
  for (const [at, { status, body }] of answers.entries()) {
    expect(status).toBe(413)
    const detail = `${fields[at]}: the capabilities have ${max + 1} bytes as JSON, and at most ${max} are allowed. List fewer or shorter capabilities.`
    expect(body).toMatchObject({ ...refusal, field: fields[at], detail })
  }
  expect((await sessionOf(gateway, id)).capabilities).toEqual(largest)
  expect((await say(gateway, donna, { ...idle, capabilities: largest })).status).toBe(200)
})

test('an ended session keeps no capabilities, however it ended; one that continues reports them again', async () => {
  const clock = new FakeClock(noon)
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const capabilities = ['turn/start']
  const preempted = await begin(gateway, donna, { capabilities })
  const ended = await begin(gateway, donna, { capabilities })
  expect((await end(gateway, donna, ended)).body).toMatchObject({ status: 'ended', capabilities: [] })
  const process = { pid: 4711, startedAt: new Date(noon).toISOString() }
  const silent = await begin(gateway, donna, { capabilities, ...process })
  clock.advance(10 * minute)
  await until(
    () => sessionOf(gateway, silent),
    ({ status }) => status === 'ended',
  )
  for (const id of [preempted, ended, silent]) {
    expect(await sessionOf(gateway, id)).toMatchObject({ capabilities: [], presence: { capabilities: [] } })
  }
  expect(await begin(gateway, donna, { capabilities, ...process })).toBe(silent)
  expect(await sessionOf(gateway, silent)).toMatchObject({ status: 'live', capabilities })
})

test('ended sessions that have more from before are read in shorter pages, and none is left out', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await beginMany(gateway, donna, 60)
  await besideStore(gateway.dataDir, 'update session set capabilities = ? where ended_at is not null', before)
  const lengths: number[] = []
  const ids: string[] = []
  for (let pageToken = ''; ids.length === 0 || pageToken !== ''; ) {
    const path = `/v1/sessions?status=ended&limit=200${pageToken && `&pageToken=${pageToken}`}`
    const { body } = await gateway.call('GET', path, undefined, donna)
    expect(JSON.stringify(body).length).toBeLessThan(sizeLimits.page.max * 1.1)
    for (const { sessionId, capabilities } of body.sessions) {
      expect(capabilities).toHaveLength(100)
      ids.push(sessionId)
    }
    lengths.push(body.sessions.length)
    pageToken = body.nextPageToken
  }
  expect([ids.length, new Set(ids).size]).toEqual([59, 59])
  expect(ids).toEqual([...ids].sort().reverse())
  expect(lengths.length).toBeGreaterThan(1)
})

test('a live session that has more from before goes on, and its agent is listed', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const id = await begin(gateway, donna)
  await besideStore(gateway.dataDir, 'update session set capabilities = ? where id = ?', before, id)
  expect((await beat(gateway, donna, id, { state: 'idle', source: 'mcp-client' })).status).toBe(200)
  expect((await sessionOf(gateway, id)).capabilities).toHaveLength(100)
  const { body } = await gateway.call('GET', '/v1/agents', undefined, donna)
  expect(body.agents[0]).toMatchObject({ handle: '@donna', session: { sessionId: id } })
  expect((await end(gateway, donna, id)).body.capabilities).toEqual([])
})

test('live sessions are read in pages, newest first; the own one is on the first page only', async () => {
  await using gateway = await startGateway()
  const ids: string[] = []
  const agents: TestAgent[] = []
  for (const handle of ['donna', 'mike', 'lola']) {
    agents.push(await gateway.addAgent(handle))
    ids.unshift(await begin(gateway, agents.at(-1)!))
  }
  const list = async (query: string, key?: string) => {
    const { body } = await gateway.call('GET', `/v1/sessions${query}`, undefined, key ? { key } : {})
    return { ids: body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId), next: body.nextPageToken }
  }
  expect(await list('')).toEqual({ ids, next: '' })
  const first = await list('?status=live&limit=2')
  expect(first).toEqual({ ids: ids.slice(0, 2), next: ids[1] })
  expect(await list(`?status=live&limit=2&pageToken=${first.next}`)).toEqual({ ids: ids.slice(2), next: '' })
  const { key } = agents[2]!
  expect(await list('?limit=1', key)).toEqual({ ids: ids.slice(0, 1), next: '' })
  expect(await list(`?pageToken=${ids[0]}`, key)).toEqual({ ids: [], next: '' })
})

import { expect, test } from 'vitest'
import type { Asked, Decision } from '../../../src/bridge/adapter.ts'
import { personKey } from '../../approvals/person-key.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { openPlace, startBridge } from './bridge-desk.ts'

/** A request of the conversation of @donna, and the answers that its harness has got. */
function aRequest(over: Partial<Asked> = {}, outcome: 'taken' | 'late' = 'taken') {
  const ended = new AbortController()
  const answers: Decision[] = []
  const asked: Asked = {
    nonce: crypto.randomUUID(),
    conversationId: 'thread',
    kind: 'permission',
    tool: 'shell',
    input: { command: 'make' },
    reason: 'to build',
    answer: async (decision) => {
      answers.push(decision)
      return outcome
    },
    ended: ended.signal,
    ...over,
  }
  return { asked, answers, end: (state: 'answered_there' | 'withdrawn') => ended.abort(state) }
}

async function openDesk() {
  const place = await openPlace()
  const anna = await personKey(place.gateway, 'anna')
  const list = async () => (await place.gateway.call('GET', '/v1/approvals')).body.approvals
  return {
    ...place,
    options: { ...place.options, approvals: true as const },
    list,
    open: async () =>
      (await until(list, (all) => all.some(({ state }: { state: string }) => state === 'open'))).find(
        ({ state }: { state: string }) => state === 'open',
      ),
    newest: (check: (approval: { state: string; outcome: string | null }) => boolean) =>
      until(async () => (await list())[0], check),
    decide: ({ approvalId, inputHash }: { approvalId: string; inputHash: string }, body: object) =>
      place.gateway.call('POST', `/v1/approvals/${approvalId}/decision`, { inputHash, ...body }, { key: anna }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  }
}

test.each([
  ['taken', { answer: 'once' }],
  ['late', { answer: 'deny', message: 'Not now.' }],
] as const)('the answer of a person is given on, and the record says that it was %s', async (outcome, decision) => {
  await using desk = await openDesk()
  await using _bridge = await startBridge(desk.options)
  const { asked, answers } = aRequest({}, outcome)
  desk.harness.asked(asked)
  const record = await desk.open()
  expect(record).toMatchObject({
    harness: 'codex',
    conversationId: 'thread',
    tool: 'shell',
    input: { command: 'make' },
  })
  expect((await desk.decide(record, decision)).status).toBe(200)
  expect(await desk.newest((one) => one.outcome !== null)).toMatchObject({ state: 'answered', outcome })
  expect(answers).toEqual([decision])
})

test('without the setting nothing is asked elsewhere', async () => {
  await using desk = await openDesk()
  await using _bridge = await startBridge({ ...desk.options, approvals: undefined })
  expect(desk.harness.asksElsewhere).toBe(false)
})

test.each(['answered_there', 'withdrawn'] as const)(
  'a request that ends in its harness is %s, and gets no answer',
  async (state) => {
    await using desk = await openDesk()
    await using _bridge = await startBridge(desk.options)
    const { asked, answers, end } = aRequest()
    desk.harness.asked(asked)
    const record = await desk.open()
    end(state)
    expect(await desk.newest((one) => one.state !== 'open')).toMatchObject({ state })
    expect((await desk.decide(record, { answer: 'once' })).status).toBe(409)
    expect(answers).toEqual([])
  },
)

test('a bridge that stops takes back what waits; the next one closes what a killed one has left, and asks anew', async () => {
  await using desk = await openDesk()
  const first = await startBridge(desk.options)
  desk.harness.asked(aRequest().asked)
  const record = await desk.open()
  await first[Symbol.asyncDispose]()
  expect(await desk.newest((one) => one.state !== 'open')).toMatchObject({ state: 'withdrawn' })
  const left = { ...aRequest().asked, harness: 'codex', expiresInSeconds: 600, answer: undefined, ended: undefined }
  await desk.gateway.call('POST', '/v1/approvals', left, desk.donna)
  const ofHook = { ...left, nonce: 'hook', harness: 'claude' }
  await desk.gateway.call('POST', '/v1/approvals', ofHook, desk.donna)
  await using _second = await startBridge(desk.options)
  await until(desk.list, (all) => all.filter((one: { state: string }) => one.state === 'withdrawn').length === 2)
  const { asked, answers } = aRequest({ nonce: 'again' })
  desk.harness.asked(asked)
  const open = await until(
    async () => (await desk.list()).filter((one: { state: string }) => one.state === 'open'),
    ({ length }) => length === 2,
  )
  expect(open.map(({ harness }: { harness: string }) => harness)).toEqual(['codex', 'claude'])
  expect((await desk.decide(record, { answer: 'once' })).status).toBe(409)
  await desk.decide(open[0], { answer: 'once' })
  await desk.newest((one) => one.outcome === 'taken')
  expect(answers).toEqual([{ answer: 'once' }])
})

test('a killed bridge may have left more than one page', async () => {
  await using desk = await openDesk()
  const left = { ...aRequest().asked, harness: 'codex', expiresInSeconds: 600, answer: undefined, ended: undefined }
  const big = { command: 'x'.repeat(60_000) }
  for (let count = 0; count < 20; count += 1) {
    const { status } = await desk.gateway.call(
      'POST',
      '/v1/approvals',
      { ...left, nonce: `n${count}`, input: big },
      desk.donna,
    )
    expect(status).toBe(201)
  }
  const { body } = await desk.gateway.call('GET', '/v1/approvals?state=open&limit=100')
  expect([body.approvals.length < 20, body.nextPageToken === '']).toEqual([true, false])
  await using _bridge = await startBridge(desk.options)
  await until(
    async () => (await desk.gateway.call('GET', '/v1/approvals?state=open&limit=1')).body.approvals,
    ({ length }) => length === 0,
  )
})

test('a request of a conversation of another agent is not this one’s', async () => {
  await using desk = await openDesk()
  await using _bridge = await startBridge(desk.options)
  desk.harness.asked(aRequest({ conversationId: 'somebody else’s' }).asked)
  const { asked } = aRequest()
  desk.harness.asked(asked)
  await desk.open()
  expect(await desk.list()).toHaveLength(1)
})

test('a gateway that starts again meanwhile costs nothing', async () => {
  await using desk = await openDesk()
  const anna = await personKey(desk.gateway, 'bert')
  await using _bridge = await startBridge(desk.options)
  const { asked, answers } = aRequest()
  desk.harness.asked(asked)
  const { approvalId, inputHash } = await desk.open()
  await desk.gateway.stop()
  const env = { ROUSE_PORT: new URL(desk.gateway.url).port }
  await using again = await startGateway({ dataDir: desk.gateway.dataDir, env })
  const decision = { inputHash, answer: 'once' }
  expect((await again.call('POST', `/v1/approvals/${approvalId}/decision`, decision, { key: anna })).status).toBe(200)
  await until(
    () => answers,
    ({ length }) => length === 1,
  )
})

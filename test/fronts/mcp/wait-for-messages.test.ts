import { expect, test } from 'vitest'
import { runTool } from '../../../src/fronts/mcp/tools/run-tool.ts'
import { waitForMessages } from '../../../src/fronts/mcp/tools/wait-for-messages.ts'
import { openOffice } from './office.ts'

test('waits until mail comes, and returns it', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const waiting = donna.run('wait_for_messages')
  await bob.run('whoami')
  const sentAt = performance.now()
  await bob.run('send_message', { to: '@donna', subject: 'Wake up', body: 'now' })
  const { data, text } = await waiting
  expect(performance.now() - sentAt).toBeLessThan(2_000)
  expect(data).toMatchObject({ arrived: true, pendingSignals: [{ subject: 'Wake up', body: 'now', from: '@bob' }] })
  expect(text).toMatch(/^Mail has come\./)
})

test('says that nothing came, and what to do', async () => {
  await using office = await openOffice()
  const { data, text } = await office.donna.run('wait_for_messages', { timeoutSeconds: 1 })
  expect(data).toMatchObject({ arrived: false, waitedSeconds: 1 })
  expect(text).toContain('Call again')
  const refused = await office.donna.run('wait_for_messages', { timeoutSeconds: 1501 })
  expect(refused.text).toContain('timeoutSeconds')
})

test('a client that cancels the call gets no mail by it', async () => {
  await using office = await openOffice()
  const { donna, bob } = office
  const cancelled = new AbortController()
  const waiting = donna.client.callTool({ name: 'wait_for_messages' }, { signal: cancelled.signal })
  await bob.run('whoami')
  cancelled.abort()
  await expect(waiting).rejects.toThrow()
  await bob.run('send_message', { to: '@donna', subject: 'Still here' })
  expect((await donna.run('whoami')).data.pendingSignals).toMatchObject([{ subject: 'Still here' }])
})

test('tells its progress, so that clients keep waiting', async () => {
  let now = 0
  const reports: unknown[] = []
  const steps: string[] = []
  const call = async ({ query = {} }: { query?: Readonly<Record<string, string>> }) => {
    steps.push(query.waitSeconds!)
    now += Number(query.waitSeconds) * 1000
    return { status: 200, headers: {}, body: { pendingSignals: [] } }
  }
  const { signal } = new AbortController()
  const own = async () => ({ identity: '@donna', project: 'default' })
  const context = {
    call: { id: 1 },
    signal,
    own,
    wakes: new Set<string>(),
    now: () => now,
    progress: (said: unknown) => reports.push(said),
  }
  const result = await runTool(waitForMessages, call, { timeoutSeconds: 50 }, context)
  expect(steps).toEqual(['20', '20', '10'])
  expect(reports).toMatchObject([{ progress: 20, total: 50 }, { progress: 40 }])
  expect(result.structuredContent).toMatchObject({ arrived: false, waitedSeconds: 50 })
})

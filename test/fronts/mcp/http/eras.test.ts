import { expect, test } from 'vitest'
import { startGateway } from '../../../support/gateway.ts'
import { until } from '../../../support/until.ts'
import { connectNew, connectOld } from './clients.ts'

test('the official client 1.x has a session: tools, a resource that changes, an end', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using one = await connectOld(gateway, donna)
  const { client, transport } = one
  expect(transport.sessionId).toMatch(/^[\w-]{43}$/)
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('whoami')
  const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} })
  expect(structuredContent).toMatchObject({ identity: '@donna' })
  await client.subscribeResource({ uri: 'rouse://inbox/@donna' })
  await gateway.send('donna', 'Please review')
  await until(
    () => one.updated,
    (uris) => uris.length > 0,
  )
  expect(one.updated).toEqual(['rouse://inbox/@donna'])
  await client.unsubscribeResource({ uri: 'rouse://inbox/@donna' })
  await client.setLoggingLevel('error')
  await client.ping()
  await transport.terminateSession()
  await expect(client.ping()).rejects.toThrow()
})

test.each(['legacy', 'auto', '2026-07-28'] as const)('the official client 2.x in the mode %s', async (mode) => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await using one = await connectNew(gateway, donna, mode)
  const { client } = one
  expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern')
  const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} })
  expect(structuredContent).toMatchObject({ identity: '@donna' })
})

test('a listener hears of its own inbox, and of nobody else’s', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await using one = await connectNew(gateway, donna, '2026-07-28')
  await using other = await connectNew(gateway, mike, '2026-07-28')
  const heard: string[] = []
  const heardByMike: string[] = []
  one.client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
  other.client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heardByMike.push(params.uri),
  )
  const listening = await one.client.listen({ resourceSubscriptions: ['rouse://inbox/@donna'] })
  const listeningToo = await other.client.listen({ resourceSubscriptions: ['rouse://inbox/@mike'] })
  expect(listening.honoredFilter).toEqual({ resourceSubscriptions: ['rouse://inbox/@donna'] })
  await gateway.send('donna', 'for donna')
  await until(
    () => heard,
    (uris) => uris.length > 0,
  )
  expect(heardByMike).toEqual([])
  await listening.close()
  await listeningToo.close()
})

import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { blockWrites, onPostgres } from '../support/store.ts'
import { writersOf } from './every-front.ts'

// Of PostgreSQL test/gateways/read-only.test.ts is the same.
test.skipIf(onPostgres)(
  'while another program holds the lock of the store, every writer on every front gets a retryable error, and then goes on',
  async () => {
    await using gateway = await startGateway()
    const writers = await writersOf(gateway)
    const unblock = await blockWrites(gateway.dataDir)
    await writers.refused()
    const { status, body } = await gateway.call('GET', '/readyz')
    expect([status, body]).toMatchObject([503, { store: true, writes: false }])
    await unblock()
    await writers.served()
  },
)

test('a writer that waits for the store holds up no reader', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const unblock = await blockWrites(gateway.dataDir)
  const answered: string[] = []
  const writing = gateway
    .call('POST', '/v1/agents', { handle: 'lucy' })
    .then(({ status }) => answered.push(`${status}`))
  for (const path of ['/healthz', '/v1/whoami', '/v1/inbox', '/v1/agents']) {
    const { status } = await gateway.call('GET', path, undefined, { key: donna.key })
    answered.push(`${path} ${status}`)
  }
  await unblock()
  await writing
  expect(answered).toEqual(['/healthz 200', '/v1/whoami 200', '/v1/inbox 200', '/v1/agents 200', '201'])
})

import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import type { AgentFrontContext } from '../../src/fronts/a2a/agent-routes.ts'
import { connectionBounds } from '../../src/fronts/connection-bounds.ts'
import { admitCalls } from '../../src/fronts/grpc/admit-calls.ts'
import { RequestQueue } from '../../src/fronts/request-queue.ts'
import { silentLogger } from '../../src/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'
import { bearer, rawClient } from './raw-client.ts'

/** Notes whose calls come, and which of them are over. */
class NotedQueue extends RequestQueue {
  readonly came: string[] = []
  over = 0

  override begin(credential: string, work: (end: () => void) => void): () => void {
    this.came.push(credential)
    const end = super.begin(credential, work)
    return () => {
      this.over++
      end()
    }
  }
}

test('a call waits in the queue before its key is checked, and leaves it when it is canceled', async () => {
  const queue = new NotedQueue(new FakeClock())
  let checked = 0
  const context = {
    log: silentLogger,
    clientAddress: (address: string) => address,
    get adminKey() {
      checked++
      throw new Error('The test checks no key.')
    },
  }
  const edge = { bounds: connectionBounds(), queue, onAuthenticated: () => {}, trafficOf: () => ({ received: 0 }) }
  const server = new Server({ interceptors: [admitCalls(context as unknown as AgentFrontContext, edge)] })
  server.addService(A2AService, {})
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  // Four of a busy credential are in process while another caller is active: more of it wait.
  for (const credential of ['rk_bob', ...Array(4).fill('rk_busy')]) queue.begin(credential, () => {})
  queue.prove('rk_busy')
  using client = rawClient(`127.0.0.1:${port}`)
  const stream = client.stream('subscribeToTask', { tenant: '', id: 'x' }, bearer('rk_busy')).on('error', () => {})
  await until(
    () => queue.came.length,
    (count) => count === 6,
  )
  expect([queue.came.at(-1), queue.over, checked]).toEqual(['rk_busy', 0, 0])
  stream.cancel()
  await until(
    () => queue.over,
    (over) => over > 0,
  )
  expect(checked).toBe(0)
  server.forceShutdown()
})

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { v1Api } from '../../../src/harnesses/opencode/adapter/v1/api.ts'
import { TurnSignal } from '../../../src/harnesses/opencode/adapter/v1/turn.ts'
import { wakeByPort } from '../../../src/harnesses/opencode/adapter/v1/wake.ts'
import { wakeByService } from '../../../src/harnesses/opencode/adapter/v2/service-route.ts'
import { makeTools, makeWake } from './bench.ts'

const garbage: readonly [string, (response: ServerResponse) => void][] = [
  ['no JSON', (response) => response.end('{"id":')],
  ['ten megabytes in a line', (response) => response.end(`"${'x'.repeat(10_000_000)}"`)],
  ['other types', (response) => response.end('{"id":7,"data":"no","time":null}')],
  [
    'half an answer',
    (response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('{', () => response.destroy())
    },
  ],
]

describe.concurrent('OpenCode that answers', () => {
  for (const [what, answer] of garbage) {
    test(`${what}: the wake is held, and nothing is handed over`, async () => {
      const server = createServer((_request, response) => answer(response))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const address = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
      try {
        const [port, service] = [makeTools(), makeTools()]
        const ends = await Promise.all([
          wakeByPort(v1Api(address), 'ses_1', makeWake(), port.tools),
          wakeByService({ address, pid: process.pid, version: '2.0.1' }, 'ses_1', makeWake(), service.tools),
        ])
        expect(ends.map(({ step }) => step)).toEqual(['held', 'held'])
        expect([port.done, service.done]).toEqual([[], []])
      } finally {
        server.closeAllConnections()
        server.close()
      }
    })
  }
})

test.each([
  ['of another conversation', { role: 'assistant', parentID: 'msg_1', sessionID: 'ses_2' }, false],
  ['of another prompt', { role: 'assistant', parentID: 'msg_2', sessionID: 'ses_1' }, false],
  ['that is a text', 'assistant', false],
  ['of this prompt', { role: 'assistant', parentID: 'msg_1', sessionID: 'ses_1' }, true],
])('an event %s', (_what, info, hasBegun) => {
  const turn = new TurnSignal('ses_1', 'msg_1')
  turn.take({ type: 'message.updated', properties: { info } })
  expect(turn.hasBegun).toBe(hasBegun)
})

import { expect, test } from 'vitest'
import { startProcessGateway } from '../support/process-gateway.ts'
import { spawnMailAgent } from '../support/spawn-mail-agent.ts'

// S4-2: an outage of what carries the mail
// S4-1
test('mail that was accepted before a kill -9 is there after it, is drained once, and a repeat of it is the same', async () => {
  await using gateway = await startProcessGateway()
  const lola = await gateway.addAgent('@lola')
  const donna = await gateway.addAgent('@donna')
  const send = async (n: number) => {
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${lola.key}`,
        'content-type': 'application/json',
        'idempotency-key': `mail-${n}`,
      },
      body: JSON.stringify({ to: '@donna', subject: `m${n}` }),
    })
    return ((await response.json()) as { messageId: string }).messageId
  }
  const accepted = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)))
  await gateway.kill('SIGKILL')
  await gateway.restart()
  expect(await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)))).toEqual(accepted)

  await using agent = await spawnMailAgent(gateway, donna, { surface: 'claude_code' })
  expect(agent.signals.map(({ signal }) => signal.signal_id)).toEqual([...accepted].sort())
  await gateway.kill('SIGKILL')
  await gateway.restart()
  expect((await agent.call('GET', '/v1/agents')).body.pendingSignals).toBeUndefined()
  const { body } = await agent.call('GET', '/v1/inbox?unread=true')
  expect(body.messages.map(({ messageId }: { messageId: string }) => messageId)).toEqual([...accepted].sort())
})

import { expect, test } from 'vitest'
import type { ProcessAgent } from '../support/process-client.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { expectOrderlyWakes, firstArrivals } from '../support/process-ledger.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const rounds = 6
const tasksPerRound = 20
const sendersAtOnce = 4

// Kills before and after the acknowledgement: the cursor may be at or before the newest wake of the receiver, never past it.
test('six times kill -9 from within a receiver: nothing lost, in order, repeats under one eventId', async () => {
  await using gateway = await startProcessGateway()
  await using first = await startReceiver()
  await using second = await startReceiver()
  await using third = await startReceiver()
  const receivers = [first, second, third]
  const donna = await gateway.addAgent('@donna')
  await gateway.subscribe(donna, first.url)
  await gateway.subscribe(donna, second.url)
  await gateway.subscribe(donna, third.url, { trigger: 'SENT_TO_ME' })

  const accepted: string[] = []
  for (let round = 0; round < rounds; round++) {
    const victim = receivers[Math.floor(Math.random() * receivers.length)]!
    killAt(gateway, victim, 1 + Math.floor(Math.random() * tasksPerRound), round % 2 === 0 ? 'before' : 'after')
    accepted.push(...(await sendUntilRefused(gateway, donna)))
    await gateway.exited
    victim.respond(200)
    await gateway.restart()
  }

  const expected = await eventsOf(gateway)
  for (const [index, receiver] of receivers.entries()) {
    const logIds = index < 2 ? expected.transitions : expected.messages
    await until(
      () => firstArrivals(receiver.wakes).length,
      (count) => count >= logIds.length,
      20_000,
    )
    expectOrderlyWakes(receiver.wakes)
    expect(firstArrivals(receiver.wakes).map(({ body }) => body.logId)).toEqual(logIds)
  }
  // Every wake that had no answer came again; those that had one may have.
  const repeated = receivers.map(({ wakes }) => wakes.length - firstArrivals(wakes).length)
  expect(repeated.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(rounds / 2)
  const delivered = new Set(first.wakes.map(({ body }) => body.payload.taskId))
  expect(accepted.filter((id) => !delivered.has(id))).toEqual([])
  for (const id of accepted) expect(await gateway.call('GET', `/v1/tasks/${id}`)).toMatchObject({ status: 200 })
})

/** Kills the gateway instead of answering the nth wake from now, or right after the answer. */
function killAt(gateway: ProcessGateway, victim: Receiver, nth: number, when: 'before' | 'after'): void {
  const target = victim.wakes.length + nth
  victim.respond((_wake, res, count) => {
    if (count === target && when === 'before') return gateway.signal('SIGKILL')
    res.end(() => {
      if (count === target && when === 'after') gateway.signal('SIGKILL')
    })
  })
}

/** Sends from several clients until the gateway is dead. Returns the acknowledged tasks. */
async function sendUntilRefused(gateway: ProcessGateway, to: ProcessAgent): Promise<string[]> {
  const accepted: string[] = []
  const sender = async () => {
    for (;;) {
      try {
        accepted.push((await gateway.send(to, 'work')).id)
      } catch {
        return
      }
    }
  }
  await Promise.all(Array.from({ length: sendersAtOnce }, sender))
  return accepted
}

/** The events of the log: the truth with which deliveries are compared. */
async function eventsOf(gateway: ProcessGateway): Promise<{ transitions: number[]; messages: number[] }> {
  const transitions: number[] = []
  const messages: number[] = []
  let since = 0
  for (;;) {
    const { body } = await gateway.call('GET', `/v1/events?since=${since}&limit=1000`)
    for (const { type, logId } of body.events) {
      if (type === 'task.state_changed') transitions.push(logId)
      if (type === 'message.sent') messages.push(logId)
    }
    if (!body.more) return { transitions, messages }
    since = body.nextSince
  }
}

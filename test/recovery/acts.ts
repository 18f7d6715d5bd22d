import type { FakeClock } from '../support/fake-clock.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'
import type { Receiver } from '../support/receiver.ts'
import { advanceUntil } from '../wakes/acts.ts'

export const minute = 60_000
/** As a person sets them who does not want to wait: silent after a minute, and two minutes for an answer. */
export const quick = { settings: { staleAfterSeconds: 60, bootTimeoutSeconds: 120 } }

const beside = { 'Rouse-Pending-Signals': 'none' }

/** A call of a program beside the harness, with the key of its agent: no act of the harness. */
export const asBridge = (gateway: TestGateway, { key }: TestAgent, method: string, path: string, body?: unknown) =>
  gateway.call(method, path, body, { key, headers: beside })

/** Reports as the bridge of an agent. Returns the answer. */
export async function report(gateway: TestGateway, agent: TestAgent, fields: object = {}) {
  const account = { startedAt: '2026-04-26T09:00:00.000Z', starts: 1, restart: 'proven', seen: false, ...fields }
  const { status, body } = await asBridge(gateway, agent, 'PUT', '/v1/recovery/bridge', account)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}

export const recoveryOf = async (gateway: TestGateway, handle: string) =>
  (await gateway.call('GET', `/v1/recovery?agent=@${handle}`)).body.recovery[0]

export const gateOf = async (gateway: TestGateway, query = '') => (await gateway.call('GET', `/v1/gate${query}`)).body

export const pulsesOf = (receiver: Receiver) =>
  receiver.wakes.filter(({ body }) => body.eventType === 'wake/heartbeat_pulse')

/** Begins a session whose process gives a sign of life at each call of `live`. */
export async function beginSilent(
  gateway: TestGateway,
  agent: TestAgent,
  pid = 1,
  startedAt = '2026-04-26T09:00:00.000Z',
) {
  const input = { surface: 'codex', pid, startedAt, drain: false }
  const { body } = await gateway.call('POST', '/v1/sessions', input, { key: agent.key })
  const sessionId = body.sessionId as string
  const live = () => asBridge(gateway, agent, 'PUT', `/v1/sessions/${sessionId}`, {})
  return { sessionId, live }
}

/** Lets time pass in steps of half a minute, each with a sign of life of what runs. */
export function passing<T>(
  clock: FakeClock,
  each: () => Promise<unknown>,
  read: () => Promise<T>,
  check: (value: T) => boolean,
): Promise<T> {
  return advanceUntil(
    clock,
    5_000,
    async () => {
      await each()
      return read()
    },
    check,
  )
}

export async function pass(
  gateway: TestGateway,
  clock: FakeClock,
  ms: number,
  each: () => Promise<unknown> = async () => {},
) {
  const end = clock.now() + ms
  await passing(
    clock,
    async () => {
      await each()
      await gateway.call('GET', '/healthz')
    },
    async () => clock.now(),
    (now) => now >= end,
  )
}

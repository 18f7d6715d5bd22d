import { expect, test } from 'vitest'
import { withPatientWaits } from '../../../src/cli/mcp/patient-waits.ts'
import { type ApiAnswer, GatewayUnreachable } from '../../../src/fronts/mcp/call-api.ts'
import type { Clock } from '../../../src/lib/clock.ts'

/** A clock on which every wait is over at once. */
function quickClock(): Clock & { spend(ms: number): void } {
  let now = 0
  return {
    now: () => now,
    spend(ms) {
      now += ms
    },
    after(ms, work) {
      now += ms
      setImmediate(work)
      return () => {}
    },
  }
}

const answer = (body: object = {}, status = 200): ApiAnswer => ({
  status,
  headers: {},
  body: body as ApiAnswer['body'],
})
const mail = { pendingSignals: [{ signal_id: 'MESSAGE:1' }] }
const away = () => new GatewayUnreachable('http://gateway', 'ECONNREFUSED')
const wait = { method: 'GET', path: '/v1/inbox', query: { waitSeconds: '20' } } as const
const plain = { method: 'GET', path: '/v1/inbox' } as const

/** Plays steps one after another: an answer, an error, or an empty answer that took so many ms. */
function played(steps: readonly (ApiAnswer | Error | number)[]) {
  const clock = quickClock()
  const waits: string[] = []
  const left = [...steps]
  const call = withPatientWaits(async ({ query }) => {
    waits.push(query?.waitSeconds ?? '-')
    const step = left.shift() ?? away()
    if (step instanceof Error) throw step
    if (typeof step !== 'number') return step
    clock.spend(step)
    return answer()
  }, clock)
  return { call, waits, clock }
}

// S2-14
test('a wait goes on after a gateway that stopped, was away, and came back', async () => {
  const { call, waits } = played([answer(), 3_000, answer({}, 503), away(), away(), answer(mail)])
  await call(plain)
  expect((await call(wait)).body).toEqual(mail)
  expect(waits).toEqual(['-', '20', '16', '15', '14', '13'])
})

test('a wait that is over without mail is answered as it is', async () => {
  const { call, waits } = played([20_000])
  expect((await call(wait)).body).toEqual({})
  expect(waits).toEqual(['20'])
})

test('a gateway that never was there, and one that stays away, are said', async () => {
  await expect(played([away()]).call(wait)).rejects.toThrow(GatewayUnreachable)
  const { call, clock } = played([answer()])
  await call(plain)
  await expect(call(wait)).rejects.toThrow(GatewayUnreachable)
  expect(clock.now()).toBe(60_000)
})

test('a refusal, and a call that does not wait, are answered at once', async () => {
  const { call } = played([answer({}, 409), answer(), away()])
  expect((await call(wait)).status).toBe(409)
  await call(plain)
  await expect(call(plain)).rejects.toThrow(GatewayUnreachable)
})

test('a client that cancels ends the wait', async () => {
  const stop = new AbortController()
  const { call } = played([answer()])
  await call(plain)
  const waiting = call(wait, { signal: stop.signal })
  stop.abort(new Error('cancelled'))
  await expect(waiting).rejects.toThrow('cancelled')
})

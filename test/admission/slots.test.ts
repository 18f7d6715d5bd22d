import { expect, test } from 'vitest'
import { Admission } from '../../src/admission/admission.ts'
import type { Slot } from '../../src/admission/slots.ts'
import { MiB } from '../../src/limits.ts'
import { type Caller, operator } from '../../src/registry/callers/caller.ts'
import { FakeClock } from '../support/fake-clock.ts'

function start(limits: Caller['limits'] = { requestsAtOnce: 2, requestsQueued: 3 }) {
  const clock = new FakeClock()
  const calm = { isOver: () => false }
  const admission = new Admission({ clock, bodyMax: MiB, overload: calm })
  const agent = (id: string, keyId = `${id}-key`, projectId = 'p'): Caller => ({
    kind: 'agent',
    id,
    identity: `@${id}`,
    projectId,
    keyId,
    scopes: [],
    limits: limits ?? {},
  })
  return { clock, calm, admission, agent }
}

/** Takes slots until the agent has none left. */
const fill = (admission: Admission, caller: Caller, count: number): Promise<Slot[]> =>
  Promise.all(Array.from({ length: count }, () => admission.admit(caller)))

test('who has too many requests under way waits, and is refused by name when too many wait; others are served', async () => {
  const { admission, agent } = start()
  const [first] = await fill(admission, agent('mallory'), 2)
  const waiting = [1, 2, 3].map(() => admission.admit(agent('mallory')))
  await expect(admission.admit(agent('mallory'))).rejects.toMatchObject({
    code: 'rate-limited',
    extra: { limitName: 'requestsQueued', retryAfterSeconds: 1 },
  })
  expect(await admission.admit(agent('bob'))).toBeDefined()
  expect(await admission.admit(operator)).toBeDefined()
  first!.release()
  expect(await waiting[0]).toBeDefined()
})

test('no request waits longer than ten seconds for its slot: it is refused with the limit', async () => {
  const { clock, admission, agent } = start()
  await fill(admission, agent('mallory'), 2)
  const waiting = admission.admit(agent('mallory'))
  const refused = expect(waiting).rejects.toMatchObject({ extra: { limitName: 'requestsQueued' } })
  await new Promise(setImmediate)
  clock.advance(10_000)
  await refused
})

test('a request that waits for its client has no slot, and takes one again; one that has ended keeps none', async () => {
  const { admission, agent } = start({ requestsAtOnce: 1, requestsQueued: 1 })
  const [slot] = await fill(admission, agent('donna'), 1)
  let arrive = (): void => {}
  const reading = slot!.releaseWhile(
    () =>
      new Promise<void>((resolve) => {
        arrive = resolve
      }),
  )
  const [other] = await fill(admission, agent('donna'), 1)
  arrive()
  other!.release()
  await reading
  slot!.release()
  expect(await admission.admit(agent('donna'))).toBeDefined()

  const { admission: again } = start({ requestsAtOnce: 1, requestsQueued: 1 })
  const [gone] = await fill(again, agent('donna'), 1)
  const waiting = gone!.releaseWhile(async () => {})
  gone!.release()
  await waiting
  expect(await again.admit(agent('donna'))).toBeDefined()
})

test('a slot whose answer is over is held by the work that goes on, and by what that work begins; a release frees it at once', async () => {
  const { admission, agent } = start({ requestsAtOnce: 1, requestsQueued: 0 })
  const donna = agent('donna')
  const isFree = (): Promise<boolean> =>
    admission.admit(donna).then(
      (slot) => {
        slot.release()
        return true
      },
      () => false,
    )
  const [slot] = await fill(admission, donna, 1)
  const first = slot!.hold()
  slot!.end()
  expect(await isFree()).toBe(false)
  first[Symbol.dispose]()
  const second = slot!.hold()
  await new Promise(setImmediate)
  expect(await isFree()).toBe(false)
  second[Symbol.dispose]()
  await new Promise(setImmediate)
  expect(await isFree()).toBe(true)

  const [waiting] = await fill(admission, donna, 1)
  waiting!.hold()
  waiting!.release()
  expect(await isFree()).toBe(true)
})

test('the agents of a project have twenty times the slots of one, together', async () => {
  const { admission, agent } = start({ requestsAtOnce: 1, requestsQueued: 0 })
  const slots: Slot[] = []
  for (let n = 0; n < 20; n += 1) slots.push(await admission.admit(agent(`agent-${n}`)))
  await expect(admission.admit(agent('one-more'))).rejects.toThrow(/^Project p has 20 requests/)
  slots[0]!.release()
  expect(await admission.admit(agent('one-more'))).toBeDefined()
})

test('a gateway whose event loop is late refuses agents with 503, and answers the admin key and revocations', async () => {
  const { calm, admission, agent } = start()
  calm.isOver = () => true
  await expect(admission.admit(agent('donna'))).rejects.toMatchObject({ code: 'overloaded', status: 503 })
  expect(await admission.admit(operator)).toBeDefined()
  expect(await admission.admit(agent('donna'), { isRevocation: true })).toBeDefined()
})

test('bodies in flight are bounded for each caller and for all; the next one waits until one is answered', async () => {
  const { admission, agent } = start()
  const held = await Promise.all(Array.from({ length: 8 }, () => admission.holdBody(agent('mallory'), MiB)))
  let isHeld = false
  const waiting = admission.holdBody(agent('mallory'), MiB).then((free) => {
    isHeld = true
    return free
  })
  const others = Array.from({ length: 15 }, (_, n) => agent(`${n}`, undefined, n < 7 ? 'p' : 'q'))
  for (const other of others) held.push(await admission.holdBody(other, 8 * MiB))
  expect(isHeld).toBe(false)
  held.pop()!()
  held[0]!()
  await waiting
})

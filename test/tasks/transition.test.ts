import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { NewEvent } from '../../src/log/event.ts'
import type { Database } from '../../src/storage/database.ts'
import type { NewChunk } from '../../src/tasks/artifact.ts'
import { readArtifacts } from '../../src/tasks/artifact-store.ts'
import { encode } from '../../src/tasks/encoded.ts'
import { taskTransitions } from '../../src/tasks/state.ts'
import type { Task } from '../../src/tasks/task.ts'
import { readHistory, readTaskMessage } from '../../src/tasks/task-message-store.ts'
import { findTask, insertTask, lockTask } from '../../src/tasks/task-store.ts'
import { addMessage, afterTransition, type Transition, transition } from '../../src/tasks/transition.ts'
import { isTerminal, type TaskState, taskStates } from '../../src/words/task-states.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openStore } from '../support/store.ts'
import { newTask } from './new-task.ts'

const clock = new FakeClock()
let directory: ReturnType<typeof dataDirectory>
let db: Database
let appended: NewEvent[] = []
let made = 0

beforeAll(async () => {
  directory = dataDirectory()
  db = await openStore(directory.path, clock)
})
afterAll(async () => {
  await db.close()
  directory[Symbol.dispose]()
})
beforeEach(() => {
  appended = []
})

const context = {
  append: async (_tx: unknown, _projectId: string, events: readonly NewEvent[]) => appended.push(...events),
}
const parties = [
  { id: 'a', projectId: 'p', identity: '@donna', wakePolicy: 'immediate' },
  { id: 'o', projectId: 'p', identity: '@mike', wakePolicy: 'immediate' },
] as const
const mail: NewEvent = { type: 'message.sent', actor: '@mike', audience: ['a'], data: { wakePolicy: 'immediate' } }
const said = (text: string) => encode({ messageId: text, role: 'ROLE_USER', parts: [{ text }] }, 'message')

function chunk(artifactId: string): NewChunk {
  const artifact = { artifactId, parts: [{ text: artifactId }] }
  return { artifactId, append: false, lastChunk: true, artifact, encoded: encode(artifact, 'artifact') }
}

/** A task that no row has yet. */
const unstored = (changed: Partial<Task> = {}): Task =>
  newTask(
    { id: `task-${made++}`, projectId: 'p', contextId: 'c', agentId: 'a', originatorId: 'o', version: 0, ...changed },
    clock.now(),
  )

async function stored(changed: Partial<Task> = {}): Promise<Task> {
  const task = unstored({ version: 1, ...changed })
  await db.transaction((tx) => insertTask(tx, task))
  return task
}

const move = (task: Task, change: Partial<Transition> & { to: TaskState }) =>
  db.transaction((tx) => transition(tx, context, task, { actor: '@donna', parties, ...change }))
/** As every feature moves a task: reads it, locked, in the same transaction. */
const moveLocked = (id: string, change: (task: Task) => Partial<Transition> & { to: TaskState }) =>
  db.transaction(async (tx) => {
    const task = (await lockTask(tx, id)) as Task
    return transition(tx, context, task, { actor: '@donna', parties, ...change(task) })
  })
const isLegal = (from: TaskState, to: TaskState): boolean =>
  Object.values(taskTransitions[from]).some((states: readonly TaskState[]) => states.includes(to))

describe.each(taskStates)('a task that is %s', (from) => {
  test.each(taskStates)('moves to %s according to the table of states, and is unchanged otherwise', async (to) => {
    const task = await stored({ state: from, version: 7 })
    const moving = move(task, { to, message: said('status'), artifacts: [chunk('x')] })
    if (isLegal(from, to)) {
      expect(await moving).toMatchObject({ state: to, version: 8, statusMessageSeq: 1, messageCount: 1, chunkCount: 1 })
      return
    }
    await expect(moving).rejects.toMatchObject({ code: 'invalid-transition' })
    expect(await findTask(db, task.id)).toEqual(task)
    expect(await readTaskMessage(db, task.id, 1)).toBeNull()
    expect(appended).toEqual([])
  })
})

const moves: [string, Partial<Transition>, Partial<Task>][] = [
  ['alone has no status message', {}, { statusMessageSeq: null, messageCount: 3, size: 100 }],
  [
    'with a message has it as status',
    { message: { text: '', bytes: 0, size: 5 } },
    { statusMessageSeq: 4, messageCount: 4, size: 105 },
  ],
  [
    'by mail has no status message',
    { message: { text: '', bytes: 0, size: 5 }, mail },
    { statusMessageSeq: null, messageCount: 4 },
  ],
  ['with artifacts counts them', { artifacts: [chunk('x'), chunk('y')] }, { chunkCount: 4, messageCount: 3 }],
  ['keeps the deadline', {}, { expiresAt: 900 }],
  ['takes a new deadline', { expiresAt: 950 }, { expiresAt: 950 }],
  ['takes the deadline away', { expiresAt: null }, { expiresAt: null }],
  ['by a party clears the reason', {}, { reason: null }],
  ['by the gateway says why', { reason: 'expired' }, { reason: 'expired' }],
]

test.each(moves)('a move %s', (_title, change, expected) => {
  const task = unstored({ version: 4, messageCount: 3, chunkCount: 2, size: 100, expiresAt: 900, statusMessageSeq: 2 })
  const moved = afterTransition({ ...task, reason: 'old' }, { to: 'working', actor: '@donna', ...change }, 500)
  expect(moved).toMatchObject({ state: 'working', version: 5, statusAt: 500, updatedAt: 500, ...expected })
  expect(moved.createdAt).toBe(task.createdAt)
})

test('a new task is stored by its first move, whose event has no previous state', async () => {
  const task = unstored({ metadata: { a: 1 }, taggedConcepts: ['x'], size: 7 })
  const message = said('hello')
  const moved = await move(task, { to: 'submitted', actor: '@mike', message, mail, expiresAt: 4_000 })
  expect(moved).toEqual({ ...task, version: 1, messageCount: 1, size: 7 + message.size, expiresAt: 4_000 })
  expect(await findTask(db, task.id)).toEqual(moved)
  expect((await readHistory(db, moved, 10)).map(({ messageId }) => messageId)).toEqual(['hello'])
  expect(appended[0]).toBe(mail)
  expect(appended[1]).toMatchObject({
    type: 'task.state_changed',
    actor: '@mike',
    audience: ['a', 'o'],
    data: { previousState: null, newState: 'submitted', version: 1, originator: '@mike', assignee: '@donna' },
  })
})

test('the events of a move have the order artifacts, mail, state, and name the stored rows', async () => {
  const task = await stored({ state: 'input-required', chunkCount: 2 })
  await move(task, { to: 'submitted', artifacts: [chunk('x'), chunk('y')], message: said('reply'), mail })
  expect(appended.map(({ type, data }) => [type, data.seq ?? data.version])).toEqual([
    ['task.artifact_added', 3],
    ['task.artifact_added', 4],
    ['message.sent', undefined],
    ['task.state_changed', 2],
  ])
})

test.each<[string, Partial<Task>]>([
  ['version', { version: 1 }],
  ['number of artifact chunks', { chunkCount: 1 }],
])('a task that was read at another %s is not moved, and nothing is written', async (_what, before) => {
  const task = await stored({ version: 2, chunkCount: 2, messageCount: 2 })
  const stale = { ...task, ...before }
  const refused = move(stale, { to: 'completed', message: said('late'), artifacts: [chunk('late')] })
  await expect(refused).rejects.toMatchObject({
    code: 'version-conflict',
    current: { version: 2, state: 'submitted' },
  })
  expect(await findTask(db, task.id)).toEqual(task)
  expect(await readTaskMessage(db, task.id, 3)).toBeNull()
  expect(appended).toEqual([])
})

test('a message to a task that was read at another version is refused, and nothing is written', async () => {
  const task = await stored({ version: 2 })
  const adding = db.transaction((tx) =>
    addMessage(tx, context, { ...task, version: 1 }, { message: said('late'), mail }),
  )
  await expect(adding).rejects.toMatchObject({ code: 'version-conflict' })
  expect(await findTask(db, task.id)).toEqual(task)
  expect(appended).toEqual([])
})

test('a task that is gone is not found', async () => {
  await expect(move(unstored({ version: 1 }), { to: 'working' })).rejects.toMatchObject({ code: 'task-not-found' })
})

test('of twenty concurrent moves to a final state one succeeds, with one event', async () => {
  const { id } = await stored()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => moveLocked(id, () => ({ to: n % 2 ? 'completed' : 'failed' }))),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'invalid-transition' })
  }
  expect(await findTask(db, id)).toMatchObject({ version: 2 })
})

interface Step {
  readonly to: TaskState | undefined
  readonly message: boolean
  readonly mail: boolean
  readonly chunks: number
  readonly expiresAt: number | null | undefined
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    to: fc.option(fc.constantFrom(...taskStates), { nil: undefined }),
    message: fc.boolean(),
    mail: fc.boolean(),
    chunks: fc.nat(2),
    expiresAt: fc.constantFrom(undefined, null, 5, 9),
  }),
  { maxLength: 12 },
)

test('for any calls the returned task is the stored one, versions count changes, and a final state stays', async () => {
  const take = (task: Task, step: Step, n: number): Promise<Task> => {
    const { to, mail: hasMail, message, chunks, expiresAt } = step
    if (to === undefined) {
      return db.transaction((tx) => addMessage(tx, context, task, { message: said(`m${n}`), mail }))
    }
    return moveLocked(task.id, () => ({
      to,
      expiresAt,
      message: message ? said(`m${n}`) : undefined,
      mail: hasMail ? mail : undefined,
      artifacts: Array.from({ length: chunks }, (_, i) => chunk(`${n}-${i}`)),
    }))
  }
  await fc.assert(
    fc.asyncProperty(steps, async (tries) => {
      let task = await move(unstored(), { to: 'submitted', message: said('first'), mail })
      const messages = ['first']
      const artifacts: string[] = []
      for (const [n, step] of tries.entries()) {
        clock.advance(1)
        if (step.to !== undefined && !isLegal(task.state, step.to)) {
          await expect(take(task, step, n)).rejects.toMatchObject({ code: 'invalid-transition' })
        } else {
          if (step.to !== undefined) expect(isTerminal(task.state)).toBe(false)
          const next = await take(task, step, n)
          expect(next).toMatchObject({
            version: task.version + 1,
            state: step.to ?? task.state,
            updatedAt: clock.now(),
          })
          expect(next.statusAt).toBe(step.to === undefined ? task.statusAt : clock.now())
          if (step.to === undefined || step.message) messages.push(`m${n}`)
          if (step.to !== undefined) for (let i = 0; i < step.chunks; i++) artifacts.push(`${n}-${i}`)
          task = next
        }
        expect(await findTask(db, task.id)).toEqual(task)
      }
      const history = (await readHistory(db, { ...task, statusMessageSeq: null }, 100)).map(
        ({ messageId }) => messageId,
      )
      expect(history).toEqual(messages)
      expect((await readArtifacts(db, task)).map(({ artifactId }) => artifactId)).toEqual(artifacts)
      const written = [...messages.map(said), ...artifacts.map((id) => chunk(id).encoded)]
      expect(task.size).toBe(written.reduce((sum, { size }) => sum + size, 0))
    }),
    { numRuns: 40 },
  )
})

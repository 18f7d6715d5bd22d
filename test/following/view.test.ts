import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOwnFollower, statusOf } from '../../src/following/view.ts'
import { newUlid } from '../../src/lib/ids.ts'
import { isSettled, taskTransitions } from '../../src/tasks/state.ts'
import { type TaskState, taskStates } from '../../src/words/task-states.ts'

/** The acts on a task and on the one who follows it: the task moves, a poll looks, the client ends it. */
const acts = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant('move' as const), choice: fc.nat() }),
    fc.constant({ act: 'poll' as const }),
    fc.constant({ act: 'cancel' as const }),
  ),
  { maxLength: 30 },
)

test('the state of an MCP task is that of its A2A task, and an end that was told never changes', () => {
  fc.assert(
    fc.property(acts, (story) => {
      let state: TaskState = 'submitted'
      let follower = { deliveredAt: null as number | null, cancelledAt: null as number | null }
      let told: string | undefined
      for (const [now, one] of story.entries()) {
        if (one.act === 'move') {
          const { assignee, originator } = taskTransitions[state]
          const moves: readonly TaskState[] = [...assignee, ...originator]
          state = moves.length === 0 ? state : moves[one.choice % moves.length]!
        }
        const status = statusOf(follower, isSettled(state))
        if (one.act === 'cancel' && follower.deliveredAt === null && follower.cancelledAt === null)
          follower = { ...follower, cancelledAt: now }
        if (one.act !== 'poll') continue
        if (told !== undefined) expect(status).toBe(told)
        else if (follower.cancelledAt !== null) expect(status).toBe('cancelled')
        else expect(status).toBe(isSettled(state) ? 'completed' : 'working')
        if (status === 'completed' && follower.deliveredAt === null) follower = { ...follower, deliveredAt: now }
        if (status !== 'working') told = status
      }
    }),
  )
})

test('a task is followed to its end, and to a question: exactly those states are settled', () => {
  expect(taskStates.filter((state) => !isSettled(state))).toEqual(['submitted', 'working'])
})

const key = fc.oneof(
  fc.nat({ max: 2 ** 40 }).map(newUlid),
  fc.constantFrom('jwt:00000000000000000000000000000000', 'jwt:ffffffffffffffffffffffffffffffff'),
)
const agentId = fc.constantFrom('agent_a', 'agent_b', 'operator')

test('an id is for the key that began it, and for newer keys of the same agent: for nobody else', () => {
  fc.assert(
    fc.property(agentId, key, agentId, key, fc.constantFrom('agent', 'operator'), (owner, own, id, keyId, kind) => {
      const isOwn = isOwnFollower({ agentId: owner, keyId: own }, { kind, id, keyId })
      if (kind === 'operator' || id !== owner) expect(isOwn).toBe(false)
      else if (keyId === own) expect(isOwn).toBe(true)
      else if (keyId.startsWith('jwt') || own.startsWith('jwt')) expect(isOwn).toBe(false)
      else expect(isOwn).toBe(keyId > own)
    }),
  )
})

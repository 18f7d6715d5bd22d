import type { TestAgent } from '../support/gateway.ts'
import type { World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'
import { apart, ask, people, plain, problem } from './rest-requests.ts'

const ref = 'issue-42'

/** Sessions, claims and projects. */
export const teamCases: readonly FixtureCase[] = [
  apart('sessions/start', 'A process begins to speak for its agent; nothing waits.', async (world) => {
    const { lola } = await people(world)
    return plain('POST /v1/sessions', lola)
  }),
  apart('sessions/heartbeat', 'A sign of life that says what the harness is doing.', async (world) => {
    const { lola } = await people(world)
    return plain('PUT /v1/sessions/:id', lola, { spareSession: await started(world, lola) })
  }),
  apart('sessions/end', 'The end of a session, by its own word.', async (world) => {
    const { lola } = await people(world)
    return plain('DELETE /v1/sessions/:id', lola, { spareSession: await started(world, lola) })
  }),
  apart('presence/active', 'What the harness is doing, for the newest session of its agent.', async (world) => {
    const { lola } = await people(world)
    await started(world, lola)
    return plain('PUT /v1/presence', lola)
  }),
  apart('claims/claim', 'A ref that nobody had.', async (world) => {
    const { lola } = await people(world)
    return plain('POST /v1/claims', lola, { newRef: ref })
  }),
  apart('claims/handoff', 'A new owner, and the mail that tells it.', async (world) => {
    const { lola } = await people(world)
    await claimed(world, lola)
    return plain('POST /v1/claims/handoff', lola, { spareClaim: ref, other: '@donna' })
  }),
  apart('claims/list', 'Who works on what.', async (world) => {
    const { lola, donna } = await people(world)
    await claimed(world, lola)
    return plain('GET /v1/claims', donna)
  }),
  apart('claims/release', 'A claim is given up.', async (world) => {
    const { lola } = await people(world)
    await claimed(world, lola)
    return plain('DELETE /v1/claims', lola, { spareClaim: ref })
  }),
  problem('claim-conflict', 'The ref has another owner: `current` says who.', async (world) => {
    const { lola, donna } = await people(world)
    await claimed(world, lola)
    return ask('POST', '/v1/claims', { ref }, donna)
  }),
  problem('session-not-found', 'No such session, or not yours.', async (world) => {
    const { lola } = await people(world)
    return ask('PUT', '/v1/sessions/session_nobody', {}, lola)
  }),
  apart('projects/create', 'The operator makes a tenant.', async () =>
    plain('POST /v1/projects', undefined, { newProject: 'web' }),
  ),
]

async function started({ gateway }: World, { key }: TestAgent): Promise<string> {
  return (await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key })).body.sessionId
}

async function claimed({ gateway }: World, { key }: TestAgent): Promise<void> {
  await gateway.call('POST', '/v1/claims', { ref }, { key })
}

import type { TestAgent } from '../support/gateway.ts'
import { type Arrange, exchange, type Request, type World } from './exchange.ts'
import type { FixtureCase } from './fixture.ts'

const ref = 'issue-42'

/** Sessions, claims and projects. */
export const teamCases: readonly FixtureCase[] = [
  fixture('sessions/start', 'A process begins to speak for its agent; nothing waits.', async (world) => {
    const { lola } = await people(world)
    return ask('POST', '/v1/sessions', { surface: 'codex', capabilities: ['turn/start'] }, lola)
  }),
  fixture('sessions/heartbeat', 'A sign of life that says what the harness is doing.', async (world) => {
    const { lola } = await people(world)
    const presence = { state: 'idle', source: 'codex-app-server' }
    return ask('PUT', `/v1/sessions/${await started(world, lola)}`, { presence }, lola)
  }),
  fixture('sessions/end', 'The end of a session, by its own word.', async (world) => {
    const { lola } = await people(world)
    return ask('DELETE', `/v1/sessions/${await started(world, lola)}`, undefined, lola)
  }),
  fixture('presence/active', 'What the harness is doing, for the newest session of its agent.', async (world) => {
    const { lola } = await people(world)
    await started(world, lola)
    const turn = { state: 'active', source: 'codex-app-server', activeTurnId: 'turn-7', capabilities: ['turn/steer'] }
    return ask('PUT', '/v1/presence', turn, lola)
  }),
  fixture('claims/claim', 'A ref that nobody had.', async (world) => {
    const { lola } = await people(world)
    return ask('POST', '/v1/claims', { ref }, lola)
  }),
  fixture('claims/handoff', 'A new owner, and the mail that tells it.', async (world) => {
    const { lola } = await people(world)
    await claimed(world, lola)
    return ask('POST', '/v1/claims/handoff', { ref, to: '@donna', message: 'The tests are red.' }, lola)
  }),
  fixture('claims/list', 'Who works on what.', async (world) => {
    const { lola, donna } = await people(world)
    await claimed(world, lola)
    return ask('GET', '/v1/claims', undefined, donna)
  }),
  fixture('claims/release', 'A claim is given up.', async (world) => {
    const { lola } = await people(world)
    await claimed(world, lola)
    return ask('DELETE', '/v1/claims', { ref }, lola)
  }),
  fixture('problems/claim-conflict', 'The ref has another owner: `current` says who.', async (world) => {
    const { lola, donna } = await people(world)
    await claimed(world, lola)
    return ask('POST', '/v1/claims', { ref }, donna)
  }),
  fixture('problems/session-not-found', 'No such session, or not yours.', async (world) => {
    const { lola } = await people(world)
    return ask('PUT', '/v1/sessions/session_nobody', {}, lola)
  }),
  fixture('projects/create', 'The operator makes a tenant.', async () =>
    ask('POST', '/v1/projects', { project: 'web' }),
  ),
]

function fixture(folder: string, shows: string, arrange: Arrange): FixtureCase {
  return { folder, shows, render: () => exchange(arrange) }
}

const ask = (method: string, path: string, body: unknown, agent?: TestAgent): Request => ({
  method,
  path,
  ...(body === undefined ? {} : { body }),
  ...(agent ? { key: agent.key } : {}),
})

async function people({ gateway }: World): Promise<{ lola: TestAgent; donna: TestAgent }> {
  return { lola: await gateway.addAgent('@lola'), donna: await gateway.addAgent('@donna') }
}

async function started({ gateway }: World, { key }: TestAgent): Promise<string> {
  return (await gateway.call('POST', '/v1/sessions', { surface: 'codex' }, { key })).body.sessionId
}

async function claimed({ gateway }: World, { key }: TestAgent): Promise<void> {
  await gateway.call('POST', '/v1/claims', { ref }, { key })
}

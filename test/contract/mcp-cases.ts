import type { JsonObject } from '../../src/lib/json.ts'
import { mcpRequest } from '../fronts/mcp/http/call-tool.ts'
import { beginSession, initialize } from '../fronts/mcp/http/wire.ts'
import type { TestAgent } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { inWorld, type Request, record, type World } from './exchange.ts'
import type { Files } from './fixture.ts'
import { ask, done, rest } from './rest-requests.ts'
import { type SharedCase, together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
  readonly lola: TestAgent
  /** The headers of donna's session. */
  readonly session: Record<string, string>
  readonly taskId: string
  readonly threadId: string
}

const accept = 'application/json, text/event-stream'
const takesWakes = { capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0' } } } }

/** MCP over HTTP, in both eras of the protocol. The tools are the same in both. */
export const mcpCases = together<Scene>(
  (play) =>
    inWorld(async (world) => {
      const { gateway } = world
      const donna = await gateway.addAgent('@donna', { displayName: 'Donna' })
      const lola = await gateway.addAgent('@lola', { displayName: 'Lola' })
      const mail = { to: '@donna', subject: 'Lunch?', body: 'At one.' }
      const { threadId } = await done(gateway, ask('POST', '/v1/messages', mail, lola))
      const message = { messageId: 'message-1' }
      const { id } = await gateway.send('@donna', 'Please review PR 7', { key: lola.key, message })
      await play({ ...world, donna, lola, session: await begun(world, donna), taskId: id, threadId: threadId! })
    }),
  [
    rest('mcp/initialize', 'A session of MCP 2025-11-25 for a client that takes wakes as notifications.', ({ donna }) =>
      posted(donna, initialize(takesWakes)),
    ),
    rest('mcp/discover', 'MCP 2026-07-28, without sessions: what the gateway offers.', ({ donna }) =>
      stateless(donna, 'server/discover'),
    ),
    rest('mcp/tools-list', 'Every tool, with the schemas of its arguments and its result.', (scene) =>
      inSession(scene, 'tools/list'),
    ),
    rest('mcp/tools-call-stateless', 'A call of a tool in MCP 2026-07-28.', ({ donna }) =>
      stateless(donna, 'tools/call', { name: 'whoami', arguments: {} }),
    ),
    rest('mcp/resources-list', 'The resources of an agent.', (scene) => inSession(scene, 'resources/list')),
    rest('mcp/resources-templates-list', 'The kinds of resources.', (scene) =>
      inSession(scene, 'resources/templates/list'),
    ),
    resource('inbox', 'The unread mail of an agent. Reading it delivers nothing.', () => '@donna'),
    resource('thread', 'A conversation.', ({ threadId }) => threadId),
    resource('task', 'A task with what was said.', ({ taskId }) => taskId),
    resource('agent', 'The card of an agent.', () => '@donna'),
    rest('mcp/prompts-list', 'What a user starts by hand.', (scene) => inSession(scene, 'prompts/list')),
    rest('mcp/prompts-get', 'A prompt with its arguments.', (scene) =>
      inSession(scene, 'prompts/get', { name: 'hand-over', arguments: { task: 'issue-42', to: '@donna' } }),
    ),
    tool('whoami', 'Whose key it is.', () => ({})),
    tool('read_inbox', 'Unread mail. What others have written is marked as theirs.', () => ({})),
    tool('read_thread', 'A conversation.', ({ threadId }) => ({ threadId })),
    tool('mark_message', 'A recipient reports its status.', ({ threadId }) => ({
      messageId: threadId,
      status: 'seen',
    })),
    tool('send_message', 'Mail for a name.', () => ({ to: '@lola', subject: 'Re: Lunch?', body: 'Yes.' })),
    tool('list_tasks', 'The tasks that an agent works on.', () => ({})),
    tool('get_task', 'A task with what was said.', ({ taskId }) => ({ taskId })),
    tool('move_task', 'The assignee begins.', ({ taskId }) => ({ taskId, to: 'working', expectedVersion: 1 })),
    tool('send_task', 'A task for another agent.', () => ({
      to: '@lola',
      text: 'Please write the release notes.',
      idempotencyKey: 'release-notes',
    })),
    tool('claim', 'A ref that nobody had.', () => ({ action: 'claim', ref: 'issue-42' })),
    tool('who', 'Who is there.', () => ({})),
    tool('grant', 'An agent allows another one something.', () => ({
      action: 'grant',
      grantee: '@lola',
      scope: 'CAN_REPLY_TO',
    })),
    tool('manage_wake_subscription', 'A subscription whose wakes come over the session.', () => ({
      action: 'subscribe',
      trigger: 'SENT_TO_ME',
      harnessTargetMetadata: { coalesceWindow: 0 },
    })),
    rest('mcp/notification-message', 'The stream of a session: a wake. It ends with its session.', async (scene) => {
      const { gateway, donna } = scene
      const { subscriptions } = (await gateway.call('GET', '/v1/wake-subscriptions', undefined, donna)).body
      const path = `/v1/wake-subscriptions/${subscriptions[0].subscriptionId}`
      const isActive = ({ body }: { body: JsonObject }) => body.status === 'active'
      const { end, ...asks } = listening(donna, await begun(scene, donna), scene)
      const send = () => until(() => gateway.call('GET', path), isActive).then(() => sendMail(scene))
      const remove = () => done(gateway, ask('DELETE', path)).then(end)
      return {
        ...asks,
        meanwhile: [
          ['', send],
          ['notifications/message', remove],
        ],
      }
    }),
    rest(
      'mcp/notification-resources-updated',
      'The stream of a session: a resource that it follows has changed.',
      async (scene) => {
        const { gateway, donna } = scene
        const session = await begun(scene, donna, {})
        const params = { uri: 'rouse://inbox/@donna' }
        await done(gateway, posted(donna, { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params }, session))
        const { end, ...asks } = listening(donna, session, scene)
        return {
          ...asks,
          meanwhile: [
            ['', () => sendMail(scene)],
            ['resources/updated', end],
          ],
        }
      },
    ),
    rest(
      'mcp/listen',
      'MCP 2026-07-28: a resource that is listened to has changed, then the key is revoked.',
      async (scene) => {
        const { apiKey, keyId } = await done(scene.gateway, ask('POST', '/v1/agents/donna/keys', {}))
        const notifications = { resourceSubscriptions: ['rouse://inbox/@donna'] }
        const revoke = () => done(scene.gateway, ask('DELETE', `/v1/agents/donna/keys/${keyId}`))
        return {
          ...stateless({ key: apiKey! }, 'subscriptions/listen', { notifications }),
          meanwhile: [
            ['subscriptions/acknowledged', () => sendMail(scene)],
            ['resources/updated', revoke],
          ],
        }
      },
    ),
    rest(
      'mcp/wait_for_messages',
      'Mail that waits comes with the result of any tool. This one waits for it.',
      async (scene) => {
        await done(scene.gateway, ask('POST', '/v1/sessions', { surface: 'cursor' }, scene.donna))
        await sendMail(scene)
        return called(scene, 'wait_for_messages', { timeoutSeconds: 50 })
      },
    ),
    ['mcp/notification-progress', 'A call that takes a while says so to a client that asks for it.', withProgress],
    tool('set_presence', 'A harness that nothing else reports says what it is doing.', () => ({ state: 'idle' })),
    rest('mcp/session-end', 'The end of a session, by its client.', ({ donna, session }) => ({
      ...ask('DELETE', '/mcp', undefined, donna),
      headers: session,
    })),
  ],
)

function tool(name: string, shows: string, args: (scene: Scene) => JsonObject): SharedCase<Scene> {
  return rest(`mcp/${name}`, shows, (scene) => called(scene, name, args(scene)))
}

function resource(kind: string, shows: string, name: (scene: Scene) => string): SharedCase<Scene> {
  return rest(`mcp/resource-${kind}`, shows, (scene) =>
    inSession(scene, 'resources/read', { uri: `rouse://${kind}/${name(scene)}` }),
  )
}

function posted({ key }: Pick<TestAgent, 'key'>, body: object, headers: Record<string, string> = {}): Request {
  return { method: 'POST', path: '/mcp', key, headers: { accept, ...headers }, body }
}

function stateless({ key }: Pick<TestAgent, 'key'>, method: string, params: JsonObject = {}): Request {
  return { method: 'POST', path: '/mcp', key, ...mcpRequest(method, params) }
}

function inSession({ donna, session }: Scene, method: string, params?: JsonObject): Request {
  return posted(donna, { jsonrpc: '2.0', id: 2, method, ...(params ? { params } : {}) }, session)
}

const called = (scene: Scene, name: string, args: JsonObject, _meta?: JsonObject): Request =>
  inSession(scene, 'tools/call', { name, arguments: args, ...(_meta ? { _meta } : {}) })

async function begun(
  { gateway }: World,
  agent: TestAgent,
  params: object = takesWakes,
): Promise<Record<string, string>> {
  return { ...(await beginSession(gateway, agent, params)), 'mcp-protocol-version': '2025-11-25' }
}

/** The stream of a session, and how its client ends it. */
function listening({ key }: TestAgent, headers: Record<string, string>, { gateway }: Scene) {
  const to = { path: '/mcp', key }
  const end = () => done(gateway, { ...to, method: 'DELETE', headers })
  return { ...to, method: 'GET', headers: { accept: 'text/event-stream', ...headers }, end }
}

function sendMail({ gateway, lola }: Scene) {
  return done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Dinner?' }, lola))
}

/** The gateway's wait ends by the clock; the tool's own by real time, so that a slow machine may have to begin again. */
async function withProgress(scene: Scene): Promise<Files> {
  const { gateway, clock } = scene
  for (;;) {
    const before = clock.timersIn(1000)
    const asked = record(gateway, {
      ...called(scene, 'wait_for_messages', { timeoutSeconds: 1 }, { progressToken: 'wait-1' }),
      meanwhile: [['notifications/progress', () => sendMail(scene)]],
    })
    await until(
      () => clock.timersIn(1000),
      (count) => count > before,
    )
    clock.advance(1000)
    // Mail is looked for after a pause of no length.
    const looking = setInterval(() => clock.advance(0), 5)
    const files = await asked.finally(() => clearInterval(looking))
    if (files['answer.json']!.includes('notifications/progress')) return files
  }
}

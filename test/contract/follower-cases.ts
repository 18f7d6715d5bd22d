import type { JsonObject } from '../../src/lib/json.ts'
import { mcpRequest } from '../fronts/mcp/http/call-tool.ts'
import type { TestAgent } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { inWorld, type Request, type World } from './exchange.ts'
import { ask, done, get, rest } from './rest-requests.ts'
import { type SharedCase, together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
  readonly lola: TestAgent
}

const momentMs = 250
const extensions = { 'io.modelcontextprotocol/tasks': {} }

/** A request of a client that follows tasks. */
function following({ donna }: Scene, method: string, params: JsonObject = {}): Request {
  const { headers, body } = mcpRequest(method, params)
  const { params: plain } = body as { params: { _meta: JsonObject } }
  const _meta = { ...plain._meta, 'io.modelcontextprotocol/clientCapabilities': { extensions } }
  const named: Record<string, string> = typeof params.taskId === 'string' ? { 'mcp-name': params.taskId } : {}
  return {
    ...ask('POST', '/mcp', { ...body, params: { ...plain, _meta } }, donna),
    headers: { ...headers, ...named },
  }
}

const method = (
  folder: string,
  shows: string,
  arrange: (scene: Scene) => Promise<Request> | Request,
): SharedCase<Scene> => rest(`mcp/${folder}`, shows, arrange)

/** A follower of the next mail. */
const waiting = async ({ gateway, donna }: Scene): Promise<string> =>
  (await done(gateway, ask('POST', '/v1/followers', {}, donna))).followerId!

/** Lets the time pass in which a call waits whether the task ends at once, on a clock that stands still. */
async function passMoment({ clock }: Scene): Promise<void> {
  const others = clock.timersIn(momentMs)
  await until(
    () => clock.timersIn(momentMs),
    (timers) => timers > others,
  )
  clock.advance(momentMs)
}

/** Answers to a client that follows tasks. The other cases of MCP are of clients that do not. */
export const followerCases = together<Scene>(
  (play) =>
    inWorld(async (world) => {
      const donna = await world.gateway.addAgent('@donna')
      await play({ ...world, donna, lola: await world.gateway.addAgent('@lola') })
    }),
  [
    rest('followers/begin', 'An agent follows its next mail. The id is for its key alone.', ({ donna }) =>
      ask('POST', '/v1/followers', {}, donna),
    ),
    rest('followers/list', 'What an agent follows, without the ids.', ({ donna }) => get('/v1/followers', donna)),
    rest('followers/poll', 'Nothing has come yet.', async (scene) =>
      get(`/v1/followers/${await waiting(scene)}`, scene.donna),
    ),
    rest('followers/end', 'It is followed no more.', async (scene) =>
      ask('DELETE', `/v1/followers/${await waiting(scene)}`, undefined, scene.donna),
    ),
    method('discover-tasks', 'A client that follows tasks learns that the gateway has them.', (scene) =>
      following(scene, 'server/discover'),
    ),
    method('send_task-as-task', 'A client that follows tasks gets one.', (scene) => {
      void passMoment(scene)
      const args = { to: '@lola', text: 'Please write the release notes.', idempotencyKey: 'release-notes' }
      return following(scene, 'tools/call', { name: 'send_task', arguments: args })
    }),
    method('wait_for_messages-as-task', 'So does one that waits for mail.', (scene) =>
      following(scene, 'tools/call', { name: 'wait_for_messages', arguments: {} }),
    ),
    method('tasks-cancel', 'The following ends, and nothing else.', async (scene) =>
      following(scene, 'tasks/cancel', { taskId: await waiting(scene) }),
    ),
    method('tasks-update', 'Nothing was asked of a person here: an update is acknowledged.', async (scene) =>
      following(scene, 'tasks/update', { taskId: await waiting(scene), inputResponses: {} }),
    ),
    method(
      'tasks-get',
      'The agent asks a question: that is the end of the task of MCP, and the way to answer it.',
      async (scene) => {
        const { gateway, donna, lola } = scene
        const message = { messageId: 'message-1', parts: [{ text: 'Please review PR 7' }] }
        const { id: taskId } = await gateway.send('@lola', '', {
          key: donna.key,
          message: { ...message, role: 'ROLE_USER' },
        })
        const begun = done(gateway, ask('POST', '/v1/followers', { taskId }, donna))
        const [{ followerId }] = await Promise.all([begun, passMoment(scene)])
        const question = { messageId: 'message-2', parts: [{ text: 'Which branch?' }] }
        const move = { to: 'input-required', expectedVersion: 1, message: question }
        await done(gateway, ask('POST', `/v1/tasks/${taskId}/transitions`, move, lola))
        return following(scene, 'tasks/get', { taskId: followerId! })
      },
    ),
    method('tasks-get-mail', 'Mail has come. It is not shown, and stays unread.', async (scene) => {
      const taskId = await waiting(scene)
      await done(scene.gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Dinner?' }, scene.lola))
      return following(scene, 'tasks/get', { taskId })
    }),
    method('tasks-get-unknown', 'The same words for what is unknown, expired, or of another key.', (scene) =>
      following(scene, 'tasks/get', { taskId: 'unknown' }),
    ),
  ],
)

import type { JsonObject } from '../../src/lib/json.ts'
import { restCases } from './rest-requests.ts'
import type { World } from './world.ts'

/** A call of a tool that does what a row of the access table says. */
export interface ToolCase {
  readonly tool: string
  /** The name of the row. */
  readonly row: string
  /** The tool asks about the caller's own, or its own project's, where the route could name another's. */
  readonly atHome?: true
  /** The arguments, about something of donna's that was made for it. */
  readonly plant: (world: World) => Promise<JsonObject>
}

/** A call about the target of the request for a row. `part` is its position in the path: `/v1/tasks/{2}`. */
export function like(
  tool: string,
  row: string,
  make: (id: string, body: JsonObject) => JsonObject,
  part = 3,
): ToolCase {
  const plant = async (world: World) => {
    const { path, body } = await restCases[row]!.plant(world)
    return make(decodeURIComponent(path.split('?')[0]!.split('/')[part] ?? ''), (body ?? {}) as JsonObject)
  }
  return { tool, row, ...(restCases[row]!.atHome ? { atHome: true as const } : {}), plant }
}

export const own = (tool: string, row: string, args: JsonObject = {}): ToolCase => ({
  tool,
  row,
  atHome: true,
  plant: async (world) => {
    await restCases[row]!.plant(world)
    return args
  },
})

const manage = 'manage_wake_subscription'
const webhook = { harnessTarget: 'a2a-webhook', harnessTargetMetadata: { url: 'http://127.0.0.1:9/' } }

export const toolCases: readonly ToolCase[] = [
  own('whoami', 'key.whoami'),
  own('who', 'agent.list'),
  like('who', 'agent.read', () => ({ agent: '@donna' })),
  own('who', 'catalog.search', { q: 'x' }),
  like('send_message', 'message.send', (_id, body) => body),
  like('read_inbox', 'inbox.read', () => ({ agent: 'default:donna' })),
  like('read_thread', 'thread.read', (threadId) => ({ threadId })),
  like('read_thread', 'message.read', (messageId) => ({ messageId })),
  like('mark_message', 'message.mark', (messageId, body) => ({ messageId, ...body })),
  own('list_tasks', 'task.list'),
  like('get_task', 'task.read', (taskId) => ({ taskId })),
  like('move_task', 'task.move', (taskId, body) => ({ taskId, ...body })),
  like('claim', 'claim.take', (_id, body) => ({ action: 'claim', ...body })),
  like('claim', 'claim.release', (_id, body) => ({ action: 'release', ...body })),
  like('claim', 'claim.handOff', (_id, body) => ({ action: 'handoff', ...body })),
  own('claim', 'claim.list', { action: 'list' }),
  own('set_presence', 'presence.report', { state: 'idle' }),
  own('grant', 'permission.list', { action: 'list' }),
  like('grant', 'permission.revoke', (permissionId) => ({ action: 'revoke', permissionId })),
  own(manage, 'subscription.list', { action: 'list' }),
  like(manage, 'subscription.change', (subscriptionId) => ({ action: 'update', subscriptionId, ...webhook })),
  like(manage, 'subscription.remove', (subscriptionId) => ({ action: 'unsubscribe', subscriptionId })),
  like(manage, 'subscription.resync', (subscriptionId) => ({ action: 'resync', subscriptionId, sinceLogId: 1 })),
  own(manage, 'subscription.make', { action: 'subscribe', trigger: 'MESSAGE_STATUS_CHANGED', ...webhook }),
  // The tool grants what is the caller's own; the route lets an operator grant for another.
  { ...own('grant', 'permission.grant'), plant: plantGrantee },
]

let count = 0
async function plantGrantee({ gateway }: World): Promise<JsonObject> {
  const { handle } = await gateway.addAgent(`grantee${++count}`)
  return { action: 'grant', grantee: `default:${handle}`, scope: 'CAN_REPLY_TO' }
}

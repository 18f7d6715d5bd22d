import type { JsonObject } from '../../src/lib/json.ts'
import { mcpRequest } from '../fronts/mcp/http/call-tool.ts'
import type { TestAgent } from '../support/gateway.ts'
import { inWorld, type Request, type World } from './exchange.ts'
import { ask, done, rest } from './rest-requests.ts'
import { type SharedCase, together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
  /** It asks something. */
  readonly taskId: string
  readonly subscriptionId: string
}

/** The tools of MCP for operators. */
export const operatorToolCases = together<Scene>(
  (play) =>
    inWorld(async (world) => {
      const { gateway } = world
      const donna = await gateway.addAgent('@donna', { displayName: 'Donna' })
      const lola = await gateway.addAgent('@lola', { displayName: 'Lola' })
      const { subscriptionId } = await done(
        gateway,
        ask('POST', '/v1/wake-subscriptions', { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }, donna),
      )
      await done(gateway, ask('POST', '/v1/messages', { to: '@operator', subject: 'May I?', body: 'Merge it.' }, lola))
      const message = { messageId: 'message-1' }
      const { id: taskId } = await gateway.send('@donna', 'Please review PR 7', { key: lola.key, message })
      await gateway.move(donna, taskId, 'input-required', { message: 'Which commit?' })
      await play({ ...world, donna, taskId, subscriptionId: subscriptionId! })
    }),
  [
    rest('mcp/operator-tools-list', 'The tools for operators, both sets, as /mcp?tools=read,write names them.', () =>
      asked('tools/list', {}),
    ),
    tool('needs_read', 'What waits for a person.', () => ({})),
    tool('agents_read', 'The agents at a glance.', () => ({})),
    tool('tasks_read', 'A task and its story.', ({ taskId }) => ({ taskId })),
    tool('subscriptions_read', 'A subscription, and what it did not send.', ({ subscriptionId }) => ({
      subscriptionId,
    })),
    tool('deliveries_read', 'The wakes that failed.', () => ({ outcome: 'failed' })),
    tool('gateway_read', 'The gateway at a glance.', () => ({})),
    tool('need_write', 'A need is put off.', ({ taskId }) => ({
      action: 'snooze',
      need: `${taskId}@2`,
      until: '2026-04-27T10:00:00.000Z',
    })),
    tool('task_write', 'What the task asks is answered.', ({ taskId }) => ({
      action: 'answer',
      taskId,
      expectedVersion: 2,
      text: 'The last one.',
    })),
    tool('subscription_write', 'A subscription is paused.', ({ subscriptionId }) => ({
      action: 'pause',
      subscriptionId,
    })),
    tool('recovery_write', 'The gate of the project is changed.', () => ({
      action: 'gate',
      restarts: 'disabled',
      reason: 'The bridge is updated.',
    })),
    tool('message_write', 'Mail of the operator.', () => ({
      action: 'send',
      to: '@lola',
      subject: 'Re: May I?',
      body: 'Yes.',
    })),
  ],
)

function tool(name: string, shows: string, args: (scene: Scene) => JsonObject): SharedCase<Scene> {
  return rest(`mcp/${name}`, shows, (scene) => asked('tools/call', { name, arguments: args(scene) }))
}

const asked = (method: string, params: JsonObject): Request => ({
  method: 'POST',
  path: '/mcp?tools=read,write',
  ...mcpRequest(method, params),
})

import { like, own, type ToolCase } from './tool-requests.ts'

/** Calls of the tools for operators, each with the row of the access table that decides about it. */
export const operatorToolCases: readonly ToolCase[] = [
  own('needs_read', 'need.list'),
  own('agents_read', 'agent.list'),
  like('agents_read', 'agent.read', () => ({ agent: '@donna' })),
  own('tasks_read', 'task.list'),
  like('tasks_read', 'task.read', (taskId) => ({ taskId })),
  own('subscriptions_read', 'subscription.list'),
  like('subscriptions_read', 'subscription.read', (subscriptionId) => ({ subscriptionId })),
  own('deliveries_read', 'delivery.list'),
  own('gateway_read', 'gate.read'),
  like('task_write', 'task.move', (taskId) => ({ action: 'cancel', taskId, expectedVersion: 1 })),
  like('task_write', 'claim.handOff', (_id, { ref, to }) => ({ action: 'handoff', taskId: ref, to })),
  like('subscription_write', 'subscription.change', (subscriptionId) => ({ action: 'pause', subscriptionId })),
  like('subscription_write', 'subscription.resync', (subscriptionId, body) => ({
    action: 'resync',
    subscriptionId,
    ...body,
  })),
  like('subscription_write', 'subscription.replay', (subscriptionId) => ({
    action: 'replay',
    subscriptionId,
    failedSince: '2026-01-01T00:00:00.000Z',
  })),
  like('subscription_write', 'subscription.test', (subscriptionId) => ({ action: 'test', subscriptionId })),
  own('recovery_write', 'gate.change', { action: 'gate', reason: 'r' }),
  like('recovery_write', 'parked.end', () => ({ action: 'end_park', agent: 'donna' })),
  like('need_write', 'need.snooze', (_id, { need }) => ({ action: 'unsnooze', need })),
  like('message_write', 'message.send', (_id, body) => ({ action: 'send', ...body, body: 'hello' })),
  like('message_write', 'message.mark', (messageId, body) => ({ action: 'mark', messageId, ...body })),
]

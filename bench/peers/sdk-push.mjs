import { DefaultPushNotificationSender, InMemoryPushNotificationStore, ServerCallContext } from '@a2a-js/sdk/server'
import { plainText } from '../lib/work.mjs'

/**
 * The push sender that comes with the A2A SDK: what an A2A server has today. In memory, unsigned, one try, no record. One
 * task with a push config for each of our subscriptions, so that it keeps the same order; it sends status updates.
 */
export async function open({ targets }) {
  const context = new ServerCallContext({ requestedVersion: '1.0' })
  const store = new InMemoryPushNotificationStore()
  const sender = new DefaultPushNotificationSender(store)
  for (const [index, { origin, path }] of targets.entries()) {
    const url = `${origin}${path}`
    await store.save(taskId(index), context, {
      tenant: '',
      id: `config${index}`,
      taskId: taskId(index),
      url,
      token: '',
    })
  }
  let recorded = 0

  return {
    async accept(index, text = plainText) {
      await sender.send(statusUpdate(index % targets.length, index, text), context)
      recorded++
    },
    get recorded() {
      return recorded
    },
    async close() {},
  }
}

const taskId = (index) => `019a9a5e-5f2c-7c3e-9d52-${String(index).padStart(12, '0')}`

function statusUpdate(task, index, text) {
  const contextId = '019a9a5e-5f2c-7c3e-9d52-0f6f3a1f7c11'
  const part = {
    content: { $case: 'text', value: text.padEnd(180, '.') },
    metadata: undefined,
    filename: '',
    mediaType: '',
  }
  const message = {
    messageId: `MESSAGE:${index}`,
    contextId,
    taskId: taskId(task),
    role: 2,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
  const status = { state: 1, message, timestamp: new Date().toISOString() }
  return { payload: { $case: 'statusUpdate', value: { taskId: taskId(task), contextId, status, metadata: undefined } } }
}

import { Problem } from '../errors.ts'
import { newSubscriptionId, newUuid } from '../lib/ids.ts'
import { lockLog } from '../log/event-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { taskFinished } from '../registry/subscriptions/status.ts'
import { initialState, type PushSubscription, type PushTarget } from '../registry/subscriptions/subscription.ts'
import {
  deleteSubscription,
  insertSubscription,
  listPushSubscriptions,
} from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { isTerminal } from '../words/task-states.ts'
import type { TaskContext } from './context.ts'
import { type PushConfig, type PushInput, requireSendable } from './push-config.ts'
import { makeRoomForConfig, requireRoomForConfig } from './push-room.ts'
import { requireTask, requireTaskToChange } from './read-task.ts'
import type { Task } from './task.ts'

/**
 * Sets a push config on a task. It replaces one of the same id and starts active, even if that one was degraded. A finished task
 * may have one too, but sends nothing to it, and may lose it when the caller has as many configs as it may have. Errors: `task-not-found`, `url-not-allowed`, `invalid-request`, `limit-exceeded`.
 */
export function createPushConfig(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  input: PushInput,
): Promise<PushConfig> {
  requireSendable(context, input)
  return context.db.transaction(async (tx) => {
    const { task } = await requireTaskToChange(tx, caller, taskId)
    const after = await lockLog(tx, task.projectId)
    const config = await storePushConfig(context, tx, caller, { task, input, after })
    await context.append(tx, task.projectId, [
      {
        type: 'push_config.created',
        actor: caller.identity,
        audience: [],
        taskId,
        data: { taskId, configId: config.id },
      },
    ])
    return config
  })
}

/** A push config to store, and its task. */
interface NewPushConfig {
  readonly task: Task
  readonly input: PushInput
  /**
   * The first push is for the first event after this logId. It is the log head for a config that is added later, and the logId
   * before the task's first event for a config that comes with the message.
   */
  readonly after: number
}

/** Stores a config in the caller's transaction, which has locked the log. It replaces one of the same id. Errors: `limit-exceeded`. */
export async function storePushConfig(
  context: Pick<TaskContext, 'secrets' | 'append'>,
  tx: Transaction,
  caller: Caller,
  { task, input, after }: NewPushConfig,
): Promise<PushConfig> {
  await requireLiveKey(tx, caller)
  const configId = input.id || newUuid()
  const ofTask = await listPushSubscriptions(tx, task.id, caller.id)
  const same = ofTask.filter((subscription) => configIdOf(subscription) === configId)
  for (const { id } of same) await deleteSubscription(tx, id)
  if (same.length === 0) {
    await requireRoomForConfig(tx, caller, ofTask.length)
    await makeRoomForConfig(context, tx, caller, task.projectId)
  }
  const id = newSubscriptionId()
  const { authentication, token } = input
  const target: PushTarget = {
    url: input.url,
    configId,
    registeredBy: registrant(caller),
    protocolVersion: input.protocolVersion,
    ...(token ? { sealedToken: context.secrets.seal(token, id) } : {}),
    ...(authentication?.scheme ? { scheme: authentication.scheme } : {}),
    ...(authentication?.credentials ? { sealedCredentials: context.secrets.seal(authentication.credentials, id) } : {}),
  }
  await insertSubscription(tx, {
    ...initialState,
    id,
    kind: 'push',
    projectId: task.projectId,
    agentId: caller.id,
    audience: task.id,
    target,
    ...(isTerminal(task.state) ? { status: 'paused', reason: taskFinished } : { status: 'active', reason: null }),
    cursorLogId: after,
    keyId: caller.keyId,
    createdAt: tx.now,
    updatedAt: tx.now,
  })
  return { id: configId, taskId: task.id, url: input.url, token, authentication }
}

/** Returns a caller's name across projects: `default:@donna`. There is one operator of all projects. */
function registrant({ kind, identity, projectId }: Caller): string {
  return kind === 'operator' ? identity : `${projectId}:${identity}`
}

/** Requires that a caller may have one more config on a task; without `taskId`, on a new one. Errors: `limit-exceeded`. */
export async function requireRoomForPush(
  tx: Transaction,
  caller: Caller,
  taskId: string | undefined,
  configId: string,
): Promise<void> {
  const ofTask = taskId === undefined ? [] : await listPushSubscriptions(tx, taskId, caller.id)
  if (ofTask.some((subscription) => configIdOf(subscription) === configId)) return
  await requireRoomForConfig(tx, caller, ofTask.length)
}

/** Returns the configs that the caller has on a task. Errors: `task-not-found`. */
export async function listPushConfigs(context: TaskContext, caller: Caller, taskId: string): Promise<PushConfig[]> {
  await requireTask(context.db, caller, taskId)
  return (await listPushSubscriptions(context.db, taskId, caller.id)).map((subscription) =>
    fromSubscription(context, subscription),
  )
}

/** Returns the config of an id. Errors: `task-not-found`, `push-config-not-found`. */
export async function readPushConfig(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  configId: string,
): Promise<PushConfig> {
  const configs = await listPushConfigs(context, caller, taskId)
  const config = configs.find(({ id }) => id === configId)
  if (!config) throw configNotFound(taskId, configId)
  return config
}

/** Returns the config of an id, else the only config of the task. Errors: `task-not-found`, `push-config-not-found`. */
export async function readOnlyPushConfig(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  configId: string,
): Promise<PushConfig> {
  const configs = await listPushConfigs(context, caller, taskId)
  const config = configs.find(({ id }) => id === configId) ?? (configs.length === 1 ? configs[0] : undefined)
  if (!config) throw configNotFound(taskId, configId)
  return config
}

function configNotFound(taskId: string, configId: string): Problem {
  return new Problem('push-config-not-found', {
    detail: `Task ${taskId} has no push notification config "${configId}". List the configs to see their ids.`,
    extra: { taskId, configId },
  })
}

/** Removes a config. Removing it again does nothing (specification §3.1.10). */
export function deletePushConfig(
  context: TaskContext,
  caller: Caller,
  taskId: string,
  configId: string,
): Promise<void> {
  return context.db.transaction(async (tx) => {
    const { task } = await requireTaskToChange(tx, caller, taskId)
    const gone = await pushSubscriptions(tx, caller, taskId, configId)
    for (const { id } of gone) await deleteSubscription(tx, id)
    if (gone.length === 0) return
    await context.append(tx, task.projectId, [
      { type: 'push_config.deleted', actor: caller.identity, audience: [], taskId, data: { taskId, configId } },
    ])
  })
}

async function pushSubscriptions(
  tx: Transaction,
  caller: Caller,
  taskId: string,
  configId: string,
): Promise<PushSubscription[]> {
  const all = await listPushSubscriptions(tx, taskId, caller.id)
  return all.filter((subscription) => configIdOf(subscription) === configId)
}

function configIdOf({ target }: PushSubscription): string {
  return target.configId
}

function fromSubscription(context: TaskContext, subscription: PushSubscription): PushConfig {
  const { target } = subscription
  const open = (sealed: string | undefined) => (sealed ? context.secrets.open(sealed, subscription.id) : '')
  return {
    id: target.configId,
    taskId: subscription.audience,
    url: target.url,
    token: open(target.sealedToken),
    authentication: target.scheme ? { scheme: target.scheme, credentials: open(target.sealedCredentials) } : undefined,
  }
}

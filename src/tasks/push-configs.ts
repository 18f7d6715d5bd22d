import { Problem } from '../errors.ts'
import { newSubscriptionId, newUuid } from '../lib/ids.ts'
import { inputLimits } from '../limits.ts'
import { lockLog, logBounds } from '../log/event-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { requireRoom } from '../registry/shares/shares.ts'
import { type PushTarget, type Subscription, taskFinished, unsent } from '../registry/subscriptions/subscription.ts'
import {
  countLivePushes,
  deleteSubscription,
  insertSubscription,
  listPushSubscriptions,
} from '../registry/subscriptions/subscription-store.ts'
import type { SecretBox } from '../security/secret.ts'
import { isLoopbackHost } from '../security/url-guard.ts'
import type { Transaction } from '../storage/database.ts'
import { requireBoundedId } from './bounded-message.ts'
import type { TaskContext } from './context.ts'
import { requireTask, requireTaskToChange } from './read-task.ts'
import { isTerminal } from './state.ts'
import type { Task } from './task.ts'

/** An A2A push notification config (specification §4.3.1), flat as in v1.0. */
export interface PushConfig {
  readonly id: string
  readonly taskId: string
  readonly url: string
  readonly token: string
  readonly authentication?: { readonly scheme: string; readonly credentials: string } | undefined
}

export interface PushContext extends TaskContext {
  readonly secrets: SecretBox
  /** Throws `url-not-allowed` or `invalid-request`. The URL is judged, never probed. */
  readonly checkUrl: (url: string, field: string) => URL
}

type PushInput = Omit<PushConfig, 'taskId'> & { readonly protocolVersion: PushTarget['protocolVersion'] }

/** A config travels in the headers of every push, and is kept for as long as its task. */
const headerValueMax = inputLimits.pushHeader.max

/** Throws `url-not-allowed` or `invalid-request` for a config that could never be sent for. `prefix` is where it stands. */
export function requireSendable(
  context: Pick<PushContext, 'checkUrl'>,
  config: Pick<PushConfig, 'id' | 'url' | 'token' | 'authentication'>,
  prefix = '',
): void {
  const url = context.checkUrl(config.url, `${prefix}url`)
  const { scheme = '', credentials = '' } = config.authentication ?? {}
  requireBoundedId(config.id, `${prefix}id`, inputLimits.pushConfigId)
  // RFC 9110 section 11.1 for the scheme, section 5.5 for what a header may carry.
  if (!/^[\w!#$%&'*+.^`|~-]{0,64}$/.test(scheme)) {
    throw invalid(`${prefix}authentication.scheme`, 'is the name of an HTTP authentication scheme, e.g. Bearer.')
  }
  for (const [field, value] of Object.entries({ token: config.token, 'authentication.credentials': credentials })) {
    if (/^[\x20-\x7e]*$/.test(value) && value.length <= headerValueMax) continue
    throw invalid(prefix + field, `travels in a header: at most ${headerValueMax} characters of ASCII, no line breaks.`)
  }
  const secret = config.token ? 'token' : credentials ? 'authentication.credentials' : undefined
  if (secret && url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw invalid(prefix + secret, 'would travel in clear text to an http:// URL. Give an https:// URL.')
  }
}

function invalid(field: string, reason: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field} ${reason}` })
}

/**
 * Sets a push config on a task; one of the same id is replaced, and starts afresh even if the old one was given up. A finished
 * task takes one too: it has nothing left to tell.
 */
export function createPushConfig(
  context: PushContext,
  caller: Caller,
  taskId: string,
  input: PushInput,
): Promise<PushConfig> {
  requireSendable(context, input)
  return context.db.transaction(async (tx) => {
    const { task } = await requireTaskToChange(tx, caller, taskId)
    await lockLog(tx, task.projectId)
    const { head } = await logBounds(tx, task.projectId)
    const config = await keepPushConfig(context, tx, caller, task, input, head)
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

/**
 * Keeps a config within the caller's transaction. `after` is where it starts to tell: behind the log's head for one that is
 * added later, before the task's first event for one that came with the message.
 */
export async function keepPushConfig(
  context: PushContext,
  tx: Transaction,
  caller: Caller,
  task: Task,
  input: PushInput,
  after: number,
): Promise<PushConfig> {
  await requireLiveKey(tx, caller)
  const configId = input.id || newUuid()
  const ofTask = await listPushSubscriptions(tx, task.id, caller.id)
  const same = ofTask.filter((subscription) => configIdOf(subscription) === configId)
  for (const { id } of same) await deleteSubscription(tx, id)
  if (same.length === 0) await requireRoomForConfig(tx, caller, ofTask.length)
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
    ...unsent,
    id,
    kind: 'push',
    projectId: task.projectId,
    agentId: caller.id,
    audience: task.id,
    trigger: null,
    filters: {},
    harnessTarget: 'a2a-webhook',
    target,
    coalesceMs: 0,
    signingKey: null,
    ...(isTerminal(task.state) ? { status: 'paused', reason: taskFinished } : { status: 'active', reason: null }),
    cursorLogId: after,
    keyId: caller.keyId,
    createdAt: tx.now,
    updatedAt: tx.now,
  })
  return { id: configId, taskId: task.id, url: input.url, token, authentication }
}

/** Who a caller is, in whichever project: `default:@donna`. There is one operator of all projects. */
function registrant({ kind, identity, projectId }: Caller): string {
  return kind === 'operator' ? identity : `${projectId}:${identity}`
}

/** Whether a caller may have one more config on a task, or on a new one. Errors: `limit-exceeded`. */
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

async function requireRoomForConfig(tx: Transaction, caller: Caller, ofTask: number): Promise<void> {
  if (caller.kind === 'operator') return
  const remedy = 'Delete those that are not in use.'
  requireRoom(caller, 'pushConfigsPerTask', ofTask, remedy)
  requireRoom(caller, 'pushConfigs', await countLivePushes(tx, caller.id), remedy)
}

export async function listPushConfigs(context: PushContext, caller: Caller, taskId: string): Promise<PushConfig[]> {
  await requireTask(context.db, caller, taskId)
  return (await listPushSubscriptions(context.db, taskId, caller.id)).map((subscription) =>
    fromSubscription(context, subscription),
  )
}

/** The config of that id; without an id, the only one there is. Errors: `push-config-not-found`. */
export async function readPushConfig(
  context: PushContext,
  caller: Caller,
  taskId: string,
  configId: string,
): Promise<PushConfig> {
  const configs = await listPushConfigs(context, caller, taskId)
  const config = configId ? configs.find(({ id }) => id === configId) : configs[0]
  if (!config) {
    throw new Problem('push-config-not-found', {
      detail: `No push notification config "${configId}" on task ${taskId}. List them to see their ids.`,
      extra: { taskId, configId },
    })
  }
  return config
}

/** Takes a config away; twice is the same as once (specification §3.1.10). */
export function deletePushConfig(
  context: PushContext,
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
): Promise<Subscription[]> {
  const all = await listPushSubscriptions(tx, taskId, caller.id)
  return all.filter((subscription) => configIdOf(subscription) === configId)
}

function configIdOf({ target }: Subscription): string {
  return (target as PushTarget).configId
}

function fromSubscription(context: PushContext, subscription: Subscription): PushConfig {
  const target = subscription.target as PushTarget
  const open = (sealed: string | undefined) => (sealed ? context.secrets.open(sealed, subscription.id) : '')
  return {
    id: target.configId,
    taskId: subscription.audience,
    url: target.url,
    token: open(target.sealedToken),
    authentication: target.scheme ? { scheme: target.scheme, credentials: open(target.sealedCredentials) } : undefined,
  }
}

import type { JsonObject } from '../../../src/lib/json.ts'
import { noLimits } from '../../requests/agents.ts'
import { plants } from '../../requests/plants.ts'
import { wordsOf } from '../../requests/words.ts'
import type { ProcessAgent } from '../../support/process-client.ts'
import type { ProcessGateway } from '../../support/process-gateway.ts'
import { openWakeSocket } from '../../support/wake-socket.ts'
import { beginMcp, type Spares, sparesOf, stageOf } from './spares.ts'

/** Whom the fuzzer plays, what it owns, and what it must never see. */
export interface World {
  /** Speaks for the operator of a project of its own, where there is nothing to lose. */
  readonly operatorKey: string
  readonly mallory: ProcessAgent
  /** Ids of mallory's own things, by the word that stands for them in a request. */
  readonly own: Readonly<Record<string, string>>
  /** Makes what one request may destroy or uses up. */
  readonly spares: Spares
  /** Ids of what belongs to others: they may be requested, and nothing may be revealed of them. */
  readonly strangers: readonly string[]
  /** A text that stands in everything private of the others. */
  readonly canary: string
  /** Returns what the others have no more, or not as it was. */
  harm(): Promise<string[]>
}

/** The ids for the words of a request: of mallory's own things, and of things that are made for it. */
export async function idsFor({ own, spares }: World, request: unknown): Promise<Record<string, string>> {
  const ids = { ...own }
  for (const word of wordsOf(request)) {
    const id = Object.hasOwn(own, word) ? own[word] : await spares(word)
    if (id !== undefined) ids[word] = id
  }
  return ids
}

const harness = (text: string): JsonObject => ({ cwd: `/${text}`, sessionId: text })

/** Two agents with private work and mail between them, one in another project, and mallory, who has things of her own. */
export async function populate(gateway: ProcessGateway): Promise<World> {
  const canary = `canary${crypto.randomUUID().replaceAll('-', '')}`
  const [mallory, donna, lucy] = await Promise.all(
    ['@mallory', '@donna', '@lucy'].map((handle) => gateway.addAgent(handle)),
  )
  await gateway.call('POST', '/v1/projects', { project: 'other' })
  await gateway.call('POST', '/v1/projects', { project: 'junk' })
  for (const project of ['default', 'junk'])
    await gateway.call('PATCH', `/v1/projects/${project}`, { limits: noLimits })
  const zoe = await gateway.call('POST', '/v1/agents', {
    handle: 'zoe',
    project: 'other',
    access: 'private',
    description: canary,
  })
  const call = async (
    agent: { key: string },
    method: string,
    path: string,
    body?: unknown,
  ): Promise<JsonObject & { [key: string]: string }> => {
    const answer = await gateway.call(method, path, body, agent)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const reader = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  /** Makes a subscription that is read as a stream, and returns the first wake on it: that of what waits. */
  const wakeOf = async (agent: ProcessAgent, text: string): Promise<{ readerId: string; eventId: string }> => {
    const { subscriptionId = '' } = await call(agent, 'POST', '/v1/wake-subscriptions', reader)
    using stream = await openWakeSocket(gateway, agent, [subscriptionId])
    await call(agent, 'POST', '/v1/messages', { to: agent.handle, subject: text, body: text })
    const [wake] = await stream.waitFor('wake', 1)
    return { readerId: subscriptionId, eventId: wake!.id! }
  }

  const secrets = stageOf(gateway, donna!, lucy!, canary)
  const secretTask = await plants.task(secrets)
  const configs = `/agents/donna/tasks/${secretTask}/pushNotificationConfigs`
  await call(lucy!, 'POST', configs, { id: 'secret-config', url: `http://127.0.0.1:9/${canary}` })
  const secretMail = await plants.message(secrets)
  const secretSubscription = await plants.subscription(secrets)
  const secretWake = await wakeOf(donna!, canary)
  const secretSession = await call(donna!, 'POST', '/v1/sessions', { surface: 'codex', harness: harness(canary) })
  const secretKey = await plants.key(secrets)
  const granted = await plants.permission(secrets)
  const secretMcp = await beginMcp(gateway, donna!)
  const zoeKey = { key: zoe.body.apiKey as string }
  const zoeMail = await call(zoeKey, 'POST', '/v1/messages', { to: '@zoe', subject: canary, body: canary })

  const mine = stageOf(gateway, mallory!, mallory!, 'mine')
  const task = await plants.task(mine)
  const message = await plants.message(mine)
  const target = { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook' }
  const harnessTargetMetadata = { url: 'http://127.0.0.1:9/mine' }
  const webhook = await call(mallory!, 'POST', '/v1/wake-subscriptions', { ...target, harnessTargetMetadata })
  const wake = await wakeOf(mallory!, 'mine')
  const session = await call(mallory!, 'POST', '/v1/sessions', { surface: 'codex' })

  /** The things that the others own, and how each of them looks. */
  const others: [key: string, path: string, shown: (body: JsonObject) => unknown][] = [
    [lucy!.key, `/v1/tasks/${secretTask}`, ({ task }) => (task as JsonObject | undefined)?.status],
    [lucy!.key, `/v1/messages/${secretMail}`, ({ body }) => body],
    [donna!.key, `/v1/wake-subscriptions/${secretSubscription}`, ({ harnessTargetMetadata }) => harnessTargetMetadata],
    [donna!.key, `/v1/wake-subscriptions/${secretWake.readerId}`, ({ trigger }) => trigger],
    // It may time out.
    [donna!.key, `/v1/sessions/${secretSession.sessionId}`, ({ reason }) => reason === 'ended'],
    [donna!.key, '/v1/agents/donna/keys', ({ keys }) => (keys as JsonObject[]).map(({ revokedAt }) => revokedAt)],
    [donna!.key, '/v1/permissions?grantor=@donna', ({ permissions }) => permissions],
    [donna!.key, '/v1/agents/donna', ({ description, access }) => [description, access]],
    [zoeKey.key, `/v1/messages/${zoeMail.messageId}`, ({ body }) => body],
  ]
  const look = () =>
    Promise.all(
      others.map(async ([key, path, shown]) => {
        const { status, body } = await gateway.call('GET', path, undefined, { key })
        return `${path} ${status} ${JSON.stringify(shown(body))}`
      }),
    )
  const before = await look()
  return {
    mallory: mallory!,
    own: {
      handle: 'mallory',
      other: '@lucy',
      project: 'junk',
      task,
      message,
      thread: message,
      need: message,
      subscription: String(webhook.subscriptionId),
      reader: wake.readerId,
      wake: wake.eventId,
      session: String(session.sessionId),
      mcp: await beginMcp(gateway, mallory!),
    },
    spares: sparesOf(gateway, mallory!),
    strangers: [
      secretTask,
      'secret-config',
      secretMail,
      secretSubscription,
      secretWake.readerId,
      secretWake.eventId,
      String(secretSession.sessionId),
      secretKey,
      granted,
      secretMcp,
      String(zoeMail.messageId),
      '@donna',
      'other:@zoe',
      'agents/donna',
      'projects/other/agents/zoe',
    ],
    canary,
    operatorKey: gateway.adminKey,
    harm: async () => (await look()).filter((seen, at) => seen !== before[at]),
  }
}

import type { JsonObject } from '../../../src/lib/json.ts'
import type { ProcessAgent } from '../../support/process-client.ts'
import type { ProcessGateway } from '../../support/process-gateway.ts'
import { openWakeSocket } from '../../support/wake-socket.ts'
import { wordsOf } from './operation.ts'
import { noLimits } from './rest-operations.ts'
import { beginMcp, type Spares, sparesOf } from './spares.ts'

/** Whom the fuzzer plays, what it owns, and what it must never see. */
export interface World {
  /** Speaks for the operator of a project of its own, where there is nothing to lose. */
  readonly operatorKey: string
  readonly mallory: ProcessAgent
  /** Ids of mallory's own things, by the word that stands for them in a request. */
  readonly own: Readonly<Record<string, string>>
  /** Makes things that one request may destroy, by the word that stands for them. */
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
  const made = wordsOf(request).filter((word) => Object.hasOwn(spares, word))
  return { ...own, ...Object.fromEntries(await Promise.all(made.map(async (word) => [word, await spares[word]!()]))) }
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
  const subscription = { trigger: 'SENT_TO_ME', harnessTarget: 'a2a-webhook' }
  const target = (path: string) => ({ ...subscription, harnessTargetMetadata: { url: `http://127.0.0.1:9/${path}` } })
  const reader = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon', harnessTargetMetadata: { coalesceWindow: 0 } }
  /** Makes a subscription that is read as a stream, and returns the first wake on it. */
  const wakeOf = async (agent: ProcessAgent, text: string): Promise<{ readerId: string; eventId: string }> => {
    const { subscriptionId = '' } = await call(agent, 'POST', '/v1/wake-subscriptions', reader)
    using stream = await openWakeSocket(gateway, agent, [subscriptionId])
    await call(agent, 'POST', '/v1/messages', { to: agent.handle, subject: text, body: text })
    const [wake] = await stream.waitFor('wake', 1)
    return { readerId: subscriptionId, eventId: wake!.id! }
  }

  const secretTask = await gateway.send(donna!, canary, { returnImmediately: true }, { key: lucy!.key })
  const configs = `/agents/donna/tasks/${secretTask.id}/pushNotificationConfigs`
  await call(lucy!, 'POST', configs, { id: 'secret-config', url: `http://127.0.0.1:9/${canary}` })
  const secretMail = await call(lucy!, 'POST', '/v1/messages', { to: '@donna', subject: canary, body: canary })
  const secretSubscription = await call(donna!, 'POST', '/v1/wake-subscriptions', target(canary))
  const secretWake = await wakeOf(donna!, canary)
  const secretSession = await call(donna!, 'POST', '/v1/sessions', { surface: 'codex', harness: harness(canary) })
  const secretKey = await call(donna!, 'POST', '/v1/agents/donna/keys', { label: canary })
  const granted = await call(donna!, 'POST', '/v1/permissions', { grantee: '@lucy', scope: 'CAN_READ_INBOX_OF' })
  const secretMcp = await beginMcp(gateway, donna!)
  const zoeKey = { key: zoe.body.apiKey as string }
  const zoeMail = await call(zoeKey, 'POST', '/v1/messages', { to: '@zoe', subject: canary, body: canary })

  const task = await gateway.send(mallory!, 'mine', { returnImmediately: true }, { key: mallory!.key })
  const mail = await call(mallory!, 'POST', '/v1/messages', { to: '@mallory', subject: 's', body: 'b' })
  const mine = await call(mallory!, 'POST', '/v1/wake-subscriptions', target('mine'))
  const wake = await wakeOf(mallory!, 'mine')
  const session = await call(mallory!, 'POST', '/v1/sessions', { surface: 'codex' })

  /** The things that the others own, and how each of them looks. */
  const others: [key: string, path: string, shown: (body: JsonObject) => unknown][] = [
    [lucy!.key, `/v1/tasks/${secretTask.id}`, ({ task }) => (task as JsonObject | undefined)?.status],
    [lucy!.key, `/v1/messages/${secretMail.messageId}`, ({ body }) => body],
    [
      donna!.key,
      `/v1/wake-subscriptions/${secretSubscription.subscriptionId}`,
      ({ harnessTargetMetadata }) => harnessTargetMetadata,
    ],
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
      task: task.id,
      message: String(mail.messageId),
      subscription: String(mine.subscriptionId),
      reader: wake.readerId,
      event: wake.eventId,
      session: String(session.sessionId),
      mcp: await beginMcp(gateway, mallory!),
    },
    spares: sparesOf(gateway, mallory!),
    strangers: [
      secretTask.id,
      'secret-config',
      String(secretMail.messageId),
      String(secretSubscription.subscriptionId),
      secretWake.readerId,
      secretWake.eventId,
      String(secretSession.sessionId),
      String(secretKey.keyId),
      String(granted.permissionId),
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

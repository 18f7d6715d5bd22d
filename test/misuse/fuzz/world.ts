import type { JsonObject } from '../../../src/lib/json.ts'
import type { ProcessAgent } from '../../support/process-client.ts'
import type { ProcessGateway } from '../../support/process-gateway.ts'

/** Whom the fuzzer plays, what it owns, and what it must never see. */
export interface World {
  /** Speaks for the operator of a project of its own, where there is nothing to lose. */
  readonly operatorKey: string
  readonly mallory: ProcessAgent
  /** Ids of mallory's own things, by the word that stands for them in a path. */
  readonly own: Readonly<Record<string, string>>
  /** Ids of what belongs to others: they may be requested, and nothing may be revealed of them. */
  readonly strangers: readonly string[]
  /** A text that stands in everything private of the others. */
  readonly canary: string
}

/** Two agents with private work and mail between them, one in another project, and mallory, who has things of her own. */
export async function populate(gateway: ProcessGateway): Promise<World> {
  const canary = `canary${crypto.randomUUID().replaceAll('-', '')}`
  const [mallory, donna, lucy] = await Promise.all(
    ['@mallory', '@donna', '@lucy'].map((handle) => gateway.addAgent(handle)),
  )
  await gateway.call('POST', '/v1/projects', { project: 'other' })
  await gateway.call('POST', '/v1/projects', { project: 'junk' })
  // A rate that is used up would answer in the place of what is tried.
  const { body } = await gateway.call('GET', '/v1/projects/default')
  const none = Object.fromEntries(Object.keys(body.limits).map((name) => [name, 0]))
  for (const project of ['default', 'junk']) await gateway.call('PATCH', `/v1/projects/${project}`, { limits: none })
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

  const secretTask = await gateway.send(donna!, canary, { returnImmediately: true }, { key: lucy!.key })
  const secretMail = await call(lucy!, 'POST', '/v1/messages', { to: '@donna', subject: canary, body: canary })
  const secretSubscription = await call(donna!, 'POST', '/v1/wake-subscriptions', target(canary))
  const zoeKey = { key: zoe.body.apiKey as string }
  const zoeMail = await call(zoeKey, 'POST', '/v1/messages', { to: '@zoe', subject: canary, body: canary })

  const task = await gateway.send(mallory!, 'mine', { returnImmediately: true }, { key: mallory!.key })
  const mail = await call(mallory!, 'POST', '/v1/messages', { to: '@mallory', subject: 's', body: 'b' })
  const mine = await call(mallory!, 'POST', '/v1/wake-subscriptions', target('mine'))
  const session = await call(mallory!, 'POST', '/v1/sessions', { surface: 'codex' })
  return {
    mallory: mallory!,
    own: {
      task: task.id,
      message: String(mail.messageId),
      subscription: String(mine.subscriptionId),
      session: String(session.sessionId),
      mcp: await beginMcp(gateway, mallory!),
    },
    strangers: [
      secretTask.id,
      String(secretMail.messageId),
      String(secretSubscription.subscriptionId),
      String(zoeMail.messageId),
      '@donna',
      'other:@zoe',
      'agents/donna',
      'projects/other/agents/zoe',
    ],
    canary,
    operatorKey: gateway.adminKey,
  }
}

/** Begins an MCP session, and returns its id. */
async function beginMcp(gateway: ProcessGateway, { key }: ProcessAgent): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } }
  const response = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  await response.text()
  return response.headers.get('mcp-session-id')!
}

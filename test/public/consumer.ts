// Compiled by package.test.ts as a stranger compiles it, against the packed tarball, and never run.
import {
  type Client,
  type Config,
  configFromEnv,
  createApp,
  createClient,
  type Gateway,
  GatewayError,
  type Started,
  type Task,
  verifyWake,
} from 'rouse'

export async function serve(): Promise<string> {
  const config: Config = { ...configFromEnv({ ROUSE_PORT: '0' }), logLevel: 'warn' }
  const gateway: Gateway = createApp(config, { log: { debug() {}, info() {}, warn() {}, error() {} } })
  const { url }: Started = await gateway.start()
  await gateway.stop()
  return url + gateway.adminKey
}

export async function work(client: Client): Promise<Task[]> {
  const { tasks } = await client.tasks.list({ role: 'assignee', state: 'submitted' })
  for (const { id, version } of tasks) {
    await client.tasks.move(id, { to: 'working', expectedVersion: version }).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'version-conflict') throw error
    })
  }
  const { messages } = await client.inbox({ unread: true })
  for (const { messageId, from } of messages) {
    await client.send({ to: from, subject: 'Thank you', inReplyTo: messageId })
    await client.mark(messageId, 'resolved')
  }
  const made = await client.subscriptions.make({ trigger: 'SENT_TO_ME', url: 'https://hooks.example/wake' })
  await client.subscriptions.setStatus(made.subscriptionId, 'paused')
  return [...tasks]
}

export const client: Client = createClient({ url: 'http://127.0.0.1:4520', key: 'rk_1' })

export function eventOf(body: Uint8Array, headers: Record<string, string>): string | undefined {
  const verified = verifyWake({ body, headers, keys: ['whsec_1'] })
  return verified.ok ? verified.eventId : undefined
}

// @ts-expect-error: a state that does not exist is no move
export const wrong = (): unknown => client.tasks.move('1', { to: 'done', expectedVersion: 1 })

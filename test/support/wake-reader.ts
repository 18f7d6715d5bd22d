import type { JsonObject } from '../../src/lib/json.ts'
import type { TestAgent, TestGateway } from './gateway.ts'

/** A wake as a reader of the stream sees it. */
interface StreamedWake {
  readonly eventId: string
  /** The bytes that are signed. */
  readonly raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly body: any
  /** The fields of the event: the headers that sign it among them. */
  readonly fields: Readonly<Record<string, string>>
}

/** A real reader of `GET /v1/wake-stream`. */
interface WakeReader extends AsyncDisposable {
  readonly status: number
  readonly wakes: readonly StreamedWake[]
  /** The subscriptions that were taken from it, with the reason. */
  readonly released: readonly JsonObject[]
  readonly hasEnded: boolean
  /** Resolves once `count` wakes have come; rejects after 30 s. */
  waitFor(count: number): Promise<readonly StreamedWake[]>
  /** Resolves when the gateway has ended the stream. */
  ended(): Promise<void>
  /** Reports a step of a wake. Returns what the gateway has on record of it. */
  report(eventId: string, step: string, detail?: string, fields?: JsonObject): Promise<string>
}

/** Connects a reader to subscriptions, and waits until it is connected. */
export async function readWakes(
  gateway: TestGateway,
  agent: TestAgent,
  subscriptionIds: readonly string[],
  capabilities: readonly string[] = ['spawn'],
): Promise<WakeReader> {
  const query = new URLSearchParams([
    ...subscriptionIds.map((id) => ['subscription', id]),
    ...capabilities.map((capability) => ['capabilities', capability]),
  ] as [string, string][])
  const closing = new AbortController()
  const response = await fetch(`${gateway.url}/v1/wake-stream?${query}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${agent.key}` },
    signal: closing.signal,
  })
  const wakes: StreamedWake[] = []
  const released: JsonObject[] = []
  const waiting = new Set<() => void>()
  let hasEnded = false
  const notify = (): void => {
    for (const check of [...waiting]) check()
  }
  const take = (block: string): void => {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
    if (fields.event === 'released') released.push(JSON.parse(fields.data!))
    if (fields.event !== 'wake') return
    wakes.push({ eventId: fields.id!, raw: fields.data!, body: JSON.parse(fields.data!), fields })
  }
  const reading = (async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) take(block)
      notify()
    }
  })()
    .catch(() => {})
    .finally(() => {
      hasEnded = true
      notify()
    })
  const when = (isDone: () => boolean, what: () => string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(check)
        reject(new Error(`${what()}: ${JSON.stringify(wakes.map(({ body }) => body))}`))
      }, 30_000)
      const check = (): void => {
        if (!isDone()) return
        clearTimeout(timer)
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  return {
    status: response.status,
    wakes,
    released,
    get hasEnded() {
      return hasEnded
    },
    async waitFor(count) {
      await when(
        () => wakes.length >= count,
        () => `Waited for ${count} wakes, got ${wakes.length}`,
      )
      return wakes
    },
    ended: () =>
      when(
        () => hasEnded,
        () => 'The stream goes on',
      ),
    async report(eventId, step, detail, fields) {
      const receipt = { eventId, step, ...(detail === undefined ? {} : { detail }), ...fields }
      const { body } = await gateway.call('POST', '/v1/wake-stream/receipts', [receipt], { key: agent.key })
      return body.receipts[0].outcome
    },
    async [Symbol.asyncDispose]() {
      closing.abort()
      await reading
    },
  }
}

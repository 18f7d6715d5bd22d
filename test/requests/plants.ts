import type { JsonObject } from '../../src/lib/json.ts'

type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<JsonObject>

/** Where samples are planted. Each call has to succeed, and resolves with the body of its answer. */
export interface Stage {
  /** The agent that owns what is planted. */
  readonly handle: string
  readonly asOwner: Call
  /** As the one from whom the owner has tasks and mail. */
  readonly asSender: Call
  readonly asOperator: Call
  /** The project of what the operator makes. */
  readonly project: string
  /** Another agent, as it is written in an address. */
  readonly other: string
  /** The text that everything planted has. */
  readonly text: string
  /** The URL of a receiver. */
  readonly url: string
}

const made =
  (who: 'asOwner' | 'asSender' | 'asOperator', field: string, path: string, bodyOf: (stage: Stage) => object) =>
  async (stage: Stage): Promise<string> =>
    String((await stage[who]('POST', path, bodyOf(stage)))[field])

const mail = ({ handle, text }: Stage) => ({ to: handle, subject: text, body: text })
const subscription = (more: (stage: Stage) => object) =>
  made('asOwner', 'subscriptionId', '/v1/wake-subscriptions', more)

/** What a harness asks a person. */
export const approvalAsked = {
  harness: 'claude',
  conversationId: 'c-1',
  kind: 'permission',
  tool: 'Bash',
  input: { command: 'npm test' },
  expiresInSeconds: 600,
} as const

/** Makes the thing that a word stands for, and resolves with its id. */
export const plants = {
  handle: async ({ handle }: Stage) => handle,
  other: async ({ other }: Stage) => other,
  project: async ({ project }: Stage) => project,
  async agent({ asOperator, project }: Stage) {
    const handle = fresh.newHandle()
    await asOperator('POST', '/v1/agents', { handle, project })
    return handle
  },
  key: ({ handle, text, asOwner }: Stage) =>
    asOwner('POST', `/v1/agents/${handle}/keys`, { label: text }).then(({ keyId }) => String(keyId)),
  operatorKey: made('asOperator', 'keyId', '/v1/operator-keys', ({ project, text }) => ({
    role: 'viewer',
    projects: [project],
    label: text,
  })),
  permission: made('asOwner', 'permissionId', '/v1/permissions', ({ other }) => ({
    grantee: other,
    scope: 'CAN_REPLY_TO',
  })),
  async claim({ asOwner }: Stage) {
    const ref = fresh.newRef()
    await asOwner('POST', '/v1/claims', { ref })
    return ref
  },
  approval: made('asOwner', 'approvalId', '/v1/approvals', () => ({ ...approvalAsked, nonce: crypto.randomUUID() })),
  async follower(stage: Stage) {
    const { followerId } = await stage.asOwner('POST', '/v1/followers', { taskId: await plants.task(stage) })
    return String(followerId)
  },
  async task({ handle, text, asSender }: Stage) {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] }
    const input = { message, configuration: { returnImmediately: true } }
    const { task } = await asSender('POST', `/agents/${handle}/message:send`, input, { 'A2A-Version': '1.0' })
    return String((task as JsonObject).id)
  },
  message: made('asSender', 'messageId', '/v1/messages', mail),
  thread: made('asSender', 'threadId', '/v1/messages', mail),
  need: made('asOwner', 'messageId', '/v1/messages', ({ text }) => ({ to: '@operator', subject: text })),
  session: made('asOwner', 'sessionId', '/v1/sessions', () => ({ surface: 'cursor', capabilities: [], drain: false })),
  subscription: subscription(({ url, text }) => ({
    trigger: 'MESSAGE_STATUS_CHANGED',
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: { url: `${url}/${text}`, coalesceWindow: 0 },
  })),
  reader: subscription(() => ({ trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' })),
}

let count = 0
const next = (name: string) => (): string => `${name}${++count}`

/** Words that name nothing of anybody's: new names, an instant that is to come, a place in a list, and ids of nothing. */
export const fresh = {
  newHandle: next('new'),
  newAlias: next('alias'),
  newRef: next('ref-'),
  newNonce: next('nonce-'),
  newProject: next('made'),
  later: () => new Date(Date.now() + 3_600_000).toISOString(),
  /** The page after what was made at 1 and is named x. */
  position: () => Buffer.from('1/x').toString('base64url'),
  /** Nobody answers there. */
  callback: () => 'https://127.0.0.1:9/',
  epoch: () => '1',
  wake: () => 'none',
  turn: () => '01J00000000000000000000000',
}

const isPlant = (word: string): word is keyof typeof plants => Object.hasOwn(plants, word)
const isFresh = (word: string): word is keyof typeof fresh => Object.hasOwn(fresh, word)
const plantOf = (word: string): string => word.replace(/^spare(.)/, (_, first: string) => first.toLowerCase())

/** True when the word stands for something of the owner's. */
export const isOwned = (word: string): boolean => isPlant(plantOf(word))

/** Plants what a word stands for. undefined: it stands for nothing. */
export function plant(word: string, stage: Stage): Promise<string> | string | undefined {
  const name = plantOf(word)
  return isPlant(name) ? plants[name](stage) : isFresh(word) ? fresh[word]() : undefined
}

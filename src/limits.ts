/** One limit: its unit, its value and a description. */
export interface Limit {
  readonly max: number
  readonly unit:
    | 'bytes'
    | 'characters'
    | 'items'
    | 'levels'
    | 'values'
    | 'ms'
    | 'seconds'
    | 'a minute'
    | 'an hour'
    | 'a day'
    | 'at a time'
  /** For people: the sentence of docs/limits.md. */
  readonly what: string
}

export const KiB = 1024
export const MiB = 1024 * KiB
const GiB = 1024 * MiB

function limit<const Unit extends Limit['unit']>(
  max: number,
  unit: Unit,
  what: string,
): Limit & { readonly unit: Unit } {
  return { max, unit, what }
}

/** The size and the shape of a request and its answer. A refusal is 400 for a shape and 413 for a size. */
export const sizeLimits = {
  body: limit(1 * MiB, 'bytes', 'the body of a request on every front; `ROUSE_BODY_MAX` sets it, up to 16 MiB'),
  answer: limit(4 * MiB, 'bytes', 'history and artifacts in an answer; always four times `body`'),
  page: limit(1 * MiB, 'bytes', 'a page of a list; a page that would be larger has fewer entries'),
  values: limit(20_000, 'values', 'values in a body'),
  depth: limit(64, 'levels', 'nested arrays and objects in a body'),
  // Readers of protocol buffers accept 100 messages in one another, and an object in `data` takes three.
  contentDepth: limit(32, 'levels', 'nested arrays and objects in a message, an artifact or metadata'),
  id: limit(500, 'characters', 'an id, a key, a name or a concept that a client chooses'),
  keptAnswer: limit(64 * KiB, 'bytes', 'an answer that is kept for a repeat of its request; a larger one is not'),
  url: limit(2_048, 'characters', 'a URL or a URI'),
  items: limit(100, 'items', 'entries of a list in a request, where no other limit is named'),
  parts: limit(1_000, 'items', 'parts of a message or an artifact chunk'),
  metadata: limit(64 * KiB, 'bytes', 'metadata of a message or a request, and the payload of a mail'),
  approvalInput: limit(
    64 * KiB,
    'bytes',
    'the input of an approval as JSON; a larger one is not kept, and can be approved in the harness alone',
  ),
  settings: limit(4 * KiB, 'bytes', 'filters of a wake subscription, and capabilities of a session, as JSON'),
  description: limit(
    32 * KiB,
    'bytes',
    'the description of an agent, and the initialize and the subscribed URIs of an MCP session',
  ),
  mailBody: limit(256 * KiB, 'characters', 'the body of a mail'),
  taskItems: limit(10_000, 'items', 'messages of a task, and artifact chunks of a task'),
  taskBytes: limit(128 * MiB, 'bytes', 'messages, artifacts and metadata of a task'),
} as const satisfies Record<string, Limit>

/** The most that `ROUSE_BODY_MAX` may be, in bytes. */
export const bodyCeiling = 16 * MiB

/** The content of an answer is at most this many times as large as a body may be. */
export const answerFactor = 4

/** Connections, with or without a valid key. */
export const connectionLimits = {
  connections: limit(10_000, 'at a time', 'connections to a port; `ROUSE_CONNECTIONS` sets it'),
  connectionsPerAddress: limit(
    1_000,
    'at a time',
    'connections of one IPv4 address or IPv6 /64; `ROUSE_CONNECTIONS_PER_ADDRESS` sets it',
  ),
  headerBytes: limit(16 * KiB, 'bytes', 'the headers of a request'),
  headers: limit(15, 'seconds', 'a TLS handshake, the headers of a request, and the first gRPC call with a valid key'),
  request: limit(120, 'seconds', 'the arrival of a whole request'),
  readerStall: limit(30, 'seconds', 'the time in which a client reads nothing of what it was sent'),
  stop: limit(30, 'seconds', 'the time in which requests in flight finish when the gateway stops'),
  grpcCalls: limit(
    100,
    'at a time',
    'calls on a gRPC connection, and of an address without a valid key, which may begin ten more each second',
  ),
} as const satisfies Record<string, Limit>

/** All callers of a gateway together, and callers without a valid key. */
export const gatewayLimits = {
  bytesInFlight: limit(
    128 * MiB,
    'bytes',
    'bodies of requests that are not answered; one caller may have a sixteenth, the agents of a project half',
  ),
  loopDelay: limit(1_000, 'ms', 'the delay of the event loop, from which requests are refused with 503'),
  wrongKeys: limit(600, 'a minute', 'wrong keys from one address; `ROUSE_WRONG_KEYS_PER_MINUTE` sets it'),
  revocationsPerMinute: limit(
    10,
    'a minute',
    'requests of one key that list or revoke keys, tokens and permissions, whatever else is used up',
  ),
  challengesPerHost: limit(
    10,
    'a minute',
    'challenges of MCP Events that a project sends to one host and that are not answered',
  ),
  stormTurns: limit(
    60,
    'items',
    'turns of two agents that write to each other, or broadcasts of one agent, in ten minutes; `ROUSE_STORM_TURNS` sets it',
  ),
  stormMessages: limit(
    600,
    'items',
    'direct messages to one agent in ten minutes, then as many but no two in a row from one sender; `ROUSE_STORM_MESSAGES` sets it',
  ),
} as const satisfies Record<string, Limit>

/**
 * How much one agent may do and have. The operator may set each for a project; 0 is no limit. What is counted for a project as a whole is
 * `projectFactor` times as much.
 */
export const projectLimits = {
  requestsPerMinute: limit(
    6_000,
    'a minute',
    'requests of a key; 200 at once. An agent with several keys may make half as many again',
  ),
  megabytesPerMinute: limit(256, 'a minute', 'MiB of requests and answers, streams included; 16 at once'),
  messagesPerMinute: limit(300, 'a minute', 'mail and A2A messages; `ROUSE_MESSAGES_PER_MINUTE` sets the default'),
  heavyPerMinute: limit(
    60,
    'a minute',
    'new MCP sessions, test wakes, challenges, polls of events that read 300 or more, and resyncs or replays, each kind for itself',
  ),
  startsPerHour: limit(100, 'an hour', 'started sessions, granted permissions and made keys, each kind for itself'),
  changesPerDay: limit(
    20_000,
    'a day',
    'changes that store no content, e.g. of subscriptions and claims; 5,000 at once',
  ),
  requestsAtOnce: limit(8, 'at a time', 'requests that are worked on; more wait'),
  requestsQueued: limit(256, 'at a time', 'requests that wait; each waits ten seconds at most'),
  streams: limit(100, 'at a time', 'open streams; half of them by one key'),
  blockingCalls: limit(
    1_000,
    'at a time',
    'blocking sends, and waits for mail and for events; half of them by one key',
  ),
  unreadBytes: limit(64 * MiB, 'bytes', 'answers and stream events that clients have not read'),
  subscriptions: limit(500, 'items', 'wake subscriptions of an agent'),
  keys: limit(100, 'items', 'API keys of an agent'),
  approvals: limit(100, 'items', 'open approvals of an agent'),
  owned: limit(1_000, 'items', 'claims, granted permissions and push notification configs, each kind for itself'),
  bytesStored: limit(1 * GiB, 'bytes', 'messages, mail and artifacts that are stored'),
  agents: limit(2_000, 'items', 'agents of a project'),
} as const satisfies Record<string, Limit>

/** A project may do and have this many times as much as one of its agents. */
export const projectFactor = 20

export type LimitName = keyof typeof projectLimits
/** The limits of a project that differ from the defaults. */
export type LimitOverrides = { readonly [Name in LimitName]?: number }

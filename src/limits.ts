/** One limit: its unit, its value and a description. */
export interface Limit {
  readonly max: number
  readonly unit:
    | 'bytes'
    | 'characters'
    | 'items'
    | 'levels'
    | 'percent'
    | 'values'
    | 'seconds'
    | 'bytes a second'
    | 'a second'
    | 'a minute'
    | 'an hour'
    | 'a day'
    | 'at a time'
  /** For people: the sentence of docs/limits.md. */
  readonly what: string
}

export const KiB = 1024
export const MiB = 1024 * KiB

export function limit(max: number, unit: Limit['unit'], what: string): Limit {
  return { max, unit, what }
}

/** The size and the shape of one request, the same for every project. A refusal is 400 for a shape and 413 for a size. */
export const inputLimits = {
  restBody: limit(4 * MiB, 'bytes', 'the body of a REST request'),
  a2aBody: limit(
    16 * MiB,
    'bytes',
    'the body of an A2A request over JSON-RPC, HTTP+JSON or gRPC (there after decompression)',
  ),
  jsonDepth: limit(64, 'levels', 'nested arrays and objects in a body'),
  contentDepth: limit(
    32,
    'levels',
    'nested arrays and objects in a message, an artifact or metadata: clients of protocol buffers read no deeper',
  ),
  jsonValues: limit(100_000, 'values', 'values in a body'),
  jsonRpcId: limit(200, 'characters', 'the id of a JSON-RPC request'),
  url: limit(
    2_048,
    'characters',
    'a webhook or push notification URL, the URL of a part, the URI of an extension of a message or an artifact',
  ),
  filename: limit(500, 'characters', 'the file name of a part of a message or an artifact'),
  mediaType: limit(200, 'characters', 'the media type of a part of a message or an artifact'),
  pushHeader: limit(8 * KiB, 'characters', 'the token, and the credentials, of a push notification config'),
  pushConfigId: limit(255, 'characters', 'the id of a push notification config'),
  messageId: limit(
    200,
    'characters',
    'an id that a client makes or names: of a message, a context, a task, an artifact',
  ),
  idempotencyKey: limit(255, 'characters', 'an idempotency key'),
  messageParts: limit(1_000, 'items', 'the parts of one message or of one piece of an artifact'),
  messageBytes: limit(
    22 * MiB,
    'bytes',
    'one message or one piece of an artifact, as JSON: 16 MiB that came over gRPC, in base64',
  ),
  messageReferences: limit(100, 'items', 'referenceTaskIds of a message'),
  messageExtensions: limit(100, 'items', 'extensions of a message or an artifact'),
  messageMetadata: limit(64 * KiB, 'bytes', 'metadata of a message, and metadata of a request, each as JSON'),
  outputModes: limit(100, 'items', 'acceptedOutputModes of a request'),
  outputMode: limit(200, 'characters', 'one of acceptedOutputModes'),
  concepts: limit(100, 'items', 'taggedConcepts of a message'),
  concept: limit(200, 'characters', 'one of taggedConcepts'),
  conceptsBytes: limit(20 * KiB, 'bytes', 'taggedConcepts of a message together, in UTF-8'),
  filterBytes: limit(
    4 * KiB,
    'bytes',
    'the filters of a wake subscription, as JSON: they are read with each event of its agent',
  ),
  historyLength: limit(10_000, 'items', 'messages of one task in one answer; a larger historyLength counts as this'),
  capabilitiesBytes: limit(
    4 * KiB,
    'bytes',
    'capabilities of a session, as JSON, e.g. a hundred of 37 characters; an ended session keeps none',
  ),
  agentBytes: limit(32 * KiB, 'bytes', 'the description of an agent: text, skills, modes and aliases, as JSON'),
  mailBody: limit(256 * KiB, 'characters', 'the body of a mail'),
  mailPayload: limit(64 * KiB, 'characters', 'the payload of a mail, as JSON'),
  receiptDetail: limit(500, 'characters', 'detail of a receipt for a wake'),
  receiptSource: limit(200, 'characters', 'source of a receipt for a wake'),
  waitForMessages: limit(1_500, 'seconds', 'one call of the MCP tool `wait_for_messages`'),
  problemsNamed: limit(10, 'items', 'fields that one refusal names'),
} as const satisfies Record<string, Limit>

/** The size of one task. A request that would exceed it is refused with 413. */
export const taskLimits = {
  messages: limit(10_000, 'items', 'messages of a task'),
  pieces: limit(10_000, 'items', 'pieces of artifacts of a task'),
  bytes: limit(128 * MiB, 'bytes', 'messages, artifacts and metadata of a task, as JSON'),
  valueBytes: limit(32, 'bytes', 'added to the size for each value in them, beside its text'),
} as const satisfies Record<string, Limit>

/** MCP over HTTP. */
export const mcpLimits = {
  mcpSessionsOfKey: limit(
    100,
    'items',
    'MCP sessions of one key; a new one ends the one that was not used for the longest time',
  ),
  mcpSessionsOfAgent: limit(200, 'items', 'MCP sessions of all keys of one agent; a new one ends an old one as above'),
  mcpSessionIdle: limit(86_400, 'seconds', 'the time after which an unused MCP session ends'),
  mcpInitialize: limit(16 * KiB, 'bytes', 'the parameters of an MCP initialize request, as JSON'),
  mcpBatch: limit(50, 'items', 'MCP messages in one request'),
  mcpResources: limit(100, 'items', 'resources that one MCP session, or one listen request, is subscribed to'),
  mcpUri: limit(2_048, 'characters', 'the URI of an MCP resource'),
  mcpUriBytes: limit(
    16 * KiB,
    'bytes',
    'these URIs together, as JSON: every request of the session reads them, and each subscription writes them again',
  ),
} as const satisfies Record<string, Limit>

/** The size of one answer. */
export const outputLimits = {
  task: limit(
    26 * MiB,
    'bytes',
    'history and artifacts in an answer with one task; the answer counts what it leaves out',
  ),
  taskPage: limit(
    26 * MiB,
    'bytes',
    'history and artifacts in a page of tasks; a page that would be larger has fewer tasks',
  ),
  mcpTask: limit(
    4 * MiB,
    'bytes',
    'history and artifacts of tasks in an answer at `/mcp`; the answer counts what it leaves out',
  ),
  mailPage: limit(4 * MiB, 'characters', 'mail in a page; a page that would be larger has fewer messages'),
  eventPage: limit(4 * MiB, 'characters', 'events in a page of the log; a page that would be larger has fewer events'),
  agentPage: limit(
    1 * MiB,
    'characters',
    'descriptions and capabilities in a page of agents; a page that would be larger has fewer agents',
  ),
  sessionPage: limit(
    1 * MiB,
    'characters',
    'capabilities and conversations in a page of sessions; a page that would be larger has fewer sessions',
  ),
  catalogPage: limit(2 * MiB, 'characters', 'descriptions of the agents that one page of the catalog examines'),
  catalogScan: limit(1_000, 'items', 'agents that one page of the catalog examines'),
  deliveryPage: limit(
    2 * MiB,
    'characters',
    'attempts and reports in a page of deliveries; a page that would be larger has fewer deliveries',
  ),
  subscriptionPage: limit(
    2 * MiB,
    'characters',
    'filters and targets in a page of wake subscriptions; a page that would be larger has fewer subscriptions',
  ),
  heldPage: limit(4 * MiB, 'characters', 'events that one page of held events examines'),
  wakePayload: limit(64 * KiB, 'bytes', 'the payload of a wake'),
  wakeConcepts: limit(8 * KiB, 'bytes', 'taggedConcepts in the payload of a wake; the rest is cut'),
  grpcDetails: limit(1_000, 'characters', 'the message of a gRPC status'),
} as const satisfies Record<string, Limit>

/** Keys and tokens. */
export const keyLimits = {
  keyLife: limit(10 * 366 * 86_400, 'seconds', 'the life of a key that has an end, and of a token'),
  bearer: limit(8_192, 'characters', 'a bearer key or token'),
  issuerDocument: limit(256 * KiB, 'bytes', "an issuer's discovery document or key set"),
  issuerAnswer: limit(5, 'seconds', 'the wait for an issuer'),
  tokenSkew: limit(30, 'seconds', "the difference between an issuer's clock and the gateway's"),
  operatorProjects: limit(100, 'items', 'projects of one operator key'),
} as const satisfies Record<string, Limit>

/** The length of one page of a list. */
export const pageLimits = {
  listPage: limit(500, 'items', 'agents, keys, permissions or subscriptions in one page of a list'),
} as const satisfies Record<string, Limit>

/** The commands of the operator. */
export const operationLimits = {
  rekeyRows: limit(
    100,
    'items',
    'subscriptions that `rouse rekey` reads at once; each is changed in a transaction of its own',
  ),
  rekeyPasses: limit(5, 'items', 'passes of `rouse rekey` over a store whose gateways run'),
} as const satisfies Record<string, Limit>

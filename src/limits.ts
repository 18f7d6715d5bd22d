/** One limit: its unit, its value and a description. */
export interface Limit {
  readonly max: number
  readonly unit:
    | 'bytes'
    | 'characters'
    | 'items'
    | 'levels'
    | 'values'
    | 'seconds'
    | 'bytes a second'
    | 'a minute'
    | 'an hour'
    | 'at a time'
  /** For people: the sentence of docs/limits.md. */
  readonly what: string
}

const KiB = 1024
export const MiB = 1024 * KiB

export function limit(max: number, unit: Limit['unit'], what: string): Limit {
  return { max, unit, what }
}

/** What one request may carry. The same for every project. A refusal is 400 for a shape and 413 for a size. */
export const inputLimits = {
  restBody: limit(4 * MiB, 'bytes', 'the body of a REST request, after decompression'),
  a2aBody: limit(16 * MiB, 'bytes', 'the body of an A2A request over JSON-RPC, HTTP+JSON or gRPC, after decompression'),
  jsonDepth: limit(64, 'levels', 'arrays and objects within each other in a body'),
  jsonValues: limit(100_000, 'values', 'values in a body'),
  jsonRpcId: limit(200, 'characters', 'the id of a JSON-RPC request'),
  url: limit(2_048, 'characters', 'a webhook or push notification URL'),
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
  historyLength: limit(
    10_000,
    'items',
    'messages of one task in one answer; of more that are asked for, so many are told',
  ),
  agentBytes: limit(
    128 * KiB,
    'bytes',
    'what an agent says about itself: description, skills, modes and aliases, as JSON',
  ),
  mailBody: limit(256 * KiB, 'characters', 'the body of a mail'),
  mailPayload: limit(64 * KiB, 'characters', 'the payload of a mail, as JSON'),
  problemsTold: limit(10, 'items', 'fields that one refusal names'),
} as const satisfies Record<string, Limit>

/** What one task may hold. What would be more is refused with 413. */
export const taskLimits = {
  messages: limit(10_000, 'items', 'messages of a task'),
  pieces: limit(10_000, 'items', 'pieces of artifacts of a task'),
  bytes: limit(128 * MiB, 'bytes', 'messages, artifacts and metadata of a task, as JSON'),
  valueBytes: limit(32, 'bytes', 'what each value in them counts beside its text'),
} as const satisfies Record<string, Limit>

/** What streams and unread answers may take on each gateway. A request beyond it is refused with 429 `limit-exceeded`. */
export const openLimits = {
  unsentBytes: limit(64 * MiB, 'bytes', 'answers and stream events of one key that its readers have not taken yet'),
  loadingEvents: limit(4, 'at a time', 'stream events of one key that are loaded at the same time'),
  streamPage: limit(50, 'items', 'events that a stream of the log reads at once'),
  keyCheck: limit(60, 'seconds', 'the time between two checks that the keys of what is open are still good'),
} as const satisfies Record<string, Limit>

/** What one answer may carry. */
export const outputLimits = {
  task: limit(26 * MiB, 'bytes', 'history and artifacts in an answer with one task; what is left out is counted in it'),
  taskPage: limit(
    26 * MiB,
    'bytes',
    'history and artifacts in a page of tasks; a page that would be larger is shorter',
  ),
  mailPage: limit(4 * MiB, 'characters', 'mail in a page of it; a page that would be larger is shorter'),
  eventPage: limit(4 * MiB, 'characters', 'events in a page of the log; a page that would be larger is shorter'),
  agentPage: limit(4 * MiB, 'characters', 'what the agents in a page of the list say; a larger page is shorter'),
  catalogPage: limit(4 * MiB, 'characters', 'what the agents say that one page of the catalog looks at'),
  catalogScan: limit(1_000, 'items', 'agents that one page of the catalog looks at'),
  wakePayload: limit(64 * KiB, 'bytes', 'the payload of a wake'),
  wakeConcepts: limit(8 * KiB, 'bytes', 'taggedConcepts in the payload of a wake; of more, the first'),
  grpcDetails: limit(1_000, 'characters', 'the message of a gRPC status'),
} as const satisfies Record<string, Limit>

/**
 * What connections may take, one by one and all together, whether or not they have shown a key. Beyond it a request is refused by
 * 408, 413 or 431 where it can be told, and the connection is closed.
 */
export const connectionLimits = {
  connections: limit(10_000, 'at a time', 'connections to the HTTP port, and as many to the gRPC port'),
  connectionsPerAddress: limit(1_000, 'at a time', 'connections of one address; an IPv6 network of 64 bits is one'),
  handshake: limit(10, 'seconds', 'a TLS handshake'),
  headers: limit(15, 'seconds', 'the headers of an HTTP request, and the silence before the first one'),
  request: limit(300, 'seconds', 'the arrival of a whole HTTP request'),
  keepAlive: limit(5, 'seconds', 'the silence between two HTTP requests on a connection'),
  headerBytes: limit(16 * KiB, 'bytes', 'the headers of an HTTP request'),
  headerLines: limit(100, 'items', 'header lines of an HTTP request'),
  wireBody: limit(32 * MiB, 'bytes', 'the body of an HTTP request as it arrives, with its transfer encoding'),
  bodyGrace: limit(10, 'seconds', 'the time in which a body may arrive at any rate'),
  bodyRate: limit(2 * KiB, 'bytes a second', 'the rate at which a body arrives at least, after that time'),
  linger: limit(1, 'seconds', 'the time for an answer to arrive that is sent before the body was read'),
  readerStall: limit(30, 'seconds', 'the time in which a reader takes nothing of what is ready for it'),
  grpcFirstCall: limit(30, 'seconds', 'a gRPC connection on which no call has shown a valid key'),
  grpcIdle: limit(300, 'seconds', 'a gRPC connection without a call in flight'),
  grpcCalls: limit(1_000, 'at a time', 'calls on one gRPC connection'),
} as const satisfies Record<string, Limit>

/** What the gateways of one store tell each other. Anything else that comes over the bus is passed over. */
export const busLimits = {
  message: limit(7_900, 'bytes', 'one message between gateways (PostgreSQL carries 8,000)'),
  id: limit(200, 'characters', 'an id in a message between gateways'),
} as const satisfies Record<string, Limit>

/** Keys and tokens. */
export const keyLimits = {
  keyLife: limit(10 * 366 * 86_400, 'seconds', 'the life of a key that has an end'),
  bearer: limit(8_192, 'characters', 'a bearer key or token'),
  issuerDocument: limit(256 * KiB, 'bytes', "an issuer's discovery document or key set"),
  issuerAnswer: limit(5, 'seconds', 'the wait for an issuer'),
  tokenSkew: limit(30, 'seconds', "the difference between an issuer's clock and the gateway's"),
  operatorProjects: limit(100, 'items', 'projects of one operator key'),
} as const satisfies Record<string, Limit>

/** What goes out at a time: wakes, push notifications, and the look-ups of their names. Who finds no place waits its turn. */
export const outboundLimits = {
  attempts: limit(1_024, 'at a time', 'tries to deliver, in a gateway'),
  attemptsOfAgent: limit(128, 'at a time', 'tries to deliver, of an agent'),
  attemptsOfAgentToOrigin: limit(64, 'at a time', 'tries to deliver, of an agent to one origin'),
  attemptsOfAgentToSlowOrigin: limit(
    8,
    'at a time',
    'tries to deliver, of an agent to an origin that lets tries time out',
  ),
  attemptsOfProject: limit(512, 'at a time', 'tries to deliver, of a project'),
  attemptsOfSlowAgent: limit(64, 'at a time', 'tries to deliver, of an agent whose receivers let tries time out'),
  attemptsToOrigin: limit(128, 'at a time', 'tries to deliver to one origin, and connections to it'),
  hostsFile: limit(MiB, 'bytes', 'the hosts file of the machine'),
  lookupWait: limit(10, 'seconds', 'the wait for a place to look up a name; then the try is put off'),
  lookups: limit(256, 'at a time', 'look-ups of names, in a gateway'),
  lookupsOfAgent: limit(8, 'at a time', 'look-ups of names, of an agent'),
  lookupsOfProject: limit(64, 'at a time', 'look-ups of names, of a project'),
  lookupsOfSlowAgent: limit(2, 'at a time', 'look-ups of names, of an agent whose name servers do not answer'),
  namesKept: limit(10_000, 'items', 'answers of name servers that are kept'),
  nameKeptFor: limit(30, 'seconds', 'how long the answer of a name server is kept'),
  nameLookup: limit(5, 'seconds', 'one look-up of a name, all tries together'),
  originsKept: limit(1_024, 'items', 'origins that connections are kept to'),
  originsKeptOfAgent: limit(256, 'items', 'origins that connections are kept to, of an agent'),
  runs: limit(1_536, 'at a time', 'subscriptions that a gateway is sending for'),
  runsOfAgent: limit(
    512,
    'at a time',
    'subscriptions of an agent that a gateway has taken up; the others wait in the store',
  ),
  testWait: limit(5, 'seconds', 'the wait of a test of a subscription for a place; then it is refused'),
  testsOfAgent: limit(4, 'at a time', 'tests of the subscriptions of an agent'),
} as const satisfies Record<string, Limit>

/** How much one page of a list holds. */
export const pageLimits = {
  listPage: limit(500, 'items', 'agents, keys, permissions or subscriptions in one page of a list'),
} as const satisfies Record<string, Limit>

/** What the audit keeps, whatever happens to the gateway. */
export const auditLimits = {
  waiting: limit(
    10_000,
    'items',
    'audit records that wait for a store which takes nothing; the oldest are given up first',
  ),
  refusals: limit(500, 'a minute', 'audit records of refused attempts; what comes beyond is counted in one record'),
  target: limit(200, 'characters', 'what an audit record names as its target'),
} as const satisfies Record<string, Limit>

/** What callers who prove nothing may try. */
export const accessLimits = {
  failedTries: limit(
    600,
    'a minute',
    'wrong keys from one address; more are answered 429, and a right key is always taken; `ROUSE_WRONG_KEYS_PER_MINUTE` sets it',
  ),
  failedAddresses: limit(10_000, 'items', 'addresses whose wrong keys are counted; the oldest are forgotten first'),
} as const satisfies Record<string, Limit>

/** How much the operator's commands do at once. */
export const operationLimits = {
  rekeyRows: limit(
    100,
    'items',
    'subscriptions that `rouse rekey` reads at once; each is changed in a transaction of its own',
  ),
  rekeyPasses: limit(5, 'items', 'passes of `rouse rekey` over a store whose gateways run'),
} as const satisfies Record<string, Limit>

/** What a gateway keeps in memory for all of its callers. */
export const memoryLimits = {
  recentEvents: limit(1_024, 'items', 'the newest events that are kept at hand'),
  recentWeight: limit(16 * MiB, 'characters', 'what the newest events that are kept at hand say'),
  pageWeight: limit(512 * KiB, 'characters', 'what a page of events says before the pages after it become short'),
} as const satisfies Record<string, Limit>

/** How those are refused who ask on although a rate is used up. An agent that waits as it is told never meets these. */
export const refusalLimits = {
  promptRefusals: limit(120, 'a minute', 'refusals of one agent that are answered at once'),
  refusalDelay: limit(2, 'seconds', 'how late further ones are answered'),
  lateRefusals: limit(256, 'at a time', 'refusals of one agent that wait; for one more the connection is closed'),
} as const satisfies Record<string, Limit>

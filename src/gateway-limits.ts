import { KiB, type Limit, limit, MiB } from './limits.ts'

/**
 * Connections, each and all together, with or without a valid key. Beyond a limit a request is refused with 408, 413 or 431 if it
 * can still be answered, and the connection is closed.
 */
export const connectionLimits = {
  connections: limit(10_000, 'at a time', 'connections to the HTTP port, and the same number to the gRPC port'),
  connectionsPerAddress: limit(
    1_000,
    'at a time',
    'connections of one address; an IPv6 /64 network counts as one address',
  ),
  accepting: limit(
    4_096,
    'items',
    'connections of a port that wait until they are accepted; the system may allow fewer (`net.core.somaxconn`). It drops further ones, whose clients try again after a second',
  ),
  handshake: limit(10, 'seconds', 'a TLS handshake'),
  headers: limit(15, 'seconds', 'the headers of an HTTP request, and the silence before the first request'),
  request: limit(300, 'seconds', 'the arrival of a whole HTTP request'),
  keepAlive: limit(5, 'seconds', 'the silence between two HTTP requests on a connection'),
  headerBytes: limit(16 * KiB, 'bytes', 'the headers of an HTTP request'),
  headerLines: limit(100, 'items', 'header lines of an HTTP request'),
  wireBody: limit(32 * MiB, 'bytes', 'the body of an HTTP request as it arrives, with its transfer encoding'),
  bodyPieces: limit(
    2_048,
    'items',
    'chunks of the body of an HTTP request, or frames of a gRPC call, if they have fewer than 32 bytes on average',
  ),
  bodyGrace: limit(10, 'seconds', 'the time in which a body may arrive at any rate'),
  bodyRate: limit(2 * KiB, 'bytes a second', 'the lowest rate of a body after that time'),
  linger: limit(1, 'seconds', 'the time for sending an answer before the body was read'),
  readerStall: limit(30, 'seconds', 'the time in which a reader reads nothing although data is ready'),
  pipelined: limit(
    4,
    'items',
    'requests of one HTTP connection that are not answered; for one more it is closed. Few clients send a request before the answer to the last one',
  ),
  grpcFirstCall: limit(30, 'seconds', 'a gRPC connection on which no call has shown a valid key'),
  grpcIdle: limit(300, 'seconds', 'a gRPC connection without a call in flight'),
  grpcCalls: limit(100, 'at a time', 'calls on one gRPC connection; clients hold further ones back'),
  grpcCallsUnproven: limit(
    8,
    'at a time',
    'the same until a call has shown a valid key; all connections that have something to read begin their calls in one step',
  ),
  grpcBeside: limit(
    256 * KiB,
    'bytes',
    'what the gRPC connections of an address send beside their calls, in frames that begin none; beyond it those that send the most are closed',
  ),
  grpcBesideRate: limit(64 * KiB, 'bytes a second', 'the same in the long run'),
  grpcNextConnection: limit(
    0.25,
    'seconds',
    'the time between two new gRPC connections of an address in the 10 seconds after one was closed for that; a connection that would wait for more than 10 seconds is closed',
  ),
} as const satisfies Record<string, Limit>

/** Streams and unread answers, on each gateway. A request beyond a limit is refused with 429 `limit-exceeded`, except where it waited first. */
export const openLimits = {
  unsentBytes: limit(
    64 * MiB,
    'bytes',
    'answers and stream events of one agent that its clients have not read yet; one of its keys may have half',
  ),
  loadingEvents: limit(
    4,
    'at a time',
    'stream events of one agent that are loaded at the same time; one of its keys may have half',
  ),
  contentAtOnce: limit(
    64 * MiB,
    'bytes',
    'content of large answers that one agent, or one key of an operator, has in memory at a time; a further request waits up to 30 seconds and is then refused with 429 `rate-limited`, or, if it has written something, answered without that content, which is counted in `omitted`; one answer may be larger',
  ),
  bodiesAtOnce: limit(
    64 * MiB,
    'bytes',
    'request bodies over 64 KiB that one agent, or one key of an operator, has in memory until they are answered; a body of unknown length, and each message over gRPC until it has arrived, counts as the largest one; a further request waits up to 30 seconds before its body is read, and is then refused with 429 `rate-limited`',
  ),
  streamPage: limit(50, 'items', 'events that a stream of the log reads at once'),
  streamSubscriptions: limit(50, 'items', 'subscriptions that one stream of wakes reads'),
  receipts: limit(
    100,
    'items',
    'receipts for wakes in one request, or in one frame of a WebSocket; each ten of them count as one more request',
  ),
  socketFrame: limit(256 * KiB, 'bytes', 'one message of the client on a WebSocket; a larger one closes it with 1009'),
  socketWaiting: limit(
    1_000,
    'at a time',
    'messages of the client on a WebSocket that wait for their answers; one more closes it with 1008',
  ),
  socketFragments: limit(
    256,
    'items',
    'fragments of one message of the client on a WebSocket; a message of more closes it with 1008',
  ),
  socketControls: limit(
    64,
    'items',
    'pings and pongs of the client on a WebSocket from one ping of the gateway to the next, 15 seconds later; one more closes it with 1008',
  ),
  socketMessages: limit(
    5_000,
    'items',
    'messages of the client on a WebSocket in the same time; one more closes it with 1008. Each also counts as a request',
  ),
  mailWait: limit(
    55,
    'seconds',
    'a read of the inbox that waits for mail (`waitSeconds`): clients and proxies give up after a minute',
  ),
  mailReturned: limit(100, 'items', 'messages in one call of `POST /v1/inbox/returns`; an answer has at most 50'),
  mailReturn: limit(60, 'seconds', 'the time after its delivery with an answer in which mail may be returned'),
  keyCheck: limit(60, 'seconds', 'the time between two checks that the keys of open streams and calls are still valid'),
} as const satisfies Record<string, Limit>

/** What one agent has of the gateway's one thread while others ask too. Alone, it has none of these limits. */
export const companyLimits = {
  largeBytes: limit(64 * KiB, 'bytes', 'a request and its answer, before they count as large'),
  largeWait: limit(30, 'seconds', 'the wait of a large request; one that would wait longer is refused'),
  paced: limit(
    100,
    'a second',
    'requests that one agent begins, evenly spaced; a sixtieth of its `requestsPerMinute` where that is more; further ones wait in its queue (`requestsInLine`). The same for requests of one address whose keys are not known to be valid; these wait two seconds at most',
  ),
  pacedAtOnce: limit(0.2, 'seconds', 'the time whose requests begin at once: 20 of 100 requests a second'),
  changeCost: limit(
    3,
    'items',
    'requests that a change counts as for `paced`: it takes as much of the thread as several reads',
  ),
  mcpCost: limit(
    6,
    'items',
    'requests that an MCP message over HTTP counts as for `paced`: a server of the SDK is made for it',
  ),
  few: limit(4, 'at a time', 'requests of one agent that go in at once; more wait for the requests of others'),
} as const satisfies Record<string, Limit>
/** Callers that continue although a rate is exceeded. An agent that waits as `Retry-After` says never reaches these limits. */
export const refusalLimits = {
  promptRefusals: limit(120, 'a minute', 'refusals of one agent that are answered without a delay'),
  refusalDelay: limit(2, 'seconds', 'the longest delay of further refusals; the shortest is half of it'),
  lateRefusals: limit(256, 'at a time', 'delayed refusals of one agent; for one more the connection is closed'),
} as const satisfies Record<string, Limit>

/** Callers without a valid key. */
export const accessLimits = {
  failedTries: limit(
    600,
    'a minute',
    'wrong keys from one address; more are answered 429, and a valid key is always accepted; `ROUSE_WRONG_KEYS_PER_MINUTE` sets it',
  ),
  failedAddresses: limit(10_000, 'items', 'addresses whose wrong keys are counted; the oldest are removed first'),
} as const satisfies Record<string, Limit>

/** Concurrent deliveries: wakes, push notifications, and the look-ups of their host names. More of them wait in a queue. */
export const outboundLimits = {
  attempts: limit(1_024, 'at a time', 'delivery attempts of a gateway'),
  attemptsOfAgent: limit(128, 'at a time', 'delivery attempts of an agent'),
  attemptsOfAgentToOrigin: limit(64, 'at a time', 'delivery attempts of an agent to one origin'),
  attemptsOfAgentToSlowOrigin: limit(
    8,
    'at a time',
    'delivery attempts of an agent to an origin that lets attempts time out',
  ),
  attemptsOfProject: limit(512, 'at a time', 'delivery attempts of a project'),
  attemptsOfSlowAgent: limit(
    32,
    'at a time',
    'delivery attempts of an agent to all origins that let attempts time out',
  ),
  attemptsToOrigin: limit(128, 'at a time', 'delivery attempts to one origin, and connections to it'),
  hostsFile: limit(MiB, 'bytes', 'the hosts file of the machine'),
  lookupWait: limit(10, 'seconds', 'the wait in the queue for a name look-up; then the attempt is postponed'),
  lookups: limit(256, 'at a time', 'name look-ups of a gateway'),
  lookupsOfAgent: limit(8, 'at a time', 'name look-ups of an agent'),
  lookupsOfProject: limit(64, 'at a time', 'name look-ups of a project'),
  lookupsOfSlowAgent: limit(2, 'at a time', 'look-ups of names of an agent whose name servers do not answer'),
  namesKept: limit(10_000, 'items', 'cached answers of name servers'),
  nameKeptFor: limit(30, 'seconds', 'how long an answer of a name server is cached'),
  nameLookup: limit(5, 'seconds', 'one name look-up, with all its attempts'),
  originsKept: limit(1_024, 'items', 'origins with kept connections'),
  originsKeptOfAgent: limit(256, 'items', 'origins with kept connections, of an agent'),
  pushBodies: limit(
    64 * MiB,
    'characters',
    'bodies over 256 KiB of push notifications of an agent in flight; further ones are postponed; one may be larger',
  ),
  pushesRendered: limit(4, 'at a time', 'push notifications of an agent that are rendered'),
  runs: limit(1_536, 'at a time', 'runs of a gateway: subscriptions that it sends for'),
  runsOfAgent: limit(
    512,
    'at a time',
    'runs for subscriptions of one agent, on a gateway, but for those that only wait; the other subscriptions wait in the store',
  ),
  slowAttempts: limit(
    256,
    'at a time',
    'delivery attempts of a gateway to origins that let attempts time out; half of them for one project',
  ),
  testWait: limit(5, 'seconds', 'the wait of a subscription test in the queue; then the test is refused'),
  testsOfAgent: limit(4, 'at a time', 'tests of the subscriptions of an agent'),
} as const satisfies Record<string, Limit>

/** Messages between the gateways of one store. Larger or other messages from the bus are ignored. */
export const busLimits = {
  message: limit(7_900, 'bytes', 'one message between gateways (PostgreSQL carries 8,000)'),
  id: limit(200, 'characters', 'an id in a message between gateways'),
} as const satisfies Record<string, Limit>

/** Memory that a gateway uses for all of its callers together. */
export const memoryLimits = {
  // Everybody may read public cards, and each that is not cached is signed several times: all versions of all agents of some full projects.
  cards: limit(15_000, 'items', 'cached agent cards: the ones that were read last'),
  cardsWeight: limit(64 * MiB, 'characters', 'the text of the cached agent cards'),
  extendedCards: limit(2_000, 'items', 'cached extended agent cards: the ones that were read last'),
  extendedCardsWeight: limit(8 * MiB, 'characters', 'the text of the cached extended agent cards, as JSON'),
  recentEvents: limit(1_024, 'items', 'cached events: the newest ones'),
  recentWeight: limit(16 * MiB, 'characters', 'the text of the cached events'),
  pageWeight: limit(512 * KiB, 'characters', 'the text of a page of events after which the next pages are shorter'),
} as const satisfies Record<string, Limit>

/** The audit. */
export const auditLimits = {
  waiting: limit(
    10_000,
    'items',
    'audit records that wait while the store accepts no writes; the oldest are dropped first',
  ),
  refusedLines: limit(
    300,
    'a minute',
    'lines of the log at the level `info` about refused requests of one agent, for each of HTTP and gRPC; further ones are written at `debug`',
  ),
  target: limit(200, 'characters', 'the target in an audit record'),
} as const satisfies Record<string, Limit>

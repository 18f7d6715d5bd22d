import { resolve } from 'node:path'
import type { Express } from 'express'
import { CardDocuments } from './agent-card/documents.ts'
import { createCardSigner } from './agent-card/signing.ts'
import type { Config } from './config.ts'
import { renderPush } from './fronts/a2a/push-body.ts'
import { createFront } from './fronts/front.ts'
import { GrpcServer } from './fronts/grpc-server.ts'
import { HttpServer } from './fronts/http-server.ts'
import { openKeys } from './keys.ts'
import { Cleanup } from './lib/cleanup.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { LiveTail } from './log/live-tail.ts'
import { createLogger, type Logger } from './logger.ts'
import { drain } from './mailbox/hand-out.ts'
import { createHandOverMail } from './mailbox/hand-over.ts'
import { createFindInHand } from './mailbox/in-hand.ts'
import { recordMail } from './mailbox/mail.ts'
import { pruneMessages } from './mailbox/retention.ts'
import { strategies } from './mailbox/strategies.ts'
import { createAnnounce } from './mailbox/system-signals.ts'
import { noteTold } from './mailbox/told.ts'
import { openNeighbours } from './neighbours.ts'
import { defaultProject, ensureProject } from './registry/project-store.ts'
import { SessionActivity } from './registry/session-activity.ts'
import { listPresentAgents, newestLiveSession } from './registry/session-store.ts'
import { SessionSweeper } from './registry/session-sweeper.ts'
import { OutboundFetch } from './security/outbound-fetch.ts'
import { openDatabase } from './storage/open-database.ts'
import { ExpirySweeper } from './tasks/expiry-sweeper.ts'
import type { Channels } from './wakes/channel.ts'
import { Dispatcher } from './wakes/dispatcher.ts'
import { createJournal } from './wakes/journal.ts'
import { reclaimAll } from './wakes/lease-store.ts'
import { Recorder } from './wakes/recorder.ts'
import { RetentionSweeper } from './wakes/retention-sweeper.ts'
import { AttemptGate } from './webhooks/attempt-gate.ts'
import { createPushChannel } from './webhooks/push-channel.ts'
import { newSigningKey } from './webhooks/signature.ts'
import { createWebhookChannel } from './webhooks/webhook-channel.ts'

/** What a test puts in the place of the world. */
export interface Overrides {
  readonly clock?: Clock
  readonly random?: () => number
  readonly log?: Logger
}

/** A running gateway. */
export interface Gateway extends AsyncDisposable {
  /** Opens the store, listens and dispatches. Answers where it listens, and where the admin key is if it was made here. */
  start(): Promise<{ url: string; grpcTarget: string | undefined; adminKeyFile: string | undefined }>
  /** Stops accepting, ends streams, finishes what is in flight, closes the store. Twice is the same as once. */
  stop(): Promise<void>
  /** The operator's key, once started. */
  readonly adminKey: string
}

/** All wiring, in layer order. */
export function createApp(config: Config, overrides: Overrides = {}): Gateway {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? createLogger(config.logLevel)
  const stopping = new AbortController()
  let running: Running | undefined
  let stopped: Promise<void> | undefined

  return {
    get adminKey() {
      if (!running) throw new Error('The gateway has not been started.')
      return running.adminKey
    },
    async start() {
      running = await open(config, { clock, log, random: overrides.random ?? Math.random, stopping: stopping.signal })
      return { url: running.url, grpcTarget: running.grpcTarget, adminKeyFile: running.adminKeyFile }
    },
    stop() {
      stopping.abort()
      stopped ??= running?.close() ?? Promise.resolve()
      return stopped
    },
    [Symbol.asyncDispose]() {
      return this.stop()
    },
  }
}

interface Running {
  readonly url: string
  readonly grpcTarget: string | undefined
  readonly adminKey: string
  readonly adminKeyFile: string | undefined
  close(): Promise<void>
}

interface World {
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
  readonly stopping: AbortSignal
}

async function open(config: Config, world: World): Promise<Running> {
  const { clock, log, random } = world
  await using undo = new Cleanup()

  // storage
  const db = undo.use(await openDatabase({ ...config, dataDir: resolve(config.dataDir) }, clock))
  await ensureProject(db, defaultProject)

  // security
  const keys = await openKeys(config, db)
  const { secrets } = keys
  const outbound = undo.use(new OutboundFetch({ allow: config.webhooks.allow }))
  const checkUrl = (url: string, field: string): void => void outbound.checkUrl(url, field)

  // log and wakes
  const tail = new LiveTail((keys) => neighbours.grew(keys))
  const nudge = (dueAt?: number): void => dispatcher.nudge(dueAt)
  const journal = createJournal(tail, {
    due: nudge,
    offer: () => dispatcher.offer(),
    begin: (claim) => dispatcher.begin(claim),
    hasOthers: () => neighbours.hasOthers(),
    passedOn: () => {
      neighbours.passedOn()
      dispatcher.passedOn()
    },
  })
  const { append } = journal
  const tools = { outbound, clock, random, gate: new AttemptGate(), timeoutMs: config.webhooks.timeoutMs }
  const channels: Channels = {
    'a2a-webhook': createWebhookChannel(tools, secrets),
    push: createPushChannel(tools, secrets, renderPush(db), (token) => signer.signToken(token)),
  }
  const neighbours = undo.use(
    await openNeighbours(
      config,
      { db, clock, log, cardKey: keys.cardKey },
      {
        grown: (grown) => tail.touch(grown),
        changed: (ids) => ids.forEach(interrupt),
        missed: () => {
          tail.touchAll()
          nudge()
        },
        due: nudge,
      },
    ),
  )
  const dispatcher: Dispatcher = undo.use(
    new Dispatcher(
      {
        db,
        clock,
        log,
        append,
        channels,
        tail,
        recorder: new Recorder(db, journal, noteTold),
        findInHand: createFindInHand(db),
        identities: new Map(),
        isSure: () => neighbours.isSure(),
        hasOthers: () => neighbours.hasOthers(),
      },
      neighbours.id,
    ),
  )
  // The data directory's lock says that no other gateway is alive: whatever is leased was left by one that died.
  if (config.databaseUrl === undefined) await reclaimAll(db)

  // features
  const tasks = { db, clock, append, tail, recordMail, secrets, checkUrl }
  const { isTurn } = neighbours
  const sweeper = undo.use(new ExpirySweeper(tasks, log, isTurn))
  const prune = (now: number, ms: number, signal: AbortSignal) => pruneMessages(db, now, ms, signal)
  const retention = undo.use(
    new RetentionSweeper({ db, clock, log, retention: config.retention, pruneMessages: prune, isTurn }),
  )
  const mail = { db, append, limits: config.mail, strategies, findSession: newestLiveSession }
  const claims = { db, append, sendHandOver: createHandOverMail(mail) }
  const interrupt = (subscriptionId: string): void => {
    dispatcher.interrupt(subscriptionId)
    nudge()
  }
  const changed = (subscriptionId: string): void => {
    interrupt(subscriptionId)
    neighbours.changed(subscriptionId)
  }
  const announce = createAnnounce(append, listPresentAgents)
  const sessions = { db, clock, append, timeoutMs: config.sessions.timeoutMs, drain, announce, changed }
  const activity = undo.use(new SessionActivity({ db, clock, log }))
  const sessionSweeper = undo.use(new SessionSweeper(sessions, clock, log, isTurn))
  const subscriptions = { db, clock, append, secrets, channels, newSigningKey, checkUrl, changed }

  // fronts
  const server = new HttpServer()
  const grpc = new GrpcServer()
  undo.defer(() => Promise.all([server.close(), grpc.close()]))
  const { host } = config.http
  const url = await server.listen(host, config.http.port)
  const grpcTarget = config.grpc.port === undefined ? undefined : await grpc.listen(host, config.grpc.port)
  const publicUrl = config.http.publicUrl ?? url
  const signer = await createCardSigner([JSON.parse(keys.cardKey)], publicUrl)
  const cards = new CardDocuments(signer, { publicUrl, ...advertisedGrpc(config, grpcTarget) })
  const a2a = {
    ...tasks,
    log,
    cards,
    adminKey: keys.adminKey,
    blockingTimeoutMs: config.a2a.blockingTimeoutMs,
    stopping: world.stopping,
    saw: activity.saw,
  }
  const front: Express = createFront({
    ...a2a,
    signer,
    subscriptions,
    mail,
    claims,
    sessions,
    isReady: () => dispatcher.isRunning,
  })
  await neighbours.start()
  dispatcher.start()
  sweeper.start()
  retention.start()
  sessionSweeper.start()
  server.serve(front)
  grpc.serve(async () => (await import('./fronts/grpc/services.ts')).createGrpcServices(a2a))

  const resources = undo.move()
  return {
    url,
    grpcTarget,
    adminKey: keys.adminKey,
    adminKeyFile: keys.adminKeyFile,
    close: () => resources[Symbol.asyncDispose](),
  }
}

/** Cards name the public host with the port that is listened on, unless the configuration knows better. */
function advertisedGrpc({ http, grpc }: Config, listening: string | undefined): { grpcTarget?: string } {
  if (listening === undefined) return {}
  if (grpc.publicTarget !== undefined) return { grpcTarget: grpc.publicTarget }
  if (http.publicUrl === undefined) return { grpcTarget: listening }
  return { grpcTarget: `${new URL(http.publicUrl).hostname}${listening.slice(listening.lastIndexOf(':'))}` }
}

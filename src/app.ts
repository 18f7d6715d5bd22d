import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Express } from 'express'
import { CardDocuments } from './agent-card/documents.ts'
import { createCardSigner, createCardSigningKey } from './agent-card/signing.ts'
import type { Config } from './config.ts'
import { renderPush } from './fronts/a2a/push-body.ts'
import { createFront } from './fronts/front.ts'
import { HttpServer } from './fronts/http-server.ts'
import { Cleanup } from './lib/cleanup.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { LiveTail } from './log/live-tail.ts'
import { createLogger, type Logger } from './logger.ts'
import { recordMail } from './mailbox/mail.ts'
import { defaultProject, ensureProject } from './registry/project-store.ts'
import { loadOrCreateKeyFile } from './security/key-files.ts'
import { OutboundFetch } from './security/outbound-fetch.ts'
import { newApiKey, SecretBox } from './security/secret.ts'
import { SqliteDatabase } from './storage/sqlite/sqlite-database.ts'
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
  start(): Promise<{ url: string; adminKeyFile: string | undefined }>
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
      return { url: running.url, adminKeyFile: running.adminKeyFile }
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
  const db = undo.use(SqliteDatabase.open(resolve(config.dataDir), clock))
  await ensureProject(db, defaultProject)

  // security
  const keys = await openKeys(config)
  const secrets = new SecretBox(keys.encryptionKeys)
  const outbound = undo.use(new OutboundFetch({ allow: config.webhooks.allow }))
  const checkUrl = (url: string, field: string): void => void outbound.checkUrl(url, field)

  // log and wakes
  const tail = new LiveTail()
  const nudge = (dueAt?: number): void => dispatcher.nudge(dueAt)
  const append = createJournal(tail, {
    due: nudge,
    offer: () => dispatcher.offer(),
    begin: (claim) => dispatcher.begin(claim),
  })
  const tools = { outbound, clock, random, gate: new AttemptGate(), timeoutMs: config.webhooks.timeoutMs }
  const channels: Channels = {
    'a2a-webhook': createWebhookChannel(tools, secrets),
    push: createPushChannel(tools, secrets, renderPush(db), (token) => signer.signToken(token)),
  }
  const dispatcher = undo.use(
    new Dispatcher({ db, clock, log, append, channels, tail, recorder: new Recorder(db), identities: new Map() }),
  )
  // The data directory's lock says that no other gateway is alive: whatever is leased was left by one that died.
  await reclaimAll(db)

  // features
  const tasks = { db, clock, append, tail, recordMail, secrets, checkUrl }
  const sweeper = undo.use(new ExpirySweeper(tasks, log))
  const retention = undo.use(new RetentionSweeper({ db, clock, log, retention: config.retention }))
  const changed = (subscriptionId: string): void => {
    dispatcher.interrupt(subscriptionId)
    nudge()
  }
  const subscriptions = { db, clock, append, secrets, channels, newSigningKey, checkUrl, changed }

  // fronts
  const server = undo.use(new HttpServer())
  const url = await server.listen(config.http.host, config.http.port)
  const publicUrl = config.http.publicUrl ?? url
  const signer = await createCardSigner([JSON.parse(keys.cardKey)], publicUrl)
  const cards = new CardDocuments(signer, { publicUrl })
  const front: Express = createFront({
    ...tasks,
    log,
    cards,
    signer,
    subscriptions,
    adminKey: keys.adminKey,
    blockingTimeoutMs: config.a2a.blockingTimeoutMs,
    stopping: world.stopping,
    isReady: () => dispatcher.isRunning,
  })
  dispatcher.start()
  sweeper.start()
  retention.start()
  server.serve(front)

  const resources = undo.move()
  return {
    url,
    adminKey: keys.adminKey,
    adminKeyFile: keys.adminKeyFile,
    close: () => resources[Symbol.asyncDispose](),
  }
}

async function openKeys(config: Config) {
  const directory = resolve(config.dataDir)
  const adminKey = config.adminKey ?? (await loadOrCreateKeyFile(directory, 'admin.key', newApiKey))
  const encryptionKeys = config.encryptionKeys ?? [
    await loadOrCreateKeyFile(directory, 'encryption.key', () => randomBytes(32).toString('base64')),
  ]
  const cardKey = await loadOrCreateKeyFile(directory, 'card-signing.jwk', async () =>
    JSON.stringify(await createCardSigningKey()),
  )
  return { adminKey, adminKeyFile: config.adminKey ? undefined : join(directory, 'admin.key'), encryptionKeys, cardKey }
}

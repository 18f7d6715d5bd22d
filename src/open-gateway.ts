import { resolve } from 'node:path'
import type { Express } from 'express'
import { CardDocuments } from './agent-card/documents.ts'
import { createLiveSigner } from './agent-card/live-signer.ts'
import { Audit } from './audit/audit.ts'
import { openCluster } from './cluster/cluster.ts'
import { proveWrites } from './cluster/prove-writes.ts'
import type { Config } from './config.ts'
import type { Core } from './core.ts'
import { renderPush } from './fronts/a2a/push-body.ts'
import { FailedTries } from './fronts/failed-tries.ts'
import { createFront } from './fronts/front.ts'
import { openMcpParts } from './fronts/mcp/http/open-parts.ts'
import { resourcesOf } from './fronts/mcp/resources/resources-of.ts'
import { advertisedGrpc, openPorts } from './fronts/ports.ts'
import { ReadinessProbe } from './fronts/readiness.ts'
import { keySweep } from './identity/end-expired-keys.ts'
import { KeyUse } from './identity/key-use.ts'
import { OpenCallCheck } from './identity/open-call-check.ts'
import { OpenCalls } from './identity/open-calls.ts'
import { keySweepOf, openKeys, requirePrivateDirectory } from './key-ring.ts'
import { Cleanup } from './lib/cleanup.ts'
import { LogNotifier } from './log/log-notifier.ts'
import { openMailArchive } from './mailbox/archive.ts'
import { createFindDelivered } from './mailbox/delivery/already-delivered.ts'
import { drain } from './mailbox/delivery/drain.ts'
import { markDelivered } from './mailbox/delivery/mark-delivered.ts'
import { strategies } from './mailbox/delivery/strategies.ts'
import { SendLimiter } from './mailbox/limits/send-limiter.ts'
import { createAnnounce } from './mailbox/sending/announce.ts'
import { createHandoffMail } from './mailbox/sending/handoff-mail.ts'
import { recordMail } from './mailbox/sending/task-mail.ts'
import { idleSessionSweep } from './mcp-sessions/mcp-sessions.ts'
import { type Caller, operator } from './registry/callers/caller.ts'
import { defaultProject, ensureProject, requireProject } from './registry/projects/project-store.ts'
import { listPresentAgents, newestLiveSession } from './registry/sessions/session-store.ts'
import { Shares } from './registry/shares/shares.ts'
import { Usage } from './registry/shares/usage.ts'
import { retentionSweep } from './retention.ts'
import { createClientAddress } from './security/client-address.ts'
import { SessionActivity } from './sessions/activity.ts'
import { silenceSweep } from './sessions/end-silent-sessions.ts'
import { openDatabase } from './storage/open-database.ts'
import { createTaskAssignment } from './tasks/assignment.ts'
import { expirySweep } from './tasks/fail-expired-tasks.ts'
import { createFindWaiting, hasWaiting } from './waiting.ts'
import { StreamConnections } from './wake-stream/connections.ts'
import { createNotificationChannel } from './wake-stream/notification-channel.ts'
import { createStreamChannel } from './wake-stream/stream-channel.ts'
import { WakeStreams } from './wake-stream/streams.ts'
import { AttemptLog } from './wakes/attempt-log.ts'
import type { Channels } from './wakes/channel.ts'
import { createEngine } from './wakes/engine.ts'
import { releaseLeasesOf } from './wakes/store/gateway-leases.ts'
import { requeueAll } from './wakes/store/lease-store.ts'
import { disconnectStreams } from './wakes/store/stream-state.ts'
import { createAttemptGate } from './webhooks/attempt-gate.ts'
import { createPushChannel } from './webhooks/push-channel.ts'
import { newSigningKey } from './webhooks/signature.ts'
import { createWakeSigner } from './webhooks/wake-signer.ts'
import { createWebhookChannel } from './webhooks/webhook-channel.ts'
import { Changes } from './wiring/changes.ts'
import { openOutbound, openVerifier } from './wiring/outside.ts'
import { openSweepers } from './wiring/sweepers.ts'
import type { Running, World } from './world.ts'

/** Wires a gateway from bottom to top and starts it. */
export async function openGateway(config: Config, world: World): Promise<Running> {
  const { clock, log, random } = world
  await using undo = new Cleanup()

  // storage
  requirePrivateDirectory(config.dataDir, log)
  const db = undo.use(await openDatabase({ ...config, dataDir: resolve(config.dataDir) }, clock))
  await ensureProject(db, defaultProject)
  const audit = undo.use(new Audit({ db, clock, log }))

  // security
  const keys = await openKeys(config, db, world)
  const { secrets } = keys
  const outbound = openOutbound(config, world, undo)
  const checkUrl = (url: string, field: string): URL => outbound.checkUrl(url, field)

  // the cluster, the log and the ports
  const { databaseUrl, busUrl } = config
  const { storeName } = keys
  const cluster = undo.use(await openCluster({ db, clock, log, databaseUrl, busUrl, storeName, releaseLeasesOf }))
  // The data directory's lock says that no other gateway is alive: every lease was left by one that died.
  if (databaseUrl === undefined) {
    await requeueAll(db)
    await db.transaction(disconnectStreams)
  }
  const notifier = new LogNotifier(cluster.notifyGrown)
  cluster.on({ grown: (ids) => notifier.invalidate(ids), missed: () => notifier.invalidateAll() })
  const ports = undo.use(await openPorts(config, world))
  const { url, grpcTarget, warnings } = ports
  const publicUrl = config.http.publicUrl ?? url

  // cards and channels
  const signer = await createLiveSigner(keys.cardKeys, publicUrl, clock)
  const cards = new CardDocuments(signer, {
    publicUrl,
    ...advertisedGrpc(config, grpcTarget),
    issuers: config.jwtIssuers,
  })
  const { timeoutMs } = config.webhooks
  const attempts = new AttemptLog(log)
  const sending = { outbound, clock, random, log, attempts, gate: createAttemptGate(), timeoutMs }
  const signWake = createWakeSigner(secrets, clock)
  const [streams, noticed] = [new WakeStreams(), new WakeStreams()]
  const channels: Channels = {
    'a2a-webhook': createWebhookChannel(sending, signWake),
    'mcp-notifications': createNotificationChannel({ clock, attempts }, noticed),
    'bridge-daemon': createStreamChannel({ db, clock, attempts }, streams, signWake),
    push: createPushChannel(sending, secrets, renderPush(db), signer.signToken),
  }

  // the engine
  const findDelivered = createFindDelivered(db)
  const findWaiting = createFindWaiting(db)
  const engine = undo.use(
    createEngine({
      db,
      clock,
      log,
      notifier,
      cluster,
      channels,
      onDelivered: markDelivered,
      findDelivered,
      findWaiting,
    }),
  )
  const core: Core = { db, clock, log, append: engine.append }
  const connecting = { ...core, gatewayId: cluster.id, random }
  const wakeStreams = { ...connecting, target: 'bridge-daemon', streams, changed: engine.changed } as const
  const connections = undo.use(new StreamConnections(wakeStreams))
  const changes = new Changes()
  cluster.on({ changed: (ids) => changes.check(ids), missed: () => changes.checkAll() })
  const changed = (id: string): void => {
    engine.changed(id)
    changes.check([id])
  }
  const sessionChanged = (id: string): void => {
    cluster.notifyChanged(id)
    changes.check([id])
  }
  const notices = undo.use(
    new StreamConnections({ ...connecting, target: 'mcp-notifications', streams: noticed, changed }),
  )
  const mcp = openMcpParts({
    ...core,
    notifier,
    random,
    resourcesOf,
    changed: sessionChanged,
    publicUrl,
    connections: notices,
  })
  undo.use(mcp.feed)
  for (const part of [connections, mcp]) changes.listen(part)

  // features
  const usage = undo.use(new Usage(core))
  const sends = undo.use(new SendLimiter({ ...core, limits: config.mail }))
  const tasks = { ...core, notifier, recordMail, secrets, checkUrl, usage, sends }
  const mail = { ...core, limits: config.mail, usage, strategies, findSession: newestLiveSession }
  const claims = { ...core, assignment: createTaskAssignment(core), sendHandoffMail: createHandoffMail(mail) }
  const subscriptions = { ...core, secrets, channels, newSigningKey, checkUrl, hasWaiting, changed }
  const announce = createAnnounce(engine.append, listPresentAgents)
  const sessions = {
    ...core,
    timeoutMs: config.sessions.timeoutMs,
    drain,
    announce,
    hasWaiting,
    changed,
  }

  // callers
  const openCalls = new OpenCalls()
  const openCallCheck = undo.use(new OpenCallCheck(core, openCalls))
  cluster.on({ revoked: (ids) => openCalls.end(ids), missed: () => openCallCheck.checkNow() })
  const { notifyRevoked: revoked } = cluster
  const activity = undo.use(new SessionActivity(core))
  const keyUse = undo.use(new KeyUse(core))
  const tokens = openVerifier(config, world, undo)
  const shares = new Shares(clock)
  const clientAddress = createClientAddress(config.trustedProxies)

  // fronts
  const gatewayId = databaseUrl === undefined ? undefined : cluster.id
  const readiness = new ReadinessProbe(
    {
      read: () => requireProject(db, defaultProject),
      write: () => proveWrites(db, gatewayId),
      isClaiming: () => engine.isClaiming,
    },
    { clock, log },
  )
  const a2a = {
    ...tasks,
    cards,
    adminKey: keys.adminKey,
    failedTries: new FailedTries(world, clientAddress, config.wrongKeysMax),
    blockingTimeoutMs: config.a2a.blockingTimeoutMs,
    stopping: world.stopping,
    tokens,
    saw: (caller: Caller) => {
      activity.saw(caller)
      keyUse.saw(caller)
    },
    audit,
    clientAddress,
    openCalls,
    unsent: world.unsent,
    shares,
    revoked,
    changed,
  }
  const front: Express = createFront({
    ...a2a,
    signer,
    instanceKey: keys.instanceKey,
    mcp,
    subscriptions,
    wakeStreams: { ...wakeStreams, connections },
    publicUrl,
    mail,
    claims,
    sessions,
    readiness,
  })

  // sweeps
  const own = [
    connections.sweep,
    notices.sweep,
    mcp.sweep,
    openCallCheck.sweep,
    keySweepOf(keys, signer, () => openCalls.interrupt([operator.keyId])),
  ]
  const shared = [
    expirySweep(tasks),
    silenceSweep(sessions),
    keySweep({ ...core, revoked, sessions }),
    idleSessionSweep(mcp.sessions),
    retentionSweep(core, { ...config.retention, archive: openMailArchive(config.mailArchive) }),
  ]
  const { holdsSweepLease: holdsLease } = cluster
  const startSweepers = openSweepers({ own, shared }, { clock, log, holdsLease }, undo)

  // start
  await cluster.start()
  engine.start()
  startSweepers()
  ports.serve(front, async (bounds, proved) =>
    (await import('./fronts/grpc/services.ts')).createGrpcServices(a2a, bounds, proved),
  )

  const resources = undo.move()
  return {
    url,
    grpcTarget,
    adminKey: keys.adminKey.current,
    adminKeyFile: keys.adminKeyFile,
    warnings,
    async close() {
      // Both at once: from now on no request comes in, and no wake is started.
      await Promise.all([ports[Symbol.asyncDispose](), engine.stop()])
      await resources[Symbol.asyncDispose]()
    },
  }
}

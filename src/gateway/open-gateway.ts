import { resolve } from 'node:path'
import type { Express } from 'express'
import { Admission } from '../admission/admission.ts'
import { WrongKeys } from '../admission/wrong-keys.ts'
import type { AiCatalog } from '../agent-card/ai-catalog.ts'
import { CardDocuments } from '../agent-card/documents.ts'
import { createLiveSigner } from '../agent-card/live-signer.ts'
import { RevisionCache } from '../agent-card/revision-cache.ts'
import { approvalSweep } from '../approvals/closing.ts'
import { Audit } from '../audit/audit.ts'
import { localActSweep } from '../audit/local-acts.ts'
import { openCluster } from '../cluster/cluster.ts'
import { proveWrites } from '../cluster/prove-writes.ts'
import type { Config } from '../config/config.ts'
import { createFront } from '../fronts/front.ts'
import { openMcpParts } from '../fronts/mcp/http/open-parts.ts'
import { advertisedGrpc, openPorts } from '../fronts/ports.ts'
import { ReadinessProbe } from '../fronts/readiness.ts'
import { readTellable } from '../fronts/rest/needs/collect.ts'
import { keySweep } from '../identity/end-expired-keys.ts'
import { KeyUse } from '../identity/key-use.ts'
import { OpenCallCheck } from '../identity/open-call-check.ts'
import { OpenCalls } from '../identity/open-calls.ts'
import { Cleanup } from '../lib/cleanup.ts'
import { OwnClock } from '../lib/own-clock.ts'
import { answerFactor } from '../limits.ts'
import { noteRestore } from '../log/restored.ts'
import { openMailArchive } from '../mailbox/archive.ts'
import { idleSessionSweep } from '../mcp-sessions/mcp-sessions.ts'
import { Metrics } from '../metrics/metrics.ts'
import { needSweep } from '../needs/need-sweep.ts'
import { recoverySweep } from '../recovery/check.ts'
import { type Caller, operator, operatorOf } from '../registry/callers/caller.ts'
import { removeUnended } from '../registry/idempotency-store.ts'
import { defaultProject, ensureProject, requireProject } from '../registry/projects/project-store.ts'
import { removedRowsSweep } from '../registry/subscriptions/removed-rows.ts'
import { createClientAddress } from '../security/client-address.ts'
import { SessionActivity } from '../sessions/activity.ts'
import { silenceSweep } from '../sessions/end-silent-sessions.ts'
import type { NoteCommit } from '../storage/database.ts'
import { openDatabase } from '../storage/open-database.ts'
import { clockSweep } from '../storage/waited-instants.ts'
import { lapseSweep } from '../subscriptions/mcp/end.ts'
import { expirySweep } from '../tasks/fail-expired-tasks.ts'
import { missedEdgeSweep } from '../wakes/missed-edges.ts'
import { probeSweep } from '../wakes/probe-degraded.ts'
import { requeueLeasesOf } from '../wakes/store/gateway-leases.ts'
import { requeueAll } from '../wakes/store/lease-store.ts'
import { disconnectStreams } from '../wakes/store/stream-state.ts'
import { trimSweep } from '../wakes/trim-kept.ts'
import { openDelivery } from './delivery.ts'
import { openFeatures } from './features.ts'
import { keySweepsOf, openKeys, requirePrivateDirectory } from './key-ring.ts'
import { openMetricsPage } from './metrics-page.ts'
import { openOutbound, openSpans, openVerifier } from './outside.ts'
import { retentionSweep } from './retention.ts'
import { openSweepers } from './sweepers.ts'
import type { OpenGateway, World } from './world.ts'

/** Wires a gateway from bottom to top and starts it. */
export async function openGateway(config: Config, world: World): Promise<OpenGateway> {
  const { clock, storeClock, log, random } = world
  await using undo = new Cleanup()

  const ownClock = new OwnClock(clock, world.steady)
  undo.defer(() => ownClock[Symbol.dispose]())
  const { silenceUntil } = ownClock

  // storage
  const metrics = new Metrics()
  const noteCommit: NoteCommit = (writers, ms) => metrics.committed(writers, ms)
  requirePrivateDirectory(config.dataDir, log)
  const db = undo.use(await openDatabase({ ...config, dataDir: resolve(config.dataDir) }, clock, log, noteCommit))
  await noteRestore(db, log)
  await ensureProject(db, defaultProject)
  const audit = undo.use(new Audit({ db, clock, log }))

  // traces
  const tracing = await openSpans(config, log)
  if (tracing) undo.use(tracing)

  // security
  const keys = await openKeys(config, db, world)
  const { secrets } = keys
  const outbound = openOutbound(config, world, undo)
  const checkUrl = (url: string, field: string): URL => outbound.checkUrl(url, field)

  // the cluster and the ports
  const { databaseUrl, busUrl } = config
  const members = { databaseUrl, busUrl, storeName: keys.storeName, requeueLeasesOf }
  const cluster = undo.use(await openCluster({ db, clock, storeClock, log, ...members }))
  // The data directory's lock says that no other gateway is alive: every lease, and every call that has begun, was left by one that died.
  if (databaseUrl === undefined) {
    await removeUnended(db)
    await requeueAll(db)
    await db.transaction(disconnectStreams)
  }
  const ports = undo.use(await openPorts(config, { ...world, audit }))
  const { url, grpcTarget, warnings } = ports
  const publicUrl = config.http.publicUrl ?? url

  // cards
  const signer = await createLiveSigner(keys.cardKeys, publicUrl, clock)
  const cards = new CardDocuments(signer, {
    publicUrl,
    ...advertisedGrpc(config, grpcTarget),
    issuers: config.jwtIssuers,
    needsCertificate: config.tls?.clientCa !== undefined,
  })

  // delivery
  const { timeoutMs } = config.webhooks
  const { signToken } = signer
  const mcpEventCodes = config.mcpEvents.codes
  const delivery = openDelivery(
    { db, clock, log, random, cluster, outbound, secrets, signToken, timeoutMs, metrics, tracing, mcpEventCodes },
    undo,
  )
  const { core, engine, changes, changed, wakeStreams, notices } = delivery

  // MCP
  const sessionChanged = (id: string): void => {
    cluster.notifyChanged(id)
    changes.check([id])
  }
  const mcp = openMcpParts({
    ...core,
    random,
    changed: sessionChanged,
    silenceUntil,
    publicUrl,
    connections: notices,
  })
  changes.listen(mcp)

  // features
  const features = openFeatures(config, { ...delivery, secrets, checkUrl, silenceUntil }, undo)
  const { tasks, sessions } = features

  // callers
  const { bodyMax } = config
  const admission = new Admission({ clock, bodyMax, unread: world.unread, overload: world.overload })
  undo.defer(() => admission[Symbol.dispose]())
  const isOverloaded = (): boolean => admission.isOverloaded
  const openCalls = new OpenCalls(clock)
  undo.defer(() => openCalls[Symbol.dispose]())
  const openCallCheck = undo.use(new OpenCallCheck(core, openCalls))
  cluster.on({ revoked: (ids) => openCallCheck.endIfRevoked(ids), missed: () => openCallCheck.checkNow() })
  const revoked = (ids: readonly string[]): void => {
    openCalls.end(ids)
    cluster.notifyRevoked(ids)
  }
  const activity = undo.use(new SessionActivity(core))
  const keyUse = undo.use(new KeyUse(core))
  const tokens = openVerifier(config, world, undo)
  const clientAddress = createClientAddress(config.trustedProxies)

  // fronts
  const gatewayId = databaseUrl === undefined ? undefined : cluster.id
  const { isClockRight, holdsSweepLease: holdsLease } = cluster
  const readiness = new ReadinessProbe(
    {
      read: () => requireProject(db, defaultProject),
      write: () => proveWrites(db, gatewayId),
      isLeasing: () => engine.isLeasing,
      isClockRight,
    },
    { clock, log },
  )
  const context = {
    ...tasks,
    ...features,
    cards,
    openCatalog: new RevisionCache<AiCatalog>({ entriesMax: 1, weightMax: 1, weigh: () => 1 }),
    signer,
    publicUrl,
    issuers: config.jwtIssuers,
    mcpEvents: config.mcpEvents,
    wakeStreams,
    instanceKey: keys.instanceKey,
    readiness,
    adminKey: keys.adminKey,
    wrongKeys: new WrongKeys(world, clientAddress, config.wrongKeysMax),
    blockingTimeoutMs: config.a2a.blockingTimeoutMs,
    stopping: world.stopping,
    tokens,
    saw: (caller: Caller, isAct: boolean) => {
      activity.saw(caller, isAct)
      keyUse.saw(caller)
    },
    audit,
    clientAddress,
    openCalls,
    admission,
    bodyMax,
    answerMax: answerFactor * bodyMax,
    revoked,
    metrics,
    tracing,
    metricsPage: openMetricsPage(config.metrics, { db, clock, metrics, engine, isOverloaded }),
  }
  const front: Express = createFront({ ...context, mcp })

  // sweeps
  const own = [
    clockSweep({ db, clock, log, isClockRight }),
    wakeStreams.connections.sweep,
    notices.sweep,
    mcp.sweep,
    openCallCheck.sweep,
    trimSweep({ ...core, kept: engine.kept }),
    ...keySweepsOf(keys, signer, () => openCalls.interrupt([operator.keyId])),
    // Commands write the records of a shared store themselves.
    ...(databaseUrl === undefined ? [localActSweep(db, resolve(config.dataDir))] : []),
  ]
  const shared = [
    expirySweep(tasks),
    approvalSweep(features.approvals),
    silenceSweep(sessions),
    keySweep({ ...core, revoked, sessions }),
    idleSessionSweep(mcp.sessions),
    missedEdgeSweep({ ...core, changed }),
    probeSweep({ ...core, channels: delivery.channels, random, changed }),
    recoverySweep({ ...features.recovery, steady: world.steady, isClockRight, isOverloaded }),
    needSweep({ ...core, readNeeds: (id) => readTellable({ db, now: clock.now(), caller: operatorOf(id) }) }),
    lapseSweep({ ...core, changed, silenceUntil }),
    delivery.controlMessages,
    removedRowsSweep(core),
    retentionSweep(core, { ...config.retention, archive: openMailArchive(config.mailArchive) }),
  ]
  const startSweepers = openSweepers({ own, shared }, { clock, log, holdsLease }, undo)

  // start
  await cluster.start()
  engine.start()
  startSweepers()
  ports.serve(front, async (edge) => (await import('../fronts/grpc/services.ts')).createGrpcServices(context, edge))

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

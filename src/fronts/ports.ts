import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Express } from 'express'
import type { Audit } from '../audit/audit.ts'
import type { AuditEntry } from '../audit/entry.ts'
import type { Problem, ProblemCode } from '../errors.ts'
import { Cleanup } from '../lib/cleanup.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import { type ClientAddress, createClientAddress } from '../security/client-address.ts'
import { TlsFiles, type TlsPaths } from '../security/tls-files.ts'
import { isWildcardHost } from '../security/url-guard.ts'
import { type ConnectionBounds, connectionBounds } from './connection-bounds.ts'
import { ConnectionRefusals, Connections } from './connections.ts'
import { exposureWarnings } from './exposure.ts'
import type { GrpcEdge } from './grpc/admit-calls.ts'
import { GrpcServer } from './grpc/grpc-server.ts'
import type { GrpcServices } from './grpc/services.ts'
import { guardEdge, ownNames } from './http/edge.ts'
import { HttpServer } from './http/http-server.ts'
import { logRequests } from './http/request-log.ts'

/** Problems of the edge that mean an attempt to do what the client may not do. Others are mistakes. */
const refusals: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['misdirected-request', 'forbidden'])

/**
 * Counts in the audit what a port refuses before any key is read: like attempts from one network within a minute share one record, and
 * the number of records is bounded, as for unknown keys.
 */
class EdgeRefusals {
  readonly #audit: Pick<Audit, 'refuse'>
  readonly #clientAddress: ClientAddress

  constructor(audit: Pick<Audit, 'refuse'>, clientAddress: ClientAddress) {
    this.#audit = audit
    this.#clientAddress = clientAddress
  }

  /** Counts a request that `guardEdge` refused. Its target is the name in `Host`, where that was the reason: it says which page or proxy sent it. */
  noteRequest({ socket, headers }: IncomingMessage, { code }: Problem): void {
    if (!refusals.has(code)) return
    const address = this.#clientAddress(socket.remoteAddress, headers['x-forwarded-for'] as string | undefined)
    const target = code === 'misdirected-request' ? (headers.host ?? '') : ''
    this.#note({ address, front: 'gateway', operation: 'http.request', target, outcome: code })
  }

  /** Counts a gRPC connection that was closed because its client has no certificate of the CA. */
  noteConnection({ remoteAddress }: Pick<Socket, 'remoteAddress'>): void {
    const address = this.#clientAddress(remoteAddress, undefined)
    this.#note({ address, front: 'grpc', operation: 'grpc.connect', target: '', outcome: 'forbidden' })
  }

  #note(entry: Pick<AuditEntry, 'address' | 'front' | 'operation' | 'target' | 'outcome'>): void {
    this.#audit.refuse({ project: '', actor: '', callerId: '', keyId: '', ...entry })
  }
}

interface PortsConfig {
  readonly http: { readonly host: string; readonly port: number; readonly publicUrl: string | undefined }
  readonly grpc: { readonly port: number | undefined; readonly publicTarget: string | undefined }
  readonly tls: TlsPaths | undefined
  readonly connections: { readonly max: number; readonly perAddress: number }
  readonly webhooks: { readonly allow: readonly string[] }
  readonly trustedProxies: readonly string[]
}

interface World {
  readonly clock: Clock
  readonly log: Logger
  /** Counts what the ports refuse. */
  readonly audit: Pick<Audit, 'refuse'>
  /** Bounds that a test uses instead of those of the table. */
  readonly bounds: Partial<ConnectionBounds> | undefined
}

type LoadGrpc = (edge: GrpcEdge) => Promise<GrpcServices>

/** The ports of a gateway: HTTP, and gRPC unless it is off. */
interface Ports extends AsyncDisposable {
  readonly url: string
  /** `host:port`; undefined: gRPC is off. */
  readonly grpcTarget: string | undefined
  /** Warnings for the operator, one sentence each. */
  readonly warnings: readonly string[]
  /** Starts to answer; requests that wait come first. */
  serve(front: Express, loadGrpc: LoadGrpc): void
}

/** Binds the ports. Rejects when one is taken, or the certificate cannot be used. */
export async function openPorts(config: PortsConfig, { clock, log, audit, bounds: given }: World): Promise<Ports> {
  const { http, grpc, connections } = config
  requireUsableAddress(config)
  const bounds = connectionBounds({
    connections: connections.max,
    connectionsPerAddress: connections.perAddress,
    ...given,
  })
  await using undo = new Cleanup()
  const tls = config.tls && undo.use(await TlsFiles.open(config.tls, clock, log))
  const clientAddress = createClientAddress(config.trustedProxies)
  const refusals = new ConnectionRefusals(log)
  const options = {
    bounds,
    refusals,
    connections: new Connections(bounds, refusals),
    tls: tls?.options,
    clock,
  }
  const edgeRefusals = new EdgeRefusals(audit, clientAddress)
  const server = new HttpServer(options)
  const grpcServer = new GrpcServer({ ...options, noteRefused: (socket) => edgeRefusals.noteConnection(socket) })
  undo.defer(() => Promise.all([server.close(), grpcServer.close()]))
  const url = await server.listen(http.host, http.port)
  const grpcTarget = grpc.port === undefined ? undefined : await grpcServer.listen(http.host, grpc.port)
  tls?.watch((certificate) => {
    server.useCertificate(certificate)
    grpcServer.useCertificate(certificate)
  })
  const warnings = exposureWarnings({ ...config, hasTls: tls !== undefined, url })
  for (const warning of warnings) log.warn({ warning }, 'gateway.exposed')
  const edge = {
    clock,
    names: ownNames(http.host, http.publicUrl),
    isSecure: tls !== undefined || http.publicUrl?.startsWith('https:') === true,
    asksClients: tls?.options.ca !== undefined,
    noteRefused: (req: IncomingMessage, problem: Problem) => edgeRefusals.noteRequest(req, problem),
  }
  const open = undo.move()
  return {
    url,
    grpcTarget,
    warnings,
    serve(front, loadGrpc) {
      server.messages.adopt(front)
      server.serve(logRequests(log, guardEdge(edge, front)))
      grpcServer.serve(() => loadGrpc({ bounds, calls: grpcServer.calls }))
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  }
}

/** The gRPC address in cards: the public host and the gRPC port, unless it is configured. */
export function advertisedGrpc(
  { http, grpc }: Pick<PortsConfig, 'http' | 'grpc'>,
  listening: string | undefined,
): { grpcTarget?: string } {
  if (listening === undefined) return {}
  if (grpc.publicTarget !== undefined) return { grpcTarget: grpc.publicTarget }
  if (http.publicUrl === undefined) return { grpcTarget: listening }
  return { grpcTarget: `${new URL(http.publicUrl).hostname}${listening.slice(listening.lastIndexOf(':'))}` }
}

interface Listening {
  readonly http: { readonly host: string; readonly publicUrl: string | undefined }
}

/**
 * Throws when cards would advertise an address that no client can use: a gateway that listens at every address of its machine
 * cannot know by which one clients reach it, and a signed card is believed.
 */
export function requireUsableAddress({ http: { host, publicUrl } }: Listening): void {
  if (publicUrl !== undefined || !isWildcardHost(host)) return
  throw new Error(
    `With ROUSE_HOST=${host} Rouse listens at every address of this machine, so no agent card can say where clients reach it. ` +
      'Set ROUSE_PUBLIC_URL (--public-url) to the address that they use, e.g. https://rouse.example or http://localhost:4520.',
  )
}

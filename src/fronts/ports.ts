import type { IncomingMessage } from 'node:http'
import type { Express } from 'express'
import type { Audit } from '../audit/audit.ts'
import type { Problem } from '../errors.ts'
import { Cleanup } from '../lib/cleanup.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import { createClientAddress } from '../security/client-address.ts'
import { TlsFiles, type TlsPaths } from '../security/tls-files.ts'
import { type ConnectionBounds, connectionBounds } from './connection-bounds.ts'
import { ConnectionRefusals, Connections } from './connections.ts'
import { EdgeRefusals } from './edge-refusals.ts'
import { exposureWarnings } from './exposure.ts'
import type { GrpcEdge } from './grpc/admit-calls.ts'
import { GrpcServer } from './grpc/grpc-server.ts'
import type { GrpcServices } from './grpc/services.ts'
import { guardEdge, ownNames } from './http/edge.ts'
import { HttpServer } from './http/http-server.ts'
import { logRequests } from './http/request-log.ts'
import { requireUsableAddress } from './usable-address.ts'

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

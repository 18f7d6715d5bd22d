import type { AdapterContext } from '../../../../bridge/adapter.ts'
import { harnessProcess } from '../../../harness-process.ts'
import { findListeners } from '../processes/listeners.ts'
import type { Listener } from '../processes/meant.ts'
import { authorizationOf, namedPort } from '../settings.ts'
import { type V1Api, V1Refusal, v1Api } from './api.ts'

/** A process of OpenCode 1 that answers on a port of its own. */
export interface V1Server {
  readonly pid: number
  /** ISO 8601 */
  readonly startedAt?: string
  readonly version: string
  /** Where it works; absolute. */
  readonly directory: string
  readonly api: V1Api
}

interface FoundServers {
  readonly servers: readonly V1Server[]
  readonly remarks: readonly string[]
}

/** The processes of OpenCode 1 that can be called now. Each has to confirm that it is OpenCode. */
export async function findServers(context: AdapterContext, signal: AbortSignal): Promise<FoundServers> {
  let authorization: string | undefined
  let port: number | undefined
  try {
    authorization = authorizationOf(context)
    port = namedPort(context)
  } catch (error) {
    return { servers: [], remarks: [(error as Error).message] }
  }
  const listeners = (await findListeners({ port })).slice(0, serversMax)
  const answers = await Promise.all(listeners.map((listener) => ask(listener, authorization, port, signal)))
  const isMissing = port !== undefined && !listeners.some((listener) => listener.port === port)
  const missing = isMissing ? [`No process of yours listens on opencode.port ${port}.`] : []
  return {
    servers: answers.flatMap((one) => (typeof one === 'object' ? [one] : [])),
    remarks: [...missing, ...answers.flatMap((one) => (typeof one === 'string' ? [one] : []))],
  }
}

/** More terminals than anybody has open. */
const serversMax = 50

/** The server on a port, or why it cannot be used; undefined: it is not OpenCode 1. */
async function ask(
  { pid, port, host }: Listener,
  authorization: string | undefined,
  named: number | undefined,
  signal: AbortSignal,
): Promise<V1Server | string | undefined> {
  const url = `http://${host}:${port}`
  const api = v1Api({ url, ...(authorization === undefined ? {} : { authorization }) })
  try {
    const version = await api.version(signal)
    if (!version.startsWith('1.')) return undefined
    return { ...startedProcess(pid), version, directory: await api.directory(signal), api }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof V1Refusal && error.status === 401) {
      return `OpenCode (process ${pid}) wants another password: set OPENCODE_SERVER_PASSWORD for the bridge, or opencode.passwordFile.`
    }
    // Programs of OpenCode listen on other ports too.
    const isMeant = port === named || !(error instanceof V1Refusal)
    return isMeant ? `OpenCode (process ${pid}) does not answer on ${url}: ${(error as Error).message}.` : undefined
  }
}

/** A process as the hooks name it. */
export function startedProcess(pid: number): { pid: number; startedAt?: string } {
  return harnessProcess([String(pid)], pid)
}

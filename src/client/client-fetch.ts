import type { Agent } from 'undici'

/** The part of `fetch` that the command line uses. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
  redirect?: 'error'
  /** The answer may begin later than Node.js waits, or be silent for longer: five minutes. */
  patient?: boolean
}

export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
}

let patientAgent: Agent | undefined

/** Node's own `fetch` is there at once. Loading undici takes longer than most commands. */
export const clientFetch: Fetch = async (url, { patient = false, ...init }) => {
  if (!patient) return fetch(url, init) as Promise<FetchResponse>
  const { Agent, fetch: fetchFrom } = await import('undici')
  patientAgent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return fetchFrom(url, { ...init, dispatcher: patientAgent })
}

/**
 * Loads undici before anything else runs, for a program that needs it in any case. Where packages are symbolic links, Node 22 has been seen to
 * take it for an empty module when it was loaded later.
 */
export async function prepareFetch(): Promise<void> {
  await import('undici')
}

/** Calls this machine and accepts any certificate: it is for the gateway's public name. For requests without a key. */
export const ownFetch: Fetch = async (url, init) => {
  const { Agent, fetch } = await import('undici')
  // Without pipelining the connection ends with the answer, and does not keep the process alive.
  const agent = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 })
  return fetch(url, { ...init, dispatcher: agent })
}

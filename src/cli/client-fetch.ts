import { Agent, fetch as undiciFetch } from 'undici'

/** The part of `fetch` that the command line uses. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal
  redirect?: 'error'
}

export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
  text(): Promise<string>
}

// A blocking send and a live stream outlast undici's own five minutes; the caller sets its own limit.
let patientAgent: Agent | undefined

export const clientFetch: Fetch = (url, init) => {
  patientAgent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  return undiciFetch(url, { ...init, dispatcher: patientAgent })
}

/** Calls this machine and accepts any certificate: it is for the gateway's public name. For requests without a key. */
export const ownFetch: Fetch = (url, init) => {
  // Without pipelining the connection ends with the answer, and does not keep the process alive.
  const agent = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 })
  return undiciFetch(url, { ...init, dispatcher: agent })
}

import type { AuthInfo, RequestId } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../lib/json.ts'

/** One request of the gateway's HTTP API, for the agent that the MCP client speaks for. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** REST, A2A over HTTP+JSON, or whether the gateway is ready. The parts of the path are percent-encoded. */
  readonly path: '/readyz' | `/v1/${string}` | `/agents/${string}` | `/projects/${string}/agents/${string}`
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: JsonObject
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface ApiAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON of the answer: also of a refusal, as `application/problem+json`. `{}` where the answer has none. */
  readonly body: JsonObject
  /**
   * Makes the mail of this answer wait again, because nobody has read it. Called when the result of the tool is not sent. Absent: the
   * answer has no mail, or it cannot be undone.
   */
  readonly returnMail?: () => void
}

/** The MCP request for which the API is called: what a transport needs to know whose call it is. */
export interface McpCall {
  readonly id: RequestId
  /** The id of the transport's session. */
  readonly transportSession?: string | undefined
  readonly authInfo?: AuthInfo | undefined
  /** `_meta` of the request, without the keys of the protocol. Codex names its thread in it: `threadId`. */
  readonly meta?: JsonObject | undefined
}

export interface CallOptions {
  /** Ends the call: then what it carried counts as not sent. */
  readonly signal?: AbortSignal
  readonly mcp?: McpCall
}

/**
 * Calls the gateway's HTTP API with the key of one agent. A refusal is an answer. Errors: `GatewayUnreachable`; the reason of the
 * signal.
 */
export type CallApi = (request: ApiRequest, options?: CallOptions) => Promise<ApiAnswer>

/** The gateway did not answer. */
export class GatewayUnreachable extends Error {
  /** The address of the gateway. */
  readonly address: string

  /** @param reason what went wrong, for people: `ECONNREFUSED` */
  constructor(address: string, reason: string, cause?: unknown) {
    super(`The gateway at ${address} cannot be reached: ${reason}.`, cause === undefined ? undefined : { cause })
    this.name = 'GatewayUnreachable'
    this.address = address
  }
}

import type { OpenAnswers, RestApi } from '../../src/fronts/rest/table.ts'

/** The headers and statuses of a handler that its declaration does not name. */
export interface Note {
  /** Another status of a success: nothing new was made. */
  readonly also?: 200
  readonly sets?: 'ETag' | 'Location'
  readonly takes?: 'If-Match'
  /** The answer is, or can be, a stream. */
  readonly stream?: string
  /** The answer can be a WebSocket. */
  readonly socket?: true
}

export const notes: { readonly [Route in keyof RestApi]?: Note } = {
  'POST /v1/agents': { sets: 'Location' },
  'POST /v1/wake-subscriptions': { sets: 'Location' },
  'POST /v1/messages': { sets: 'Location' },
  'POST /v1/sessions': { sets: 'Location', also: 200 },
  'POST /v1/approvals': { also: 200 },
  'POST /v1/permissions': { also: 200 },
  'POST /v1/claims': { also: 200 },
  'POST /v1/projects': { also: 200 },
  'GET /v1/tasks/:id': { sets: 'ETag' },
  'POST /v1/tasks/:id/transitions': { sets: 'ETag', takes: 'If-Match' },
  'POST /v1/tasks/:id/artifacts': { sets: 'ETag' },
  'GET /v1/events': {
    stream: 'With `Accept: text/event-stream`: each event as it happens, under its type, with its logId as id.',
  },
  'GET /v1/wake-stream': {
    socket: true,
    stream:
      'The events are `wake` (the headers and the body of a webhook), `released` and `error`. As a WebSocket, the same are messages in JSON, and receipts go back.',
  },
}

/** A route that needs no key. */
export interface OpenNote {
  readonly summary: string
  /** Default: `application/json`. */
  readonly type?: string
  readonly takes?: 'after' | 'challenge'
  /** It has an ETag, and answers 304. */
  readonly isKept?: true
}

/** The routes that need no key. null: not for programs. */
export const openNotes: { readonly [Route in keyof OpenAnswers]: OpenNote | null } = {
  'GET /': null,
  'GET /page/:file': null,
  'GET /page/:folder/:file': null,
  'POST /page/sign-in': null,
  'GET /healthz': { summary: 'The process answers' },
  'GET /readyz': { summary: 'The store can be read and written, due wakes are claimed, and the clock is right' },
  'GET /.well-known/rouse-instance': {
    summary: "Prove to a caller that can read the gateway's data directory which gateway answers",
    takes: 'challenge',
  },
  'GET /.well-known/jwks.json': { summary: 'The public keys that cards are signed with' },
  'GET /openapi.json': { summary: 'This document', isKept: true },
  'GET /.well-known/ai-catalog.json': {
    summary: 'The agents and the MCP server at this address; with a key, those that the key sees',
    type: 'application/ai-catalog+json',
    takes: 'after',
    isKept: true,
  },
  'GET /.well-known/did.json': { summary: 'The DID document of the gateway', type: 'application/did+json' },
  'GET /mcp/server-card': { summary: 'The card of the MCP server', type: 'application/mcp-server-card+json' },
  'GET /.well-known/oauth-protected-resource': { summary: 'The issuers whose tokens are accepted (RFC 9728)' },
  'GET /.well-known/oauth-protected-resource/mcp': { summary: 'The same, for the MCP server' },
}

import type { Samples } from './sample.ts'

const parts = [
  { text: 'done', metadata: { a: 1 } },
  { raw: 'AAAA', filename: 'f', mediaType: 'text/plain' },
  { url: 'http://127.0.0.1:9/' },
  { data: { a: [1] } },
]
/** An artifact with all its fields. */
export const artifact = {
  artifactId: 'a-1',
  name: 'result',
  description: 'd',
  parts,
  metadata: { k: 'v' },
  extensions: ['urn:x'],
}

/** Tasks, mail and claims. */
export const workSamples = {
  'GET /v1/tasks': {
    query: { role: 'assignee' },
    moreQuery: {
      agent: '@:handle',
      state: 'submitted',
      contextId: 'c',
      pageSize: '5',
      pageToken: '',
      historyLength: '2',
      includeArtifacts: 'true',
      order: 'oldest',
    },
  },
  'GET /v1/tasks/:id': { of: 'task', moreQuery: { historyLength: '5' } },
  'GET /v1/tasks/:id/messages': { of: 'task', moreQuery: { limit: '5', pageToken: '1' } },
  'GET /v1/tasks/:id/artifacts': { of: 'task', moreQuery: { limit: '5', pageToken: '1' } },
  'POST /v1/tasks/:id/transitions': {
    of: 'spareTask',
    body: { to: 'working', expectedVersion: 1, message: 'On it.' },
    more: {
      message: {
        messageId: 'm-2',
        role: 'ROLE_AGENT',
        parts,
        metadata: { a: 1 },
        extensions: ['urn:x'],
        referenceTaskIds: [':task'],
      },
      artifacts: [artifact],
      answerAs: 'task',
      wakePolicy: 'silent',
    },
  },
  'POST /v1/tasks/:id/artifacts': {
    of: 'spareTask',
    body: { artifact: { artifactId: 'review', name: 'review.md', parts: [{ text: 'Line 7: ' }] }, lastChunk: false },
    more: { artifact, append: false, expectedVersion: 1 },
  },

  'GET /v1/messages': { moreQuery: { limit: '5', pageToken: ':message' } },
  'POST /v1/messages': {
    body: { to: ':other', subject: 'Lunch?', body: 'At one.' },
    more: {
      to: '@:handle',
      signalType: 'x-note',
      payload: { a: { b: [1] } },
      type: 'msg',
      ref: 'r',
      priority: 'high',
      wakePolicy: 'immediate',
      taggedConcepts: ['a'],
    },
  },
  'GET /v1/messages/:id': { of: 'message' },
  'POST /v1/messages/:id/status': { of: 'message', body: { status: 'acked' } },
  'GET /v1/inbox': {
    query: { unread: 'true' },
    moreQuery: {
      thread: 't',
      signalType: 's',
      type: 'msg',
      taggedConcept: 'a',
      since: '2026-01-01T00:00:00Z',
      order: 'oldest',
      agent: ':handle',
      limit: '5',
      pageToken: ':message',
    },
  },
  'POST /v1/inbox/returns': { body: { sessionId: ':spareSession', messageIds: [':message'] } },
  'GET /v1/threads/:id': { of: 'thread', moreQuery: { limit: '5', pageToken: ':message' } },

  'GET /v1/claims': { moreQuery: { ref: 'issue-1', owner: '@:handle', limit: '5', pageToken: 'a' } },
  'POST /v1/claims': { body: { ref: ':newRef' } },
  'DELETE /v1/claims': { body: { ref: ':spareClaim' } },
  'POST /v1/claims/handoff': { body: { ref: ':spareClaim', to: ':other', message: 'The tests are red.' } },
} satisfies Partial<Samples>

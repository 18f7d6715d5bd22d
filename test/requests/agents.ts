import { projectLimits } from '../../src/limits.ts'
import type { BodyOf, Samples } from './sample.ts'

/** A rate that is used up would answer in the place of what is tried. */
export const noLimits = Object.fromEntries(Object.keys(projectLimits).map((name) => [name, 0]))

const profile: Partial<BodyOf<'PATCH /v1/agents/:handle'>> = {
  displayName: 'Mallory',
  skills: [
    {
      id: 's',
      name: 'S',
      description: 'd',
      tags: ['t'],
      examples: ['e'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
    },
  ],
  inputModes: ['text/plain', '*/*'],
  outputModes: ['text/plain'],
  contactPolicy: 'everybody',
  defaultWakePolicy: 'immediate',
}

/** Agents, their keys and permissions, operators and tenants. */
export const agentSamples = {
  'GET /v1/agents': { moreQuery: { limit: '5', pageToken: '@a' } },
  'POST /v1/agents': {
    body: {
      handle: ':newHandle',
      displayName: 'Ines',
      description: 'Writes the release notes.',
      aliases: [':newAlias'],
      skills: [{ id: 'notes', name: 'Release notes' }],
      contactPolicy: 'listed',
    },
    more: { project: ':project', access: 'private', ...profile },
  },
  'GET /v1/agents/:handle': {},
  'PATCH /v1/agents/:handle': {
    body: { description: 'Plans the work.', defaultWakePolicy: 'next_turn' },
    more: { aliases: [], access: 'public', ...profile },
  },
  'DELETE /v1/agents/:handle': { of: 'spareAgent', moreQuery: { freeNames: 'true' } },
  'GET /v1/agents/:handle/keys': { moreQuery: { limit: '5', pageToken: ':position' } },
  'POST /v1/agents/:handle/keys': { body: { label: 'laptop', scopes: ['read', 'work'], expiresInSeconds: 3600 } },
  'DELETE /v1/agents/:handle/keys/:keyId': { of: 'spareKey', moreQuery: { minted: 'true', keep: 'false' } },
  'GET /v1/whoami': {},
  'GET /v1/catalog': { query: { tag: 'code' }, moreQuery: { skill: 's', q: 'q', limit: '5', pageToken: '' } },
  'POST /v1/sign-in-codes': {},

  'GET /v1/permissions': {
    moreQuery: { scope: 'CAN_REPLY_TO', grantor: '@:handle', grantee: ':other', limit: '5', pageToken: '' },
  },
  'POST /v1/permissions': {
    body: { grantee: ':other', scope: 'CAN_READ_INBOX_OF' },
    more: { grantor: '@:handle', scope: 'CAN_REPLY_TO' },
  },
  'DELETE /v1/permissions/:id': { of: 'sparePermission' },

  'GET /v1/operator-keys': {},
  'POST /v1/operator-keys': {
    body: { role: 'viewer', projects: [':project'], label: 'Mike' },
    more: { expiresInSeconds: 60, approve: false },
  },
  'DELETE /v1/operator-keys/:keyId': { of: 'spareOperatorKey', moreQuery: { minted: 'true' } },
  'POST /v1/tokens/revoke': { body: { keyId: 'jwt:0123456789abcdef0123456789abcdef' }, more: { minted: true } },
  'GET /v1/projects': {},
  'POST /v1/projects': { body: { project: ':newProject' } },
  'GET /v1/projects/:project': {},
  'PATCH /v1/projects/:project': {
    body: { limits: { agents: 20 } },
    more: { limits: { ...noLimits, subscriptions: null } },
  },
} satisfies Partial<Samples>

import { inOffice, type Office } from './exchange.ts'
import { ask, done, get, openly, plain, rest } from './rest-requests.ts'
import { together } from './together.ts'

const review = { id: 'review', name: 'Review', description: 'Reviews a change.', tags: ['code'], examples: ['PR 7'] }
const ines = { handle: 'ines' }
const project = { project: 'default' }

/** Agents, their keys and permissions, tenants, and the gateway itself. */
export const registryCases = together<Office>(
  (play) => inOffice(play, {}, { displayName: 'Donna', skills: [review] }),
  [
    rest('gateway/healthz', 'The process answers.', () => openly('/healthz')),
    rest('gateway/readyz', 'The gateway can take work: each part of it by its name.', () => openly('/readyz')),
    rest('gateway/instance', 'The proof that this gateway uses the data directory of the caller.', () =>
      openly('/.well-known/rouse-instance?challenge=a-challenge-of-the-caller'),
    ),
    rest(
      'gateway/openapi',
      'The headers of the OpenAPI document. Its body is the file `openapi.json` of the package.',
      () => ({
        ...openly('/openapi.json'),
        method: 'HEAD',
      }),
    ),
    rest('agents/register', 'A new agent. Its key is shown only here.', () =>
      plain('POST /v1/agents', undefined, {
        newHandle: '@ines',
        newAlias: '@notes',
      }),
    ),
    rest('agents/list', 'The agents of a project by handle, with what their harnesses do.', () =>
      plain('GET /v1/agents'),
    ),
    rest('agents/read', 'An agent with a live session that has reported its presence.', async ({ gateway, donna }) => {
      await done(gateway, ask('POST', '/v1/sessions', { surface: 'codex', capabilities: ['turn/start'] }, donna))
      const turn = { state: 'active', source: 'codex-app-server', activeTurnId: 'turn-7' }
      await done(gateway, ask('PUT', '/v1/presence', turn, donna))
      return plain('GET /v1/agents/:handle', undefined, { handle: 'donna' })
    }),
    rest('agents/change', 'An agent changes what others read of it.', ({ lola }) =>
      plain('PATCH /v1/agents/:handle', lola, {
        handle: 'lola',
      }),
    ),
    rest('agents/remove', 'The operator removes an agent; its open tasks are rejected.', async ({ gateway }) => {
      await gateway.addAgent('@mike')
      await gateway.send('@mike', 'Please review PR 7')
      return plain('DELETE /v1/agents/:handle', undefined, { spareAgent: 'mike' })
    }),
    rest('keys/list', 'The keys of an agent, without the keys themselves.', () =>
      plain('GET /v1/agents/:handle/keys', undefined, ines),
    ),
    rest('keys/make', 'A further key with fewer scopes, which ends. It is shown only here.', () =>
      plain('POST /v1/agents/:handle/keys', undefined, ines),
    ),
    rest('keys/revoke', 'A key is revoked.', async ({ gateway }) => {
      const { keyId } = await done(gateway, ask('POST', '/v1/agents/ines/keys', { label: 'lost' }))
      return plain('DELETE /v1/agents/:handle/keys/:keyId', undefined, { ...ines, spareKey: keyId! })
    }),
    rest('keys/whoami', 'An agent reads whose key it has.', ({ lola }) => plain('GET /v1/whoami', lola)),
    rest('keys/whoami-operator', 'The operator reads which key it has.', () => get('/v1/whoami')),
    rest(
      'catalog/search',
      'The cards that the caller may see, found by a tag. Signatures are not repeatable.',
      ({ lola }) => plain('GET /v1/catalog', lola),
    ),
    rest('permissions/grant', 'An agent allows another one something.', ({ lola }) =>
      plain('POST /v1/permissions', lola, {
        other: '@donna',
      }),
    ),
    rest('permissions/list', 'What agents allow each other.', ({ lola }) => plain('GET /v1/permissions', lola)),
    rest('permissions/revoke', 'A permission is taken back.', async ({ gateway, lola }) => {
      const grant = { grantee: '@donna', scope: 'CAN_REPLY_TO' }
      const { permissionId } = await done(gateway, ask('POST', '/v1/permissions', grant, lola))
      return plain('DELETE /v1/permissions/:id', lola, { sparePermission: permissionId! })
    }),
    rest('projects/list', 'The tenants.', () => plain('GET /v1/projects')),
    rest('projects/read', 'A tenant with every limit: 0 is no limit.', () =>
      plain('GET /v1/projects/:project', undefined, project),
    ),
    rest('projects/change', 'A limit of a tenant that is not the default.', () =>
      plain('PATCH /v1/projects/:project', undefined, project),
    ),
    rest('operator-keys/make', 'A key of an operator that reads one project. It is shown only here.', () =>
      plain('POST /v1/operator-keys', undefined, project),
    ),
    rest('operator-keys/list', 'The keys of operators, without the admin key and the keys themselves.', () =>
      plain('GET /v1/operator-keys'),
    ),
    rest('operator-keys/revoke', 'The key of an operator is revoked.', async ({ gateway }) => {
      const { keyId } = await done(gateway, ask('POST', '/v1/operator-keys', { role: 'manager' }))
      return plain('DELETE /v1/operator-keys/:keyId', undefined, { spareOperatorKey: keyId! })
    }),
    rest('tokens/revoke', 'A token of an issuer is refused from now on, by the id that the audit shows.', () =>
      plain('POST /v1/tokens/revoke'),
    ),
    rest('tokens/sign-in-code', 'The code of a link that signs in on the page, once and within a minute.', () =>
      plain('POST /v1/sign-in-codes'),
    ),
    rest('audit/read', 'Who did what: here whoever has changed an agent.', () =>
      get('/v1/audit?operation=agent.change'),
    ),
  ],
)

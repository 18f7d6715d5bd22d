import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Type } from 'ts-morph'
import { isAct } from '../../src/fronts/access/changes.ts'
import type { AnyRoute } from '../../src/fronts/rest/route.ts'
import { restTable } from '../../src/fronts/rest/table.ts'
import { headers, parameters, problemSchema, responses, wakeParameters } from './components.ts'
import { root } from './document-path.ts'
import { bodyOf, queryOf } from './input-schemas.ts'
import { type Note, notes, type OpenNote, openNotes } from './notes.ts'
import { type Schema, TypeSchemas } from './type-schemas.ts'

/** Returns the text of `openapi.json`: the REST API and the wakes, from what the gateway itself uses. */
export function renderDocument(): string {
  return `${JSON.stringify(buildDocument(), null, 1)}\n`
}

function buildDocument(): object {
  const types = new TypeSchemas(root)
  const table = join(root, 'src/fronts/rest/table.ts')
  const answers = types.fieldsOf(types.load(table, 'RestApi'))
  const openAnswers = types.fieldsOf(types.load(table, 'OpenAnswers'))
  const paths: Record<string, Record<string, unknown>> = {}
  const add = (route: string, operation: object, shared: object): void => {
    const [method = '', path = ''] = route.split(' ')
    const named = path.replace(/:(\w+)/g, '{$1}')
    paths[named] ??= { ...shared }
    paths[named][method.toLowerCase()] = operation
  }
  for (const route of restTable.routes) {
    const answer = types.ofAny(types.fieldsOf(answers[route.route]!).answer!)
    add(route.route, operationOf(route, answer), { parameters: sharedParameters(route.route) })
  }
  for (const [route, note] of Object.entries(openNotes)) {
    if (note) add(route, openOperation(route.slice('GET '.length), note, types.ofAny(openAnswers[route]!)), {})
  }
  types.of(types.load(join(root, 'src/words/mail.ts'), 'PendingSignal'))
  const webhooks = webhooksOf(types, types.fieldsOf(types.load(join(root, 'test/openapi/wakes.ts'), 'Wakes')))
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rouse',
      version,
      summary: 'A wake gateway for AI harnesses: an A2A address, a durable task log and signed webhooks for each.',
      description:
        'The REST API for harnesses and operators, and the wakes. docs/api.md explains it. A2A, MCP and gRPC have descriptions of their own: agent cards, `tools/list`, protocol buffers.',
      license: { name: license, identifier: license },
    },
    servers: [{ url: '/', description: 'The gateway that served this document.' }],
    security: [{ key: [] }],
    tags: [...new Set([...restTable.routes.map(({ route }) => tagOf(route)), 'open', 'wakes'])].map((name) => ({
      name,
    })),
    paths,
    webhooks,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The key of an agent (`rk_…`) or of an operator (`rko_…`, or the admin key), or a token of a trusted issuer. The names beside the scheme are the scopes that a key needs.',
        },
      },
      parameters: { ...parameters, ...wakeParameters },
      headers,
      responses,
      schemas: { Problem: problemSchema, WaitingMail: waitingMail, ...types.components },
    },
  }
}

/** Added to the answers to a key with `read` and `work`. */
const waitingMail: Schema = {
  type: 'object',
  properties: {
    pendingSignals: {
      type: 'array',
      items: { $ref: '#/components/schemas/PendingSignal' },
      description: 'The mail that waited for the caller. It counts as delivered with this answer.',
    },
  },
}

function operationOf(route: AnyRoute, answer: Schema | undefined): object {
  const { operation, body, query } = route
  const note: Note = notes[route.route as keyof typeof notes] ?? {}
  const [method, path = ''] = route.route.split(' ')
  // Some clients and proxies drop the body of a DELETE: the query says the same.
  const requestBody = method === 'DELETE' ? undefined : bodyOf(body)
  const taken = [
    ...queryOf(query),
    ...(isKeyed(route) ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
    ...(note.takes ? [{ $ref: `#/components/parameters/${note.takes}` }] : []),
  ]
  const { scope, also, operator, agent, peer } = operation
  return {
    operationId: operation.name,
    summary: sentence(operation.what),
    tags: [tagOf(route.route)],
    security: [{ key: [scope, also].filter((one) => one !== undefined && one !== 'any') }],
    'x-rouse-access': { operator, agent, peer },
    ...(taken.length === 0 ? {} : { parameters: taken }),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...successOf(route, note, path, answer),
      429: { $ref: '#/components/responses/LimitReached' },
      503: { $ref: '#/components/responses/NotNow' },
      default: { $ref: '#/components/responses/Refused' },
    },
  }
}

function successOf(route: AnyRoute, note: Note, path: string, answer: Schema | undefined): object {
  const set = [
    ...(note.sets ? [note.sets] : []),
    ...(isKeyed(route) ? ['Idempotency-Replayed'] : []),
    'Rouse-Pending-Signals',
  ]
  const json = answer && { 'application/json': { schema: withMail(path, answer) } }
  const stream = note.stream && { 'text/event-stream': { schema: { type: 'string', description: note.stream } } }
  const content = json || stream ? { content: { ...json, ...stream } } : {}
  const headersSet = Object.fromEntries(set.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
  const success = (description: string) => ({ description, headers: headersSet, ...content })
  const { status } = route
  const done = { 200: 'The answer.', 201: 'Made.', 204: 'Done.' }[status as 200 | 201 | 204]
  return {
    ...(note.socket ? { 101: { description: 'The stream is a WebSocket.' } } : {}),
    [status]: success(done),
    ...(note.also ? { [note.also]: success('It was there already.') } : {}),
  }
}

/** True when a call may be repeated under a key. A stream cannot be. */
const isKeyed = ({ route, operation }: AnyRoute): boolean => isAct(operation) && !route.startsWith('GET ')

/** The inbox lists the mail itself, and the reader of the stream of wakes is not the harness. */
function withMail(path: string, answer: Schema): Schema {
  if (/^\/v1\/(inbox|wake-stream)\b/.test(path) || JSON.stringify(answer).includes('"pendingSignals"')) return answer
  return { allOf: [answer, { $ref: '#/components/schemas/WaitingMail' }] }
}

function openOperation(path: string, note: OpenNote, answer: Schema | undefined): object {
  const { summary, type = 'application/json', takes, isKept } = note
  const content = { [type]: { schema: answer ?? { type: 'object' } } }
  return {
    operationId: `open${path.replace(/\W+(\w)/g, (_, letter: string) => `.${letter}`)}`,
    summary,
    tags: ['open'],
    security: [],
    ...(takes ? { parameters: [{ $ref: `#/components/parameters/${takes}` }] } : {}),
    responses: {
      200: {
        description: 'The answer.',
        ...(isKept ? { headers: { ETag: { $ref: '#/components/headers/ETag' } } } : {}),
        content,
      },
      ...(isKept ? { 304: { description: 'The client has this version: `If-None-Match`.' } } : {}),
      ...(path === '/readyz' ? { 503: { description: 'Not ready.', content } } : {}),
      default: { $ref: '#/components/responses/Refused' },
    },
  }
}

function sharedParameters(route: string): object[] {
  const named = [...route.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const everywhere = ['Rouse-Project', 'Rouse-Session', 'Rouse-Pending-Signals']
  return [...named, ...everywhere.map((name) => ({ $ref: `#/components/parameters/${name}` }))]
}

function webhooksOf(types: TypeSchemas, wakes: Readonly<Record<string, Type>>): object {
  return Object.fromEntries(
    Object.entries(wakes).map(([name, type]) => [
      name,
      {
        post: {
          operationId: name,
          summary: `The wake ${name}`,
          tags: ['wakes'],
          security: [],
          parameters: Object.keys(wakeParameters).map((key) => ({ $ref: `#/components/parameters/${key}` })),
          requestBody: { required: true, content: { 'application/json': { schema: types.of(type) } } },
          responses: {
            '2XX': { description: 'Delivered.' },
            413: { description: 'This event failed. It is not sent again.' },
            '4XX': { description: 'Refused: the subscription is degraded at once. 408, 425 and 429 are tried again.' },
            default: { description: 'Tried again after 1, 2 and 4 seconds.' },
          },
        },
      },
    ]),
  )
}

const sentence = (what: string): string => what.slice(0, 1).toUpperCase() + what.slice(1)

/** The first word of a path. */
function tagOf(route: string): string {
  return route.split('/')[2]!
}

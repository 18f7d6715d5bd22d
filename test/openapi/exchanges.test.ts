import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { openTable, restTable } from '../../src/fronts/rest/table.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { listFolders, readFolder } from '../contract/fixture.ts'
import { documentPath } from './document-path.ts'
import { openNotes } from './notes.ts'
import { strict } from './strict.ts'

// Everything that is recorded of the wire is as the document says: no field more, no field less.

const document = strict(JSON.parse(readFileSync(documentPath, 'utf8'))) as unknown as Document
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(document, 'openapi')

const exchanges = listFolders()
  .map((folder) => ({ folder, files: readFolder(folder) }))
  .filter(({ files }) => files['request.json'] && files['answer.json'])
  .map(({ folder, files }) => ({
    folder,
    request: JSON.parse(files['request.json']!) as Request,
    answer: JSON.parse(files['answer.json']!) as Answer,
  }))
  .flatMap((exchange) => {
    const route = routeOf(exchange.request)
    return route === undefined ? [] : [{ ...exchange, route }]
  })

test('every route is described, and nothing else', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  const open = openTable.routes.filter(({ route }) => openNotes[route as keyof typeof openNotes] !== null)
  const all = [...restTable.routes, ...open].map(({ route }) => route.replace(/:(\w+)/g, '{$1}'))
  expect(described.sort()).toEqual(all.sort())
  expect(exchanges.length).toBeGreaterThan(all.length)
})

describe.each(exchanges)('$folder', ({ request, answer, route }) => {
  const [method = '', path = ''] = route.split(' ')
  const pointer = ['paths', path.replace(/:(\w+)/g, '{$1}'), method.toLowerCase()]
  const operation = at(pointer) as unknown as Operation
  const isDone = answer.status < 300

  test('the answer is as the document says', () => {
    const status = operation.responses[answer.status] ? String(answer.status) : 'default'
    if (isDone) expect(Object.keys(operation.responses)).toContain(String(answer.status))
    const response = resolved([...pointer, 'responses', status])
    const { content = {}, headers = {} } = at(response) as unknown as Response
    const type = answer.headers['content-type']?.split(';')[0]
    expect(Object.keys(content)).toEqual(type === undefined ? [] : expect.arrayContaining([type]))
    const known = [...Object.keys(headers).map((name) => name.toLowerCase()), ...ofHttp]
    expect(Object.keys(answer.headers).filter((name) => !known.includes(name))).toEqual([])
    if (type?.endsWith('json') && answer.body !== undefined && method !== 'HEAD') {
      expect(errorsOf([...response, 'content', type, 'schema'], answer.body)).toEqual([])
    }
  })

  test('the request is as the document says', () => {
    const parameters = [...(operation.parameters ?? []), ...(document.paths[pointer[1]!]!.parameters ?? [])].map(
      (parameter) => parameterOf(parameter),
    )
    const named = (place: string): string[] =>
      parameters.filter(({ in: where }) => where === place).map(({ name }) => name)
    const query = [...new URL(request.path, 'http://localhost').searchParams.keys()]
    const sent = Object.keys(request.headers).filter(
      (name) => !['authorization', 'content-type', ...ofHttp].includes(name),
    )
    if (!isDone) return
    expect(query.filter((name) => !named('query').includes(name))).toEqual([])
    expect(sent.filter((name) => !named('header').some((one) => one.toLowerCase() === name.toLowerCase()))).toEqual([])
    if (request.body !== undefined && method !== 'DELETE') {
      expect(errorsOf([...pointer, 'requestBody', 'content', 'application/json', 'schema'], request.body)).toEqual([])
    }
    expect(operation.requestBody?.required === true && request.body === undefined).toBe(false)
  })
})

const wakes = listFolders().filter((folder) => folder.startsWith('wakes/'))
test.each(wakes)('%s is as the document says', (folder) => {
  const files = readFolder(folder)
  const body = JSON.parse(files['body.json']!) as { eventType: string }
  const pointer = ['webhooks', body.eventType, 'post']
  expect(errorsOf([...pointer, 'requestBody', 'content', 'application/json', 'schema'], body)).toEqual([])
  const names = (at(pointer) as unknown as Operation).parameters!.map((parameter) => parameterOf(parameter).name)
  const { 'Content-Type': _type, ...headers } = JSON.parse(files['headers.json']!)
  expect(names.filter((name) => name !== 'traceparent' || name in headers).sort()).toEqual(Object.keys(headers).sort())
})

function routeOf({ method, path }: Request): string | undefined {
  const [only = ''] = path.split('?')
  const route = (restTable.match(method, only) ?? openTable.match(method, only))?.route.route
  return route !== undefined && openNotes[route as keyof typeof openNotes] !== null ? route : undefined
}

/** Headers that say nothing of this API. */
const ofHttp =
  'accept accept-encoding access-control-allow-origin allow cache-control connection content-encoding content-type host sec-websocket-version upgrade vary www-authenticate x-accel-buffering'.split(
    ' ',
  )

function at(pointer: readonly string[]): JsonObject {
  return pointer.reduce<unknown>((value, key) => (value as JsonObject)[key], document) as JsonObject
}

/** Where a response stands: at its pointer, or where that refers to. */
function resolved(pointer: readonly string[]): readonly string[] {
  const { $ref } = at(pointer)
  return $ref === undefined ? pointer : String($ref).slice(2).split('/')
}

function parameterOf(parameter: Parameter): Parameter {
  return parameter.$ref === undefined ? parameter : (at(parameter.$ref.slice(2).split('/')) as unknown as Parameter)
}

function errorsOf(pointer: readonly string[], value: unknown): unknown[] {
  const fragment = pointer.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const check = ajv.compile({ $ref: `openapi#/${fragment}` })
  check(value)
  return (check.errors ?? []).map(({ instancePath, message, params }) => ({ instancePath, message, params }))
}

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
}

interface Response {
  readonly content?: JsonObject
  readonly headers?: JsonObject
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean }
  readonly responses: Readonly<Record<string, unknown>>
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>
}

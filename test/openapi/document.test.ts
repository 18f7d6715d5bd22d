import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { isJsonObject } from '../../src/lib/json.ts'
import { renderDocument } from './document.ts'
import { documentPath, root } from './document-path.ts'
import { notes } from './notes.ts'

const text = readFileSync(documentPath, 'utf8')

// It reads the types of the whole gateway: on a busy machine that takes minutes.
test('openapi.json is what the routes and the types of their answers say', { timeout: 300_000 }, () => {
  expect(text === renderDocument(), 'Run `npm run openapi`, and read the difference: clients are made from it.').toBe(
    true,
  )
})

test('a linter of OpenAPI finds nothing', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // `default` is every refusal.
      'operation-4xx-response': 'off',
      // A tag is the first word of a path.
      'tag-description': 'off',
    },
  })
  const found = await lintFromString({ source: text, absoluteRef: documentPath, config })
  expect(found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('an answer leaves only what others write, or what other documents describe, without fields', () => {
  const written = [
    'A2aArtifact',
    'A2aMessage',
    'LatestSignal',
    'Problem',
    'data',
    'evidence',
    'input',
    'metadata',
    'parts',
    'payload',
  ]
  const described = ['/.well-known/ai-catalog.json', '/.well-known/did.json', '/mcp/server-card', '/openapi.json']
  const ofStandards = ['cards', 'inputSchema', 'keys', 'payloadSchema']
  expect(openIn(JSON.parse(text))).toEqual([...written, ...described, ...ofStandards].sort())
})

// A handler sets these itself. A new one needs its line in notes.ts.
test.each([
  ['another status', /reply\.status = 200/g, ({ also }: (typeof all)[0]) => also],
  ['Location', /reply\.headers\.Location =/g, ({ sets }: (typeof all)[0]) => sets === 'Location'],
  ['If-Match', /header\('if-match'\)/g, ({ takes }: (typeof all)[0]) => takes],
  ['ETag', /\bsetVersion\(reply, /g, ({ sets }: (typeof all)[0]) => sets === 'ETag'],
])('the notes name every handler that uses %s', (_, pattern, isNoted) => {
  const front = join(root, 'src/fronts/rest')
  const files = readdirSync(front, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const handlers = files.filter((file) => /routes?\.ts$|^(?!repeated-call)[\w-]+\.ts$/.test(file))
  const uses = handlers.flatMap((file) => [...readFileSync(join(front, file), 'utf8').matchAll(pattern)])
  expect(uses.length).toBe(all.filter(isNoted).length)
})

const all = Object.values(notes)

/** The names of the objects in answers and wakes of which the document does not list all fields: of a field, a component or a path. */
function openIn({ paths, webhooks, components }: Document): string[] {
  const found = new Set<string>()
  const look = (value: unknown, name: string): void => {
    if (Array.isArray(value)) for (const one of value) look(one, name)
    if (!isJsonObject(value)) return
    const { type, properties, additionalProperties } = value
    const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
    if (isObject && (additionalProperties === true || !(properties || additionalProperties))) found.add(name)
    for (const [key, inner] of Object.entries(value)) {
      if (key !== 'properties' || !isJsonObject(inner)) look(inner, name)
      else for (const [field, schema] of Object.entries(inner)) look(schema, field)
    }
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const { responses } of Object.values(operations)) look(responses, path)
  }
  look(Object.values(webhooks), 'wake')
  for (const [name, schema] of Object.entries(components.schemas)) look(schema, name)
  return [...found].sort()
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses?: unknown }>>>>
  readonly webhooks: Readonly<Record<string, unknown>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

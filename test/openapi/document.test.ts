import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
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

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type A2aOperation, a2aOperations } from '../../src/fronts/access/a2a-operations.ts'
import { operatorTools } from '../../src/fronts/mcp/operator/table.ts'
import { resourceKinds } from '../../src/fronts/mcp/resources/uris.ts'
import { tools } from '../../src/fronts/mcp/tools/table.ts'
import { openTable, restTable } from '../../src/fronts/rest/table.ts'
import type { LogEvent } from '../../src/log/event.ts'
import { digestKinds } from '../../src/wakes/content/digest-kinds.ts'
import { wakeEventTypes, wakePayload } from '../../src/wakes/content/payload.ts'
import { type EventType, eventTypes } from '../../src/words/events.ts'
import { type Dialect, dialects } from '../a2a/connect.ts'
import { nameOf } from './a2a-recorder.ts'
import { listFolders, readFolder } from './fixture.ts'

// A route, a frame or a kind of event that is added has no fixture yet: these tests name it.

/** Every request that was answered as it should be, with its answer. */
const exchanges = listFolders()
  .map(readFolder)
  .filter((files) => files['request.json'] && files['answer.json'])
  .map((files) => ({ request: JSON.parse(files['request.json']!), answer: JSON.parse(files['answer.json']!) }))
  .filter(({ answer }) => answer.status < 300)

test('every route has the fixture of a success', () => {
  const shown = exchanges.map(({ request: { method, path } }) => {
    const [only] = path.split('?')
    return (restTable.match(method, only) ?? openTable.match(method, only))?.route.route
  })
  const all = [...restTable.routes, ...openTable.routes].map(({ route }) => route)
  // The page and its files are for a browser, and no contract.
  const ofPage = /^(GET|POST) \/(page\/.*)?$/
  expect(all.filter((route) => !shown.includes(route) && !ofPage.test(route))).toEqual([])
})

test('every frame of the stream of wakes has a fixture, in each of its forms', () => {
  const front = 'src/fronts/rest/wake-stream'
  const events = textsOf('wake-stream', /"event: ([a-z]+)|\\nevent: ([a-z]+)/g)
  expect(lacks(writtenIn(front, /event: ([a-z]+)\\n/g), events)).toEqual([])
  const messages = textsOf('wake-stream', /"event": "([a-z]+)"/g)
  expect(lacks(writtenIn(front, /event: '([a-z]+)'/g), messages)).toEqual([])
  // The end of a reader whose key was revoked.
  expect(events).toContain('error')
})

test('every type of event has a fixture, as the log shows it', () => {
  const shown = textsOf('events', /\\nevent: ([\w.]+)|"type": "([\w.]+)"/g)
  expect(lacks(Object.keys(eventTypes), shown)).toEqual([])
})

test('every tool, every kind of resource and every notification of MCP has a fixture', () => {
  const asked = exchanges.map(({ request }) => request.body?.params)
  const called = asked.flatMap((params) => (params?.arguments ? [params.name] : []))
  expect(
    lacks(
      [...tools, ...operatorTools].map(({ name }) => name),
      called,
    ),
  ).toEqual([])
  const read = asked.flatMap((params) => /^rouse:\/\/(\w+)/.exec(params?.uri ?? '')?.[1] ?? [])
  expect(lacks(resourceKinds, read)).toEqual([])
  const written = writtenIn('src/fronts/mcp', /method: '(notifications\/[\w/]+)'/g)
  const sent = textsOf('mcp', /\\"method\\":\\"(notifications\/[\w/]+)\\"/g)
  expect(lacks([...written, 'notifications/subscriptions/acknowledged'], sent)).toEqual([])
})

test('every type of event that wakes has the body of its wake, and every kind of digest', () => {
  const bodies = textsOf('wakes', /^(\{"schemaVersion.*)$/g).map((text) => JSON.parse(text))
  expect(
    lacks(
      wakeEventTypes,
      bodies.map(({ eventType }) => eventType),
    ),
  ).toEqual([])
  const kindOf = (eventType: string, { status = '' }: { status?: string }) => `${eventType} ${status}`
  const wokenBy = (type: EventType) => ({ type, data: { status: type.split('.')[1] } }) as unknown as LogEvent
  const waking = Object.entries(eventTypes).filter(([, trigger]) => trigger !== null) as [EventType, string][]
  const wakes = waking.map(([type]) => wakePayload(wokenBy(type)))
  expect(
    lacks(
      wakes.map(({ eventType, payload }) => kindOf(eventType, payload)),
      bodies.map(({ eventType, payload }) => kindOf(eventType, payload)),
    ),
  ).toEqual([])
  const latest = Object.values(digestKinds).map((kind) => kind.latest)
  const shown = bodies.flatMap(({ payload }) => latest.filter((field) => payload[field]))
  expect(lacks(latest, shown)).toEqual([])
})

test('every operation of A2A has a fixture in each version that has it, over every binding', () => {
  const has = ({ legacyRpc }: A2aOperation, { version }: Dialect) => version === '1.0' || legacyRpc !== undefined
  for (const operation of a2aOperations) {
    const ways = dialects.filter((dialect) => has(operation, dialect)).map((dialect) => `${nameOf(dialect)}.json`)
    const files = Object.keys(readFolder(`a2a-operations/${operation.name}`))
    expect(files, operation.name).toEqual([...ways, 'README.md'].sort())
  }
})

/** Returns what a pattern finds in the fixtures below a folder. */
function textsOf(root: string, pattern: RegExp): string[] {
  const folders = listFolders().filter((folder) => folder.startsWith(`${root}/`))
  return folders.flatMap((folder) => Object.values(readFolder(folder)).flatMap((text) => matches(text, pattern)))
}

/** Returns what a pattern finds in the sources below a folder: something, else the code is elsewhere now. */
function writtenIn(folder: string, pattern: RegExp): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const found = files.flatMap((file) => matches(readFileSync(join(folder, file), 'utf8'), pattern))
  expect(found).not.toEqual([])
  return found
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match.slice(1).find(Boolean)!)
}

const lacks = (all: readonly string[], shown: readonly string[]): string[] => all.filter((one) => !shown.includes(one))

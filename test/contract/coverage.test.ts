import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openTable, restTable } from '../../src/fronts/rest/table.ts'
import { eventTypes } from '../../src/words/events.ts'
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
  expect(all.filter((route) => !shown.includes(route))).toEqual([])
})

test('every frame of the stream of wakes has a fixture, in each of its forms', () => {
  const front = 'src/fronts/rest/wake-stream'
  const named = /event: '?([a-z]+)/g
  const events = textsOf('wake-stream', /"event: ([a-z]+)|\\nevent: ([a-z]+)/g)
  expect(lacks(found(`${front}/event-transport.ts`, named), events)).toEqual([])
  const messages = textsOf('wake-stream', /"event": "([a-z]+)"/g)
  const written = ['socket-transport.ts', 'receipt-frames.ts'].flatMap((file) => found(`${front}/${file}`, named))
  expect(lacks(written, messages)).toEqual([])
  // The end of a reader whose key was revoked.
  expect(events).toContain('error')
})

test('every type of event has a fixture, as the log shows it', () => {
  const shown = textsOf('events', /\\nevent: ([\w.]+)|"type": "([\w.]+)"/g)
  expect(lacks(Object.keys(eventTypes), shown)).toEqual([])
})

/** What a pattern finds in the fixtures below a folder. */
function textsOf(root: string, pattern: RegExp): string[] {
  const folders = listFolders().filter((folder) => folder.startsWith(`${root}/`))
  return folders.flatMap((folder) => Object.values(readFolder(folder)).flatMap((text) => matches(text, pattern)))
}

/** What a pattern finds in a source file. */
const found = (file: string, pattern: RegExp): string[] => matches(readFileSync(file, 'utf8'), pattern)

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match.slice(1).find(Boolean)!)
}

const lacks = (all: readonly string[], shown: readonly string[]): string[] => all.filter((one) => !shown.includes(one))

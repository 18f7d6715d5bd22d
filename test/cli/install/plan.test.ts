import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planFile } from '../../../src/cli/install/plan.ts'
import { DocumentError, type Format, hasPiece, type Piece } from '../../../src/config-files/document.ts'
import { formats } from '../../../src/config-files/formats.ts'
import { jsonDocuments, tomlDocuments } from './documents.ts'

const hook = (event: string) => ({ hooks: [{ type: 'command', command: `rouse hook claude ${event}` }] })
const jsonPieces: Piece[] = [
  { kind: 'property', path: ['mcpServers', 'rouse'], value: { command: '/bin/node', args: ['rouse', 'mcp'] } },
  { kind: 'element', path: ['hooks', 'SessionStart'], value: hook('SessionStart') },
  { kind: 'element', path: ['hooks', 'Stop'], value: hook('Stop') },
  { kind: 'element', path: ['permissions', 'allow'], value: 'mcp__rouse' },
]
const tomlPieces: Piece[] = [
  {
    kind: 'property',
    path: ['mcp_servers', 'rouse'],
    value: { command: '/bin/node', args: ['rouse', 'mcp'], env: { XDG_CONFIG_HOME: '/x' } },
  },
]

/** Installs, installs again, uninstalls; undefined where the text has no place for the pieces. */
function roundTrip(format: Format, text: string, pieces: readonly Piece[]) {
  try {
    const installed = planFile(format, text, pieces, [])
    const again = planFile(format, installed.text, pieces, installed.written)
    const removed = planFile(format, installed.text, [], installed.written)
    return { installed, again, removed }
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}

describe.each([
  ['json', jsonDocuments, jsonPieces],
  ['toml', tomlDocuments, tomlPieces],
] as const)('%s', (name, documents, pieces) => {
  const format = formats[name]

  test('what is installed and uninstalled leaves every byte as it was', () => {
    let found = 0
    fc.assert(
      fc.property(documents, (text) => {
        const trip = roundTrip(format, text, pieces)
        if (!trip) return
        found += 1
        for (const piece of pieces) expect(hasPiece(format.parse(trip.installed.text), piece)).toBe(true)
        expect(trip.again.text).toBe(trip.installed.text)
        expect(trip.again.written).toEqual(trip.installed.written)
        expect(trip.removed).toMatchObject({ text, changed: [] })
      }),
      { numRuns: 1_000 },
    )
    // Most documents have room for all pieces: the property is about something.
    expect(found).toBeGreaterThan(300)
  })

  test('line ends that somebody converts meanwhile are no obstacle', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const trip = roundTrip(format, text, pieces)
        if (!trip || /\r(?!\n)/.test(text)) return
        const lines = (one: string) => one.replaceAll('\r\n', '\n')
        const removed = planFile(format, lines(trip.installed.text), [], trip.installed.written)
        expect(removed).toMatchObject({ text: lines(text), changed: [] })
      }),
      { numRuns: 300 },
    )
  })
})

test('a program that writes the file anew loses nothing of the user’s, and nothing of ours stays', () => {
  fc.assert(
    fc.property(jsonDocuments, fc.boolean(), (text, isIndented) => {
      const trip = roundTrip(formats.json, text, jsonPieces)
      if (!trip) return
      const anew = JSON.stringify(formats.json.parse(trip.installed.text), null, isIndented ? 4 : undefined)
      const removed = planFile(formats.json, anew, [], trip.installed.written)
      expect(removed.changed).toEqual([])
      const left = formats.json.parse(removed.text)
      for (const piece of jsonPieces) expect(hasPiece(left, piece)).toBe(false)
      expect(withoutEmpty(left)).toEqual(withoutEmpty(formats.json.parse(text)))
    }),
    { numRuns: 500 },
  )
})

/** A place that was made for our entries and is empty now may stay, or go. */
function withoutEmpty(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_name, inner) => {
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
      const entries = Object.entries(inner).filter(([, one]) => {
        const kept = withoutEmpty(one)
        return typeof kept !== 'object' || kept === null || Object.keys(kept).length > 0
      })
      return Object.fromEntries(entries)
    }),
  )
}

test.each([
  [
    'a comment at the end of its line stays there',
    '{\n  "a": 1 // one\n}\n',
    /\n {2}"mcpServers": [\s\S]*"a": 1 \/\/ one\n/,
  ],
  ['a trailing comma is kept up', '{\n\t"a": 1, // one\n}\n', /"a": 1, \/\/ one\n\t"mcpServers": [\s\S]*\},\n\}\n$/],
  ['one line stays one line', '{ "a": 1 }', /^\{ "a": 1, "mcpServers":.*\}$/],
  [
    'an empty object is filled in the style of the file',
    '{\r\n    "mcpServers": {}\r\n}',
    /\{\r\n {8}"rouse": \{\r\n {12}"command"/,
  ],
])('%s', (_what, text, expected) => {
  const { text: written } = planFile(formats.json, text, jsonPieces.slice(0, 1), [])
  expect(written).toMatch(expected)
})

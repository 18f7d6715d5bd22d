import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DocumentError, type Format, hasPiece, type Piece } from '../../../src/cli/install/document.ts'
import { formats } from '../../../src/cli/install/formats.ts'
import { planFile } from '../../../src/cli/install/plan.ts'
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
})

import type { Io } from '../../client/io.ts'
import { clip, paint, plain } from '../../client/terminal-text.ts'

const gap = 2

/**
 * Aligned columns under headings; the last column is not padded. On a terminal a row is one line: if it does not fit, ids are shown by their
 * end, then columns without any value are left out, and then the widest columns are cut. Without rows it returns `empty`.
 */
export function table(
  io: Io,
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  empty: string,
): string {
  if (rows.length === 0) return `${empty}\n`
  const cells = rows.map((row) => headings.map((_, i) => plain(row[i]) || '-'))
  const all = [[...headings], ...cells]
  const lines = io.columns === undefined ? padded(all, widthsOf(all)) : fitting(all, io.columns)
  const [head = '', ...rest] = lines
  return `${[paint(io, 'bold', head), ...rest].join('\n')}\n`
}

function fitting(all: readonly (readonly string[])[], columns: number): string[] {
  let shown = all
  for (const shorter of [withEndsOfIds, withoutEmptyColumns]) {
    if (lengthOf(widthsOf(shown)) > columns) shown = shorter(shown)
  }
  return padded(shown, fitted(widthsOf(shown), columns))
}

/** Ids of one minute begin alike. A command takes the end of an id too. */
const withEndsOfIds = (all: readonly (readonly string[])[]) =>
  all.map((row) => row.map((cell) => (id.test(cell) ? `…${cell.slice(-8)}` : cell)))

const id = /^(\w+[:_])?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function withoutEmptyColumns(all: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const isUsed = all[0]!.map((_, i) => i === 0 || all.slice(1).some((row) => row[i] !== '-'))
  return all.map((row) => row.filter((_, i) => isUsed[i]))
}

const widthsOf = (all: readonly (readonly string[])[]): number[] =>
  all[0]!.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))

const padded = (all: readonly (readonly string[])[], widths: readonly number[]): string[] =>
  all.map((row) =>
    row
      .map((cell, i) => clip(cell, widths[i]!).padEnd(widths[i]!))
      .join(' '.repeat(gap))
      .trimEnd(),
  )

const lengthOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + gap, -gap)

/** The columns are cut to these widths in this order: long texts, then the last column, then any, so that states and names stay whole. */
const floors = { text: 16, last: 8, any: 4 } as const

/** The widths that fit into a line: the widest column gives way first. Pure. */
export function fitted(natural: readonly number[], columns: number): number[] {
  const widths = [...natural]
  const last = widths.length - 1
  const steps = [() => floors.text, (column: number) => (column === last ? floors.last : floors.text), () => floors.any]
  for (const floorOf of steps) {
    for (let excess = lengthOf(widths) - columns; excess > 0; excess--) {
      const room = widths.map((width, i) => (width > floorOf(i) ? width : 0))
      const widest = room.indexOf(Math.max(...room))
      if (room[widest] === 0) break
      widths[widest]! -= 1
    }
  }
  return widths
}

/** One `name: value` a line, values aligned; empty values are left out. */
export function fields(pairs: Readonly<Record<string, unknown>>): string {
  const present = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...present.map(([name]) => name.length + 1))
  return present.map(([name, value]) => `${`${name}:`.padEnd(width)}  ${plain(value)}\n`).join('')
}

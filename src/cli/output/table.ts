import type { Io } from '../../client/io.ts'
import { clip, paint, plain } from '../../client/terminal-text.ts'

const gap = 2

/**
 * Aligned columns under headings; the last column is not padded. On a terminal the widest columns are cut so that a row is one line.
 * Without rows it returns `empty`.
 */
export function table(
  io: Io,
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  empty: string,
): string {
  if (rows.length === 0) return `${empty}\n`
  const cells = rows.map((row) => row.map((cell) => plain(cell) || '-'))
  const natural = headings.map((heading, i) =>
    cells.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), heading.length),
  )
  const hasPrefix = cells.some(([id = '']) => /^\w+[:_]/.test(id))
  const idFloor = hasPrefix ? prefixedIdWidthMin : idWidthMin
  const floorOf = (column: number) => Math.max(headings[column]?.length ?? 0, column === 0 ? idFloor : widthMin)
  const widths = io.columns === undefined ? natural : fitted(natural, floorOf, io.columns)
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => clip(cell, widths[i]!).padEnd(widths[i]!))
      .join(' '.repeat(gap))
      .trimEnd()
  return `${[paint(io, 'bold', line(headings)), ...cells.map(line)].join('\n')}\n`
}

/** A column is not cut below this: states and names stay whole. */
const widthMin = 12
/** Ids in the first column are cut only so far that the rest still names one thing: their first 48 bits are the time. */
const idWidthMin = 16
const prefixedIdWidthMin = 25

/** The widths that fit into a line: the widest column gives way first. Pure. */
export function fitted(natural: readonly number[], floorOf: (column: number) => number, columns: number): number[] {
  const floors = natural.map((width, column) => Math.min(width, floorOf(column)))
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - columns
  while (excess > 0) {
    const room = widths.map((width, i) => (width > floors[i]! ? width : 0))
    const widest = room.indexOf(Math.max(...room))
    if (room[widest] === 0) break
    widths[widest]! -= 1
    excess -= 1
  }
  return widths
}

/** One `name: value` a line, values aligned; empty values are left out. */
export function fields(pairs: Readonly<Record<string, unknown>>): string {
  const present = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...present.map(([name]) => name.length + 1))
  return present.map(([name, value]) => `${`${name}:`.padEnd(width)}  ${plain(value)}\n`).join('')
}

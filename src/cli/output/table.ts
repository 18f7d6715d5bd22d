import type { Io } from '../../client/io.ts'
import { clip, paint, plain, widthOf } from '../../client/terminal-text.ts'
import { isStateColumn, paintState } from './state-colors.ts'

const gap = 2

/**
 * Aligned columns under headings; the last column is not padded. On a terminal a row is one line: if it does not fit, ids are shown by their
 * end, then columns without any value are left out, then those that `least` names, the first one first, and then the widest columns are cut.
 * Without rows it returns `empty`.
 */
export function table(
  io: Io,
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  empty: string,
  least: readonly string[] = [],
): string {
  if (rows.length === 0) return `${empty}\n`
  const cells = rows.map((row) => headings.map((_, i) => plain(row[i]) || '-'))
  const all = [[...headings], ...cells]
  const shown = io.columns === undefined ? all : fitting(all, io.columns, least)
  const natural = widthsOf(shown)
  return padded(io, shown, io.columns === undefined ? natural : fitted(natural, io.columns))
}

function fitting(all: Cells, columns: number, least: readonly string[]): Cells {
  const steps = [withEndsOfIds, withoutEmptyColumns]
  const shorter = steps.reduce((shown, step) => (lengthOf(widthsOf(shown)) > columns ? step(shown) : shown), all)
  return least.reduce((shown, heading) => (readableLength(shown) > columns ? without(shown, heading) : shown), shorter)
}

type Cells = readonly (readonly string[])[]

/** Ids of one minute begin alike. A command takes the end of an id too. */
const withEndsOfIds = (all: Cells): Cells => all.map((row) => row.map(endOfId))

export const endOfId = (cell: string): string => (id.test(cell) ? `…${cell.slice(-8)}` : cell)

const id = /^(\w+[:_])?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function withoutEmptyColumns(all: Cells): Cells {
  const isUsed = all[0]!.map((_, i) => i === 0 || all.slice(1).some((row) => row[i] !== '-'))
  return all.map((row) => row.filter((_, i) => isUsed[i]))
}

function without(all: Cells, heading: string): Cells {
  const index = all[0]!.indexOf(heading)
  return index < 0 ? all : all.map((row) => row.toSpliced(index, 1))
}

const widthsOf = (all: Cells): number[] => all[0]!.map((_, i) => Math.max(...all.map((row) => widthOf(row[i]!))))

function padded(io: Io, [headings = [], ...rows]: Cells, widths: readonly number[]): string {
  const line = (row: readonly string[], painted: (cell: string, column: number) => string) =>
    row
      .map((cell, i) => {
        const text = clip(cell, widths[i]!)
        const space = i === row.length - 1 ? 0 : widths[i]! - widthOf(text) + gap
        return painted(text, i) + ' '.repeat(space)
      })
      .join('')
  const head = paint(
    io,
    'bold',
    line(headings, (cell) => cell),
  )
  const body = rows.map((row) => line(row, (cell, i) => (isStateColumn(headings[i]!) ? paintState(io, cell) : cell)))
  return `${[head, ...body].join('\n')}\n`
}

const lengthOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width + gap, -gap)

/** The columns are cut to these widths in this order: long texts, then the last column, then any, so that states and names stay whole. */
const floors = { text: 16, last: 8, any: 4 } as const

/** The length of a line whose long cells are cut to what can still be read. */
const readableLength = (all: Cells): number => lengthOf(widthsOf(all).map((width) => Math.min(width, readable)))

const readable = 16

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

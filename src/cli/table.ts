import type { Io } from './io.ts'
import { paint, plain } from './terminal-text.ts'

/** Aligned columns under headings; the last column is not padded. Without rows it returns `empty`. */
export function table(
  io: Io,
  headings: readonly string[],
  rows: readonly (readonly unknown[])[],
  empty: string,
): string {
  if (rows.length === 0) return `${empty}\n`
  const cells = rows.map((row) => row.map((cell) => plain(cell) || '-'))
  const widths = headings.map((heading, i) => Math.max(heading.length, ...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  return `${[paint(io, 'bold', line(headings)), ...cells.map(line)].join('\n')}\n`
}

/** One `name: value` a line, values aligned; empty values are left out. */
export function fields(pairs: Readonly<Record<string, unknown>>): string {
  const present = Object.entries(pairs).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const width = Math.max(0, ...present.map(([name]) => name.length + 1))
  return present.map(([name, value]) => `${`${name}:`.padEnd(width)}  ${plain(value)}\n`).join('')
}

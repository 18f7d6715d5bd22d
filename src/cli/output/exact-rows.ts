import type { Io } from '../../client/io.ts'
import { exact, paint } from '../../client/terminal-text.ts'

/** The marks before the first row of a line, and before the rows that continue it. */
interface Margin {
  readonly first: string
  readonly next: string
}

const columnsDefault = 80
const columnsMin = 20
/** More than these that follow each other are counted instead: they would move the rest out of sight. */
const emptyLinesMax = 3
const spacesMax = 80

const emptyLines = new RegExp(String.raw`^(?: *\n){${emptyLinesMax + 1},}`, 'gm')
const spaces = new RegExp(` {${spacesMax + 1},}`, 'g')

/**
 * A text of others as it is, for a person who decides on it: each row has the margin before it, and none is longer than the terminal, which
 * would continue it without one.
 */
export function exactRows(io: Pick<Io, 'columns' | 'color'>, text: string, margin: Margin): string {
  return exact(text, 'lines')
    .replace(emptyLines, (run) => `⟨${run.split('\n').length - 1} empty lines⟩\n`)
    .replace(spaces, (run) => `⟨${run.length} spaces⟩`)
    .split('\n')
    .map((line) => lineRows(io, line, margin))
    .join('')
}

/** One line, of which every character is seen, in the rows of the terminal. */
export function lineRows({ columns, color }: Pick<Io, 'columns' | 'color'>, line: string, margin: Margin): string {
  const widthMax = Math.max(columns || columnsDefault, columnsMin)
  const { first, next } = margin
  let rows = paint({ color }, 'dim', first)
  let width = widest(first)
  for (const character of line) {
    width += widest(character)
    if (width > widthMax) {
      rows += `\n${paint({ color }, 'dim', next)}`
      width = widest(next) + widest(character)
    }
    rows += character
  }
  return `${rows}\n`
}

/** The columns that a text takes at most: which characters take two is the choice of a terminal. */
const widest = (text: string): number => text.length + text.replace(/[ -~]/g, '').length

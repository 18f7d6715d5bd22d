import { summary } from './stats.mjs'

/** A Markdown table with columns that are aligned also as plain text. */
export function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)))
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const [first, ...rest] = cells
  return [line(first), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rest.map(line)].join('\n')
}

/** `4,720 (4,510–4,880)`: the median of the repetitions and their spread. */
export function spread(values, digits = 0) {
  const found = summary(values)
  if (!found) return '–'
  return `${number(found.median, digits)} (${number(found.min, digits)}–${number(found.max, digits)})`
}

export function number(value, digits = 0) {
  if (!Number.isFinite(value)) return '–'
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The share of the machine that others used just before the runs: above a few per cent, the numbers say little. */
export function busyNote(runs) {
  return `Other processes used ${spread(runs.map((run) => run.busy * 100))} % of the machine before the runs.`
}

/** True when the median reaches the bar. `bar` is `{ atLeast }` or `{ atMost }`; without one there is no verdict. */
export function verdict(values, bar) {
  const found = summary(values)
  if (!bar) return ['no bar', '–']
  const [text, reached] =
    bar.atLeast === undefined
      ? [`≤ ${bar.atMost}`, found?.median <= bar.atMost]
      : [`≥ ${bar.atLeast}`, found?.median >= bar.atLeast]
  if (!found) return [text, 'not measured']
  return [text, reached ? 'meets' : 'misses']
}

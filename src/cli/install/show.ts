import { createTwoFilesPatch } from 'diff'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { Harness } from '../../harnesses/harness.ts'
import type { FileResult, FileWork } from './install-files.ts'

/** The changes as a unified diff, as `patch` and `git apply` read it; empty where nothing changes. */
export function diffText(work: readonly FileWork[]): string {
  return work.map(diffOf).join('')
}

function diffOf({ file, plan }: FileWork): string {
  const before = file.text ?? ''
  if (plan.text === before) return ''
  const from = file.text === undefined ? '/dev/null' : file.path
  // Without the line of dashes above the names, which no tool needs.
  return createTwoFilesPatch(from, file.path, before, plan.text, '', '').replace(/^=+\n/, '')
}

/** The text about the changes of the files of a harness, or of the bridge. `written`: the word for a file that was changed. */
export function resultText(
  io: Io,
  { title }: Pick<Harness, 'title'>,
  results: readonly FileResult[],
  written = 'written',
): string {
  const actionWords = { written, unchanged: 'as it was', removed: 'removed' } as const
  const lines = results.flatMap(({ path, holds, action, backup, foreign, changed }) => [
    `  ${actionWords[action].padEnd(9)}  ${plain(path)}${holds === '' ? '' : `  (${holds})`}`,
    ...(backup === undefined ? [] : [`             backup: ${plain(backup)}`]),
    ...(foreign ?? []).map((name) => `             ${plain(name)} was there already, and stays`),
    ...(changed ?? []).map((name) => `             ${plain(name)} was changed since: it stays. Remove it by hand.`),
  ])
  return `${paint(io, 'bold', title)}\n${lines.join('\n')}\n`
}

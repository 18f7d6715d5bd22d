import type { Command } from 'commander'
import type { KeyUse } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { paint, plain } from '../../client/terminal-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { inWordsOf, wordFor } from './problem-words.ts'

/** The known facts of a refused command: the command itself, and the key that it used. */
interface RefusedCall {
  readonly command?: Command | undefined
  readonly keyUse?: KeyUse | undefined
}

/** A refusal for people: the title with its code, the reason, what is allowed, and which key was refused. */
export function problemText(problem: JsonObject, io: Io, { command, keyUse }: RefusedCall): string {
  const { title, code, detail, field, hint } = problem
  const lines = [`${paint(io, 'red', 'error:')} ${plain(title ?? 'The gateway refused the request')}`]
  if (code !== undefined) lines[0] += ` (${plain(code)})`
  const name = typeof field === 'string' ? field : undefined
  if (detail !== undefined && detail !== title) lines.push(`  ${plain(inWordsOf(command, problem))}`)
  if (name !== undefined && !String(detail).startsWith(name))
    lines.push(`  field: ${plain(wordFor(name, command) ?? name)}`)
  if (Array.isArray(problem.allowed))
    lines.push(`  allowed: ${problem.allowed.map((to) => plain(to)).join(', ') || 'none'}`)
  if (hint !== undefined) lines.push(`  ${plain(hint)}`)
  if (keyUse !== undefined) lines.push(`  ${keyText(keyUse)}`)
  return `${lines.join('\n')}\n`
}

function keyText({ source, identity }: KeyUse): string {
  const origin =
    identity === undefined
      ? `The key came from ${plain(source)}.`
      : `The key of ${plain(identity)} was used, from ${plain(source)}.`
  return `${origin} Use another one with --key-file <file> or --profile <name>.`
}

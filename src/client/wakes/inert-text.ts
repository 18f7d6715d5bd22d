import { plain } from '../terminal-text.ts'

/** `@donna`, or `web:@donna` of another project. */
const address = /^(?:[a-z0-9][\w.-]*:)?@[a-z0-9][\w.-]*$/i

/**
 * Returns text of others in which no harness finds the name of a file: Claude Code and others add the file to what their model reads, without
 * asking for a permission, wherever a word begins with `@`. Pure.
 */
export function withoutMentions(text: string): string {
  return text.replace(/(?<![\p{L}\p{N}_])@(?=\S)/gu, '＠')
}

/**
 * Returns text of others as the value of a variable that a command may pass on as a word: one line that begins with a letter, a digit or
 * a space, or the address of an agent. So no program takes it for an option (`-x`), a command (`/x`, `!x`) or a file (`@x`). Pure.
 */
export function inertValue(value: unknown, platform: NodeJS.Platform = process.platform): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const line = plain(value)
  return address.test(line) ? line : inertWord(withoutMentions(line), platform)
}

/** The same for a text of several lines whose beginning is ours. Pure. */
export function inertWord(text: string, platform: NodeJS.Platform = process.platform): string {
  const word = /^[\p{L}\p{N} ]/u.test(text) || text === '' ? text : ` ${text}`
  // cmd.exe, which runs the command there, interprets the content of a variable.
  return platform === 'win32' ? word.replace(/["%!&|<>^()\r\n]/g, ' ') : word
}

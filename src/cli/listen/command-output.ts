import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'

/**
 * Where the output of a command goes. With `--json` standard output has wakes only. A terminal gets it without control characters: a model
 * prints what others have asked it to print, and that moves no cursor and sets no title.
 */
export function commandOutput(io: Io, { json }: Pick<Printer, 'json'>) {
  const shown = (print: (text: string) => void) =>
    io.isTerminal ? (text: string) => print(plain(text, 'lines')) : (text: string) => print(text)
  return { stdout: shown(json ? io.stderr : io.stdout), stderr: shown(io.stderr) }
}

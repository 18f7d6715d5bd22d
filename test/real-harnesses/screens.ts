import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The screen of a terminal: its cursor, and the screen as `capture-pane -e -p` writes it. */
export interface Look {
  readonly cursor: { readonly x: number; readonly y: number }
  readonly screen: string
}

/** Where the tests of the tmux adapter have the screens of real programs. */
const screensDirectory = resolve(import.meta.dirname, '../harnesses/generic/tmux/screens')

/** Keeps a screen as `<name>.txt`, with its cursor in the first line: only where ROUSE_KEEP_SCREENS is set. */
export function keepScreen(name: string, { cursor, screen }: Look): void {
  if (!process.env.ROUSE_KEEP_SCREENS) return
  mkdirSync(screensDirectory, { recursive: true })
  // The paths of a test are of no interest, and have its machine in them.
  const text = screen.replace(/\/[^\s\p{Cc}]*rouse-harnesses\/[^\s\p{Cc}]*/gu, '/home/donna/app').replace(/ +$/gm, '')
  writeFileSync(join(screensDirectory, `${name}.txt`), `${cursor.x} ${cursor.y}\n${text}\n`)
}

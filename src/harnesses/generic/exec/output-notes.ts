import { clip, plain } from '../../../client/terminal-text.ts'

const lineMax = 500
const linesMax = 100

/** Passes what a command prints on, a line each and a bounded number of them. */
export function outputNotes(note: (text: string) => void) {
  let rest = ''
  let count = 0
  const tell = (line: string): void => {
    if (line.trim() === '' || count > linesMax) return
    count++
    note(count > linesMax ? '  … (the command prints more)' : `  ${clip(plain(line), lineMax)}`)
  }
  return {
    add(text: string): void {
      const lines = (rest + text).split('\n')
      // A line without an end is not gathered without one.
      rest = lines.pop()!.slice(0, lineMax)
      lines.forEach(tell)
    },
    end(): void {
      tell(rest)
      rest = ''
    },
  }
}

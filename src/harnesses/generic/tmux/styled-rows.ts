/** A character on a screen. */
interface Cell {
  readonly char: string
  /** Drawn faint: how programs show a placeholder, which a user has not typed. */
  readonly isDim: boolean
  /** Drawn inverse: how some draw their cursor. */
  readonly isInverse: boolean
}

export type Row = readonly Cell[]

/** The sequences that `capture-pane -e` writes: SGR, links (OSC 8), and shifts of the character set. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const sequence = /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[^@-~]*[@-~]|\x1b.|[\0-\t\v-\x1f]/gu

/** Returns the rows of `capture-pane -e -p`. A style goes on in the next row until it ends. Pure. */
export function styledRows(captured: string): Row[] {
  let style = { isDim: false, isInverse: false }
  return captured
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const row: Cell[] = []
      let at = 0
      const addTo = (end: number): void => {
        for (const char of line.slice(at, end)) row.push({ char, ...style })
      }
      for (const match of line.matchAll(sequence)) {
        addTo(match.index)
        if (match[1] !== undefined) style = styleAfter(style, match[1])
        at = match.index + match[0].length
      }
      addTo(line.length)
      return row
    })
}

export const textOf = (row: Row): string => row.map(({ char }) => char).join('')

function styleAfter(style: Pick<Cell, 'isDim' | 'isInverse'>, codes: string): Pick<Cell, 'isDim' | 'isInverse'> {
  let { isDim, isInverse } = style
  const numbers = codes.split(';')
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i]!
    if (code === '' || code === '0') isDim = isInverse = false
    else if (code === '2') isDim = true
    else if (code === '22') isDim = false
    else if (code === '7') isInverse = true
    else if (code === '27') isInverse = false
    // The numbers that follow are a colour: 38;5;N or 38;2;R;G;B.
    else if (['38', '48', '58'].includes(code)) i += numbers[i + 1] === '5' ? 2 : numbers[i + 1] === '2' ? 4 : 0
  }
  return { isDim, isInverse }
}

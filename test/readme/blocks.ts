import { spawnSync } from 'node:child_process'

/** A fenced block of a document, and what a reader makes of it. */
interface Block {
  readonly language: string
  /** Each command as it is typed; one may have several lines. */
  readonly commands: readonly string[]
  /** Where the text before it says to type it ("Terminal 2"), else where the block before was typed. */
  readonly terminal: number
}

/** The fenced blocks of a document in order. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let terminal = 1
  let end = 0
  for (const fence of markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const [whole, language = '', text = ''] = fence
    const named = [...markdown.slice(end, fence.index).matchAll(/terminal (\d)/gi)].at(-1)
    end = fence.index + whole.length
    if (named) terminal = Number(named[1])
    blocks.push({ language, commands: language === 'sh' ? commandsOf(text) : [], terminal })
  }
  return blocks
}

/** A line that the shell does not take for a whole command goes on in the next one. */
function commandsOf(text: string): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of text.split('\n')) {
    open += open ? `\n${line}` : line
    if (!open.trim()) open = ''
    if (
      !open ||
      open.endsWith('\\') ||
      spawnSync('sh', ['-n', '-c', open.replaceAll(/<\w+>/g, 'placeholder')]).status !== 0
    )
      continue
    commands.push(open)
    open = ''
  }
  if (open) throw new Error(`The shell never takes this for a whole command: ${open}`)
  return commands
}

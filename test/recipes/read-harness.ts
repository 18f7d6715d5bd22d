import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A command line as its harness takes it apart. */
export interface Found {
  readonly name: string
  readonly words: readonly string[]
  readonly options: readonly string[]
  readonly subcommands: readonly string[]
  readonly commands: readonly string[]
  readonly files: readonly string[]
  readonly prompt: string
}

/** Options whose value may be the next word, and names that are a sub-command in the place of the prompt. */
interface Harness {
  readonly words?: readonly string[]
  readonly valued: readonly string[]
  readonly subcommands?: readonly string[]
  readonly isCommand?: (prompt: string) => boolean
  readonly attaches?: boolean
  readonly readsInputFor?: string
}

const harnesses: Record<string, Harness> = {
  claude: {
    valued: ['--settings', '--mcp-config', '--model', '--add-dir', '--allowedTools', '--append-system-prompt'],
    subcommands: ['mcp', 'update', 'doctor', 'install', 'config', 'agents'],
    isCommand: (prompt) => /^\/\w/.test(prompt),
    attaches: true,
  },
  codex: {
    words: ['exec'],
    valued: ['-c', '--config', '-m', '--model', '-C', '--cd', '-p', '--profile'],
    subcommands: ['resume', 'review', 'help'],
    readsInputFor: '-',
  },
  opencode: { words: ['run'], valued: ['--model', '--agent', '--attach', '--dir', '--command', '--session'] },
  gemini: { valued: ['-m', '--model'], isCommand: (prompt) => /^[/?]/.test(prompt), attaches: true },
  qwen: { valued: ['-m', '--model'], isCommand: (prompt) => /^[/?]/.test(prompt), attaches: true },
}

export const harnessNames = Object.keys(harnesses)

/** What each stand-in of a directory was started with, as its harness would take it. */
export function readStandIns(log: string): Found[] {
  const runs = readdirSync(log).filter((name) => name.endsWith('.words'))
  return runs.map((words) => {
    const [name, ...argv] = readFileSync(join(log, words), 'utf8').split('\0').slice(0, -1)
    return takeApart(name as string, argv, readFileSync(join(log, words.replace(/words$/, 'input')), 'utf8'))
  })
}

function takeApart(name: string, argv: readonly string[], input: string): Found {
  const { words = [], valued, subcommands = [], isCommand, attaches, readsInputFor } = harnesses[name] as Harness
  const found = { words: [] as string[], options: [] as string[], subcommands: [] as string[] }
  const texts: string[] = []
  const rest = [...argv]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') texts.push(...rest.splice(0))
    else if (arg.startsWith('-') && arg !== '-')
      found.options.push(arg, ...(valued.includes(arg) ? rest.splice(0, 1) : []))
    else if (texts.length === 0 && words.includes(arg)) found.words.push(arg)
    else if (texts.length === 0 && subcommands.includes(arg)) found.subcommands.push(arg)
    else texts.push(arg)
  }
  if (readsInputFor === undefined) texts.push(input)
  else if (texts.length === 0 || texts[0] === readsInputFor) texts.splice(0, 1, input)
  const prompt = texts.join('\n').replace(/^\n|\n$/g, '')
  const attached = [...prompt.matchAll(/(?:^|\s)@("[^"]+"|\S+)/g)].map(([, file]) => file as string)
  return { name, ...found, commands: isCommand?.(prompt) ? [prompt] : [], files: attaches ? attached : [], prompt }
}

// Stands in for the harness under whose name it was started: takes apart its arguments and its prompt as that one does, and writes down
// what it took for an option, a sub-command, a command or a file. STAND_IN_LOG: where, a line of JSON for each run.
import { appendFileSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isatty } from 'node:tty'

/** Options whose value may be the next word, and names that are a sub-command in the place of the prompt. */
const harnesses = {
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

const name = basename(process.argv[1])
const { words = [], valued, subcommands = [], isCommand, attaches, readsInputFor } = harnesses[name]
const found = { name, words: [], options: [], subcommands: [], commands: [], files: [], prompt: '' }

const texts = []
const rest = process.argv.slice(2)
for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
  if (arg === '--') texts.push(...rest.splice(0))
  else if (arg.startsWith('-') && arg !== '-') {
    found.options.push(arg)
    if (valued.includes(arg)) found.options.push(rest.shift())
  } else if (texts.length === 0 && words.includes(arg)) found.words.push(arg)
  else if (texts.length === 0 && subcommands.includes(arg)) found.subcommands.push(arg)
  else texts.push(arg)
}
// `process.stdin` would read without blocking, and find nothing where the writer is slower.
const input = isatty(0) ? '' : readFileSync(0, 'utf8')
if (readsInputFor === undefined) texts.push(input)
else if (texts.length === 0 || texts[0] === readsInputFor) texts.splice(0, 1, input)

found.prompt = texts.join('\n').replace(/^\n|\n$/g, '')
if (isCommand?.(found.prompt)) found.commands.push(found.prompt)
if (attaches) found.files.push(...[...found.prompt.matchAll(/(?:^|\s)@("[^"]+"|\S+)/g)].map(([, file]) => file))
appendFileSync(process.env.STAND_IN_LOG, `${JSON.stringify(found)}\n`)
console.log('Looks good.')
process.exitCode = found.prompt === '' ? 1 : 0

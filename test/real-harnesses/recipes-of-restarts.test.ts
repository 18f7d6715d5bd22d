import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { codexConfig } from './codex-config.ts'
import { trustHooks } from './codex-server.ts'
import { opencodeConfig, opencodeQuiet } from './opencode-config.ts'
import { program } from './programs.ts'
import { hasTerminal } from './terminal.ts'
import { openUserDesk } from './user-desk.ts'

type Desk = Awaited<ReturnType<typeof openUserDesk>>

/** A harness whose recipe docs/harnesses.md has. */
interface Tried {
  readonly harness: 'codex' | 'opencode'
  readonly dialect: Parameters<typeof openUserDesk>[0]
  readonly recipe: object
  readonly prepare: (desk: Desk, path: string) => Promise<void>
}

const tried: readonly Tried[] = [
  {
    harness: 'codex',
    dialect: {
      tool: (name, input) => ({ tool: name, namespace: 'mcp__rouse', input: { ...input } }),
      askUser: { tool: 'exec_command', input: { cmd: 'true' } },
    },
    recipe: { command: ['codex'], prompt: 'argument', terminal: 'tmux' },
    prepare: async ({ office, model }, path) => {
      office.env.CODEX_HOME = office.at('codex')
      office.write('codex/config.toml', codexConfig(model.url, office.at('project'), 'on-request'))
      const install = await office.rouse('install', 'codex', '--profile', office.profile, '--approve-tools')
      expect([install.code, install.stderr]).toEqual([0, ''])
      await trustHooks(path, office.at('project'), office.env)
    },
  },
  {
    harness: 'opencode',
    dialect: {
      tool: (name, input) => ({ tool: `rouse_${name}`, input: { ...input } }),
      askUser: { tool: 'bash', input: { command: 'true', description: 'do nothing' } },
    },
    recipe: { command: ['opencode', '--prompt'], prompt: 'argument', terminal: 'tmux', settleSeconds: 20 },
    prepare: async ({ office, model }) => {
      Object.assign(office.env, opencodeQuiet)
      office.write('.config/opencode/opencode.jsonc', opencodeConfig(model.url))
      const install = await office.rouse('install', 'opencode', '--profile', office.profile)
      expect([install.code, install.stderr]).toEqual([0, ''])
    },
  },
]

describe.each(tried.filter(({ harness }) => program(harness) !== undefined && hasTerminal()))(
  'The recipe for $harness in tmux',
  ({ harness, dialect, recipe, prepare }) => {
    test('is proven: a new process, a new session from it, and its first act', { timeout: 300_000 }, async () => {
      const desk = await openUserDesk(dialect)
      const { office, model } = desk
      const path = program(harness)!
      // A server of tmux of its own.
      office.env.TMUX_TMPDIR = office.at('tmp')
      office.env.PATH = [dirname(path), office.env.PATH].join(delimiter)
      let pid: number | undefined
      try {
        await prepare(desk, path)
        desk.configure(harness, { restart: { harness, cwd: office.at('project'), ...recipe } })
        await desk.startBridge()
        const proving = office.rouse('recovery', 'prove', '@donna')
        await until(() => model.holding.length > 0, Boolean, 120_000)
        // OpenCode has no hooks that say that a turn runs: the model does what the boot prompt says.
        if (harness === 'opencode') {
          const set = () => office.rouse('presence', 'set', 'active', '--profile', office.profile)
          await until(set, ({ code }) => code === 0, 60_000)
        }
        const proof = await proving
        const { agents } = JSON.parse((await office.rouse('bridge', 'status', '--json')).stdout)
        pid = agents[0].restart.pid
        console.log(`${harness}: ${proof.stdout.trim()}`)
        expect(proof).toMatchObject({ code: 0, stdout: expect.stringContaining('@donna: proven') })
        expect(model.turnsWith('Rouse has started this session for @donna (proof of the recipe)')).toBe(1)
      } finally {
        try {
          execFileSync('tmux', ['kill-server'], { env: office.env, stdio: 'ignore' })
        } catch {
          // It has ended with its last window.
        }
        await until(
          () => pid !== undefined && existsSync(`/proc/${pid}`),
          (is) => !is,
        )
        await desk[Symbol.asyncDispose]()
      }
    })
  },
)

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { prepareClaude } from './claude-config.ts'
import { claudeDialect } from './claude-desk.ts'
import { claudeProgram } from './programs.ts'
import { hasTerminal } from './terminal.ts'
import { openUserDesk } from './user-desk.ts'

const claude = claudeProgram()
const bootText = 'Rouse has started this session for @donna'
/** A session must be gone for two minutes, and two looks of the gateway, half a minute apart, must find it gone. */
const restartMaxMs = 8 * 60_000

/** A user whose bridge has a recipe for Claude Code in tmux, and who has no terminal open. */
async function openRestartDesk() {
  const desk = await openUserDesk(claudeDialect)
  const { office, model } = desk
  prepareClaude(office, claude!, model.url)
  // A server of tmux of its own.
  office.env.TMUX_TMPDIR = office.at('tmp')
  const install = await office.rouse('install', 'claude', '--profile', office.profile, '--approve-tools', '--bridge')
  expect([install.code, install.stderr]).toEqual([0, ''])
  const recipe = { harness: 'claude', command: [claude], cwd: office.at('project'), prompt: 'argument' }
  desk.configure('claude', { restart: { ...recipe, terminal: 'tmux', settleSeconds: 2 } })
  await desk.startBridge()
  const pids: number[] = []
  return {
    ...desk,
    /** Resolves with the process that was started, once its model has the text that its session begins with. It waits. */
    begun: async (text: string, timeoutMs?: number): Promise<number> => {
      await until(() => model.holding.length > 0 && model.turnsWith(text) === 1, Boolean, timeoutMs)
      const { agents } = JSON.parse((await office.rouse('bridge', 'status', '--json')).stdout)
      const { pid } = agents[0].restart
      pids.push(pid)
      return pid
    },
    async [Symbol.asyncDispose]() {
      try {
        execFileSync('tmux', ['kill-server'], { env: office.env, stdio: 'ignore' })
      } catch {
        // It has ended with its last window.
      }
      for (const pid of pids) await isGone(pid)
      await desk[Symbol.asyncDispose]()
    },
  }
}

const isGone = (pid: number) =>
  until(
    () => existsSync(`/proc/${pid}`),
    (is) => !is,
  )

describe.skipIf(claude === undefined || !hasTerminal())('A bridge with a recipe for Claude Code', () => {
  test('proves it, and starts it anew when its session is gone', { timeout: 2 * restartMaxMs }, async () => {
    await using desk = await openRestartDesk()
    const { gateway, model, office } = desk
    const gate = { restarts: 'enabled', settings: { staleAfterSeconds: 60 } }
    expect((await gateway.call('PATCH', '/v1/gate', gate)).status).toBe(200)
    const proving = office.rouse('recovery', 'prove', '@donna')
    const first = await desk.begun(`${bootText} (proof of the recipe)`)
    expect(await proving).toMatchObject({ code: 0 })
    model.release()

    process.kill(first, 'SIGTERM')
    await isGone(first)
    const id = await desk.send('The first mail')
    const second = await desk.begun(`${bootText} (restart 1)`, restartMaxMs)
    expect(second).not.toBe(first)
    model.release()
    expect(await desk.answered(id)).toBe(1)
    const recovery = async () => (await gateway.call('GET', '/v1/recovery?agent=@donna')).body.recovery[0]
    await until(recovery, ({ inFlight }) => inFlight === null, 90_000)
    expect(await recovery()).toMatchObject({ epoch: 1, abandoned: 0, actsLastHour: { restarts: 1 } })
    expect(model.turnsWith(bootText)).toBe(2)
  })
})

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { tmuxRow } from '../../src/harnesses/generic/tmux/tmux-adapter.ts'
import { qwenRow } from '../../src/harnesses/qwen/adapter/qwen-adapter.ts'
import { attempt, aWake, contextOf } from '../harnesses/adapter-tools.ts'
import { hasTmux } from '../harnesses/generic/tmux/terminal.ts'
import { until } from '../support/until.ts'
import { startFakeModel } from './fake-model.ts'
import { openOffice } from './office.ts'
import { program } from './programs.ts'

const qwen = program('qwen')
const never = new AbortController().signal
const settings = {
  telemetry: { enabled: false },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false },
}

/** Qwen Code in a terminal of tmux, with a model on loopback. */
async function openTui() {
  const office = await openOffice()
  const model = await startFakeModel((_request, number) => ({ text: `answer ${number}` }))
  Object.assign(office.env, {
    OPENAI_API_KEY: 'x',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'mock-model',
    TERM: 'screen-256color',
  })
  office.write('.qwen/settings.json', JSON.stringify({ ...settings, $version: 4 }))
  const minted = await office.run(process.execPath, [qwen!, 'sessions', 'controllers', 'add', '--label', 'rouse'])
  office.write('controller.token', /qpc_[0-9a-f]{64}/.exec(minted.stdout)![0], 0o600)
  const socketPath = office.at('tmux.sock')
  const tmux = (...argv: string[]) =>
    execFileSync('tmux', ['-u', '-S', socketPath, '-f', '/dev/null', ...argv], { encoding: 'utf8', env: office.env })
  tmux(
    'new-session',
    '-d',
    '-x',
    '110',
    '-y',
    '36',
    '-c',
    office.at('project'),
    process.execPath,
    qwen!,
    '--auth-type',
    'openai',
  )
  const screen = () => tmux('capture-pane', '-p')
  return {
    office,
    model,
    socketPath,
    screen,
    type: (text: string) => tmux('send-keys', '-l', text),
    mentions: (wakeId: string) => model.requests.filter(({ text }) => text.includes(wakeId)).length,
    async [Symbol.asyncDispose]() {
      // It writes to its home until it has ended.
      const sessions = readdirSync(office.at('.qwen', 'sessions')).map((name) => Number.parseInt(name, 10))
      const pids = [...sessions, Number(tmux('list-panes', '-F', '#{pane_pid}'))]
      tmux('kill-server')
      await until(
        () => pids.filter(isAlive),
        (alive) => alive.length === 0,
      )
      await model[Symbol.asyncDispose]()
      await office[Symbol.asyncDispose]()
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.skipIf(qwen === undefined || !hasTmux)('Qwen Code in a terminal', () => {
  test('takes the message of a trusted controller, beside a draft too, and once', async () => {
    await using tui = await openTui()
    const { office } = tui
    const { context } = contextOf({
      env: office.env,
      settings: { home: office.at('.qwen'), controllerTokenFile: office.at('controller.token') },
      directories: [office.at('project')],
    })
    await using adapter = qwenRow.create(context)
    const { sessions } = await until(
      () => adapter.probe(never),
      (probe) => probe.sessions.length === 1,
      60_000,
    )
    await until(tui.screen, (screen) => screen.includes('Type your message'), 60_000)
    const wake = aWake()
    const startedAt = performance.now()
    const end = await adapter.wake(sessions[0]!, wake, attempt({}, 'delivered').tools)
    expect(end).toMatchObject({ step: 'delivered' })
    console.log(`qwen: delivered after ${Math.round(performance.now() - startedAt)} ms`)
    await until(
      () => tui.mentions(wake.id),
      (times) => times > 0,
    )
    console.log(`qwen: the model was prompted after ${Math.round(performance.now() - startedAt)} ms`)
    const requests = tui.mentions(wake.id)
    await until(tui.screen, (screen) => screen.includes('answer') && screen.includes('Type your message'))
    expect(await adapter.wake(sessions[0]!, wake, attempt({}, 'delivered').tools)).toMatchObject({ step: 'delivered' })
    tui.type('half a thought')
    await until(tui.screen, (screen) => screen.includes('half a thought'))
    const second = aWake()
    expect(await adapter.wake(sessions[0]!, second, attempt({}, 'delivered').tools)).toMatchObject({
      step: 'delivered',
    })
    await until(
      () => tui.mentions(second.id),
      (times) => times > 0,
    )
    expect(tui.model.requests.filter(({ text }) => text.includes(wake.id) && !text.includes(second.id))).toHaveLength(
      requests,
    )
    expect(tui.screen()).toContain('half a thought')
  })

  test('its screen is read, and a line is typed into it', async () => {
    await using tui = await openTui()
    const { office, socketPath } = tui
    const { context } = contextOf({ env: office.env, settings: { socketPath }, directories: [office.at('project')] })
    await using adapter = tmuxRow.create(context)
    await until(tui.screen, (screen) => screen.includes('Type your message'), 60_000)
    const { sessions } = await until(
      () => adapter.probe(never),
      (probe) => probe.sessions[0]?.state === 'idle',
    )
    const wake = aWake()
    expect(await adapter.wake(sessions[0]!, wake, attempt({}, 'written').tools)).toMatchObject({ step: 'written' })
    await until(
      () => tui.mentions(wake.id),
      (times) => times > 0,
    )
    await until(tui.screen, (screen) => screen.includes('Type your message'))
    tui.type('half a thought')
    await until(
      async () => (await adapter.probe(never)).sessions[0]?.state,
      (state) => state === 'userTyping',
    )
    expect(await adapter.wake(sessions[0]!, aWake(), attempt().tools)).toMatchObject({ step: 'held' })
    expect(tui.screen()).toContain('half a thought')
  })
})

import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess } from '../../../src/bridge/restart/start-process.ts'

/** Stands for the bridge of a service: the first one starts a harness plainly, and one in tmux, and writes down their processes. */
const directory = process.env.ROUSE_TEST_DIRECTORY!
const started = join(directory, 'started')
if (!existsSync(started)) {
  const recipe = { command: ['/bin/sleep', '600'], cwd: directory, env: {}, settleMs: 1000, harness: 'codex' }
  for (const terminal of [undefined, 'tmux']) {
    await startProcess({ ...recipe, prompt: 'argument', ...(terminal ? { terminal } : {}) } as never, {
      prompt: '1',
      env: process.env,
      profile: 'donna',
      name: 'rouse-donna-1',
      directory,
      recorded: (pid) => appendFileSync(started, `${pid}\n`),
    })
  }
}
appendFileSync(join(directory, 'lives'), 'one\n')
process.on('SIGTERM', () => process.exit(143))
setInterval(() => {}, 1000)

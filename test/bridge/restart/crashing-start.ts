import { writeSync } from 'node:fs'
import { Journal } from '../../../src/bridge/journal/journal.ts'
import type { RecoveryCalls } from '../../../src/bridge/recovery/recovery-calls.ts'
import { recipeHash } from '../../../src/bridge/restart/recipe.ts'
import { Restarts } from '../../../src/bridge/restart/restarts.ts'
import { systemClock } from '../../../src/lib/clock.ts'

/** The restarts of one agent in a process of its own, which is killed somewhere in the middle of one. */
const [path = '', recipe = '{}'] = process.argv.slice(2)
const journal = Journal.open({ path, now: Date.now, note: () => {} })
const restart = JSON.parse(recipe)
const agent = { profile: { name: 'donna', identity: '@donna', url: 'http://127.0.0.1:1', key: 'k' }, restart }
const deadlineAt = Date.now() + 60_000
const calls = { begin: async () => ({ deadlineAt }), report: async () => {} } as unknown as RecoveryCalls
journal.starts.saveProof('@donna http://127.0.0.1:1', recipeHash(restart))
const restarts = new Restarts({
  agent: agent as never,
  journal,
  calls,
  session: async () => undefined,
  open: async () => [],
  env: process.env,
  clock: systemClock,
  note: (text) => void writeSync(2, `${text}\n`),
})
const { signal } = new AbortController()
await restarts.settle(signal)
writeSync(1, 'begins\n')
await restarts.carryOut({ epoch: 7, mode: 'restart', deadlineAt }, signal)
writeSync(1, 'ends\n')

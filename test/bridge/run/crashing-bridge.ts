import { appendFileSync, writeSync } from 'node:fs'
import { startBridge, workplace } from './bridge-desk.ts'
import { FakeHarness } from './fake-harness.ts'

/** A bridge in a process of its own, which hangs in the middle of a hand-over until it is killed. */
const [url = '', key = '', home = '', acts = '', point = ''] = process.argv.slice(2)

const harness = new FakeHarness()
harness.set({ cwd: workplace(home) })
harness.onWake = async (_session, wake, tools) => {
  await tools.handingOver('queue')
  if (point === 'after the act') appendFileSync(acts, `${wake.id}\n`)
  writeSync(1, 'reached\n')
  return new Promise(() => {})
}
await startBridge({ gateway: { url }, agents: [{ handle: 'donna', key }], rows: [harness.row()], home })

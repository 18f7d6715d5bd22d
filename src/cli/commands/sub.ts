import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { registerSubAdd } from './sub-add.ts'
import { registerSubDeliveries } from './sub-deliveries.ts'
import { registerSubList } from './sub-list.ts'
import { registerSubResync } from './sub-resync.ts'
import { registerSubRm } from './sub-rm.ts'
import { registerSubShow } from './sub-show.ts'
import { registerSubTest } from './sub-test.ts'
import { registerSubUpdate } from './sub-update.ts'

export function registerSub(program: Command, io: Io): void {
  const sub = program.command('sub').description('manage wake subscriptions: which events reach which webhook')
  registerSubAdd(sub, io)
  registerSubList(sub, io)
  registerSubShow(sub, io)
  registerSubUpdate(sub, io)
  registerSubRm(sub, io)
  registerSubResync(sub, io)
  registerSubTest(sub, io)
  registerSubDeliveries(sub, io)
}

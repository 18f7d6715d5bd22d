import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { addStoreOptions, readStoreConfig, type StoreOptions } from '../operator/store-options.ts'
import { integer } from '../options/option-values.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

const overlapMaxSeconds = 30 * 24 * 60 * 60

export function registerAdminKey(parent: Command, io: Io): void {
  const group = parent.command('admin-key').description("the operator's key")
  const command = group
    .command('rotate')
    .description('make a new admin key; running gateways accept it at once, and the old one for a while')
    .option('--overlap <seconds>', 'how long the old key is accepted', integer(0, overlapMaxSeconds), 24 * 60 * 60)
  addStoreOptions(command)
  command.addOption(jsonOption())
  withExamples(command, [
    'rouse admin-key rotate',
    'rouse admin-key rotate --overlap 0       # the old key has leaked',
  ]).action(async (options: StoreOptions & { overlap: number }, command: Command) => {
    const [config, { rotateAdmin }] = await Promise.all([
      readStoreConfig(io, options),
      import('../operator/rotate-keys.ts'),
    ])
    const print = createPrinter(io, commonOptions(command).json === true)
    await rotateAdmin(config, { overlapMs: options.overlap * 1000, print })
  })
}

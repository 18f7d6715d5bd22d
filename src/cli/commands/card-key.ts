import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { addStoreOptions, readStoreConfig, type StoreOptions } from '../operator/store-options.ts'
import { integer } from '../options/option-values.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

interface CardKeyOptions extends StoreOptions {
  now?: boolean
  keepDays: number
}

export function registerCardKey(parent: Command, io: Io): void {
  const group = parent
    .command('card-key')
    .description('the key that signs agent cards and the tokens of push notifications')
  const command = group
    .command('rotate')
    .description('make a new card key; it is published at once, and signs ten minutes later')
    .option('--keep-days <days>', 'how long the old public key stays published', integer(0, 3_650), 30)
    .option('--now', 'sign with the new key at once: clients that have cached the old keys must fetch them again')
  addStoreOptions(command)
  command.addOption(jsonOption())
  withExamples(command, [
    'rouse card-key rotate',
    'rouse card-key rotate --now --keep-days 0   # the old key has leaked',
  ]).action(async (options: CardKeyOptions, command: Command) => {
    const [config, { rotateCard }] = await Promise.all([
      readStoreConfig(io, options),
      import('../operator/rotate-keys.ts'),
    ])
    const print = createPrinter(io, commonOptions(command).json === true)
    await rotateCard(config, { isUrgent: options.now === true, keepSeconds: options.keepDays * 86_400, print })
  })
}

import type { Command } from 'commander'
import type { Io } from '../../client/io.ts'
import { createPrinter } from '../../client/printer.ts'
import { addStoreOptions, readStoreConfig, type StoreOptions } from '../operator/store-options.ts'
import { createProgress } from '../output/progress.ts'
import { commonOptions, jsonOption, withExamples } from '../run/client-command.ts'

interface RekeyOptions extends StoreOptions {
  newKey?: boolean
  abandonLost?: boolean
}

export function registerRekey(parent: Command, io: Io): void {
  const command = parent
    .command('rekey')
    .description('encrypt every stored secret with the newest encryption key; then the older keys can be removed')
    .option('--new-key', "make a new key that replaces the data directory's encryption.key")
    .option('--abandon-lost', 'delete secrets whose keys are lost, so that the gateway can start')
  addStoreOptions(command)
  command.addOption(jsonOption())
  withExamples(command, [
    'rouse rekey --new-key                          # the embedded store, while its gateway is stopped',
    'ROUSE_ENCRYPTION_KEY="<new> <old>" rouse rekey # PostgreSQL, while its gateways run with the same list',
  ])
    .addHelpText('after', `\n${rekeyHelp}`)
    .action(async (options: RekeyOptions, command: Command) => {
      const [config, { rekeyStore }, { systemClock }] = await Promise.all([
        readStoreConfig(io, options),
        import('../operator/rekey-store.ts'),
        import('../../lib/clock.ts'),
      ])
      const json = commonOptions(command).json === true
      const print = createPrinter(io, json)
      const progress = createProgress(io, { noun: 'subscriptions', json })
      const { newKey = false, abandonLost: abandonsLost = false } = options
      await rekeyStore(config, { newKey, abandonsLost, clock: systemClock, print, progress, signal: io.signal })
    })
}

const rekeyHelp = `With several gateways: first add the new key after the old one on every gateway, then put it before the old one, then run this command, then remove the old key.
If it is interrupted, run it again: it continues where it stopped.`

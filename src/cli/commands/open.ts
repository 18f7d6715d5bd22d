import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { openBrowser } from '../open/browser.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** `rouse open` */
export function registerOpen(parent: Command, io: Io): void {
  clientCommand(parent, 'open', "print a link that signs you in on the gateway's page, once and within a minute", [
    'rouse open',
    'rouse open --browser',
  ])
    .option('--browser', 'open it in the browser of this machine, instead of printing it')
    .action(async ({ browser = false }: { browser?: boolean }, command: Command) => {
      if (browser && io.isTerminal !== true) {
        throw new UsageError('--browser needs a terminal: without one, rouse open prints the link.')
      }
      const { gateway, print } = connect(io, command)
      const { path, expiresAt } = await gateway.call('POST /v1/sign-in-codes')
      const inProject = gateway.project === undefined ? '' : `?${new URLSearchParams({ project: gateway.project })}`
      const link = gateway.url + path + inProject
      if (browser && (await openBrowser(link, io))) return print.result({ expiresAt }, () => 'Opened in the browser.\n')
      if (browser) print.note('No browser could be started here. Open the link yourself.')
      print.result({ link, expiresAt }, () => `${plain(link)}\n`)
      print.note('It signs in once, within a minute, with all that your key may do: give it to nobody else.')
    })
}

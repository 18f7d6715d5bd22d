import { prepareFetch } from '../../client/client-fetch.ts'
import type { Io } from '../../client/io.ts'
import type { Printer } from '../../client/printer.ts'
import { plain } from '../../client/terminal-text.ts'
import { retryForOfPrograms } from '../../words/targets.ts'
import type { Adapters } from '../adapter.ts'
import { openConfig } from '../config/open-config.ts'
import { Journal } from '../journal/journal.ts'
import { journalPath } from '../journal/journal-path.ts'
import { startLocalServer } from '../local/server.ts'
import { runBridge } from './bridge.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'

/** Runs the bridge of the user's configuration until the signal aborts. Errors: of the configuration, the journal and the socket, each with its remedy. */
export async function startBridge(
  io: Io,
  configOption: string | undefined,
  adapters: Adapters,
  print: Printer,
): Promise<void> {
  await prepareFetch()
  const { config, rows } = await openConfig(io, configOption, adapters)
  const now = () => Date.now()
  const note = (text: string) => print.note(plain(text))
  using journal = Journal.open({ path: journalPath(io.env), now, note })
  const count = config.agents.length
  note(`Bridging ${count === 1 ? '1 agent' : `${count} agents`} of ${config.path} (Ctrl-C stops)`)
  const noteReceipt = (agent: string, receipt: OutgoingReceipt) =>
    print.item({ agent, ...receipt }, () => receiptLine(agent, receipt))
  await runBridge({ config, rows, journal, startLocal: startLocalServer, io, now, note, noteReceipt })
}

const tried = `(tried again for up to ${retryForOfPrograms / 3_600} hours)`

function receiptLine(agent: string, { at, eventId, step, source, detail }: OutgoingReceipt): string {
  // The source of a proof ends with what it proved.
  const why = [source, source?.endsWith(detail ?? '') ? undefined : detail]
    .filter(Boolean)
    .map((text) => plain(text))
    .join(': ')
  return [at, agent, eventId, step, why, step === 'failed' ? tried : ''].filter(Boolean).join('  ')
}

import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { Io } from '../../client/io.ts'
import type { NeedView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { duration } from '../options/key-options.ts'
import { when } from '../output/when.ts'
import { clientCommand, connect } from '../run/client-command.ts'

/** Shorter ends of ids would mean anything. */
const lengthMin = 4
/** A UUID is shorter than a longer text. */
const wholeIdMin = 36

/** `rouse snooze` */
export function registerSnooze(parent: Command, io: Io): void {
  clientCommand(parent, 'snooze <need>', 'put off what waits for a person (rouse needs shows the ids)', [
    'rouse snooze 94eeca73 4h',
    'rouse snooze gate:@donna --off',
  ])
    .argument('[time]', 'for how long, up to 30d, for example 30m, 4h or 2d (default: 1h)', duration, 3_600)
    .option('--off', 'end it')
    .action(async (given: string, seconds: number, { off }: { off?: true }, command: Command) => {
      const { gateway, print } = connect(io, command)
      const { needs } = await gateway.call('GET /v1/needs', { query: {} })
      // One that is not listed is found by its whole id.
      const id = given.length > wholeIdMin ? given : oneOf(needs, given).id
      const until = off ? null : new Date(Date.now() + seconds * 1_000).toISOString()
      const done = await gateway.call('POST /v1/needs/snooze', { body: { need: id, until } })
      print.result(done, () =>
        done.snoozedUntil === null ? 'It is not put off any more.\n' : `Put off: ${when(io, done.snoozedUntil)}.\n`,
      )
    })
}

/** The need with an id, or with the beginning or the end of the id of its thing. */
function oneOf(needs: readonly NeedView[], given: string): NeedView {
  const isMeant = (text: string | undefined) =>
    text !== undefined &&
    given.length >= lengthMin &&
    (text.includes(`:${given}`) || text.startsWith(given) || text.endsWith(given))
  const exact = needs.find(({ id }) => id === given)
  const found = exact
    ? [exact]
    : needs.filter(({ id, taskId, messageId, sessionId, subscriptionId }) =>
        [id, taskId, messageId, sessionId, subscriptionId].some(isMeant),
      )
  if (found.length === 1) return found[0]!
  const list = found.map(({ id }) => `  ${plain(id)}`).join('\n')
  throw new UsageError(
    found.length === 0
      ? `Nothing with the id ${plain(given)} waits for a person: rouse needs --all lists what does.`
      : `${plain(given)} is the id of several needs:\n${list}`,
  )
}

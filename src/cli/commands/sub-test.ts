import type { Command } from 'commander'
import { clientCommand, connect } from '../client-command.ts'
import { pathOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { plain } from '../terminal-text.ts'
import { type AttemptView, attemptText } from '../views/delivery-view.ts'

type TestAnswer = AttemptView & { attempt?: AttemptView; attempts?: AttemptView[]; eventId?: string }

export function registerSubTest(parent: Command, io: Io): void {
  clientCommand(parent, 'test <id>', 'send a signed test wake now and show what the webhook answered', [
    'rouse sub test WAKE_SUB:…',
  ]).action(async (id: string, _options: unknown, command: Command) => {
    const { gateway, print } = connect(io, command)
    const answer = await gateway.call<TestAnswer>('POST', pathOf('/v1/wake-subscriptions', id, 'test'))
    print.result(answer, () => {
      const attempt = answer.attempt ?? answer.attempts?.at(-1) ?? answer
      const delivered = !attempt.error && (attempt.status ?? 0) >= 200 && (attempt.status ?? 0) < 300
      const verdict = delivered ? 'The webhook took the test wake' : 'The webhook did not take the test wake'
      return `${verdict}: ${plain(attemptText(attempt))}\n`
    })
  })
}

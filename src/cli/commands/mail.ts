import type { Command } from 'commander'
import type { MessageType } from '../../mailbox/messages/message.ts'
import type { Priority, WakePolicy } from '../../registry/agents/agent.ts'
import { clientCommand, connect } from '../client-command.ts'
import { UsageError } from '../failure.ts'
import type { BodyOf } from '../gateway-client.ts'
import type { Io } from '../io.ts'
import { messageType, priority, wakePolicy } from '../option-values.ts'
import { sentText } from '../views/mail-view.ts'

interface MailOptions {
  subject?: string
  type?: MessageType
  ref?: string
  priority?: Priority
  wakePolicy?: WakePolicy
  idempotencyKey?: string
}

type NewMessage = BodyOf<'POST /v1/messages'>

export function registerMail(parent: Command, io: Io): void {
  const command = clientCommand(
    parent,
    'mail <to> [text...]',
    'send mail to an inbox; with the admin key, as the operator',
    [
      'rouse mail @donna "The build is red, please look" --ref issue-7',
      'rouse mail has-telegram "Who has the phone?" --type question',
      'rouse mail "*" "Main is frozen" --subject Freeze',
      'rouse mail web:@mike "Your turn"                      # an agent of another project',
    ],
  )
  addMailOptions(command).action(async (to: string, words: string[], options: MailOptions) => {
    await post(io, command, { to, ...content(words, options) }, options)
  })
}

export function registerReply(parent: Command, io: Io): void {
  const command = clientCommand(parent, 'reply <message> <text...>', 'answer a message, in its thread', [
    'rouse reply MESSAGE:019a… "Use the main branch"',
    'rouse reply MESSAGE:019a… "Yes" --type answer',
  ])
  addMailOptions(command).action(async (inReplyTo: string, words: string[], options: MailOptions) => {
    await post(io, command, { inReplyTo, ...content(words, options) }, options)
  })
}

function addMailOptions(command: Command): Command {
  return command
    .option('--subject <text>', 'one line (default: the first line of the text)')
    .option('--type <type>', 'msg, task, handoff, ack, question, answer or relay', messageType)
    .option('--ref <ref>', 'what it is about: an issue, a commit, a path')
    .option('--priority <priority>', 'high, normal or low', priority)
    .option('--wake-policy <policy>', "immediate, next_turn or silent (default: the recipient's setting)", wakePolicy)
    .option('--idempotency-key <key>', 'a repeat with the same key makes no second message')
}

function content(words: readonly string[], { subject, type, ref, priority, wakePolicy }: MailOptions): NewMessage {
  const body = words.join(' ')
  if (body === '' && subject === undefined) throw new UsageError('The message is empty: give a text, or --subject.')
  return { subject, body: body === '' ? undefined : body, type, ref, priority, wakePolicy }
}

async function post(io: Io, command: Command, body: NewMessage, { idempotencyKey }: MailOptions): Promise<void> {
  const { gateway, print } = connect(io, command)
  const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  const sent = await gateway.call('POST /v1/messages', { body, headers })
  print.result(sent, () => sentText(sent))
}

import type { Command } from 'commander'
import { UsageError } from '../../client/failure.ts'
import type { BodyOf } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { MessageType } from '../../words/mail.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'
import { ownIds } from '../ids/own-ids.ts'
import { collect, messageType, priority, wakePolicy } from '../options/option-values.ts'
import { optionText, readText } from '../options/text-input.ts'
import { sentText } from '../output/mail-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'

interface MailOptions {
  file?: string
  subject?: string
  type?: MessageType
  ref?: string
  priority?: Priority
  wakePolicy?: WakePolicy
  concept?: string[]
  signalType?: string
  payload?: string
  idempotencyKey?: string
}

type NewMessage = BodyOf<'POST /v1/messages'>

export function registerMail(parent: Command, io: Io): void {
  const command = clientCommand(
    parent,
    'mail <to> [text...]',
    "send mail to an inbox; with the operator's key, as the operator",
    [
      'rouse mail @donna "The build is red, please look" --ref issue-7',
      'rouse mail has-telegram "Who has the phone?" --type question',
      'rouse mail "*" "Main is frozen" --subject Freeze',
      'rouse mail @donna "Next: the migration" --concept sunset-protocol-handover   # her next session finds it',
      'rouse mail @donna --signal-type StatusUpdate --payload \'{"description":"done","artifacts":[]}\'',
      'npm test 2>&1 | rouse mail @donna - --subject "The tests"   # the text from standard input',
      'rouse mail web:@mike "Your turn"                      # an agent of another project',
    ],
  )
  addMailOptions(command).action(async (to: string, words: string[], options: MailOptions) => {
    await post(io, command, { to, ...content(io, words, options) }, options)
  })
}

export function registerReply(parent: Command, io: Io): void {
  const command = clientCommand(parent, 'reply <message> [text...]', 'answer a message, in its thread', [
    'rouse reply MESSAGE:019a… "Use the main branch"',
    'rouse reply 019a… "Yes" --type answer             # the beginning of an id is enough',
    'rouse reply MESSAGE:019a… --file report.md',
  ])
  addMailOptions(command).action(async (inReplyTo: string, words: string[], options: MailOptions) => {
    await post(io, command, { inReplyTo, ...content(io, words, options) }, options)
  })
}

function addMailOptions(command: Command): Command {
  return command
    .option('--file <file>', 'the text from a file; - is standard input')
    .option('--subject <text>', 'one line (default: the first line of the text)')
    .option('--type <type>', 'msg, task, handoff, ack, question, answer or relay', messageType)
    .option('--ref <ref>', 'what it is about: an issue, a commit, a path')
    .option('--concept <concept>', 'a tagged concept, by which it is found and filtered; repeatable', collect)
    .option('--signal-type <type>', 'a signal for the program that reads it, e.g. ReviewRequested')
    .option('--payload <json>', 'the data of the signal: a JSON object; - is standard input')
    .option('--priority <priority>', 'high, normal or low', priority)
    .option('--wake-policy <policy>', "immediate, next_turn or silent (default: the recipient's setting)", wakePolicy)
    .option('--idempotency-key <key>', 'a repeat with the same key makes no second message')
}

function content(io: Io, words: readonly string[], options: MailOptions): NewMessage {
  const { subject, type, ref, priority, wakePolicy, concept: taggedConcepts, signalType } = options
  const body = readText(io, { words, file: options.file }) || undefined
  const payload = payloadOf(io, options)
  if (body === undefined && subject === undefined && signalType === undefined) {
    throw new UsageError('The message is empty: give a text, - for standard input, --file, --subject or --signal-type.')
  }
  return { subject, body, type, ref, priority, wakePolicy, taggedConcepts, signalType, payload }
}

function payloadOf(io: Io, options: MailOptions): JsonObject | undefined {
  const text = optionText(io, options.payload, undefined)
  if (text === undefined) return undefined
  const payload = parsed(text)
  if (!isJsonObject(payload)) throw new UsageError('--payload: give a JSON object, for example {"description":"done"}.')
  return payload
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function post(io: Io, command: Command, message: NewMessage, { idempotencyKey }: MailOptions): Promise<void> {
  const { gateway, print } = connect(io, command)
  const { inReplyTo } = message
  const body = inReplyTo === undefined ? message : { ...message, inReplyTo: await ownIds(gateway).message(inReplyTo) }
  const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  const sent = await gateway.call('POST /v1/messages', { body, headers })
  print.result(sent, () => sentText(sent))
}

import { z } from 'zod'
import { isOneLine, lineFlaw } from '../../lib/words.ts'
import { presenceStates } from '../../words/presence.ts'
import { receiptSteps } from '../../words/receipts.ts'

const oneLine = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine(isOneLine, { error: ({ input }) => lineFlaw(String(input)) })
const id = oneLine(200)
const cwd = oneLine(1_000)
const wakeId = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, 'must be the eventId of a wake: a ULID')
const instant = z.iso.datetime({ offset: true }).max(40)
const harnessProcess = z.object({ pid: z.int().positive(), startedAt: instant.optional() })
const harness = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be the name of a harness')
const state = z.enum(presenceStates)
/** Its vendor has refused it, and it tries again then. `next`: ms since the epoch. */
const retry = z.object({ message: z.string().max(1_000), next: z.number() })

/** Takes wakes for one conversation from now on: the first message of its connection. */
const attach = z.object({
  type: z.literal('attach'),
  harness,
  conversationId: id,
  cwd: cwd.optional(),
  process: harnessProcess.optional(),
  /** `monitor`, `rewake`, `extension`, `plugin`, `proxy` */
  route: z.string().regex(/^[a-z][a-z -]{0,39}$/, 'must be lower case words'),
  state: state.optional(),
  retry: retry.optional(),
  activeTurnId: id.optional(),
  /** From then on it does not listen any more. */
  until: instant.optional(),
  /** The same for all connections of one process, which answers for the wakes that it has taken. */
  instance: z
    .string()
    .regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits')
    .optional(),
})

/** The fields that have changed since it attached. null: there is none now. */
const change = z.object({
  type: z.literal('change'),
  conversationId: id.optional(),
  cwd: cwd.optional(),
  state: state.optional(),
  retry: retry.nullable().optional(),
  activeTurnId: id.nullable().optional(),
  until: instant.nullable().optional(),
})

/** It has the wake, and will not lose it. */
const taken = z.object({ type: z.literal('taken'), wakeId })

/** It does not take the wake. */
const declined = z.object({ type: z.literal('declined'), wakeId, reason: oneLine(500) })

/** The answer of the process about a wake: `hasWake`: true when it has taken it. */
const answer = z.object({ type: z.literal('answer'), wakeId, hasWake: z.boolean() })

/** The outcome of a wake, and its proof. */
const report = z.object({
  type: z.literal('report'),
  wakeId,
  step: z.enum(receiptSteps),
  proof: oneLine(200),
  conversationId: id.optional(),
  turnId: id.optional(),
})

/** An event of a harness: what `rouse hook` reports. */
const hook = z.object({
  type: z.literal('hook'),
  harness,
  event: oneLine(100),
  conversationId: id.optional(),
  cwd: cwd.optional(),
  process: harnessProcess.optional(),
  state: state.optional(),
  turnId: id.optional(),
  /** As the harness calls it: `plan`, `bypassPermissions`. */
  permissionMode: z
    .string()
    .regex(/^[A-Za-z]{1,40}$/, 'must be one word')
    .optional(),
  /** The conversation is over in this process. */
  ends: z.boolean().optional(),
  /** The wakes whose text began the turn. */
  wakeIds: z.array(wakeId).max(100).optional(),
})

const status = z.object({ type: z.literal('status') })

/** Proves the recipe of an agent, or asks how the proof of that name stands. */
const prove = z.object({
  type: z.literal('prove'),
  /** `@donna`, or the name of a profile. */
  agent: oneLine(200),
  run: z.string().regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits'),
})
const pong = z.object({ type: z.literal('pong') })

/** The messages that the bridge takes on its local socket. Fields that it does not know are left out: programs of other versions call too. */
const clientMessage = z.discriminatedUnion('type', [
  attach,
  change,
  taken,
  declined,
  answer,
  report,
  hook,
  status,
  prove,
  pong,
])
export type ClientMessage = z.infer<typeof clientMessage>
export type MessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { type: Type }>

/** The message of a line, or what is wrong with it, with the field. Pure. */
export function readMessage(line: string): ClientMessage | { readonly error: string } {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { error: 'The line is no JSON.' }
  }
  const parsed = clientMessage.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const field = issue!.path.join('.')
  return { error: field === '' ? 'The line is no JSON object with a type.' : `${field}: ${issue!.message}.` }
}
